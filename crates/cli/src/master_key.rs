//! The master key: from the environment, or from a file made with safe permissions on first start.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::MasterKey;

use crate::failure::Failure;

const FILE: &str = "master.key";

/// Finds the master key, or makes one.
pub(crate) fn master_key(given: Option<&str>, directory: &Path) -> Result<MasterKey, Failure> {
    let path = directory.join(FILE);
    let failed = |why: String| Failure::MasterKey { path: path.clone(), why };
    if let Some(text) = given {
        let path = "HOLDPOINT_MASTER_KEY".into();
        let why = "must be 32 bytes in hexadecimal or base64".to_owned();
        return parse(text).map(MasterKey::from_bytes).ok_or(Failure::MasterKey { path, why });
    }
    if !path.exists() {
        make(directory, &path).map_err(|error| failed(error.to_string()))?;
    }
    read(&path)
}

/// Makes a key under another name first: whoever dies in the middle, or comes at the same moment, never sees half of one.
fn make(directory: &Path, path: &Path) -> io::Result<()> {
    store_sqlite::private_directory(directory)?;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let text = format!("{}\n", BASE64_STANDARD.encode(bytes));
    let fresh = directory.join(format!("{FILE}.{}.new", std::process::id()));
    let made = write(&fresh, &text).and_then(|()| match std::fs::hard_link(&fresh, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    // What remains of an attempt that failed is of no use to anybody.
    let _ = std::fs::remove_file(&fresh);
    made?;
    // The name has to last as long as what is sealed with the key.
    File::open(directory)?.sync_all()
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn read(path: &Path) -> Result<MasterKey, Failure> {
    let failed = |why: String| Failure::MasterKey { path: path.to_owned(), why };
    let mut file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let mode = file.metadata().map_err(|error| failed(error.to_string()))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(failed(format!("others can read it (mode {:o}): chmod 600 it", mode & 0o777)));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    parse(text.trim()).map(MasterKey::from_bytes).ok_or_else(|| failed("is not a master key".into()))
}

fn parse(text: &str) -> Option<[u8; 32]> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        return Some(bytes);
    }
    BASE64_STANDARD.decode(text).ok()?.try_into().ok()
}
