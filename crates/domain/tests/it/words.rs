//! Holds the names of the workspace against the vocabulary of [`holdpoint_domain::words`]. The module `scanner` reads the names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use holdpoint_domain::webhook::delivery::TEST_MESSAGE;
use holdpoint_domain::words::{RETIRED, Retired, WORDS};
use holdpoint_domain::{AuditKind, EventKind};

use self::scanner::{Names, is_event, items, list, parts, retired_in, sources, tests, variables};

mod scanner;

/// Field of a question that a guide explains. It has the form of an event name.
const DELIVERY_FIELD: &str = "delivery.state";
/// Commands of the command line that are verbs, or that name no concept of the product.
const COMMANDS_OF_THEIR_OWN: [&str; 16] = [
    "Adopt", "Backup", "Check", "Create", "Database", "Explain", "Export", "List", "New", "Openapi", "Revoke",
    "Rotate", "Serve", "Simulate", "Test", "Verify",
];
/// Sources that may contain the names of events as literals: those that define them, examples of the API, tests and measurements.
const NAMED_BY_LITERALS: [&str; 5] =
    ["domain/src/event/kind.rs", "domain/src/audit/kind.rs", "protocol/src/", "store/src/conformance/", "bench/src/"];
/// First parts of event names whose noun is not a word of the vocabulary.
const FAMILIES_OF_THEIR_OWN: [&str; 2] = ["database", "model"];

/// Sources that name what earlier versions stored, by the words of those versions.
const SOURCES_OF_THE_PAST: [&str; 2] = ["domain/src/words.rs", "store-postgres/src/migrate/gradual.rs"];
/// Retired words that have another meaning in the name of a function or a variable: the drive of a Windows path, and the seed of random numbers.
const OTHER_MEANINGS: [&str; 2] = ["drive", "seed"];
/// End of the adverb in a longer name, such as `at_once` or `is_shown_once`. A retired word that stands alone or first is a finding.
const ADVERB: &str = "_once";
/// Test that plants names with retired words.
const PLANTED: &str = "domain/tests/it/words.rs";

#[test]
fn no_name_contains_a_retired_word() {
    report(&Names::read().retired());
}

/// No type, variant, function or variable contains a retired word, whether it is public or not. Tests count too.
#[test]
fn no_item_contains_a_retired_word() {
    let (mut findings, mut found) = (Vec::new(), 0);
    let excepted = |file: &str| SOURCES_OF_THE_PAST.contains(&file) || file == PLANTED;
    for (file, text) in sources().into_iter().chain(tests()).filter(|(file, _)| !excepted(file)) {
        for name in items(&text).into_iter().chain(variables(&text)) {
            found += 1;
            let retired = retired_in(name).filter(|retired| !has_other_meaning(name, retired));
            findings.extend(
                retired.map(|retired| format!("{file}: {name}: `{}` is now {}", retired.word, retired.instead)),
            );
        }
    }
    assert!(found > 20_000, "{found} items and variables");
    report(&findings);
}

/// Whether a retired word has another meaning in the name of a function or a variable.
fn has_other_meaning(name: &str, retired: &Retired) -> bool {
    let is_adverb = retired.word == "once" && name.contains(ADVERB);
    name.starts_with(char::is_lowercase) && (is_adverb || OTHER_MEANINGS.contains(&retired.word))
}

/// Each table, the first noun of each route of `/v1`, and each command that is a noun belong to a word.
#[test]
fn every_table_route_and_command_belongs_to_a_word() {
    let names = Names::read();
    let nouns: BTreeSet<&str> = WORDS.iter().flat_map(|word| word.route.split('/')).collect();
    let mut findings: Vec<String> = Vec::new();
    for (table, file) in &names.tables {
        if !WORDS.iter().any(|word| word.tables.contains(&table.as_str())) {
            findings.push(format!("table {table}: the vocabulary has no word for it ({file})"));
        }
    }
    for (route, file) in names.routes.iter().filter(|(route, _)| route.starts_with("/v1/")) {
        let first = route.split('/').nth(2).unwrap_or_default();
        if !nouns.contains(first) {
            findings.push(format!("route {route}: the vocabulary has no word for `{first}` ({file})"));
        }
    }
    for (command, file) in &names.commands {
        let noun = command.to_lowercase();
        let is_of = |word: &str| word.split(' ').next().is_some_and(|word| singular(&noun) == singular(word));
        if !COMMANDS_OF_THEIR_OWN.contains(&command.as_str()) && !WORDS.iter().any(|word| is_of(word.word)) {
            findings.push(format!("command {command}: the vocabulary has no word for it ({file})"));
        }
    }
    assert!(names.commands.len() > 20, "{} commands", names.commands.len());
    report(&findings);
}

/// Singular of a noun: `key` of `keys`, `policy` of `policies`.
fn singular(noun: &str) -> String {
    noun.strip_suffix("ies").map_or_else(|| noun.trim_end_matches('s').to_owned(), |stem| format!("{stem}y"))
}

