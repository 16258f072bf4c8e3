//! Seals values under a data key of their tenant, and wraps data keys with a master key.
//!
//! A sealed value names its data key and a wrapped data key names its master key; both are selected by identifier. A sealed value is bound to the
//! context that it was sealed for.

use std::collections::HashMap;
use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use domain::{DataKeyId, InteractionId, KeptSecret, Scope, TenantId, WebhookId};
use parking_lot::RwLock;
use store::{DataKey, Sealed, StoreError};
use zeroize::Zeroizing;

use crate::run::transaction::Work;
use crate::secrets::master::{MasterKey, Masters, Reread};
use crate::{Error, Ids};

const NONCE: usize = 24;
/// Name under which an agent's own state is sealed.
pub(crate) const RESUME_POINT: &str = "resume_point";
/// Name under which the values of a secret question are sealed.
pub(crate) const SECRETS: &str = "secrets";

/// Context that a value is sealed for. The value cannot be unsealed in any other context.
pub(crate) enum SealContext<'a> {
    /// A value stored with a question, under a name.
    Question(&'a Scope, InteractionId, &'a str),
    /// A secret kept for an agent.
    Kept(&'a KeptSecret),
    /// A signing secret of a webhook, by its number.
    Webhook(&'a Scope, WebhookId, u32),
    /// A secret of an idempotency record, by its actor and its key.
    Idempotency(&'a Scope, &'a str, &'a str),
}

impl SealContext<'_> {
    fn tenant(&self) -> TenantId {
        match self {
            Self::Question(scope, ..) | Self::Webhook(scope, ..) | Self::Idempotency(scope, ..) => scope.tenant,
            Self::Kept(secret) => secret.scope.tenant,
        }
    }

    fn bound(&self) -> Vec<u8> {
        let (scope, place) = match self {
            Self::Question(scope, id, name) => (*scope, format!("{id}:{name}")),
            Self::Webhook(scope, id, number) => (*scope, format!("{id}:{number}")),
            Self::Idempotency(scope, actor, key) => (*scope, format!("once:{}:{actor}:{key}", actor.len())),
            Self::Kept(secret) => (&secret.scope, format!("{}:{}\n{}", secret.id, secret.name, secret.agent)),
        };
        format!("{}:{}:{place}", scope.tenant, scope.project).into_bytes()
    }
}

/// Seals and unseals values. Data keys are unwrapped once and stay in memory.
pub struct Vault {
    pub(crate) masters: Masters,
    opened: RwLock<HashMap<DataKeyId, XChaCha20Poly1305>>,
    /// Key of the installation's digests; [`crate::secrets::unlock::fingerprint`] loads it.
    pub(crate) stamp: RwLock<Option<Zeroizing<[u8; 32]>>>,
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault(..)")
    }
}

impl Vault {
    /// A vault with one fixed master key.
    #[must_use]
    pub fn new(master: MasterKey) -> Self {
        Self::over(vec![master], Box::new(Vec::new))
    }

    /// A vault with several master keys, the newest first, which can be rotated while the vault is in use.
    #[must_use]
    pub fn over(masters: Vec<MasterKey>, reread: Reread) -> Self {
        Self { masters: Masters::new(masters, reread), opened: RwLock::default(), stamp: RwLock::default() }
    }

    /// Seals a value under the newest data key of its tenant.
    pub(crate) fn seal(&self, work: &mut Work<'_>, context: &SealContext<'_>, value: &[u8]) -> Result<Sealed, Error> {
        let key = self.find_sealing_key(work, context.tenant())?;
        let body = encrypt(&self.cipher(&key)?, value, &context.bound(), work.ids)?;
        Ok(Sealed { key, body })
    }

    /// Unseals a value that was sealed for exactly this context.
    pub(crate) fn unseal(&self, context: &SealContext<'_>, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, Error> {
        if sealed.key.tenant != context.tenant() {
            return Err(Error::Sealed);
        }
        decrypt(&self.cipher(&sealed.key)?, &sealed.body, &context.bound())
    }

