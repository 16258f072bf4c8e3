//! Removes files of the unpacked corpus of the fuzzer until no two texts of a target are read alike: `make corpus`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use holdpoint_policy::Policy;
use tool_facts::{PathFacts, Shell, Sql, UrlFacts};

/// Shows what was read of a text.
type Reader = fn(&str) -> String;

/// Parsers of the fuzz targets, by the name of the target.
const TARGETS: [(&str, Reader); 5] = [
    ("shell", |text| format!("{:?}", Shell::parse(text))),
    ("path", |text| format!("{:?}", PathFacts::parse(text))),
    ("url", |text| format!("{:?}", UrlFacts::parse(text, "GET"))),
    ("sql", |text| format!("{:?}", Sql::parse(text))),
    ("policy", |text| format!("{:?}", Policy::load("policy.toml", text))),
];

fn main() -> std::io::Result<()> {
    for (target, read) in TARGETS {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
        let (kept, removed) = minimise(&directory, read)?;
        println!("{target}: {kept} texts kept, {removed} removed");
    }
    Ok(())
}

/// Removes the files of a directory that are read like a smaller one. Returns the numbers of files that were kept and removed.
fn minimise(directory: &Path, read: Reader) -> std::io::Result<(usize, usize)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        files.push((fs::read(&path)?, path));
    }
    files.sort_by_key(|(bytes, path)| (bytes.len(), path.clone()));
    let (mut shapes, mut removed) = (HashSet::new(), 0);
    for (bytes, path) in files {
        if !std::str::from_utf8(&bytes).is_ok_and(|text| shapes.insert(shape(&read(text)))) {
            fs::remove_file(path)?;
            removed += 1;
        }
    }
    Ok((shapes.len(), removed))
}

/// Shape of a value that was read: within quotes, words and numbers are alike, because other names take the same path through the parser.
fn shape(read: &str) -> String {
    let (mut shape, mut quoted) = (String::new(), false);
    for character in read.chars() {
        quoted ^= character == '"';
        let class = if quoted && character.is_alphanumeric() { 'a' } else { character };
        if !(quoted && class == 'a' && shape.ends_with('a')) {
            shape.push(class);
        }
    }
    shape
}
