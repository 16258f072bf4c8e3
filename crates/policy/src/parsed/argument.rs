//! Which argument of a tool is what.
//!
//! By its name, wherever it stands in the arguments; capitals, `_` and `-` do not count (`filePath` is `file_path`):
//!
//! | name | is |
//! | --- | --- |
//! | `command`, `cmd`, `argv` | a shell command; a list of words is one that no shell sees |
//! | `commands`, `script`, `scripts` | a shell command; a list of texts is several |
//! | `shell_command`, `bash_command`, … and what ends so (`pre_script`, `postCommand`) | a shell command |
//! | `args`, `argv`, `arguments` beside a command | its further words |
//! | `env`, `environment`, `env_vars`, … beside a command | its variables |
//! | `path`, `file`, `file_path`, `filename`, `directory`, `dir`, `cwd`, … and their plurals | a path |
//! | `source`, `destination`, `src`, `dst`, `from`, `to`, `target`, …, their plurals, and what ends so or in `_path`, `_file`, `_dir`, … | a path, where it is a text |
//! | any other beside a path, but for `content`, `message` and alike | a path, where it leads somewhere: `/x`, `../x`, `~/x`, `C:\x` |
//! | `url`, `uri`, `endpoint`, `href`, `webhook_url`, … | a URL |
//! | `location` | a URL where it has `://` in it, else a path |
//! | `method`, `http_method`, `verb` beside a URL | its method; else `POST` where there is a body, `GET` where there is none |
//! | `sql`, `statement`, `sql_query` | SQL |
//! | `query` | SQL where the tool's name says so (`sql`, `db`, `postgres`, …) or the text is SQL |
//!
//! *Beside* is in the same object, in the objects around it, and in what these call `options`, `init`, `request`, `headers` or alike.
//! Nobody here knows which of two spellings a tool reads: two of them are unreadable, and so is the wrong type under one of these names.

use serde_json::{Map, Value};

mod stray;

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Command(List),
    Path,
    /// A path, or an object that names one: `files: [{path, content}]`.
    File,
    /// A path where it is a text; other types mean something else.
    PerhapsPath,
    /// A URL or a path, by what it looks like.
    Location,
    Url,
    Sql,
    /// SQL where it can be read as such, or the tool says so.
    PerhapsSql,
}

/// What a list is, where a command could stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// The words of one command.
    Words,
    /// A command each.
    Texts,
    /// Either.
    Unclear,
}

/// Commands whose lists are words.
const WORDS: &[&str] = &["command", "cmd", "argv"];

/// Commands whose lists are commands.
const TEXTS: &[&str] = &["commands", "cmds", "script", "scripts"];

const COMMANDS: &[&str] =
    &["shellcommand", "bashcommand", "commandline", "cmdline", "shell", "bash", "prescript", "postscript"];

/// What may stand beside a command as its further words.
const FURTHER: &[&str] = &[
    "args",
    "argv",
    "arguments",
    "arglist",
    "cmdargs",
    "commandargs",
    "commandarguments",
    "extraargs",
    "additionalargs",
];

/// The same, where it is a list or a text.
const PERHAPS_FURTHER: &[&str] = &["arg", "argument", "params", "parameters", "flags", "switches", "options"];

/// What may stand beside a command as its variables.
pub(super) const VARIABLES: &[&str] = &[
    "env",
    "envs",
    "environ",
    "environment",
    "environments",
    "envvar",
    "envvars",
    "envvariables",
    "environmentvars",
    "environmentvariables",
    "extraenv",
];

/// Names of headers that change the method, wherever a text holds them.
pub(super) const OVERRIDES: &[&str] = &["methodoverride", "xhttpmethod"];

/// What may stand beside a URL as its method.
pub(super) const METHODS: &[&str] = &[
    "method",
    "httpmethod",
    "requestmethod",
    "verb",
    "httpverb",
    "requesttype",
    "methodoverride",
    "xhttpmethod",
    "xhttpmethodoverride",
    "xmethodoverride",
];

/// What may stand beside a URL as its body.
pub(super) const BODIES: &[&str] = &[
    "body",
    "data",
    "json",
    "form",
    "payload",
    "content",
    "postdata",
    "postbody",
    "postfields",
    "requestbody",
    "requestdata",
    "requestpayload",
    "rawbody",
    "jsonbody",
    "jsondata",
    "jsonpayload",
    "formdata",
    "formfields",
    "multipart",
    "urlencoded",
    "bodytext",
    "files",
    "upload",
];