    /// Newest data key of a tenant, created if there is none.
    pub(crate) fn find_sealing_key(&self, work: &mut Work<'_>, tenant: TenantId) -> Result<DataKey, Error> {
        if let Some(key) = work.tx.data_key_newest(tenant)? {
            return Ok(key);
        }
        let key = self.create_data_key(work, tenant, 1)?;
        if work.tx.data_key_insert(&key)? {
            return Ok(key);
        }
        // Another node created the key first.
        Ok(work.tx.data_key_newest(tenant)?.ok_or(StoreError::Conflict)?)
    }

    /// Creates a data key under the master key in force, which stays in force until the transaction ends.
    pub(crate) fn create_data_key(&self, work: &mut Work<'_>, tenant: TenantId, number: u32) -> Result<DataKey, Error> {
        let in_force = work.tx.master_key_lock(&self.masters.newest()?.id())?;
        let master = self.masters.named(&in_force)?;
        let key = DataKey {
            id: work.ids.data_key(work.now),
            tenant,
            number,
            master: in_force,
            wrapped: wrap(&master, tenant, &Zeroizing::new(work.ids.random::<32>()), work.ids)?,
        };
        Ok(key)
    }

    /// Wraps a data key with another master key.
    pub(crate) fn rewrapped(&self, key: &DataKey, master: &MasterKey, ids: &Ids) -> Result<DataKey, Error> {
        let wrapped = wrap(master, key.tenant, &*self.unwrapped(key)?, ids)?;
        Ok(DataKey { master: master.id(), wrapped, ..key.clone() })
    }

    /// Unwraps a data key.
    pub(crate) fn unwrapped(&self, key: &DataKey) -> Result<Zeroizing<[u8; 32]>, Error> {
        let master = self.masters.named(&key.master)?;
        let wrapped = BASE64_STANDARD.decode(&key.wrapped).map_err(|_| Error::Sealed)?;
        let opened = decrypt(&cipher_of(master.bytes()), &wrapped, &wrapped_for(key.tenant, &key.master))?;
        <[u8; 32]>::try_from(opened.as_slice()).map(Zeroizing::new).map_err(|_| Error::Sealed)
    }

    fn cipher(&self, key: &DataKey) -> Result<XChaCha20Poly1305, Error> {
        if let Some(cipher) = self.opened.read().get(&key.id) {
            return Ok(cipher.clone());
        }
        let cipher = cipher_of(&*self.unwrapped(key)?);
        self.opened.write().insert(key.id, cipher.clone());
        Ok(cipher)
    }
}

fn wrap(master: &MasterKey, tenant: TenantId, key: &[u8; 32], ids: &Ids) -> Result<String, Error> {
    let wrapped = encrypt(&cipher_of(master.bytes()), key, &wrapped_for(tenant, &master.id()), ids)?;
    Ok(BASE64_STANDARD.encode(wrapped))
}

fn wrapped_for(tenant: TenantId, master: &str) -> Vec<u8> {
    format!("data_key:{tenant}:{master}").into_bytes()
}

fn cipher_of(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&Key::from(*key))
}

fn encrypt(cipher: &XChaCha20Poly1305, value: &[u8], bound: &[u8], ids: &Ids) -> Result<Vec<u8>, Error> {
    let nonce = ids.random::<NONCE>();
    let payload = Payload { msg: value, aad: bound };
    let sealed = cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| Error::Sealed)?;
    Ok([nonce.as_slice(), &sealed].concat())
}

fn decrypt(cipher: &XChaCha20Poly1305, sealed: &[u8], bound: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let (nonce, sealed) = sealed.split_at_checked(NONCE).ok_or(Error::Sealed)?;
    let nonce = XNonce::try_from(nonce).map_err(|_| Error::Sealed)?;
    let payload = Payload { msg: sealed, aad: bound };
    cipher.decrypt(&nonce, payload).map(Zeroizing::new).map_err(|_| Error::Sealed)
}
