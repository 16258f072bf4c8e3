//! What stands beside a path in the tools that work on files, and neither runs anything nor leads elsewhere.
//!
//! The names are those of the workspace's own tools, of the usual MCP servers for files, and of the editors and agents that people use.

use serde_json::Value;

use super::name::{plain, words};

/// What is written, looked for, or said to whoever reads the call.
const TEXTS: &[&str] = &[
    "body",
    "codecontent",
    "codeedit",
    "commitmessage",
    "content",
    "contents",
    "data",
    "diff",
    "displaydescription",
    "filetext",
    "find",
    "html",
    "insert",
    "inserttext",
    "instruction",
    "instructions",
    "label",
    "markdown",
    "message",
    "newcode",
    "newcontent",
    "newsource",
    "newstr",
    "newstring",
    "newtext",
    "oldcode",
    "oldcontent",
    "oldstr",
    "oldstring",
    "oldtext",
    "patch",
    "patchtext",
    "pattern",
    "query",
    "regex",
    "regexp",
    "repl",
    "replace",
    "replacement",
    "replacementcontent",
    "replacewith",
    "search",
    "searchpattern",
    "searchquery",
    "searchstring",
    "searchtext",
    "snippet",
    "substringpattern",
    "targetcontent",
    "taskprogress",
    "text",
];

/// Which files of those that are named: patterns, also in lists.
const PATTERNS: &[&str] = &[
    "exclude",
    "excludeglob",
    "excludepattern",
    "excludepatterns",
    "excludes",
    "extension",
    "extensions",
    "fileextension",
    "fileextensions",
    "filemask",
    "filepattern",
    "filetype",
    "filetypes",
    "glob",
    "globs",
    "ignore",
    "ignored",
    "ignorepattern",
    "ignorepatterns",
    "include",
    "includeglob",
    "includepattern",
    "includepatterns",
    "includes",
    "patterns",
    "queries",
];

/// Which lines, how many, how deep: numbers, ranges of two, and texts such as `10`, `1-20` or `end`.
const FIGURES: &[&str] = &[
    "after",
    "afterlines",
    "anchorline",
    "before",
    "beforelines",
    "bytes",
    "cell",
    "cellindex",
    "cellnumber",
    "characters",
    "column",
    "columns",
    "contextlines",
    "contextlinesafter",
    "contextlinesbefore",
    "count",
    "depth",
    "endcolumn",
    "endindex",
    "endline",
    "endlinenumber",
    "endlineoneindexedinclusive",
    "expectedoccurrences",
    "expectedreplacements",
    "firstline",
    "fromline",
    "head",
    "headlimit",
    "insertline",
    "lastline",
    "length",
    "level",
    "levels",
    "limit",
    "line",
    "linecount",
    "linenumber",
    "linerange",
    "lines",
    "maxanswerchars",
    "maxcount",
    "maxdepth",
    "maxfiles",
    "maxfilesize",
    "maxlevels",
    "maxlinescount",
    "maxmatches",
    "maxresults",
    "maxsize",
    "mindepth",
    "numlines",
    "offset",
    "page",
    "pages",
    "pagesize",
    "position",
    "range",
    "size",
    "startcolumn",
    "startindex",
    "startline",
    "startlinenumber",
    "startlineoneindexed",
    "tail",
    "toline",
    "viewrange",
    "width",
];

/// The manner in which files are read, found and written: true or false.
const FLAGS: &[&str] = &[
    "allowmultiple",
    "allowmultipleoccurrences",
    "allowoverwrite",
    "append",
    "backup",
    "casesensitive",
    "caseinsensitive",
    "create",
    "createdirectories",
    "createdirs",
    "createifmissing",
    "createparentdirectories",
    "createparents",
    "dryrun",
    "emptyfile",
    "excludehidden",
    "failifexists",
    "fullpath",
    "hidden",
    "ignorecase",
    "includefiles",
    "includeheader",
    "includehidden",
    "includelinenumbers",
    "includesiblings",
    "includesummaryofothersegments",
    "insensitive",
    "isregex",
    "isregexp",
    "linenumbers",
    "matchperline",
    "mkdir",
    "mkdirs",
    "mkdirp",
    "multiline",
    "mustexist",
    "overwrite",
    "parents",
    "preview",
    "recurse",
    "recursive",
    "replace",
    "replaceall",
    "respectgeminiignore",
    "respectgitignore",
    "shouldreadentirefile",
    "showhidden",
    "showlinenumbers",
    "skipignoredfiles",
    "useregex",
    "usedefaultexcludes",
    "wholeword",
];

/// What a text says that is a figure, and no number.
const FIGURES_IN_WORDS: &[&str] =
    &["all", "auto", "beginning", "bottom", "end", "first", "last", "none", "start", "top"];

/// One word of how it is written or shown: `encoding: "utf-8"`.
const WORDS: &[&str] = &[
    "cellid",
    "charset",
    "codemarkdownlanguage",
    "encoding",
    "eol",
    "language",
    "lineending",
    "lineendings",
    "newline",
    "order",
    "outputmode",
    "sort",
    "sortby",
    "sortorder",
    "truncatemode",
];

/// What something is, or how it is shown. Another word here may name a program: `format: "prettier"`, `type: "exec"`.
const SHAPES: &[&str] = &["celltype", "editmode", "edittype", "entrytype", "format", "kind", "outputformat", "type"];