/// The name that the vocabulary gives a concept in JSON is that of a field or a value there.
#[test]
fn every_json_name_of_the_vocabulary_exists() {
    let sources: Vec<String> = sources()
        .into_iter()
        .filter(|(file, _)| file.starts_with("protocol/src/") || file.starts_with("domain/src/"))
        .filter(|(file, _)| !SOURCES_OF_THE_PAST.contains(&file.as_str()))
        .map(|(_, text)| text)
        .collect();
    let exists = |name: &str| {
        let (quoted, field) = (format!("\"{name}\""), format!("    pub {name}: "));
        sources.iter().any(|text| text.contains(&quoted) || text.contains(&field))
    };
    let named = || WORDS.iter().map(|word| word.json).filter(|name| !name.is_empty());
    let findings: Vec<String> =
        named().filter(|name| !exists(name)).map(|name| format!("JSON name {name}: it does not exist")).collect();
    assert!(named().count() > 40 && !exists("luggage"));
    report(&findings);
}

/// A name of each sort with a retired word is found: in CamelCase, in `snake_case`, with hyphens, and in the plural.
#[test]
fn a_retired_word_is_found_in_a_name_of_each_sort() {
    let check = |source: &str, file: &str, expected: &str| {
        let mut names = Names::default();
        names.add(source, file);
        let found = names.retired();
        assert!(found.len() == 1 && found[0].starts_with(expected), "{source}: {found:?}");
    };
    check("pub struct ProposalReads;\n", "a.rs", "type ProposalReads: `proposal`");
    check("pub type AllWires = u8;\n", "a.rs", "type AllWires: `wire`");
    check("pub enum Luggage {}\n", "a.rs", "type Luggage: `luggage`");
    check("pub struct Wanted;\n", "a.rs", "type Wanted: name it");
    check("create table step_portions (id text);\n", "a.sql", "table step_portions: `portion`");
    check("create table a (b text); alter table a rename to figures;\n", "a.sql", "table figures: `figure`");
    check("#[utoipa::path(get, path = \"/v1/proposals/{id}\")]\n", "a.rs", "route /v1/proposals/{id}: `proposal");
    check("const NAME: &str = \"proposal.made\";\n", "a.rs", "event proposal.made: `proposal`");
    check("#[derive(Subcommand)]\nenum Command {\n    Drive(Args),\n}\n", "cli/src/a.rs", "command Drive: `drive`");
    check("    #[arg(long)]\n    once_kept: u64,\n", "cli/src/a.rs", "flag once_kept: `once`");
    check(
        "    #[arg(\n        long = \"wire-name\",\n    )]\n    name: u64,\n",
        "cli/src/a.rs",
        "flag wire-name: `wire`",
    );
}

#[test]
fn every_name_of_the_vocabulary_exists() {
    let names = Names::read();
    let mut findings = Vec::new();
    let family = |name: &'static str| (family(name).to_owned(), String::new());
    let families = kind_names().map(family).collect();
    let mut demand = |sort: &str, wanted: &str, found: &BTreeSet<(String, String)>| {
        if !wanted.is_empty() && !found.iter().any(|(name, _)| name == wanted) {
            findings.push(format!("{sort} {wanted}: the vocabulary names it, and it does not exist"));
        }
    };
    for word in WORDS {
        word.types.iter().for_each(|name| demand("type", name, &names.types));
        word.tables.iter().for_each(|name| demand("table", name, &names.tables));
        demand("route", word.route, &names.routes);
        demand("event family", word.events, &families);
    }
    report(&findings);
}

/// The kinds of events and of audit entries are the only place that names them; other sources use the enums.
#[test]
fn every_event_name_is_that_of_a_kind() {
    let mut findings = Vec::new();
    for (name, file) in Names::read().events {
        if !kind_names().any(|kind| kind == name) && name != TEST_MESSAGE {
            findings.push(format!("event {name}: there is no such kind ({file})"));
        }
        if name != TEST_MESSAGE && !NAMED_BY_LITERALS.iter().any(|place| file.starts_with(place)) {
            findings.push(format!("event {name}: match the kind instead of the name ({file})"));
        }
    }
    for name in kind_names() {
        let family = family(name);
        if !WORDS.iter().any(|word| word.events == family) && !FAMILIES_OF_THEIR_OWN.contains(&family) {
            findings.push(format!("event {name}: the vocabulary has no word for `{family}`"));
        }
    }
    report(&findings);
}

/// The page has a text for each kind of event, and for no other.
#[test]
fn the_page_names_every_event() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let file = crates.with_file_name("web/src/locales/en/session.json");
    let texts: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let shown: BTreeSet<String> = texts["events"].as_object().unwrap().keys().cloned().collect();
    let kinds: BTreeSet<String> = EventKind::NAMES.iter().map(|name| name.replace('.', "_")).collect();
    assert_eq!(shown, kinds);
}

