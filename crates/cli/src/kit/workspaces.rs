//! Directories of workspaces: `NAME` for `default/default`, `TENANT/PROJECT/NAME` for every other project.
//!
//! A default workspace with the name of a tenant would contain that tenant's workspaces; the engine refuses both
//! (`Engine::require_separate_workspace`).

use std::fmt::Write as _;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use domain::ProjectName;

/// Directory of a workspace below the directory of all workspaces. Tenant directories are created if missing, readable
/// only for the user of the server.
pub(super) fn directory(all: &Path, project: &ProjectName, name: &str) -> io::Result<PathBuf> {
    if project.is_default() {
        return enter(all, name);
    }
    let mut directory = all.to_owned();
    for part in [part(&project.tenant), part(&project.project), part(name)] {
        match DirBuilder::new().mode(0o700).create(directory.join(&part)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => directory = enter(&directory, &part)?,
        }
    }
    Ok(directory)
}

/// A directory entry with exactly this spelling: some file systems treat `Acme` and `acme`, two tenants, as equal.
fn enter(directory: &Path, name: &str) -> io::Result<PathBuf> {
    for entry in std::fs::read_dir(directory)? {
        if entry?.file_name() == name {
            return Ok(directory.join(name));
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "there is no directory of this name"))
}

/// A name as one path component. Characters other than letters, digits, `-`, `_` and inner `.` are written as `%` and
/// two hexadecimal digits, so that different names have different components and no name leads elsewhere.
fn part(name: &str) -> String {
    let mut part = String::new();
    for (at, byte) in name.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || (at > 0 && matches!(byte, b'-' | b'_' | b'.'));
        if plain {
            part.push(char::from(byte));
        } else {
            // Writing to a `String` never fails.
            let _ = write!(part, "%{byte:02X}");
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn each_project_has_its_own_workspace_directory() {
        let all = tempfile::tempdir().unwrap();
        std::fs::create_dir(all.path().join("shop")).unwrap();
        let of = |tenant: &str, project: &str, name: &str| {
            directory(all.path(), &ProjectName::new(tenant, project), name)
                .map(|path| path.strip_prefix(all.path()).unwrap().to_str().unwrap().to_owned())
        };
        assert_eq!(of("default", "default", "shop").unwrap(), "shop");
        assert_eq!(of("default", "default", "none").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(of("acme", "main", "shop").unwrap(), "acme/main/shop");
        assert_eq!(of("default", "main", "shop").unwrap(), "default/main/shop");
        assert_eq!(of("acme", "main", "shop").unwrap(), "acme/main/shop", "an existing directory is used");
        for made in ["acme", "acme/main", "acme/main/shop"] {
            let mode = std::fs::metadata(all.path().join(made)).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o700, "{made}");
        }
    }

    #[test]
    fn project_names_are_escaped_in_workspace_paths() {
        let all = tempfile::tempdir().unwrap();
        for (tenant, project, expected) in [
            ("..", "..", "%2E./%2E./x"),
            (".", "main", "%2E/main/x"),
            ("acme/main", "x", "acme%2Fmain/x/x"),
            ("acme", "main/x", "acme/main%2Fx/x"),
            ("/etc", "~", "%2Fetc/%7E/x"),
            ("a%2Fb", "a\\b", "a%252Fb/a%5Cb/x"),
            (".hidden", "-rf", "%2Ehidden/%2Drf/x"),
            ("ACME", "Main", "ACME/Main/x"),
        ] {
            let found = directory(all.path(), &ProjectName::new(tenant, project), "x").unwrap();
            assert_eq!(found, all.path().join(expected), "{tenant} {project}");
            assert!(found.canonicalize().unwrap().starts_with(all.path().canonicalize().unwrap()));
        }
    }
}