/// What these say, besides [`MODES`]: also the language of files that are looked for.
const SHAPES_SAY: &[&str] = &[
    "array",
    "base64",
    "c",
    "code",
    "compact",
    "content",
    "cpp",
    "css",
    "csv",
    "d",
    "delete",
    "detailed",
    "diff",
    "dir",
    "directory",
    "f",
    "file",
    "files",
    "folder",
    "go",
    "hex",
    "html",
    "image",
    "insert_after",
    "insert_before",
    "java",
    "javascript",
    "js",
    "json",
    "jsonl",
    "jsx",
    "kotlin",
    "line",
    "lines",
    "list",
    "long",
    "markdown",
    "md",
    "move",
    "object",
    "php",
    "plain",
    "py",
    "python",
    "raw",
    "remove",
    "rename",
    "ruby",
    "rust",
    "short",
    "str_replace",
    "string",
    "summary",
    "svelte",
    "swift",
    "table",
    "toml",
    "tree",
    "ts",
    "tsx",
    "txt",
    "typescript",
    "unified",
    "utf-8",
    "utf8",
    "vue",
    "xml",
    "yaml",
    "yml",
];

/// Types of contents, as the web spells them.
const MEDIA_TYPES: &[&str] = &["contenttype", "mimetype"];

/// What `mode` says in these tools. Elsewhere it says who may run a file.
const MODES: &[&str] = &[
    "a",
    "append",
    "binary",
    "create",
    "edit",
    "indentation",
    "insert",
    "overwrite",
    "prepend",
    "r",
    "read",
    "replace",
    "rewrite",
    "slice",
    "text",
    "update",
    "w",
    "write",
];

/// What is done about a conflict, an error and the like: `on_conflict: "overwrite"`. Anything else behind `on_` is something to run.
const WAYS: &[&str] = &[
    "abort",
    "append",
    "ask",
    "continue",
    "error",
    "fail",
    "ignore",
    "keep",
    "merge",
    "overwrite",
    "raise",
    "rename",
    "replace",
    "skip",
    "stop",
    "warn",
];

/// What would run something, and does not while it is off.
const OFF: &[&str] =
    &["exec", "execute", "format", "hook", "hooks", "lint", "run", "runhooks", "runtests", "test", "tests"];

/// What holds further arguments, or several changes: its parts are looked at.
const HOLDERS: &[&str] = &[
    "args",
    "argument",
    "arguments",
    "changes",
    "chunks",
    "edit",
    "edits",
    "filefilteringoptions",
    "indentation",
    "modifications",
    "operations",
    "params",
    "parameters",
    "replacementchunks",
    "replacements",
    "selection",
];

/// Switches as the search tools of some agents spell them.
const SWITCHES: &[&str] = &["-A", "-B", "-C", "-i", "-n"];

/// What holds the settings of a tool for files.
const SETTINGS: &[&str] = &["config", "kwargs", "option", "options", "opts", "settings"];

/// What the settings of such a tool are called for.
const SETTINGS_OF: &[&str] = &[
    "additional",
    "advanced",
    "default",
    "display",
    "edit",
    "extra",
    "file",
    "filter",
    "filtering",
    "list",
    "output",
    "path",
    "read",
    "search",
    "tool",
    "view",
    "write",
];

/// Says whether the parts of what has this name are arguments in their turn.
pub(super) fn holds_arguments(written: &str) -> bool {
    let words = words(written);
    let settings = words.split_last().is_some_and(|(last, before)| {
        let of = |word: &String| SETTINGS_OF.contains(&word.as_str());
        SETTINGS.contains(&last.as_str()) && before.iter().all(of)
    });
    settings || HOLDERS.contains(&plain(written).as_str())
}

/// Says whether an argument of a tool that works on files is known to be harmless, by its name and in the type that it usually has.
pub(super) fn is_harmless(written: &str, value: &Value) -> bool {
    let (name, words) = (plain(written), words(written));
    let name = name.as_str();
    let begins_with_on = words.len() > 1 && words.first().is_some_and(|first| first == "on");
    match value {
        Value::Bool(_) if FLAGS.contains(&name) || SWITCHES.contains(&written) => true,
        Value::Bool(false) => OFF.contains(&name),
        Value::Number(_) => FIGURES.contains(&name) || SWITCHES.contains(&written),
        Value::String(_) if TEXTS.contains(&name) || PATTERNS.contains(&name) => true,
        Value::String(text) if name == "input" => text.trim_start().starts_with("*** Begin Patch"),
        Value::String(text) if FIGURES.contains(&name) => is_figure(text),
        Value::String(text) if WORDS.contains(&name) => is_word(text),
        Value::String(text) if MEDIA_TYPES.contains(&name) => {
            text.split('/').count() <= 2 && text.split('/').all(is_word)
        }
        Value::String(text) if SHAPES.contains(&name) => says(text, &[SHAPES_SAY, MODES]),
        Value::String(text) if name == "mode" => says(text, &[MODES]),
        Value::String(text) if begins_with_on => says(text, &[WAYS]),
        Value::Array(items) if TEXTS.contains(&name) || PATTERNS.contains(&name) => items.iter().all(Value::is_string),
        Value::Array(items) if FIGURES.contains(&name) => items.len() == 2 && items.iter().all(Value::is_number),
        _ => false,
    }
}

/// A number, a range of them, or a word for one.
fn is_figure(text: &str) -> bool {
    let figures = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | ',' | ':' | '.' | ' ');
    text.len() <= 40 && (text.chars().all(figures) || says(text, &[FIGURES_IN_WORDS]))
}

/// One word, which is neither a file nor a command with words of its own.
fn is_word(text: &str) -> bool {
    text.len() <= 40 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '#'))
}

fn says(text: &str, any_of: &[&[&str]]) -> bool {
    let text = text.to_ascii_lowercase();
    any_of.iter().any(|words| words.contains(&text.as_str()))
}