/// The page uses the name that the vocabulary has for it, in the singular or the plural.
#[test]
fn the_page_uses_the_names_of_the_vocabulary() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut files, mut texts) = (Vec::new(), Vec::new());
    list(&crates.with_file_name("web/src/locales/en"), &["json"], &mut files);
    for file in files {
        let file: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        add_texts(&file, &mut texts);
    }
    let says = |name: &str| texts.iter().any(|text| text.contains(&format!(" {name} ")));
    let mut findings = Vec::new();
    for word in WORDS.iter().filter(|word| !word.page.is_empty()) {
        let name = word.page.to_lowercase();
        if ![format!("{name}s"), name].iter().any(|name| says(name)) {
            findings.push(format!("{}: no text of the page says `{}`", word.word, word.page));
        }
    }
    assert!(!says("audit log"), "the page calls it the audit trail");
    report(&findings);
}

/// Adds the texts of a locale in lower case, with a space before and after each word.
fn add_texts(value: &serde_json::Value, texts: &mut Vec<String>) {
    if let Some(text) = value.as_str() {
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        texts.push(format!(" {} ", words.join(" ").to_lowercase()));
    }
    value.as_object().into_iter().flatten().for_each(|(_, inner)| add_texts(inner, texts));
}

#[test]
fn the_glossary_explains_the_words_that_are_marked_for_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let glossary = fs::read_to_string(crates.with_file_name("docs/glossary.md")).unwrap();
    let rows = glossary.lines().filter_map(|line| line.strip_prefix("| **"));
    let explained: Vec<&str> = rows.filter_map(|row| row.split_once("**").map(|(word, _)| word)).collect();
    let marked: Vec<&str> = WORDS.iter().filter(|word| word.glossary).map(|word| word.word).collect();
    assert_eq!(explained, marked);
}

/// Guides, decisions and lists of the documentation name no event that does not exist.
#[test]
fn documents_name_events_that_exist() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut files, mut findings, mut found) = (Vec::new(), Vec::new(), 0);
    list(&crates.with_file_name("docs"), &["md"], &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for name in text.split('`').skip(1).step_by(2).filter(|code| is_event(code)) {
            found += 1;
            if !kind_names().any(|kind| kind == name) && ![TEST_MESSAGE, DELIVERY_FIELD].contains(&name) {
                findings.push(format!("event {name}: there is no such kind ({})", file.display()));
            }
        }
    }
    assert!(found > 10, "{found} names");
    report(&findings);
}

/// First part of an event name: `interaction` of `interaction.answered`.
fn family(name: &str) -> &str {
    name.split_once('.').map_or(name, |(family, _)| family)
}

/// Names of the events of sessions and of the changes that only the audit trail records.
fn kind_names() -> impl Iterator<Item = &'static str> {
    EventKind::NAMES.iter().chain(AuditKind::NAMES).copied()
}

#[test]
fn the_vocabulary_is_short_sorted_and_unambiguous() {
    let words: Vec<&str> = WORDS.iter().map(|word| word.word).collect();
    assert!(words.is_sorted(), "{words:?}");
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "a word is listed twice");
    assert!(words.len() <= 80, "{} words", words.len());
    assert!(WORDS.iter().filter(|word| word.glossary).count() <= 25, "the glossary has at most 25 words");
    for retired in RETIRED {
        assert!(!words.contains(&retired.word), "{} is retired and in use", retired.word);
    }
}

#[test]
fn the_scanner_finds_names_of_each_sort() {
    let names = Names::read();
    for (sort, found, wanted) in [
        ("type", &names.types, "Interaction"),
        ("table", &names.tables, "sessions"),
        ("route", &names.routes, "/v1/sessions"),
        ("event", &names.events, "interaction.answered"),
        ("command", &names.commands, "Serve"),
        ("flag", &names.flags, "data"),
    ] {
        assert!(found.iter().any(|(name, _)| name == wanted), "{sort} {wanted} was not found among {}", found.len());
    }
    assert_eq!(parts("ProposalReads"), ["proposal", "reads"]);
    assert_eq!(parts("/v1/stats/details"), ["v1", "stats", "details"]);
    assert_eq!(items("pub enum A {\n    B(u8),\n}\n\nimpl A {\n    const fn c() {}\n}\n"), ["A", "B", "c"]);
    assert_eq!(variables("    let mut untaken = 1;\n    if let (Some(a), b) = c {\n"), ["mut", "untaken", "a", "b"]);
    assert_eq!(variables("fn a(&self, mut b: u8, c: &str) {\n    d(|e, f| g);\n"), ["b", "c", "e", "f"]);
    let means_otherwise = |name| has_other_meaning(name, retired_in(name).unwrap());
    assert_eq!(["once", "once_kept", "Once", "at_once"].map(means_otherwise), [false, false, false, true]);
    assert!(tests().iter().any(|(file, _)| file == PLANTED));
    assert_eq!(retired_in("AskedByNow").map(|retired| retired.word), Some("by_now"));
    assert_eq!(parts("step.sent_back"), ["step", "sent", "back"]);
}

fn report(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
