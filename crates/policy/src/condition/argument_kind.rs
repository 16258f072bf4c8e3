//! Guesses the kind of an argument from its name, for the lints of expressions.

/// Kind of text that an argument contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentKind {
    Command,
    Url,
    Sql,
    Path,
}

/// Last words of the names of each kind.
const COMMANDS: [&str; 7] = ["command", "commands", "cmd", "cmds", "script", "scripts", "cmdline"];
const URLS: [&str; 6] = ["url", "urls", "uri", "uris", "endpoint", "href"];
const SQLS: [&str; 2] = ["sql", "statement"];
const PATHS: [&str; 12] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filepath",
    "dir",
    "directory",
    "directories",
    "folder",
    "cwd",
    "workdir",
];
/// Beginnings of SQL texts: an argument `query` that is compared with one is SQL.
const SQL_VERBS: [&str; 6] = ["select", "with", "insert", "update", "delete", "show"];
/// Words of the names of amounts.
const AMOUNTS: [&str; 18] = [
    "amount", "balance", "budget", "cents", "cost", "count", "credit", "credits", "discount", "fee", "payment",
    "price", "qty", "quantity", "refund", "sum", "total", "value",
];

/// Returns the kind of an argument with this name that an expression compares with this text.
pub(super) fn argument_kind(name: &str, compared: &str) -> Option<ArgumentKind> {
    let words = words(name);
    let last = words.last()?.as_str();
    let verb = compared.trim_start_matches(['^', '(', '?', 'i', ')', '*']).to_lowercase();
    if COMMANDS.contains(&last) {
        Some(ArgumentKind::Command)
    } else if URLS.contains(&last) {
        Some(ArgumentKind::Url)
    } else if SQLS.contains(&last)
        || (last == "query"
            && SQL_VERBS.iter().any(|sql| verb.starts_with(sql) || compared.to_lowercase().starts_with(sql)))
    {
        Some(ArgumentKind::Sql)
    } else if PATHS.contains(&last) {
        Some(ArgumentKind::Path)
    } else {
        None
    }
}

/// Says whether the name is that of an amount.
pub(super) fn is_amount(name: &str) -> bool {
    words(name).iter().any(|word| AMOUNTS.contains(&word.as_str()))
}

/// The safe form of a comparison.
pub(super) fn suggestion(kind: ArgumentKind, function: &str, literal: &str) -> String {
    let plain = !literal.is_empty() && !literal.contains(['^', '$', '(', '[', '\\', '|', '*', '"']);
    let from_start = plain && function == "startsWith";
    match kind {
        ArgumentKind::Command if from_start => format!("`commands = [\"{} *\"]`", literal.trim()),
        ArgumentKind::Command => "`commands = [\"git status\", \"git log *\"]`, the commands word by word".to_owned(),
        ArgumentKind::Url => {
            let rest = literal.split_once("://").map_or(literal, |(_, rest)| rest);
            let host = rest.split(['/', ':', '?']).next().unwrap_or_default().trim_start_matches('.');
            if plain && host.contains('.') {
                format!("`hosts = [\"{host}\"]`")
            } else {
                "`hosts = [\"docs.rs\"]`, the hosts that it may be".to_owned()
            }
        }
        ArgumentKind::Sql => "`tables = [\"analytics.*\"]`, the tables that it may read".to_owned(),
        ArgumentKind::Path if from_start => format!("`paths = [\"{}/**\"]`", literal.trim_end_matches('/')),
        ArgumentKind::Path if plain && function == "endsWith" && literal.starts_with('.') => {
            format!("`paths = [\"**/*{literal}\"]`")
        }
        ArgumentKind::Path => "`paths = [\"src/**\"]`, or `under(path.canonical, …)`".to_owned(),
    }
}

/// The words of a name in lower case: `filePath` and `file_path` are `file` and `path`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        let starts = matches!(c, '_' | '-' | '.') || (c.is_uppercase() && lower);
        if starts {
            words.push(String::new());
        }
        lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
