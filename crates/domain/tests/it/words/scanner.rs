//! Reads names out of the sources of the workspace as text: types, tables, routes, events, commands, flags, functions and variables.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use holdpoint_domain::words::{RETIRED, RETIRED_TYPES, Retired, WORDS};

/// Flag with the words "at once", which mean simultaneously.
const SIMULTANEOUS: &str = "lists_at_once";

/// Every public type, table, route, event, command and flag name, each with the file that defines it.
#[derive(Default)]
pub(super) struct Names {
    pub(super) types: BTreeSet<(String, String)>,
    pub(super) tables: BTreeSet<(String, String)>,
    pub(super) routes: BTreeSet<(String, String)>,
    pub(super) events: BTreeSet<(String, String)>,
    pub(super) commands: BTreeSet<(String, String)>,
    pub(super) flags: BTreeSet<(String, String)>,
}

/// The words of a name in lower case: `ProposalReads` and `proposal_reads` are `proposal` and `reads`.
pub(super) fn parts(name: &str) -> Vec<String> {
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
    pub(super) fn retired(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for (sort, found) in self.sorts() {
            for (name, file) in found.iter().filter(|(name, _)| name != SIMULTANEOUS) {
                if let Some(retired) = retired_in(name) {
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

    pub(super) fn read() -> Self {
        let mut names = Self::default();
        for (file, text) in sources() {
            names.add(&text, &file);
        }
        names
    }

    #[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the names of source files are in lower case")]
    pub(super) fn add(&mut self, text: &str, file: &str) {
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

/// Sources and migrations of all crates, each with its path below `crates`. Migrations come first, in their order.
pub(super) fn sources() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files: Vec<PathBuf> = Vec::new();
    for krate in fs::read_dir(crates).unwrap() {
        let krate = krate.unwrap().path();
        list(&krate.join("src"), &["rs", "sql"], &mut files);
        list(&krate.join("migrations"), &["rs", "sql"], &mut files);
    }
    files.sort_by_key(|file| (version(file), file.clone()));
    let shown = |file: &Path| file.strip_prefix(crates).unwrap().display().to_string();
    files.into_iter().map(|file| (shown(&file), fs::read_to_string(&file).unwrap())).collect()
}

/// Sources of the tests of all crates, each with its path below `crates`.
pub(super) fn tests() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files: Vec<PathBuf> = Vec::new();
    for krate in fs::read_dir(crates).unwrap() {
        list(&krate.unwrap().path().join("tests"), &["rs"], &mut files);
    }
    let shown = |file: &Path| file.strip_prefix(crates).unwrap().display().to_string();
    files.into_iter().map(|file| (shown(&file), fs::read_to_string(&file).unwrap())).collect()
}

/// Retired word that a name contains, in the singular or the plural. A retired word may have several parts, such as `by_now`.
pub(super) fn retired_in(name: &str) -> Option<&'static Retired> {
    let parts = parts(name);
    let is_in = |word: &str| {
        let words: Vec<&str> = word.split('_').collect();
        let is_same = |(part, word): (&String, &&str)| part == word || part.strip_suffix('s') == Some(word);
        parts.windows(words.len()).any(|window| window.iter().zip(&words).all(is_same))
    };
    RETIRED.iter().find(|retired| is_in(retired.word))
}

/// Names of the types, variants and functions that a source declares.
pub(super) fn items(text: &str) -> Vec<&str> {
    let word = |code: &str| code.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(code.len());
    let (mut found, mut variants) = (Vec::new(), None);
    for line in text.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        let mut rest = code;
        while let Some(after) = ["pub ", "pub(crate) ", "pub(super) ", "const ", "async ", "unsafe "]
            .iter()
            .find_map(|before| rest.strip_prefix(before))
        {
            rest = after;
        }
        let declared = ["struct ", "enum ", "trait ", "type ", "fn "].iter().find_map(|sort| rest.strip_prefix(sort));
        found.extend(declared.map(|name| &name[..word(name)]));
        if rest.starts_with("enum ") && rest.ends_with('{') {
            variants = Some(indent);
        } else if variants == Some(indent) && code == "}" {
            variants = None;
        } else if variants == indent.checked_sub(4) && variants.is_some() && code.starts_with(char::is_uppercase) {
            found.push(&code[..word(code)]);
        }
    }
    found
}

/// Names of the variables that a source binds: with `let`, alone or in a pattern, in the parameters of a closure, and before a type, as parameters and
/// fields.
pub(super) fn variables(text: &str) -> Vec<&str> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_variable = |name: &str| name.starts_with(|letter: char| letter.is_lowercase() || letter == '_');
    let mut found = Vec::new();
    for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
        let bound = line.split("let ").skip(1).filter_map(|rest| rest.split([':', '=']).next());
        let in_closures = line.split('|').skip(1).step_by(2);
        found.extend(bound.chain(in_closures).flat_map(|names| names.split(|letter| !is_name(letter))));
        let typed = line.split(['(', ',', '{']).filter_map(|rest| Some(rest.split_once(": ")?.0.trim_start()));
        let names = typed.map(|name| name.strip_prefix("mut ").or_else(|| name.strip_prefix("pub ")).unwrap_or(name));
        found.extend(names.map(|name| name.trim_start_matches("crate) ").trim_start_matches("super) ")));
    }
    found.retain(|name| is_variable(name) && name.chars().all(is_name));
    found
}

fn public_type(code: &str) -> Option<&str> {
    let rest = code.strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|sort| rest.strip_prefix(sort))?;
    rest.split(|letter: char| !letter.is_alphanumeric()).next()
}

/// Whether a literal has the form of an event name, `interaction.answered`, with a first part that the vocabulary knows or has retired.
pub(super) fn is_event(literal: &str) -> bool {
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

pub(super) fn list(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) {
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