const PATHS: &[&str] = &[
    "path",
    "paths",
    "pathlist",
    "pathname",
    "pathnames",
    "filepath",
    "filepaths",
    "filename",
    "filenames",
    "filelist",
    "filespec",
    "fullpath",
    "dirpath",
    "dirname",
    "folderpath",
    "directorypath",
    "dir",
    "dirs",
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

/// Things that have a path, and are often named by it.
const FILES: &[&str] = &["file", "files", "folder", "folders", "directory", "directories"];

/// Last words of longer names that are a path where they are a text.
const PATH_ENDINGS: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filenames",
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "folders",
];

/// The same, and names by themselves.
const PERHAPS_PATHS: &[&str] = &[
    "source",
    "sources",
    "destination",
    "destinations",
    "src",
    "srcs",
    "dst",
    "dsts",
    "dest",
    "dests",
    "from",
    "to",
    "target",
    "targets",
];

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

/// Endings of what holds the settings of a call.
const OPTIONS: &[&str] = &[
    "options", "option", "opts", "init", "request", "req", "config", "settings", "kwargs", "headers", "http", "fetch",
];

/// An argument that is looked into.
pub(super) struct Argument<'a> {
    pub(super) sort: Sort,
    /// Where it stands: `path`, `edits[0].file_path`.
    pub(super) place: String,
    /// The objects that it stands in, the outermost first.
    around: Vec<&'a Value>,
    pub(super) value: &'a Value,
}

/// How deep arguments are looked for, and how many are taken.
const DEEPEST: usize = 8;
const MOST: usize = 256;

/// Finds every argument that is looked into. `Err` where there are too many of them, or they are too deep to be found.
pub(super) fn find(arguments: &Value) -> Result<Vec<Argument<'_>>, &'static str> {
    let mut search = Search::default();
    search.look_into(arguments, "", 0)?;
    stray::add(arguments, &mut search.found);
    if search.found.len() > MOST {
        return Err("there are too many arguments to be looked into");
    }
    Ok(search.found)
}

#[derive(Default)]
struct Search<'a> {
    found: Vec<Argument<'a>>,
    /// The objects on the way to where it looks.
    around: Vec<&'a Value>,
}

