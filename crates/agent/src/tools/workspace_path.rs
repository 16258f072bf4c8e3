//! A path in the workspace, as the policy read it, opened without following symbolic links.
//!
//! The policy judges a path by its letters, so a symbolic link on the way would lead to a file that nobody judged.
//! Every component is therefore opened by itself, relative to the directory before it. A link is refused, whether it
//! leads out of the workspace or not, and replacing a directory by a link in the meantime does not affect a directory
//! that is already open.

use std::io;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions};
use domain::text;
use tool_facts::PathFacts;

use super::bounds::ToolFailure;

/// Components of a path in the workspace; empty for the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkspacePath {
    parts: Vec<String>,
}

impl WorkspacePath {
    /// Reads a path and refuses one that leaves the workspace.
    pub(super) fn parse(path: &str) -> Result<Self, ToolFailure> {
        let shown = text::undisguised(path);
        let refused = |why: &str| Err(ToolFailure::new(format!("`{shown}`: {why}")));
        match PathFacts::parse(path) {
            Ok(facts) if facts.absolute => refused("the path is absolute; give it relative to the workspace"),
            Ok(facts) if facts.windows => refused("the path is a Windows path"),
            Ok(facts) if facts.escapes => refused("the path leaves the workspace"),
            Ok(facts) if facts.recomposed => {
                refused("the path can be written in several ways; give it in composed Unicode")
            }
            Ok(facts) => Ok(Self { parts: facts.components }),
            Err(unparsed) => literal(path).ok_or_else(|| ToolFailure::new(format!("`{shown}`: {}", unparsed.reason))),
        }
    }

    /// Reads a path that must not be the workspace itself.
    pub(super) fn inside(path: &str) -> Result<Self, ToolFailure> {
        let place = Self::parse(path)?;
        if place.parts.is_empty() {
            return Err(ToolFailure::new("that is the workspace itself"));
        }
        Ok(place)
    }

    /// The path in canonical form.
    pub(super) fn canonical(&self) -> String {
        if self.parts.is_empty() { ".".to_owned() } else { self.parts.join("/") }
    }

    /// Opens the directory at this path.
    pub(super) fn directory(&self, root: &Dir) -> Result<Dir, ToolFailure> {
        walk(root, &self.parts)
    }

    /// Opens the parent directory and returns the name in it.
    pub(super) fn parent(&self, root: &Dir) -> Result<(Dir, &str), ToolFailure> {
        let Some((name, way)) = self.parts.split_last() else {
            return Err(ToolFailure::new("that is the workspace itself"));
        };
        Ok((walk(root, way)?, name))
    }

    /// Creates the directory and its missing parents. Returns whether it created any.
    pub(super) fn make(&self, root: &Dir) -> Result<bool, ToolFailure> {
        let mut here = clone(root)?;
        let mut made = false;
        for (at, part) in self.parts.iter().enumerate() {
            match here.create_dir(part) {
                Ok(()) => made = true,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(ToolFailure::with(&self.parts[..=at].join("/"), &error)),
            }
            here = enter(&here, part).map_err(|error| explain(&here, &self.parts[..=at], &error))?;
        }
        Ok(made)
    }

    /// Opens the regular file at this path.
    pub(super) fn open(&self, root: &Dir) -> Result<File, ToolFailure> {
        let (parent, name) = self.parent(root)?;
        open_regular(&parent, name).map_err(|error| explain(&parent, &self.parts, &error))
    }
}

/// Opens a regular file in a directory. A pipe or device is refused without waiting for it.
pub(super) fn open_regular(parent: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = parent.open_with(name, &options)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

/// Opens a directory in a directory, unless it is a link.
pub(super) fn enter(parent: &Dir, name: &str) -> io::Result<Dir> {
    parent.open_dir_nofollow(name)
}

fn clone(dir: &Dir) -> Result<Dir, ToolFailure> {
    dir.try_clone().map_err(|error| ToolFailure::with(".", &error))
}

fn walk(root: &Dir, way: &[String]) -> Result<Dir, ToolFailure> {
    let mut here = clone(root)?;
    for (at, part) in way.iter().enumerate() {
        here = enter(&here, part).map_err(|error| explain(&here, &way[..=at], &error))?;
    }
    Ok(here)
}

/// Failure to open a path. For a link it names the target, so that the caller can use that path instead.
fn explain(parent: &Dir, parts: &[String], error: &io::Error) -> ToolFailure {
    let path = parts.join("/");
    let link = parts.last().and_then(|name| parent.read_link_contents(name).ok());
    match link {
        Some(to) => ToolFailure::new(format!(
            "`{path}` is a symbolic link to `{}`, and links are not followed; give the path that it leads to",
            to.display()
        )),
        None => ToolFailure::with(&path, error),
    }
}

/// Reads a path that the policy cannot parse (`routes/$id.tsx`). A person saw it as it is, and it is used literally.
/// Accepts only paths with a single meaning.
fn literal(path: &str) -> Option<WorkspacePath> {
    let plain = path.len() <= 4096
        && path.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'\\')
        && !path.starts_with(['/', '~']);
    let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    let named = parts.iter().all(|part| !matches!(part.as_str(), "" | "." | ".."));
    (plain && named).then_some(WorkspacePath { parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> Option<String> {
        WorkspacePath::parse(path).ok().map(|place| place.canonical())
    }

    #[test]
    fn path_is_normalised_as_the_policy_reads_it() {
        for (path, expected) in [
            ("a/b", Some("a/b")),
            ("./a//b/", Some("a/b")),
            ("a/../b", Some("b")),
            (".", Some(".")),
            ("routes/$id.tsx", Some("routes/$id.tsx")),
            ("..", None),
            ("a/../../b", None),
            ("/etc/passwd", None),
            ("C:\\x", None),
            ("a\\b", None),
            ("~/x", None),
            ("$HOME/../x", None),
            ("", None),
            ("a\0b", None),
            ("e\u{301}", None),
            ("a\u{2215}b", None),
        ] {
            assert_eq!(parts(path).as_deref(), expected, "{path:?}");
        }
    }

    #[test]
    fn invisible_character_is_named_and_not_repeated() {
        let ToolFailure(message) = WorkspacePath::parse("a\0b").unwrap_err();
        assert!(message.contains("U+0000") && !message.contains('\0'), "{message:?}");
    }

    #[test]
    fn workspace_root_is_not_a_path_inside_the_workspace() {
        assert_eq!(WorkspacePath::inside("a/.."), Err(ToolFailure::new("that is the workspace itself")));
    }
}
