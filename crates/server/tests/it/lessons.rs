//! Tests that each lesson of `docs/lessons.md` names tests that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Sections of the page with the minimum number of lessons of each.
const SECTIONS: &[(&str, usize)] = &[
    ("Closing a question", 10),
    ("Resuming", 14),
    ("Waiting, pausing, time", 5),
    ("Streams and screens", 11),
    ("Policy", 7),
    ("Secrets and access", 5),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads the lessons of the page: section, text, and `file: name` of each test.
fn lessons() -> Vec<(String, String, Vec<String>)> {
    let page = fs::read_to_string(root().join("docs/lessons.md")).unwrap();
    let (mut section, mut found) = (String::new(), Vec::new());
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut section);
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let (true, [lesson, tests]) = (line.starts_with('|'), cells.as_slice())
            && *lesson != "lesson"
            && !lesson.starts_with("---")
        {
            let tests = tests.split("<br>").map(|test| test.trim_matches('`').to_owned()).collect();
            found.push((section.clone(), (*lesson).to_owned(), tests));
        }
    }
    found
}

/// Reports whether a file has a test of this name; a plain function, a comment or a longer name does not count.
fn has_test(file: &Path, text: &str, name: &str) -> bool {
    if file.extension().is_some_and(|extension| extension == "ts") {
        return text.lines().any(|line| line.starts_with(&format!("test('{name}',")));
    }
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let defines = |line: &str| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("fn ").and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('))
    };
    let Some(at) = lines.iter().position(|line| defines(line)) else { return false };
    let attributes = lines[..at].iter().rev().take_while(|line| line.starts_with('#'));
    attributes.into_iter().any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
}

#[test]
fn every_lesson_has_tests_that_exist() {
    let lessons = lessons();
    for (section, least) in SECTIONS {
        let count = lessons.iter().filter(|(of, ..)| of == section).count();
        assert!(count >= *least, "{section} has {count} lessons");
    }
    let mut missing = Vec::new();
    for (_, lesson, tests) in &lessons {
        for test in tests {
            let Some((file, name)) = test.split_once(": ") else {
                missing.push(format!("{lesson}: {test}"));
                continue;
            };
            let path = root().join(file);
            if !fs::read_to_string(&path).is_ok_and(|text| has_test(&path, &text, name)) {
                missing.push(format!("{lesson}: {test}"));
            }
        }
    }
    assert!(missing.is_empty(), "no such test:\n{}", missing.join("\n"));
}

#[test]
fn only_test_functions_are_found_as_tests() {
    let rust = Path::new("a.rs");
    let text = "#[tokio::test(flavor = \"multi_thread\")]\nasync fn one() {}\n\nfn two() {}\n// fn three()\n    #[test]\n    fn four(x in y) {}\n";
    for (name, wanted) in [("one", true), ("two", false), ("three", false), ("four", true), ("on", false)] {
        assert_eq!(has_test(rust, text, name), wanted, "{name}");
    }
    let web = "test('it works', async () => {\n// test('gone', x)\n";
    assert!(has_test(Path::new("a.ts"), web, "it works") && !has_test(Path::new("a.ts"), web, "gone"));
}