impl<'a> Search<'a> {
    fn look_into(&mut self, value: &'a Value, place: &str, depth: usize) -> Result<(), &'static str> {
        let nested = matches!(value, Value::Object(_))
            || value.as_array().is_some_and(|items| items.iter().any(|item| item.is_object() || item.is_array()));
        if depth > DEEPEST && nested {
            return Err("the arguments are too deep to be looked into");
        }
        match value {
            Value::Object(fields) => {
                self.around.push(value);
                for (name, inner) in fields {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    if let Some(sort) = sort_of(name, inner).filter(|_| !beside_a_command(name, fields)) {
                        if self.found.len() >= MOST {
                            return Err("there are too many arguments to be looked into");
                        }
                        let around = self.around.clone();
                        self.found.push(Argument { sort, place: place.clone(), around, value: inner });
                    }
                    self.look_into(inner, &place, depth + 1)?;
                }
                self.around.pop();
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate().filter(|(_, item)| item.is_object() || item.is_array()) {
                    self.look_into(item, &format!("{place}[{at}]"), depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// `argv` is a command by itself, and the words of another one that stands beside it.
fn beside_a_command(name: &str, fields: &Map<String, Value>) -> bool {
    let command = |other: &String| matches!(sort(other), Some(Sort::Command(_))) && plain(other) != "argv";
    plain(name) == "argv" && fields.iter().any(|(other, value)| !value.is_null() && command(other))
}

fn sort_of(name: &str, value: &Value) -> Option<Sort> {
    match value {
        Value::Null => None,
        // `ignore_scripts: true` is no script.
        Value::Bool(_) | Value::Number(_) => known(name),
        _ => sort(name),
    }
}

/// Says what an argument of this name is.
pub(super) fn sort(name: &str) -> Option<Sort> {
    known(name).or_else(|| ending(name))
}

fn known(name: &str) -> Option<Sort> {
    // `path2` is another path.
    match plain(name).trim_end_matches(|c: char| c.is_ascii_digit()) {
        "query" | "queries" => Some(Sort::PerhapsSql),
        "location" | "locations" => Some(Sort::Location),
        name if WORDS.contains(&name) => Some(Sort::Command(List::Words)),
        name if TEXTS.contains(&name) => Some(Sort::Command(List::Texts)),
        name if COMMANDS.contains(&name) => Some(Sort::Command(List::Unclear)),
        name if PATHS.contains(&name) => Some(Sort::Path),
        name if FILES.contains(&name) => Some(Sort::File),
        name if PERHAPS_PATHS.contains(&name) => Some(Sort::PerhapsPath),
        name if URLS.contains(&name) => Some(Sort::Url),
        name if SQLS.contains(&name) => Some(Sort::Sql),
        _ => None,
    }
}

fn ending(name: &str) -> Option<Sort> {
    let unnumbered = name.trim_end_matches(|c: char| c.is_ascii_digit() || !c.is_alphanumeric());
    match last_word(unnumbered).as_str() {
        last if TEXTS.contains(&last) => Some(Sort::Command(List::Texts)),
        last if WORDS.contains(&last) => Some(Sort::Command(List::Unclear)),
        last if PATH_ENDINGS.contains(&last) || PERHAPS_PATHS.contains(&last) => Some(Sort::PerhapsPath),
        _ => None,
    }
}

/// Says whether something beside a command is its further words.
pub(super) fn is_further(name: &str, value: &Value) -> bool {
    FURTHER.contains(&name) || (PERHAPS_FURTHER.contains(&name) && (value.is_array() || value.is_string()))
}

/// Says whether a tool is about a database.
pub(super) fn is_database(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    DATABASES.iter().any(|database| match *database {
        "db" => tool.split(|c: char| !c.is_alphanumeric()).any(|word| word == "db"),
        database => tool.contains(database),
    })
}

impl<'a> Argument<'a> {
    /// Gives what stands beside the argument under any of these names. `Err` where several do: a tool may read any of them.
    pub(super) fn beside(&self, wanted: &dyn Fn(&str, &Value) -> bool) -> Result<Option<&'a Value>, &'static str> {
        let mut found = Vec::new();
        self.around.iter().for_each(|object| self.gather(object, wanted, &mut found));
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only).filter(|value| !value.is_null())),
            several if several.iter().all(|value| value.is_null()) => Ok(None),
            _ => Err("what belongs to it is there under several names"),
        }
    }

    /// Says whether anything but null stands beside the argument under any of these names.
    pub(super) fn accompanied(&self, names: &[&str]) -> bool {
        let mut found = Vec::new();
        let wanted = |name: &str, _: &Value| names.contains(&name);
        self.around.iter().for_each(|object| self.gather(object, &wanted, &mut found));
        found.iter().any(|value| !value.is_null())
    }

    /// Says whether any of these texts stands in what holds the settings of the call, where it is a list or a text: nobody here knows how
    /// a tool takes those apart.
    pub(super) fn hides(&self, texts: &[&str]) -> bool {
        let fields = self.around.iter().filter_map(|object| object.as_object()).flatten();
        let held = fields.filter(|(name, _)| OPTIONS.iter().any(|ending| plain(name).ends_with(ending)));
        held.into_iter().any(|(_, value)| hides(value, texts, 0))
    }

    fn gather(&self, object: &'a Value, wanted: &dyn Fn(&str, &Value) -> bool, found: &mut Vec<&'a Value>) {
        for (name, value) in object.as_object().into_iter().flatten() {
            let itself = std::ptr::eq(value, self.value) || self.around.iter().any(|one| std::ptr::eq(*one, value));
            let name = plain(name);
            if itself {
                continue;
            }
            if wanted(&name, value) {
                found.push(value);
            } else if OPTIONS.iter().any(|ending| name.ends_with(ending)) {
                self.gather(value, wanted, found);
                value.as_array().into_iter().flatten().for_each(|item| self.gather(item, wanted, found));
            }
        }
    }
}

fn hides(value: &Value, texts: &[&str], depth: usize) -> bool {
    match value {
        Value::String(text) => texts.iter().any(|wanted| plain(text).contains(wanted)),
        Value::Array(items) if depth <= DEEPEST => items.iter().any(|item| hides(item, texts, depth + 1)),
        Value::Object(fields) if depth <= DEEPEST => fields.values().any(|inner| hides(inner, texts, depth + 1)),
        _ => false,
    }
}

/// A name in small letters, without what only holds its parts apart.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The last part of a name that has several: `script` of `pre_script` and of `preScript`.
fn last_word(name: &str) -> String {
    let mut words: Vec<String> = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small) {
            words.push(String::new());
        }
        small = c.is_lowercase() || c.is_numeric();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words.pop().filter(|_| !words.is_empty()).unwrap_or_default()
}
