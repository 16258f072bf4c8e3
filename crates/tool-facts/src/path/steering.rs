//! Names of files and directories that decide what runs: hooks, tasks, settings, start files.

/// Whole names, in lower case.
const NAMES: &[&str] = &[
    ".gitattributes",
    ".gitconfig",
    ".gitmodules",
    ".githooks",
    ".husky",
    ".hg",
    ".hgrc",
    ".github",
    ".gitlab-ci.yml",
    ".circleci",
    ".envrc",
    ".direnv",
    ".mise",
    ".tool-versions",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".cargo",
    ".npmrc",
    ".yarn",
    ".yarnrc",
    ".yarnrc.yml",
    ".pre-commit-config.yaml",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".vimrc",
    ".exrc",
    ".gdbinit",
    ".ssh",
    ".claude",
    ".codex",
    ".continue",
    ".cursor",
    ".cursorrules",
    ".gemini",
    ".windsurf",
    ".mcp.json",
    ".config",
    ".local",
    ".emacs",
    ".emacs.d",
    ".bazelrc",
    ".jj",
    ".netrc",
    "agents.md",
    "claude.md",
    "gemini.md",
    "mise.local.toml",
    "mise.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "sitecustomize.py",
    "usercustomize.py",
];

/// How names begin that go on in several ways: `.mise.local.toml`, `.pnpmfile.mjs`, `.aider.model.settings.yml`.
const BEGINNINGS: &[&str] = &[".mise.", ".pnpmfile.", ".aider."];

/// Says whether a part of a path, in lower case, is such a place. `x.git` is a bare repository, with hooks and settings as in `.git`.
pub(crate) fn decides(part: &str) -> bool {
    // Windows takes `.git.` for `.git`, and `git~1` for it where it is the first such name.
    let part = if part.trim_end_matches('.').is_empty() { part } else { part.trim_end_matches('.') };
    part == "git~1"
        || NAMES.contains(&part)
        || part.ends_with(".git")
        || BEGINNINGS.iter().any(|begin| part.starts_with(begin))
}
