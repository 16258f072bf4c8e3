//! The format of the tables, and promises that hold for any words.

use std::collections::BTreeSet;
use std::path::Path;

use holdpoint_command_line::{HazardKind, ProgramRun, ShellWord, WordPart, effects};
use proptest::prelude::*;
use toml::{Table, Value};

/// Keys whose values are lists of options.
const OPTION_LISTS: &[&str] = &[
    "contacts",
    "directories",
    "flags",
    "modules",
    "optional",
    "projects",
    "reads",
    "running",
    "sending",
    "settings",
    "text",
    "writes",
    "writing",
];

/// Lists of options that do more than the program does.
const HAZARDS: &[&str] = &["contacts", "running", "sending", "settings", "writes", "writing"];

fn tables() -> Vec<(String, Table)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/programs");
    let mut tables = Vec::new();
    for file in std::fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# "), "{} begins with a comment", path.display());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        tables.push((name, text.parse().unwrap()));
    }
    assert!(tables.len() >= 5);
    tables
}

fn rows<'a>(table: &'a Table, key: &str) -> Vec<&'a Table> {
    table.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table).collect()
}

fn words<'a>(row: &'a Table, key: &str) -> Vec<&'a str> {
    row.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The name of an option without the sign that says where its value stands.
fn bare(option: &str) -> &str {
    let signed = option.len() > 2 && option.ends_with(['=', '?', ';', '+']);
    if signed { &option[..option.len() - 1] } else { option }
}

/// Checks a row and the subcommands below it.
fn check_row(at: &str, row: &Table) {
    let mut seen = BTreeSet::new();
    for list in OPTION_LISTS {
        let options = words(row, list);
        assert!(options.is_sorted(), "{at}: `{list}` is sorted");
        for option in options {
            let word = matches!(at, "cargo" | "dig" | "lsof");
            assert!(option.starts_with('-') || word, "{at}: {option}");
            assert!(seen.insert(bare(option)), "{at}: {option} stands twice");
        }
        if row.contains_key("all_options_harmless") {
            assert!(!HAZARDS.contains(list) || words(row, list).is_empty(), "{at}: `{list}` is not harmless");
        }
    }
    for option in row.get("choices").and_then(Value::as_table).into_iter().flat_map(Table::keys) {
        assert!(seen.insert(option), "{at}: {option} stands twice");
    }
    // A pattern for an option that the row does not list would have no effect.
    for option in row.get("except").and_then(Value::as_table).into_iter().flat_map(Table::keys) {
        assert!(option == "operands" || seen.contains(option.as_str()), "{at}: `except` for {option}");
    }
    let kinds = [
        "text",
        "read",
        "write",
        "directory",
        "address",
        "repository",
        "remote",
        "refspec",
        "revision",
        "code",
        "command",
        "project",
        "script",
        "tool",
        "rest",
        "none",
    ];
    for kind in words(row, "operands") {
        assert!(kinds.contains(&kind.trim_end_matches("...")), "{at}: {kind} is no kind of operand");
    }
    let mut names = BTreeSet::new();
    let subcommands = rows(row, "subcommand");
    let own: Vec<&str> = subcommands.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(own.is_sorted(), "{at}: the subcommands are sorted");
    for (name, subcommand) in own.iter().zip(subcommands) {
        for name in std::iter::once(*name).chain(words(subcommand, "names")) {
            assert!(names.insert(name), "{at} {name} stands twice");
        }
        check_row(&format!("{at} {name}"), subcommand);
    }
}

#[test]
fn tables_are_sorted_and_list_each_option_once() {
    let mut names = BTreeSet::new();
    for (file, table) in tables() {
        let programs = rows(&table, "program");
        let first: Vec<&str> = programs.iter().map(|row| words(row, "names")[0]).collect();
        assert!(first.is_sorted(), "{file} is sorted by the first name");
        for row in programs {
            let own = words(row, "names");
            check_row(own[0], row);
            if row.contains_key("continues") {
                continue;
            }
            for name in own {
                assert!(names.insert(name.to_owned()), "{file}: {name} stands twice");
                let known = effects(&ProgramRun { words: vec![ShellWord::literal(name)], ..ProgramRun::default() });
                // A name with a blank is a table for words of other programs.
                assert_eq!(known.known, !name.contains(' '), "{file}: {name} is in no table that is embedded");
            }
        }
    }
}

/// The names of tables that a row and its subcommands leave words to.
fn other_tables(row: &Table) -> Vec<&str> {
    let below = rows(row, "subcommand").into_iter().flat_map(other_tables);
    row.get("rest_as").and_then(Value::as_str).into_iter().chain(below).collect()
}

#[test]
fn words_are_left_to_tables_that_exist() {
    let tables = tables();
    let programs = || tables.iter().flat_map(|(_, table)| rows(table, "program"));
    let names: BTreeSet<&str> = programs().flat_map(|row| words(row, "names")).collect();
    let others: Vec<&str> = programs().flat_map(other_tables).collect();
    assert!(others.len() > 10);
    for other in others {
        assert!(names.contains(other), "{other} is no table");
    }
}

