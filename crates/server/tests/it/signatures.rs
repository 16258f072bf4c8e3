//! Tests the parameters of functions and the names of public types in the whole workspace, on its sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Public type names that two crates define. Both are always written with their crate or module, for the reason beside them.
const DEFINED_TWICE: &[(&str, &str)] = &[
    ("Question", "the test kit's question is the JSON of a client and is used in tests only"),
    ("World", "each test kit has a world, and no test uses two of them"),
];

/// Type names that more than two files define, each with the reason.
const DEFINED_OFTEN: &[(&str, &str)] = &[("Arguments", "each tool of an agent has the type of its trait `FileWork`")];

/// Main nouns of `domain`. No other type, public or private, has one of these names.
const NOUNS: &[&str] = &[
    "Action",
    "Answer",
    "Call",
    "Caller",
    "Decision",
    "Delivery",
    "Event",
    "Grant",
    "Interaction",
    "Outcome",
    "Permit",
    "Question",
    "Role",
    "Ruling",
    "Session",
    "Step",
    "User",
    "Verdict",
    "Webhook",
];

/// Function with its parameters as text.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) parameters: Vec<String>,
}

#[test]
fn tuple_parameters_have_no_flag_and_stand_alone() {
    let (sources, mut found) = (sources(), Vec::new());
    let public: BTreeMap<&str, &str> = sources.iter().flat_map(|(_, text)| tuple_aliases(text, "pub type ")).collect();
    for (file, text) in &sources {
        let aliases = public.clone().into_iter().chain(tuple_aliases(text, "type ")).collect();
        for Function { name, parameters } in functions(text) {
            let tuples = parameters.iter().filter_map(|parameter| tuple_of(parameter, &aliases));
            let tuples: Vec<&str> = tuples.collect();
            let flag = |tuple: &&str| tuple.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "bool");
            if tuples.iter().any(flag) {
                found.push(format!("{file}: {name} takes a tuple with a bool; make it a parameter or a field"));
            }
            if tuples.len() > 1 {
                found.push(format!("{file}: {name} takes {} tuples; name one of them by a struct", tuples.len()));
            }
        }
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn public_type_names_are_defined_once() {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in sources().into_iter().filter(|(file, _)| file.contains("/src/")) {
        for name in text.lines().filter_map(public_type) {
            files.entry(name.to_owned()).or_default().push(file.clone());
        }
    }
    let twice: Vec<String> = files.iter().filter(|(_, files)| files.len() > 1).map(|(name, _)| name.clone()).collect();
    let known: Vec<&str> = DEFINED_TWICE.iter().map(|(name, _)| *name).collect();
    assert_eq!(twice, known, "name a type by the noun of the thing: {files:?}");
}

/// Private types may share a name, as each is used in one file or folder, but not so often that the name says nothing.
#[test]
fn private_type_names_are_defined_at_most_twice() {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in sources().into_iter().filter(|(file, _)| is_product(file)) {
        for name in text.lines().filter_map(declared_type) {
            files.entry(name.to_owned()).or_default().push(file.clone());
        }
    }
    assert!(files.len() > 1000, "{} names", files.len());
    files.retain(|name, files| files.len() > 2 && !DEFINED_OFTEN.iter().any(|(known, _)| known == name));
    assert!(files.is_empty(), "name a type by the noun of the thing: {files:#?}");
}

/// Whether a source belongs to the product: to no test kit, no measurement and no test.
fn is_product(file: &str) -> bool {
    let is_tool = ["bench/", "testkit/", "server-testkit/"].iter().any(|krate| file.starts_with(krate));
    file.contains("/src/") && !is_tool && !file.contains("/tests/") && !file.contains("/conformance")
}

#[test]
fn types_of_other_crates_are_not_named_like_a_noun_of_the_domain() {
    let mut found = Vec::new();
    for (file, text) in sources() {
        let is_source = file.contains("/src/") && !file.starts_with("domain/") && !file.contains("testkit/");
        for name in text.lines().filter(|_| is_source).filter_map(declared_type) {
            if NOUNS.contains(&name) {
                found.push(format!("{file}: {name}"));
            }
        }
    }
    assert_eq!(found, [""; 0], "the name belongs to a type of `domain`; name this one by what it adds");
}

#[test]
fn the_parser_finds_parameters() {
    let text = "fn a<T: Fn(u8) -> u8>(&self, (b, c): (&str, bool), d: impl Fn(u8, u8) -> (u8, bool)) -> (u8, u8) {}\n";
    let found = functions(text);
    assert_eq!((found.len(), found[0].name.as_str()), (1, "a"));
    assert_eq!(found[0].parameters, ["&self", "(b, c): (&str, bool)", "d: impl Fn(u8, u8) -> (u8, bool)"]);
    let aliases = tuple_aliases("type Pair = (u8, bool);\ntype Other = u8;\n", "type ").collect();
    let tuples: Vec<_> = found[0].parameters.iter().filter_map(|parameter| tuple_of(parameter, &aliases)).collect();
    assert_eq!(tuples, ["(&str, bool)"]);
    assert_eq!(tuple_of("place: Option<&(u8, bool)>", &aliases), Some("(u8, bool)>"));
    assert_eq!(tuple_of("pair: Option<&crate::Pair>", &aliases), Some("(u8, bool)"));
    assert_eq!(tuple_of("other: Other", &aliases), None);
    assert_eq!(tuple_of("none: ()", &aliases), None);
    assert_eq!(tuple_of("rows: &[(u8, bool)]", &aliases), None);
    assert_eq!(public_type("pub struct Page<T> {"), Some("Page"));
    assert_eq!(declared_type("pub(super) type Reply = u8;"), Some("Reply"));
    assert!(is_product("agent/src/tools/walk.rs") && !is_product("agent/src/models/tests/server.rs"));
}

/// Functions that a source declares, with their parameters.
pub(crate) fn functions(text: &str) -> Vec<Function> {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let declares = code[..at].chars().next_back().is_none_or(char::is_whitespace);
        let rest = &code[at + 3..];
        let name: String = rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        if declares && !name.is_empty() {
            found.extend(parameters(&rest[name.len()..]).map(|parameters| Function { name, parameters }));
        }
    }
    found
}

