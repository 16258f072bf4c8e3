//! The directory, and what else of the state of a shell later commands depend on.

use crate::Directory;

/// The state of a shell between two commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) directory: Directory,
    /// The directory before the last change.
    pub(crate) previous: Directory,
    /// The directories below that of `pushd`.
    pub(crate) stack: Vec<Directory>,
    /// The shell stops at a command that fails: `set -e`.
    pub(crate) strict: bool,
    /// The shell may come here.
    pub(crate) reachable: bool,
}

/// The states after a command that succeeded and one that failed.
pub(crate) struct Ends {
    pub(crate) good: Place,
    pub(crate) bad: Place,
}

impl Place {
    /// The state in which a text starts.
    pub(crate) fn start(directory: Directory) -> Self {
        Self { directory, previous: Directory::Unknown, stack: Vec::new(), strict: false, reachable: true }
    }

    /// The state of a shell that has been in one of two states.
    pub(crate) fn merge(self, other: Self) -> Self {
        if !self.reachable {
            return other;
        }
        if !other.reachable || self == other {
            return self;
        }
        let either = |one: Directory, two: Directory| if one == two { one } else { Directory::Unknown };
        Self {
            directory: either(self.directory, other.directory),
            previous: either(self.previous, other.previous),
            stack: if self.stack == other.stack { self.stack } else { Vec::new() },
            strict: self.strict && other.strict,
            reachable: true,
        }
    }

    /// The state in another directory.
    pub(crate) fn moved(&self, directory: Directory) -> Self {
        Self { previous: self.directory.clone(), directory, ..self.clone() }
    }

    /// The state in a directory that is not known.
    pub(crate) fn lost(&self) -> Self {
        Self {
            directory: Directory::Unknown,
            previous: Directory::Unknown,
            stack: Vec::new(),
            strict: false,
            reachable: self.reachable,
        }
    }

    pub(crate) fn unreachable(&self) -> Self {
        Self { reachable: false, ..self.clone() }
    }
}

impl Ends {
    /// State after a command that leaves the same place whether it succeeds or fails.
    pub(crate) fn same(place: Place) -> Self {
        Self { good: place.clone(), bad: place }
    }

    /// The state if it is not known whether the command succeeded.
    pub(crate) fn merged(self) -> Place {
        self.good.merge(self.bad)
    }
}

/// Joins a directory and a path as the text gives them.
pub(crate) fn join(directory: &Directory, path: &str) -> Directory {
    if path.is_empty() {
        return Directory::Unknown;
    }
    if path.starts_with('/') {
        return Directory::At(path.to_owned());
    }
    match directory {
        Directory::Start if path == "." => Directory::Start,
        Directory::Start => Directory::At(path.to_owned()),
        Directory::At(base) if path == "." => Directory::At(base.clone()),
        Directory::At(base) => Directory::At(format!("{}/{path}", base.trim_end_matches('/'))),
        Directory::Unknown => Directory::Unknown,
    }
}
