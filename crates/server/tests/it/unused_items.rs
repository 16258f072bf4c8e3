//! Checks that every public function, type and constant of the crates is used. The compiler reports unused private items only.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

#[test]
fn public_items_are_used() {
    let mut sources = Vec::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut sources);
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for word in sources.iter().flat_map(|source| words(source)) {
        *uses.entry(word).or_default() += 1;
    }
    let mut unused: Vec<&str> =
        sources.iter().flat_map(|source| public_items(source)).filter(|name| uses[name] == 1).collect();
    unused.sort_unstable();
    assert_eq!(unused, [""; 0], "their names occur nowhere else");
}

#[test]
fn public_items_are_found_in_sources() {
    let source =
        "pub struct Door;\npub(crate) const WIDTH: u8 = 1;\npub const fn open() {}\nfn shut() {}\npub use other::Lock;";
    assert_eq!(public_items(source), ["Door", "WIDTH", "open"]);
}

/// Names of the functions, types, traits and constants that a source declares `pub`.
fn public_items(source: &str) -> Vec<&str> {
    let item = |line| {
        let mut words =
            words(line).skip_while(|word| ["pub", "crate", "super", "async", "const", "unsafe"].contains(word));
        let first = words.next()?;
        // `const` may stand before `fn`, and otherwise before a name.
        if ["fn", "struct", "enum", "trait", "type", "static"].contains(&first) {
            words.next()
        } else {
            is_constant(line).then_some(first)
        }
    };
    source.lines().map(str::trim_start).filter(|line| line.starts_with("pub")).filter_map(item).collect()
}

fn is_constant(line: &str) -> bool {
    words(line).find(|word| !["pub", "crate", "super"].contains(word)) == Some("const")
}

/// Words of a source outside line comments.
fn words(source: &str) -> impl Iterator<Item = &str> {
    let code = source.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
        .filter(|word| !word.is_empty())
}

/// Reads the Rust sources below a folder.
fn read(folder: &Path, sources: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(fs::read_to_string(path).unwrap());
        }
    }
}
