//! Which argument of a tool is what.
//!
//! By its name, wherever it stands in the arguments; capitals, `_` and `-` do not count (`filePath` is `file_path`):
//!
//! | name | is |
//! | --- | --- |
//! | `command`, `cmd`, `script`, `shell_command`, `bash_command`, `commands` | a shell command; a list of words is one that no shell sees |
//! | `args`, `argv` beside a command | its further words |
//! | `env`, `environment` beside a command | its variables |
//! | `path`, `file`, `file_path`, `filename`, `directory`, `dir`, `cwd`, … and their plurals | a path |
//! | `source`, `destination`, `src`, `dst`, `from`, `to`, `target`, … | a path, where it is a text |
//! | `url`, `uri`, `endpoint`, `href`, `webhook_url`, … | a URL |
//! | `method`, `http_method` beside a URL | its method; else `POST` where there is a body, `GET` where there is none |
//! | `sql`, `statement`, `sql_query` | SQL |
//! | `query` | SQL where the tool's name says so (`sql`, `db`, `postgres`, …) or the text is SQL |

use serde_json::Value;

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Command,
    Path,
    /// A path where it is a text; other types mean something else.
    PerhapsPath,
    Url,
    Sql,
    /// SQL where it can be read as such, or the tool says so.
    PerhapsSql,
}

const COMMANDS: &[&str] =
    &["command", "cmd", "script", "shellcommand", "bashcommand", "commandline", "commands", "shell", "bash"];

const PATHS: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filepath",
    "filepaths",
    "filename",
    "filenames",
    "directory",
    "directories",
    "dir",
    "folder",
    "cwd",
    "workdir",
    "workingdirectory",
    "workingdir",
    "absolutepath",
    "relativepath",
    "rootpath",
    "root",
    "targetfile",
    "targetpath",
    "notebookpath",
    "sourcepath",
    "destinationpath",
    "srcpath",
    "dstpath",
    "destpath",
    "oldpath",
    "newpath",
    "outputpath",
    "inputpath",
    "outputfile",
    "inputfile",
    "localpath",
];

const PERHAPS_PATHS: &[&str] = &["source", "destination", "src", "dst", "dest", "from", "to", "target"];

const URLS: &[&str] = &[
    "url",
    "urls",
    "uri",
    "endpoint",
    "href",
    "link",
    "webhook",
    "webhookurl",
    "callbackurl",
    "baseurl",
    "apiurl",
    "requesturl",
];

const SQLS: &[&str] = &["sql", "sqls", "statement", "statements", "sqlquery", "sqlstatement", "querysql"];

/// Words in a tool's name that make its `query` SQL.
const DATABASES: &[&str] = &[
    "sql",
    "db",
    "database",
    "postgres",
    "postgresql",
    "psql",
    "mysql",
    "mariadb",
    "sqlite",
    "duckdb",
    "bigquery",
    "snowflake",
    "redshift",
    "clickhouse",
];

/// An argument that is looked into.
pub(super) struct Argument<'a> {
    pub(super) sort: Sort,
    /// Where it stands: `path`, `edits[0].file_path`.
    pub(super) place: String,
    /// The object that it stands in.
    pub(super) beside: &'a Value,
    pub(super) value: &'a Value,
}

/// How deep arguments are looked for, and how many are taken.
const DEEPEST: usize = 8;
const MOST: usize = 256;

/// Finds every argument that is looked into. `Err` where there are too many of them, or they are too deep to be found.
pub(super) fn find(arguments: &Value) -> Result<Vec<Argument<'_>>, &'static str> {
    let mut found = Vec::new();
    search(arguments, "", 0, &mut found)?;
    Ok(found)
}

fn search<'a>(value: &'a Value, place: &str, depth: usize, found: &mut Vec<Argument<'a>>) -> Result<(), &'static str> {
    let nested = matches!(value, Value::Object(_))
        || value.as_array().is_some_and(|items| items.iter().any(|item| item.is_object() || item.is_array()));
    if depth > DEEPEST && nested {
        return Err("the arguments are too deep to be looked into");
    }
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                if let Some(sort) = sort(name)
                    && !inner.is_null()
                    && !inner.is_object()
                {
                    if found.len() >= MOST {
                        return Err("there are too many arguments to be looked into");
                    }
                    found.push(Argument { sort, place: place.clone(), beside: value, value: inner });
                }
                search(inner, &place, depth + 1, found)?;
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate().filter(|(_, item)| item.is_object() || item.is_array()) {
                search(item, &format!("{place}[{at}]"), depth + 1, found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn sort(name: &str) -> Option<Sort> {
    let name = plain(name);
    let name = name.as_str();
    match name {
        "query" | "queries" => Some(Sort::PerhapsSql),
        name if COMMANDS.contains(&name) => Some(Sort::Command),
        name if PATHS.contains(&name) => Some(Sort::Path),
        name if PERHAPS_PATHS.contains(&name) => Some(Sort::PerhapsPath),
        name if URLS.contains(&name) => Some(Sort::Url),
        name if SQLS.contains(&name) => Some(Sort::Sql),
        _ => None,
    }
}

/// Says whether a tool is about a database.
pub(super) fn is_database(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    DATABASES.iter().any(|database| match *database {
        "db" => tool.split(|c: char| !c.is_alphanumeric()).any(|word| word == "db"),
        database => tool.contains(database),
    })
}

/// A field of an object by any way of writing its name.
pub(super) fn field<'a>(object: &'a Value, names: &[&str]) -> Option<&'a Value> {
    object
        .as_object()?
        .iter()
        .find(|(name, value)| names.contains(&plain(name).as_str()) && !value.is_null())
        .map(|(_, value)| value)
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_' && *c != '-').flat_map(char::to_lowercase).collect()
}
