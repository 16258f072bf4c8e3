//! Variables that change which program runs, or make a program run another: all but those that are known not to.

/// Names, as they are written, of what only says in which language, colours, numbers and manner a program speaks.
const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "RUST_LOG",
    "RUST_BACKTRACE",
    "RUST_MIN_STACK",
    "RUST_TEST_THREADS",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_MERGE_AUTOEDIT",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "NODE_ENV",
    "RAILS_ENV",
    "RACK_ENV",
    "MIX_ENV",
    "APP_ENV",
    "GOOS",
    "GOARCH",
    "GOMAXPROCS",
    "CGO_ENABLED",
    "OMP_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "SOURCE_DATE_EPOCH",
    "DEBIAN_FRONTEND",
    "CI",
    "DEBUG",
    "VERBOSE",
    "LOG_LEVEL",
];

/// Says whether setting a variable may change which program a command runs, or what it reads first.
pub(super) fn steers(name: &str, value: &str) -> bool {
    let known = HARMLESS.contains(&name)
        || name.strip_prefix("LC_").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_uppercase()));
    // A language, a time zone or a terminal may be named by the path of its file.
    !known || value.starts_with(['/', ':', '~', '.']) || value.contains("..")
}
