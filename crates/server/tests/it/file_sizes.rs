//! Tests that no source file of the workspace is too long to be read as one thing.

use std::fs;
use std::path::Path;

/// Maximum number of lines of a source file, tests included.
const MAX_LINES: usize = 500;

#[test]
fn source_files_have_at_most_500_lines() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut sources = Vec::new();
    read(&crates, &crates, &mut sources);
    assert!(sources.len() > 500, "{} sources", sources.len());
    assert_eq!(too_long(&sources), [""; 0], "split them by their subjects");
    sources.push(("planted.rs".to_owned(), "\n".repeat(MAX_LINES + 1)));
    assert_eq!(too_long(&sources), ["planted.rs: 501 lines"]);
}

/// Sources with more lines than [`MAX_LINES`], each with its number of lines.
fn too_long(sources: &[(String, String)]) -> Vec<String> {
    let lengths = sources.iter().map(|(file, text)| (file, text.lines().count()));
    lengths.filter(|(_, lines)| *lines > MAX_LINES).map(|(file, lines)| format!("{file}: {lines} lines")).collect()
}

/// Adds every Rust source below a directory with its path below `root`. Build output and hidden directories are skipped.
fn read(directory: &Path, root: &Path, sources: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            read(&path, root, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let file = path.strip_prefix(root).unwrap().display().to_string();
            sources.push((file, fs::read_to_string(&path).unwrap()));
        }
    }
}
