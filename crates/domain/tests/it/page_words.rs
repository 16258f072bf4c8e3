//! Holds the names of the page against the words that the vocabulary has retired. Reads the sources of the page as text.

use std::fs;
use std::path::{Path, PathBuf};

use holdpoint_domain::words::{RETIRED, RETIRED_TYPES};

/// Source that is generated from the API, whose names do not follow renamed types.
const GENERATED: &str = "src/api/schema.d.ts";
/// Retired word that has another meaning in the name of a function or a variable: the adverb.
const ADVERB: &str = "once";
/// Words before the name that a source declares.
const DECLARATIONS: [&str; 7] = ["type ", "interface ", "class ", "enum ", "function ", "const ", "let "];

#[test]
fn no_name_of_the_page_contains_a_retired_word() {
    let (mut findings, mut found) = (Vec::new(), 0);
    for (file, text) in sources() {
        for name in names(&text) {
            found += 1;
            findings.extend(complaint(name).map(|complaint| format!("web/{file}: {name}: {complaint}")));
        }
    }
    assert!(found > 3_000, "{found} names");
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn a_retired_word_is_found_in_each_sort_of_name() {
    for (source, expected) in [
        ("export type Proposal = Schemas['ProposalView'];", "Proposal"),
        ("interface Place {", "Place"),
        ("export default function OnceDialog({ title }: Props) {", "OnceDialog"),
        ("  const agentProposals = await list();", "agentProposals"),
        ("const PORTIONS = ['model.said'];", "PORTIONS"),
        ("export async function readFigures(): Promise<void> {", "readFigures"),
    ] {
        let found: Vec<&str> = names(source).into_iter().filter(|name| complaint(name).is_some()).collect();
        assert_eq!(found, [expected], "{source}");
    }
    for allowed in [
        "const once = true;",
        "function Placeholder() {",
        "type ActionDraft = {",
        "// type Place",
        "const { data } = held;",
    ] {
        assert!(names(allowed).into_iter().all(|name| complaint(name).is_none()), "{allowed}");
    }
}

/// Says why a name is refused: it contains a retired word, or it is that of a retired type.
fn complaint(name: &str) -> Option<String> {
    if RETIRED_TYPES.contains(&name) {
        return Some("name it by the noun of the thing".to_owned());
    }
    let parts = parts(name);
    let is_in = |word: &str| {
        let words: Vec<&str> = word.split('_').collect();
        let is_same = |(part, word): (&String, &&str)| part == word || part.strip_suffix('s') == Some(word);
        parts.windows(words.len()).any(|window| window.iter().zip(&words).all(is_same))
    };
    let is_adverb = |word: &str| word == ADVERB && name.starts_with(char::is_lowercase);
    let retired = RETIRED.iter().find(|retired| is_in(retired.word) && !is_adverb(retired.word))?;
    Some(format!("`{}` is now {}", retired.word, retired.instead))
}

/// Names that a source declares after one of [`DECLARATIONS`] at the beginning of a line.
fn names(text: &str) -> Vec<&str> {
    let declared = text.lines().filter_map(|line| {
        let mut rest = line.trim_start();
        while let Some(after) =
            ["export ", "default ", "async ", "declare "].iter().find_map(|before| rest.strip_prefix(before))
        {
            rest = after;
        }
        let name = DECLARATIONS.iter().find_map(|declaration| rest.strip_prefix(declaration))?;
        name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
    });
    declared.filter(|name| !name.is_empty()).collect()
}

/// Words of a name in lower case: `agentProposals` is `agent` and `proposals`, and `NAV_LINKS` is `nav` and `links`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && !before.is_uppercase()) {
            parts.push(String::new());
        }
        if letter != '_' {
            parts.last_mut().unwrap().extend(letter.to_lowercase());
        }
        before = letter;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Sources and tests of the page, each with its path below `web`.
fn sources() -> Vec<(String, String)> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let mut files = Vec::new();
    ["src", "tests"].iter().for_each(|folder| list(&web.join(folder), &mut files));
    files.sort();
    let shown = |file: &Path| file.strip_prefix(&web).unwrap().display().to_string();
    let texts = files.iter().map(|file| (shown(file), fs::read_to_string(file).unwrap()));
    texts.filter(|(file, _)| file != GENERATED).collect()
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|end| end == "ts" || end == "tsx") {
            files.push(path);
        }
    }
}
