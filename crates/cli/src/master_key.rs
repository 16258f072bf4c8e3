//! The master keys, from the environment or from a file that is created with safe permissions at the first start. The
//! newest key comes first.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{MasterKey, Vault};
use zeroize::Zeroizing;

use crate::config::MasterKeys;
use crate::failure::Failure;

const FILE: &str = "master.key";

/// Creates a vault with the given master keys, or with the keys of the file. The file is created if it is missing, and read again when a key is
/// unknown, so that a rotation needs no restart.
pub(crate) fn vault(given: &MasterKeys, directory: &Path) -> Result<Vault, Failure> {
    if let Some(keys) = from_environment(given)? {
        return Ok(Vault::over(keys, Box::new(Vec::new)));
    }
    let path = directory.join(FILE);
    if !path.exists() {
        let failed = |error: io::Error| Failure::MasterKey { path: path.clone(), why: error.to_string() };
        make(directory, &path).map_err(failed)?;
    }
    vault_of_file(path)
}

/// The given keys, newest first.
pub(crate) fn from_environment(given: &MasterKeys) -> Result<Option<Vec<MasterKey>>, Failure> {
    let parsed = |name: &str, text: &str| {
        let (path, why) = (name.into(), "must be 32 bytes in hexadecimal or base64".to_owned());
        parse(text).ok_or(Failure::MasterKey { path, why })
    };
    let Some(newest) = &given.master_key else { return Ok(None) };
    let mut keys = vec![parsed("HOLDPOINT_MASTER_KEY", newest)?];
    if let Some(previous) = &given.master_key_previous {
        keys.push(parsed("HOLDPOINT_MASTER_KEY_PREVIOUS", previous)?);
    }
    Ok(Some(keys))
}

fn vault_of_file(path: PathBuf) -> Result<Vault, Failure> {
    let keys = read(&path)?;
    let reread = move || {
        read(&path).unwrap_or_else(|failure| {
            tracing::warn!(%failure, "the master keys could not be read again");
            Vec::new()
        })
    };
    Ok(Vault::over(keys, Box::new(reread)))
}

/// The key file during a rotation, locked against another rotation.
pub(crate) struct KeyFileRotation {
    directory: PathBuf,
    path: PathBuf,
    #[expect(dead_code, reason = "held, not read")]
    lock: File,
}

impl KeyFileRotation {
    /// Locks the file, or fails if another rotation holds it.
    pub(crate) fn begin(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join(FILE);
        let failed = |why: String| Failure::MasterKey { path: path.clone(), why };
        let lock =
            File::options().create(true).truncate(false).write(true).mode(0o600).open(path.with_extension("lock"));
        let lock = lock.map_err(|error| failed(error.to_string()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { directory: directory.to_owned(), path, lock }),
            Err(TryLockError::WouldBlock) => Err(failed("is being rotated by another command".into())),
            Err(TryLockError::Error(error)) => Err(failed(error.to_string())),
        }
    }

    /// A vault with the current keys.
    pub(crate) fn vault(&self) -> Result<Vault, Failure> {
        vault_of_file(self.path.clone())
    }

    /// Adds a new key before anything is sealed with it. Returns `false` if an added key is still waiting for its
    /// rotation.
    pub(crate) fn prepare(&self) -> Result<bool, Failure> {
        let mut keys = read(&self.path)?;
        if keys.len() > 1 {
            return Ok(false);
        }
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|error| self.failed(error.to_string()))?;
        keys.insert(0, MasterKey::from_bytes(*bytes));
        self.write(&keys)?;
        Ok(true)
    }

    /// Removes all keys but the newest, after everything is sealed with it.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        self.write(&read(&self.path)?[..1])
    }

    /// Writes a new file and renames it, so that a reader, or a crash in the middle, sees the old keys or the new ones.
    fn write(&self, keys: &[MasterKey]) -> Result<(), Failure> {
        let fresh = self.directory.join(format!("{FILE}.{}.new", std::process::id()));
        let written = write(&fresh, &encode_keys(keys))
            .and_then(|()| std::fs::rename(&fresh, &self.path))
            .and_then(|()| File::open(&self.directory)?.sync_all());
        written.map_err(|error| self.failed(error.to_string()))
    }

    fn failed(&self, why: String) -> Failure {
        Failure::MasterKey { path: self.path.clone(), why }
    }
}

/// Creates a key under another name first, so that a crash or a concurrent start never sees half a key.
fn make(directory: &Path, path: &Path) -> io::Result<()> {
    store_sqlite::private_directory(directory)?;
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|error| io::Error::other(error.to_string()))?;
    let fresh = directory.join(format!("{FILE}.{}.new", std::process::id()));
    let text = encode_keys(&[MasterKey::from_bytes(*bytes)]);
    let made = write(&fresh, &text).and_then(|()| match std::fs::hard_link(&fresh, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    // Removes the rest of a failed attempt.
    let _ = std::fs::remove_file(&fresh);
    made?;
    // The directory entry must be as durable as the data that is sealed with the key.
    File::open(directory)?.sync_all()
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn read(path: &Path) -> Result<Vec<MasterKey>, Failure> {
    let failed = |why: String| Failure::MasterKey { path: path.to_owned(), why };
    let mut file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let mode = file.metadata().map_err(|error| failed(error.to_string()))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(failed(format!("other users can read it (mode {:o}): run chmod 600 on it", mode & 0o777)));
    }
    let mut text = Zeroizing::new(String::new());
    file.read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    let keys: Option<Vec<MasterKey>> = text.lines().map(|line| parse(line.trim())).collect();
    keys.filter(|keys| !keys.is_empty()).ok_or_else(|| failed("is not a master key".into()))
}

/// Text of the keys, one per line.
fn encode_keys(keys: &[MasterKey]) -> Zeroizing<String> {
    Zeroizing::new(keys.iter().map(|key| format!("{}\n", BASE64_STANDARD.encode(key.bytes()))).collect())
}

fn parse(text: &str) -> Option<MasterKey> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let mut bytes = Zeroizing::new([0; 32]);
        domain::read_hex(text, &mut *bytes)?;
        return Some(MasterKey::from_bytes(*bytes));
    }
    let bytes = Zeroizing::new(BASE64_STANDARD.decode(text).ok()?);
    <[u8; 32]>::try_from(bytes.as_slice()).ok().map(MasterKey::from_bytes)
}
