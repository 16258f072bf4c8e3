//! How many credentials that are not good one address may send: everybody can send some, and each costs a query.
//!
//! Whoever has sent too many is refused before the store is asked. Credentials that were good before still pass, so that nobody keeps those
//! out who come from the same address.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use domain::{Limit, Refusal};
use tokio::time::Instant;

use crate::connection::Network;
use crate::error::ApiError;

/// How many addresses are remembered. Where there are more, new ones count as having sent too many.
const MOST_ADDRESSES: usize = 50_000;
/// How many credentials that were good are remembered in each of two generations.
const MOST_KNOWN: usize = 20_000;
/// What the limit is counted in.
const SECONDS: f64 = 60.0;

/// The addresses that sent credentials that are not good, and the credentials that are.
pub(crate) struct Strangers {
    /// How many are let through at once, and again in a minute.
    most: u32,
    addresses: Mutex<HashMap<Network, Bucket>>,
    known: Mutex<Known>,
    hasher: RandomState,
}

/// What an address may still send.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// Digests of credentials that were good, the newer and the older ones.
#[derive(Default)]
struct Known {
    newer: HashSet<u64>,
    older: HashSet<u64>,
}

impl Strangers {
    pub(crate) fn new(most: u32) -> Self {
        Self { most, addresses: Mutex::default(), known: Mutex::default(), hasher: RandomState::new() }
    }

    /// Refuses a credential from an address that sent too many that were not good, unless this one was good before.
    pub(crate) fn may_try(&self, from: Option<IpAddr>, credential: Option<&str>) -> Result<(), ApiError> {
        let Some(network) = counted(from) else { return Ok(()) };
        let left = {
            let addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
            match addresses.get(&network) {
                Some(bucket) => self.refilled(*bucket).left,
                None if addresses.len() >= MOST_ADDRESSES => 0.0,
                None => 1.0,
            }
        };
        if left >= 1.0 || credential.is_some_and(|credential| self.is_known(credential)) {
            return Ok(());
        }
        Err(Refusal::LimitReached { limit: Limit::AddressAttempts, max: u64::from(self.most) }.into())
    }

    /// Notes that a credential was not good.
    pub(crate) fn failed(&self, from: Option<IpAddr>) {
        let Some(network) = counted(from) else { return };
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if addresses.len() >= MOST_ADDRESSES {
            addresses.retain(|_, bucket| self.refilled(*bucket).left < f64::from(self.most));
        }
        if addresses.len() >= MOST_ADDRESSES && !addresses.contains_key(&network) {
            return;
        }
        let full = Bucket { left: f64::from(self.most), at: Instant::now() };
        let bucket = addresses.entry(network).or_insert(full);
        let Bucket { left, at } = self.refilled(*bucket);
        *bucket = Bucket { left: (left - 1.0).max(0.0), at };
    }

    /// Notes that a credential was good.
    pub(crate) fn succeeded(&self, credential: &str) {
        let digest = self.hasher.hash_one(credential);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.newer.contains(&digest) {
            return;
        }
        if known.newer.len() >= MOST_KNOWN {
            known.older = std::mem::take(&mut known.newer);
        }
        known.newer.insert(digest);
    }

    fn is_known(&self, credential: &str) -> bool {
        let digest = self.hasher.hash_one(credential);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.newer.contains(&digest) || known.older.contains(&digest)
    }

    fn refilled(&self, Bucket { left, at }: Bucket) -> Bucket {
        let (now, most) = (Instant::now(), f64::from(self.most));
        let more = now.duration_since(at).as_secs_f64() * most / SECONDS;
        Bucket { left: (left + more).min(most), at: now }
    }
}

/// What an address is counted by. The machine itself is not counted: everybody comes from there where a proxy runs beside the server.
fn counted(from: Option<IpAddr>) -> Option<Network> {
    from.filter(|from| !from.to_canonical().is_loopback()).map(Network::of)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_address_that_guesses_is_refused_and_those_beside_it_are_not() {
        let strangers = Strangers::new(3);
        let address = |text: &str| Some(text.parse().unwrap());
        let (here, beside, there) = (address("2001:db8::1"), address("2001:db8::ffff"), address("2001:db8:0:1::1"));
        strangers.succeeded("good");
        for _ in 0..3 {
            assert!(strangers.may_try(here, Some("bad")).is_ok());
            strangers.failed(here);
        }
        assert!(strangers.may_try(here, Some("bad")).is_err());
        assert!(strangers.may_try(beside, None).is_err(), "one network is one caller");
        assert!(strangers.may_try(here, Some("good")).is_ok(), "what was good before passes");
        assert!(strangers.may_try(there, Some("bad")).is_ok());
        assert!(strangers.may_try(None, None).is_ok());
        let local = address("127.0.0.1");
        (0..9).for_each(|_| strangers.failed(local));
        assert!(strangers.may_try(local, None).is_ok(), "a proxy on this machine speaks for everybody");
        tokio::time::advance(Duration::from_secs(20)).await;
        assert!(strangers.may_try(here, Some("bad")).is_ok(), "three a minute are one in twenty seconds");
        strangers.failed(here);
        assert!(strangers.may_try(here, Some("bad")).is_err());
    }
}
