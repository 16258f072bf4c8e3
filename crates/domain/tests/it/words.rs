//! Holds the names of the workspace against the vocabulary of [`holdpoint_domain::words`]. Reads the sources as text.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use holdpoint_domain::webhook::delivery::TEST_MESSAGE;
use holdpoint_domain::words::{RETIRED, RETIRED_TYPES, WORDS};
use holdpoint_domain::{AuditKind, EventKind};

/// Field of a question that a guide explains. It has the form of an event name.
const DELIVERY_FIELD: &str = "delivery.state";
/// Flag with the words "at once", which mean simultaneously.
const SIMULTANEOUS: &str = "lists_at_once";
/// First parts of event names whose noun is not a word of the vocabulary.
const FAMILIES_OF_THEIR_OWN: [&str; 3] = ["database", "model", "ticket"];

/// Every public type, table, route, event, command and flag name, each with the file that defines it.
#[derive(Default)]
struct Names {
    types: BTreeSet<(String, String)>,
    tables: BTreeSet<(String, String)>,
    routes: BTreeSet<(String, String)>,
    events: BTreeSet<(String, String)>,
    commands: BTreeSet<(String, String)>,
    flags: BTreeSet<(String, String)>,
}

#[test]
fn no_name_contains_a_retired_word() {
    report(&Names::read().retired());
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
    check("create table a (b text); alter table a rename to figures;\n", "a.sql", "table figures: `figures`");
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
    assert!(words.len() <= 65, "{} words", words.len());
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
    assert_eq!(parts("step.sent_back"), ["step", "sent", "back"]);
}

fn report(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

/// The words of a name in lower case: `ProposalReads` and `proposal_reads` are `proposal` and `reads`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in name.chars() {
        if letter.is_uppercase() || !letter.is_alphanumeric() {
            parts.push(String::new());
        }
        if letter.is_alphanumeric() {
            parts.last_mut().unwrap().extend(letter.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

impl Names {
    /// Names that contain a retired word, or that are a retired type.
    fn retired(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for (sort, found) in self.sorts() {
            for (name, file) in found.iter().filter(|(name, _)| name != SIMULTANEOUS) {
                let parts = parts(name);
                let is_in = |word: &str| parts.iter().any(|part| part == word || part.strip_suffix('s') == Some(word));
                if let Some(retired) = RETIRED.iter().find(|retired| is_in(retired.word)) {
                    findings.push(format!("{sort} {name}: `{}` is now {} ({file})", retired.word, retired.instead));
                }
            }
        }
        let types = self.types.iter().filter(|(name, _)| RETIRED_TYPES.contains(&name.as_str()));
        findings.extend(types.map(|(name, file)| format!("type {name}: name it after the thing that it is ({file})")));
        findings
    }

    fn sorts(&self) -> [(&'static str, &BTreeSet<(String, String)>); 6] {
        [
            ("type", &self.types),
            ("table", &self.tables),
            ("route", &self.routes),
            ("event", &self.events),
            ("command", &self.commands),
            ("flag", &self.flags),
        ]
    }

    fn read() -> Self {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut names = Self::default();
        let mut files: Vec<PathBuf> = Vec::new();
        for krate in fs::read_dir(crates).unwrap() {
            let krate = krate.unwrap().path();
            list(&krate.join("src"), &["rs", "sql"], &mut files);
            list(&krate.join("migrations"), &["rs", "sql"], &mut files);
        }
        files.sort_by_key(|file| (version(file), file.clone()));
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let shown = file.strip_prefix(crates).unwrap().display().to_string();
            names.add(&text, &shown);
        }
        names
    }

    #[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of source files are in lower case")]
    fn add(&mut self, text: &str, file: &str) {
        self.add_tables(text, file);
        if !file.ends_with(".rs") || file.starts_with("domain/src/words") {
            return;
        }
        if file.starts_with("cli/") {
            self.add_flags(text, file);
        }
        let mut subcommands = false;
        for line in text.lines() {
            let code = line.trim_start();
            if let Some(name) = public_type(code) {
                self.types.insert((name.to_owned(), file.to_owned()));
            }
            if code.starts_with("#[derive(") {
                subcommands = code.contains("Subcommand");
            }
            let variant = code.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
            if subcommands && variant.starts_with(char::is_uppercase) {
                self.commands.insert((variant.to_owned(), file.to_owned()));
            }
            subcommands &= line != "}";
            for literal in code.split('"').skip(1).step_by(2) {
                if literal.starts_with('/') && (code.contains("path = \"") || code.contains(".route(\"")) {
                    self.routes.insert((literal.to_owned(), file.to_owned()));
                }
                if is_event(literal) {
                    self.events.insert((literal.to_owned(), file.to_owned()));
                }
            }
        }
    }

    /// Finds the flags of the command line: fields with `#[arg(long)]`, or the name that the attribute gives.
    fn add_flags(&mut self, text: &str, file: &str) {
        for after in text.split("#[arg(").skip(1) {
            let Some((attribute, rest)) = after.split_once(")]") else { continue };
            let mut settings = attribute.split(',').map(str::trim);
            let Some(long) = settings.find(|setting| setting.starts_with("long")) else { continue };
            let field = rest.lines().map(str::trim).find(|line| line.contains(": ") && !line.starts_with(['#', '/']));
            let field = field.and_then(|line| line.split(':').next()?.split(' ').next_back());
            let given = long.split_once('"').and_then(|(_, name)| name.split('"').next());
            self.flags.extend(given.or(field).map(|name| (name.to_owned(), file.to_owned())));
        }
    }

    /// Follows `create table`, `alter table … rename to` and `drop table` in the order of the migrations.
    fn add_tables(&mut self, text: &str, file: &str) {
        let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || "();,\"".contains(letter)).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty() && *word != "\\").collect();
        let after = |at: usize| words[at + 2..].iter().find(|word| !["if", "not", "exists"].contains(word)).copied();
        for at in 0..words.len().saturating_sub(3) {
            match (words[at], words[at + 1]) {
                ("create", "table") => drop(after(at).map(|name| self.tables.insert((name.into(), file.into())))),
                ("drop", "table") => self.tables.retain(|(name, _)| Some(name.as_str()) != after(at)),
                ("alter", "table") if words.get(at + 3) == Some(&"rename") && words.get(at + 4) == Some(&"to") => {
                    self.tables.retain(|(name, _)| name != words[at + 2]);
                    self.tables.insert((words[at + 5].into(), file.into()));
                }
                _ => {}
            }
        }
    }
}

fn public_type(code: &str) -> Option<&str> {
    let rest = code.strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|sort| rest.strip_prefix(sort))?;
    rest.split(|letter: char| !letter.is_alphanumeric()).next()
}

/// Whether a literal has the form of an event name, `interaction.answered`, with a first part that the vocabulary knows or has retired.
fn is_event(literal: &str) -> bool {
    let Some((family, name)) = literal.split_once('.') else { return false };
    let lower =
        |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    let known = WORDS.iter().any(|word| word.events == family) || RETIRED.iter().any(|word| word.word == family);
    known && lower(family) && lower(name) && !["toml", "json", "md", "rs"].contains(&name)
}

/// The number of a migration, so that they are read in their order; files of sources come last.
fn version(file: &Path) -> u64 {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let digits: String = name.trim_start_matches('V').chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(u64::MAX)
}

fn list(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) {
    let Ok(found) = fs::read_dir(folder) else { return };
    for entry in found {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, endings, files);
        } else if path.extension().is_some_and(|end| endings.iter().any(|wanted| end == *wanted)) {
            files.push(path);
        }
    }
}
