//! Tests that the data files are sorted lists with a header, so that people can read and extend them.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file under `data/` with this extension.
fn files(ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root().join("data")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|own| own == ending) {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 4, "{} files that end in {ending}", files.len());
    files
}

/// Checks the comment at the head of a file: it names the source file that embeds the data file.
fn check_header(path: &Path, text: &str) {
    let header: String = text.lines().take_while(|line| line.starts_with("# ")).collect::<Vec<_>>().join("\n");
    let reader = header.split_once("Read by `").and_then(|(_, rest)| rest.split_once('`')).map(|(reader, _)| reader);
    let reader = reader.unwrap_or_else(|| panic!("{} does not say who reads it", path.display()));
    let source = fs::read_to_string(root().join(reader)).unwrap();
    let data = path.strip_prefix(root()).unwrap().to_str().unwrap();
    assert!(source.contains(&format!("{data}\"))")), "{reader} does not embed {data}");
}

fn check_sorted(what: &str, words: &[&str]) {
    for pair in words.windows(2) {
        assert!(pair[0] < pair[1], "{what}: `{}` before `{}`", pair[0], pair[1]);
    }
}

#[test]
fn every_list_is_sorted_without_duplicates_and_not_empty() {
    for path in files("txt") {
        let text = fs::read_to_string(&path).unwrap();
        check_header(&path, &text);
        let words: Vec<&str> = text.lines().skip_while(|line| line.starts_with("# ")).skip(1).collect();
        let what = path.display().to_string();
        assert!(!words.is_empty(), "{what} is empty");
        assert!(words.iter().all(|word| !word.is_empty() && !word.contains(char::is_whitespace)), "{what}");
        check_sorted(&what, &words);
    }
}

#[test]
fn every_table_and_its_lists_are_sorted() {
    for path in files("toml") {
        let text = fs::read_to_string(&path).unwrap();
        check_header(&path, &text);
        let what = path.display().to_string();
        let table: toml::Table = toml::from_str(&text).unwrap();
        assert!(!table.is_empty(), "{what} is empty");
        let headings: Vec<&str> =
            text.lines().filter(|line| line.starts_with('[') && !line.starts_with("[[")).collect();
        check_sorted(&what, &headings);
        let rows: Vec<&str> =
            text.lines().filter(|line| line.contains(" = { ")).filter_map(|line| line.split(' ').next()).collect();
        check_sorted(&what, &rows);
        for (name, value) in &table {
            check_value(&format!("{what}: {name}"), value);
        }
    }
}

/// Checks the lists in a value, and that rows are in the order of their first names and name no program twice.
fn check_value(what: &str, value: &toml::Value) {
    match value {
        toml::Value::Table(fields) => {
            fields.iter().for_each(|(name, value)| check_value(&format!("{what}.{name}"), value));
        }
        toml::Value::Array(items) if items.iter().all(toml::Value::is_str) => {
            check_sorted(what, &items.iter().filter_map(toml::Value::as_str).collect::<Vec<_>>());
        }
        toml::Value::Array(rows) => {
            rows.iter().for_each(|row| check_value(what, row));
            let names = |row: &toml::Value| -> Vec<String> {
                row["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
            };
            let firsts: Vec<String> = rows.iter().map(|row| names(row).swap_remove(0)).collect();
            check_sorted(what, &firsts.iter().map(String::as_str).collect::<Vec<_>>());
            let mut all: Vec<String> = rows.iter().flat_map(names).collect();
            all.sort();
            check_sorted(what, &all.iter().map(String::as_str).collect::<Vec<_>>());
        }
        _ => {}
    }
}
