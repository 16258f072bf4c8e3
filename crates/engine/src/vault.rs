//! Sealing: a data key for each tenant, itself sealed with the master key. Values are bound to tenant, question and name.

use std::collections::HashMap;
use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use domain::{Digest, InteractionId, Scope, TenantId};
use parking_lot::RwLock;
use store::Cost;
use zeroize::Zeroizing;

use crate::{Engine, Error, Ids};

const NONCE: usize = 24;
/// Under which name an agent's own state is sealed.
pub(crate) const RESUME_POINT: &str = "resume_point";
/// Under which name the values of a secret question are sealed.
pub(crate) const SECRETS: &str = "secrets";

/// The key that all others are sealed with. Neither printed nor serialised.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl MasterKey {
    /// Takes 32 bytes as the key.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Names the key without telling it.
    fn id(&self) -> String {
        Digest::of_bytes(&[b"holdpoint master key id:", self.0.as_slice()].concat()).to_string()[..16].to_owned()
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(..)")
    }
}

/// Seals and unseals. Data keys are opened once and kept in memory.
pub struct Vault {
    master: MasterKey,
    opened: RwLock<HashMap<TenantId, XChaCha20Poly1305>>,
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault(..)")
    }
}

impl Vault {
    /// A vault under a master key.
    #[must_use]
    pub fn new(master: MasterKey) -> Self {
        Self { master, opened: RwLock::new(HashMap::new()) }
    }

    /// A keyed digest: what is kept of a body tells nothing about the secrets in it, however short they are.
    pub(crate) fn fingerprint(&self, purpose: &str, text: &str) -> [u8; 32] {
        crate::authenticate::fingerprint(self.master.0.as_slice(), format!("{purpose}\n{text}").as_bytes())
    }

    /// Seals a value of a question under the tenant's data key, which must have been opened.
    pub(crate) fn seal(
        &self,
        scope: &Scope,
        id: InteractionId,
        name: &str,
        value: &[u8],
        ids: &Ids,
    ) -> Result<Vec<u8>, Error> {
        let opened = self.opened.read();
        let cipher = opened.get(&scope.tenant).ok_or(Error::Sealed)?;
        encrypt(cipher, value, &bound_to(scope, id, name), ids)
    }

    /// Opens what was sealed for exactly this tenant, question and name.
    pub(crate) fn unseal(
        &self,
        scope: &Scope,
        id: InteractionId,
        name: &str,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let opened = self.opened.read();
        let cipher = opened.get(&scope.tenant).ok_or(Error::Sealed)?;
        decrypt(cipher, sealed, &bound_to(scope, id, name))
    }
}

impl Engine {
    /// Refuses a master key other than the one that this installation was first started with.
    pub async fn unlock(&self) -> Result<(), Error> {
        let id = self.vault.master.id();
        let ours = id.clone();
        let kept = self.transact(move |work| Ok(work.tx.setting_ensure("master_key", &ours)?)).await?;
        if kept == id { Ok(()) } else { Err(Error::Sealed) }
    }

    /// Opens the data key of a tenant, making one where there is none.
    pub(crate) async fn open_vault(&self, tenant: TenantId) -> Result<(), Error> {
        if self.vault.opened.read().contains_key(&tenant) {
            return Ok(());
        }
        let master = XChaCha20Poly1305::new(&Key::from(*self.vault.master.0));
        let name = format!("data_key:{tenant}");
        let bound = format!("{name}:{}", self.vault.master.id());
        let lookup = name.clone();
        let mut kept = self.read(Cost::Point, move |reads| Ok(reads.setting(&lookup)?)).await?;
        if kept.is_none() {
            let fresh = Zeroizing::new(self.ids.random::<32>());
            let sealed = encrypt(&master, fresh.as_slice(), bound.as_bytes(), &self.ids)?;
            let text = format!("{}:{}", self.vault.master.id(), BASE64_STANDARD.encode(sealed));
            kept = Some(self.transact(move |work| Ok(work.tx.setting_ensure(&name, &text)?)).await?);
        }
        let kept = kept.unwrap_or_default();
        let (key_id, sealed) = kept.split_once(':').ok_or(Error::Sealed)?;
        if key_id != self.vault.master.id() {
            return Err(Error::Sealed);
        }
        let sealed = BASE64_STANDARD.decode(sealed).map_err(|_| Error::Sealed)?;
        let key = decrypt(&master, &sealed, bound.as_bytes())?;
        let key = Key::try_from(key.as_slice()).map_err(|_| Error::Sealed)?;
        self.vault.opened.write().insert(tenant, XChaCha20Poly1305::new(&key));
        Ok(())
    }
}

fn bound_to(scope: &Scope, id: InteractionId, name: &str) -> Vec<u8> {
    format!("{}:{}:{id}:{name}", scope.tenant, scope.project).into_bytes()
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