#[test]
fn subcommands_of_a_program_are_in_one_table_only() {
    let mut names = BTreeSet::new();
    for (file, table) in tables() {
        for row in rows(&table, "program") {
            let program = words(row, "names")[0];
            for subcommand in rows(row, "subcommand") {
                let name = format!("{program} {}", subcommand["name"].as_str().unwrap());
                assert!(names.insert(name.clone()), "{file}: {name} stands twice");
            }
        }
    }
}

/// Options that write, run or send, by program, as the tables list them.
fn hazardous_options() -> Vec<(String, String, HazardKind)> {
    let mut found = Vec::new();
    for (_, table) in tables() {
        for row in rows(&table, "program").into_iter().filter(|row| !row.contains_key("continues")) {
            if words(row, "names")[0].contains(' ') {
                continue;
            }
            for (list, kind) in
                [("running", HazardKind::Runs), ("writing", HazardKind::Writes), ("sending", HazardKind::Sends)]
            {
                let options = words(row, list).into_iter().map(bare);
                found.extend(options.map(|option| (words(row, "names")[0].to_owned(), option.to_owned(), kind)));
            }
        }
    }
    assert!(found.len() > 50);
    found
}

#[test]
fn every_hazardous_option_is_found() {
    for (program, option, kind) in hazardous_options() {
        let words = [program.as_str(), &option, "x", "y"].map(ShellWord::literal).to_vec();
        let hazards = effects(&ProgramRun { words, ..ProgramRun::default() }).hazards;
        assert!(
            hazards.iter().any(|hazard| hazard.kind == kind && hazard.word == 1),
            "{program} {option}: {hazards:?}"
        );
    }
}

fn any_part() -> impl Strategy<Value = WordPart> {
    prop_oneof![
        "[-a-z0-9=/.+:{}();'\"$]{0,6}".prop_map(WordPart::Literal),
        "-{1,2}[a-zA-Z-]{1,8}=?".prop_map(WordPart::Literal),
        Just(WordPart::Home),
        Just(WordPart::Number),
        Just(WordPart::Glob("*".to_owned())),
        any::<bool>().prop_map(|quoted| WordPart::Unknown { quoted }),
    ]
}

fn any_word() -> impl Strategy<Value = ShellWord> {
    prop::collection::vec(any_part(), 0..3).prop_map(|parts| ShellWord { parts, span: 0..0 })
}

/// A known program, with a subcommand if it has any.
fn any_program() -> impl Strategy<Value = Vec<String>> {
    let mut programs = Vec::new();
    for (_, table) in tables() {
        for row in rows(&table, "program") {
            let name = words(row, "names")[0].to_owned();
            let subcommands = rows(row, "subcommand").into_iter();
            programs.extend(subcommands.map(|sub| vec![name.clone(), sub["name"].as_str().unwrap().to_owned()]));
            programs.push(vec![name]);
        }
    }
    prop::sample::select(programs)
}

proptest! {
    #[test]
    fn every_word_has_a_role_and_every_hazard_a_word(program in any_program(), rest in prop::collection::vec(any_word(), 0..6)) {
        let words: Vec<ShellWord> = program.iter().map(|name| ShellWord::literal(name)).chain(rest).collect();
        let effects = effects(&ProgramRun { words: words.clone(), ..ProgramRun::default() });
        prop_assert_eq!(effects.roles.len(), words.len());
        prop_assert!(effects.hazards.iter().all(|hazard| hazard.word < words.len()));
        // A file that is written is never without a hazard that says so.
        for file in &effects.writes {
            prop_assert!(effects.hazards.iter().any(|hazard| hazard.target.as_ref() == Some(file)));
        }
    }

    /// An unknown word before `--` is a hazard unless the program has only harmless options: putting any text in its place finds no more kinds of
    /// hazards than were found, or `Unknown` was found.
    #[test]
    fn an_unknown_word_does_no_less_than_any_text(
        program in any_program(),
        before in prop::collection::vec("-{0,2}[a-zA-Z]{1,3}", 0..2),
        text in prop_oneof!["-{1,2}[a-zA-Z-]{1,8}", "[a-z./]{1,5}"],
        after in prop::collection::vec("[a-z./]{1,4}", 0..2),
    ) {
        let run = |unknown: ShellWord| {
            let start = program.iter().chain(&before).map(|word| ShellWord::literal(word));
            let words = start.chain([unknown]).chain(after.iter().map(|word| ShellWord::literal(word))).collect();
            effects(&ProgramRun { words, ..ProgramRun::default() })
        };
        let unknown = run(ShellWord { parts: vec![WordPart::Unknown { quoted: true }], span: 0..0 });
        let known = run(ShellWord::literal(&text));
        let kinds: BTreeSet<u8> = unknown.hazards.iter().map(|hazard| hazard.kind as u8).collect();
        if unknown.known && !kinds.contains(&(HazardKind::Unknown as u8)) {
            for hazard in &known.hazards {
                // A harmless program may be given an option that it does not have: it only complains.
                prop_assert!(hazard.kind == HazardKind::Unknown || kinds.contains(&(hazard.kind as u8)), "{known:?}");
            }
        }
    }
}
