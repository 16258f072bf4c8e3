//! Variables that change which program runs, or make a program run another.

/// Whole names that do, in upper case.
const NAMES: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS1",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "FPATH",
    "ZDOTDIR",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "SHELL",
    "PAGER",
    "MANPAGER",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "TAR_OPTIONS",
    "GZIP",
    "RSYNC_RSH",
    "CVS_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "GCONV_PATH",
    "HOSTALIASES",
    "LOCPATH",
    "MALLOC_CHECK_",
    "CLASSPATH",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "MAKEFLAGS",
    "MAKEFILES",
    "MAKE",
    "CC",
    "CXX",
    "LD",
    "AR",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "GOFLAGS",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "DOCKER_HOST",
    "KUBECONFIG",
    "EXINIT",
    "VIMINIT",
    "VIM",
    "TERMINFO",
    "FZF_DEFAULT_COMMAND",
    "RIPGREP_CONFIG_PATH",
    "PIP_INDEX_URL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
];

/// Beginnings of names that do.
const BEGINNINGS: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_FUNC_",
    "PYTHON",
    "PERL",
    "RUBY",
    "GEM_",
    "BUNDLE_",
    "NODE_",
    "NPM_",
    "LUA_",
    "CARGO_",
    "PHP",
    "GOPROXY",
    "SSL_CERT",
    "CURL_",
    "WGET",
    "DEBUGINFOD",
    "SYSTEMD_",
];

/// Endings of names that do, by custom: what a program starts, reads first, or is told to do.
const ENDINGS: &[&str] = &[
    "PAGER",
    "EDITOR",
    "BROWSER",
    "SHELL",
    "COMMAND",
    "CMD",
    "PROG",
    "PROGRAM",
    "EXEC",
    "WRAPPER",
    "LAUNCHER",
    "HOOK",
    "HOOKS",
    "DIFF",
    "ASKPASS",
    "PRELOAD",
    "PLUGIN",
    "PLUGINS",
    "OPTIONS",
    "OPTS",
    "ARGS",
    "FLAGS",
    "CONFIG",
    "CONFIG_FILE",
    "CONF",
    "RC",
    "RCFILE",
    "PATH",
    "HOME",
    "PROXY",
];

/// Those among them that only name people, dates and manners.
const HARMLESS: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_MERGE_AUTOEDIT",
    "NODE_ENV",
    "CARGO_TERM_COLOR",
    "CARGO_TARGET_DIR",
    "CARGO_INCREMENTAL",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
];

/// Says whether setting a variable may change which program a command runs.
pub(super) fn steers(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let name = name.as_str();
    if HARMLESS.contains(&name) {
        return false;
    }
    NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDINGS
            .iter()
            .any(|ending| name == *ending || name.strip_suffix(ending).is_some_and(|rest| rest.ends_with('_')))
}