/// Splits the parameters of a function at the commas between them. `rest` begins after the name, with the generics or the parameters.
fn parameters(rest: &str) -> Option<Vec<String>> {
    let (mut generics, mut depth, mut before) = (0, 0, ' ');
    let (mut found, mut current) = (Vec::new(), String::new());
    for letter in rest.chars() {
        match letter {
            '<' if depth == 0 => generics += 1,
            '>' if depth == 0 && before != '-' => generics -= 1,
            '(' if depth == 0 && generics == 0 => depth = 1,
            _ if depth == 0 && generics == 0 => return None,
            '(' | '[' | '<' if depth > 0 => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            '>' if depth > 0 && before != '-' => depth -= 1,
            _ => {}
        }
        let is_first = depth == 1 && letter == '(' && found.is_empty() && current.is_empty();
        if depth == 0 && letter == ')' && generics == 0 {
            found.push(current);
            break;
        }
        if depth == 1 && letter == ',' {
            found.push(std::mem::take(&mut current));
        } else if depth > 0 && !is_first {
            current.push(letter);
        }
        before = letter;
    }
    let found = found.iter().map(|parameter| parameter.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(found.filter(|parameter| !parameter.is_empty()).collect())
}

/// Names of the tuple types that a source declares, `type Pair = (u8, bool);`, with the tuples.
fn tuple_aliases<'a>(text: &'a str, sort: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let declared = text.lines().filter_map(move |line| line.strip_prefix(sort));
    let pairs = declared.filter_map(|rest| rest.trim_end_matches(';').split_once(" = "));
    pairs.filter(|(_, kind)| kind.starts_with('(') && *kind != "()")
}

/// Tuple type of a parameter, also behind references, `Option` and a name. A list of tuples is a table with rows and does not count.
fn tuple_of<'a>(parameter: &'a str, aliases: &BTreeMap<&str, &'a str>) -> Option<&'a str> {
    let colon = if parameter.starts_with('(') { parameter.find("): ")? + 1 } else { parameter.find(": ")? };
    let mut kind = parameter[colon + 2..].trim();
    loop {
        let inner = ["&", "mut ", "Option<"].iter().find_map(|prefix| kind.strip_prefix(prefix));
        match inner {
            Some(inner) => kind = inner,
            None if kind.starts_with('(') => return (!kind.starts_with("()")).then_some(kind),
            None => {
                let path = kind.split(|letter: char| !letter.is_alphanumeric() && letter != ':').next()?;
                return aliases.get(path.rsplit("::").next()?).copied();
            }
        }
    }
}

fn public_type(line: &str) -> Option<&str> {
    line.starts_with("pub ").then(|| declared_type(line)).flatten()
}

/// Type that a line declares, with any visibility.
fn declared_type(line: &str) -> Option<&str> {
    let visibilities = ["pub ", "pub(crate) ", "pub(super) "];
    let rest = visibilities.iter().find_map(|visibility| line.strip_prefix(visibility)).unwrap_or(line);
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|sort| rest.strip_prefix(sort))?;
    rest.split(|letter: char| !letter.is_alphanumeric()).next()
}

/// Every source file of the crates, tests included, with its path below `crates`, sorted.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut folders, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let file = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                found.push((file, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
