//! Reads a directory of files with one definition each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::document::{Document, MOST_BYTES};
use super::finding::FileFinding;

/// Name, version, definition and document of one file.
type Read<T> = Result<(String, String, T, Document), Vec<FileFinding>>;

/// Reads every definition, or lists every problem of every file.
pub(super) fn read<T>(
    dir: &Path,
    what: &str,
    one: impl Fn(&str, &Path) -> Read<T>,
) -> Result<Vec<T>, Vec<FileFinding>> {
    let files = files(dir).map_err(|error| vec![FileFinding::whole(dir, format!("cannot be read: {error}"))])?;
    let (mut definitions, mut findings) = (Vec::new(), Vec::new());
    let mut seen: BTreeMap<(String, String), String> = BTreeMap::new();
    for file in files {
        let read = text(&file).map_err(|why| vec![FileFinding::whole(&file, why)]).and_then(|text| one(&text, &file));
        match read {
            Err(more) => findings.extend(more),
            Ok((name, version, definition, document)) => {
                let shown = file.display().to_string();
                if let Some(first) = seen.insert((name.clone(), version.clone()), shown) {
                    let message = format!("version `{version}` of {what} `{name}` is in {first} already");
                    findings.push(document.finding("/version", message));
                }
                definitions.push(definition);
            }
        }
    }
    if findings.is_empty() { Ok(definitions) } else { Err(findings) }
}

/// Reads the text of a file within the size limit.
pub(super) fn text(file: &Path) -> Result<String, String> {
    let size = std::fs::metadata(file).map_err(|error| format!("cannot be read: {error}"))?.len();
    if size > MOST_BYTES as u64 {
        return Err(format!("has more than {MOST_BYTES} bytes"));
    }
    std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}"))
}

#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of definition files are in lower case")]
fn files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(".toml") && !name.ends_with(".script.toml") && !name.starts_with('.') {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
