//! Reads the lists of patterns of a rule: `commands`, `writes`, `paths`, `hosts`, `tables`, `env`, `in`.

use command_line::{ProgramRun, ShellWord, effects};
use domain::Verdict;

use crate::{
    Pattern,
    command_pattern::CommandPattern,
    document::{Located, Table},
    finding::Findings,
    host_pattern::HostPattern,
    part_patterns::PartPatterns,
    path_pattern::PathPattern,
    table_pattern::TablePattern,
    wildcard::Wildcard,
};

/// The keys of a rule that are lists of patterns.
pub(crate) const KEYS: [&str; 7] = ["commands", "writes", "paths", "hosts", "tables", "env", "in"];
/// Largest number of patterns in a list.
const MOST: usize = 200;

/// Reads the lists of a rule. `None` if it has none.
pub(crate) fn read(
    table: &Table<'_>,
    verdict: Option<Verdict>,
    findings: &mut Findings<'_>,
) -> Option<Box<PartPatterns>> {
    if !KEYS.iter().any(|key| table.has(key)) {
        return None;
    }
    let allows = verdict == Some(Verdict::Allow);
    let commands = list(table, "commands", CommandPattern::new, findings);
    if let Some(commands) = commands.as_ref().filter(|_| allows) {
        commands.iter().for_each(|pattern| check_allowed(pattern, findings));
    }
    let env = list(table, "env", Pattern::new, findings);
    for pattern in env.iter().flatten().filter(|pattern| allows && pattern.it.is_everything()) {
        let message = "this allows every variable, also those that decide what runs, such as `PATH`";
        findings.warning(pattern.at, "allows_everything", message);
    }
    let patterns = PartPatterns {
        commands: commands.map(bare),
        writes: list(table, "writes", PathPattern::new, findings).map(bare),
        paths: list(table, "paths", PathPattern::new, findings).map(bare),
        hosts: list(table, "hosts", HostPattern::new, findings).map(bare),
        tables: list(table, "tables", TablePattern::new, findings).map(bare),
        env: env.map(bare),
        within: list(table, "in", PathPattern::new, findings).map(bare),
    };
    if allows && patterns.first_key() == "in" {
        let message = "`in` limits the other lists of a rule and allows nothing by itself; add `commands`";
        findings.error(table.place("in"), "never_matches", message);
    }
    Some(Box::new(patterns))
}

fn bare<T>(patterns: Vec<Located<T>>) -> Vec<T> {
    patterns.into_iter().map(|pattern| pattern.it).collect()
}

/// Reads one list.
fn list<T>(
    table: &Table<'_>,
    key: &str,
    read: impl Fn(&str) -> Result<T, String>,
    findings: &mut Findings<'_>,
) -> Option<Vec<Located<T>>> {
    let texts = table.texts(key, findings)?;
    if texts.it.is_empty() {
        findings.error(texts.at, "never_matches", format!("`{key}` is empty, so that this rule matches nothing"));
    }
    if texts.it.len() > MOST {
        findings.error(texts.at, "too_many_patterns", format!("`{key}` has more than {MOST} patterns"));
        return Some(Vec::new());
    }
    let mut patterns = Vec::with_capacity(texts.it.len());
    for text in &texts.it {
        match read(text.it) {
            Ok(it) => patterns.push(Located { at: text.at, it }),
            Err(why) => findings.error(text.at, "wrong_pattern", format!("a pattern of `{key}` {why}")),
        }
    }
    Some(patterns)
}

/// Checks a pattern of commands of an allowing rule: it names its program, and the program is known.
fn check_allowed(pattern: &Located<CommandPattern>, findings: &mut Findings<'_>) {
    let programs = &pattern.it.program;
    if !programs.is_literal() {
        let message = "a pattern of an allowing rule names its program: a wildcard there would allow every program";
        findings.error(pattern.at, "any_program", message);
        return;
    }
    if !pattern.it.open {
        return;
    }
    for program in programs.alternatives.iter().filter_map(Wildcard::literal) {
        let run = ProgramRun { words: vec![ShellWord::literal(program)], ..ProgramRun::default() };
        if !effects(&run).known {
            let message = format!(
                "the options of `{program}` are not known, so that `*` allows all of them, also those that write, start programs or send"
            );
            findings.warning(pattern.at, "unknown_program", message);
        }
    }
}
