//! Limit on the invalid credentials of one address: each of them costs a query.
//!
//! An address that has sent too many is refused before the store is asked. Credentials that were valid before still
//! pass, so that nobody can lock out others who share the address.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::{Limit, Refusal};
use tokio::time::Instant;

use crate::connection::Network;
use crate::error::ApiError;

/// Number of addresses to remember. Beyond it a new address replaces an old one: a flood of addresses must not
/// refuse clients that have sent nothing yet.
const MOST_ADDRESSES: usize = 50_000;
/// Interval of searching the table for addresses whose limit is restored.
const TRIMMED_EVERY: Duration = Duration::from_secs(1);
/// Number of valid credentials to remember in each of two generations.
const MOST_KNOWN: usize = 20_000;
/// Period of the limit in seconds.
const SECONDS: f64 = 60.0;

/// Addresses that sent invalid credentials, and known valid credentials.
pub(crate) struct Strangers {
    /// Number of invalid credentials per minute.
    most: u32,
    addresses: Mutex<Addresses>,
    known: Mutex<ValidCredentials>,
    hasher: RandomState,
}

/// Remembered addresses, and the time of the last search.
#[derive(Default)]
struct Addresses {
    buckets: HashMap<Network, Bucket>,
    trimmed: Option<Instant>,
}

/// Remaining attempts of an address.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// Digests of valid credentials, in a newer and an older generation.
#[derive(Default)]
struct ValidCredentials {
    newer: HashSet<u64>,
    older: HashSet<u64>,
}

impl Strangers {
    pub(crate) fn new(most: u32) -> Self {
        Self { most, addresses: Mutex::default(), known: Mutex::default(), hasher: RandomState::new() }
    }

    /// Refuses a credential from an address that has sent too many invalid ones, unless this credential was valid
    /// before.
    pub(crate) fn may_try(&self, from: Option<IpAddr>, credential: Option<&str>) -> Result<(), ApiError> {
        let Some(network) = counted(from) else { return Ok(()) };
        let left = {
            let addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
            addresses.buckets.get(&network).map_or(1.0, |bucket| self.refilled(*bucket).left)
        };
        if left >= 1.0 || credential.is_some_and(|credential| self.is_known(credential)) {
            return Ok(());
        }
        Err(Refusal::LimitReached { limit: Limit::AddressAttempts, max: u64::from(self.most) }.into())
    }

    /// Records an invalid credential.
    pub(crate) fn record_failure(&self, from: Option<IpAddr>) {
        let Some(network) = counted(from) else { return };
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if !addresses.buckets.contains_key(&network) {
            self.make_room(&mut addresses);
        }
        let full = Bucket { left: f64::from(self.most), at: Instant::now() };
        let bucket = addresses.buckets.entry(network).or_insert(full);
        let Bucket { left, at } = self.refilled(*bucket);
        *bucket = Bucket { left: (left - 1.0).max(0.0), at };
    }

    /// Drops addresses whose limit is restored, or else any address, when the table is full.
    fn make_room(&self, addresses: &mut Addresses) {
        if addresses.buckets.len() < MOST_ADDRESSES {
            return;
        }
        let now = Instant::now();
        if addresses.trimmed.is_none_or(|at| now.duration_since(at) >= TRIMMED_EVERY) {
            addresses.buckets.retain(|_, bucket| self.refilled(*bucket).left < f64::from(self.most));
            addresses.trimmed = Some(now);
        }
        while addresses.buckets.len() >= MOST_ADDRESSES {
            let Some(any) = addresses.buckets.keys().next().copied() else { return };
            addresses.buckets.remove(&any);
        }
    }

    /// Records a valid credential.
    pub(crate) fn record_success(&self, credential: &str) {
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

/// Network by which an address is counted. Loopback is not counted: behind a local proxy all clients share it.
fn counted(from: Option<IpAddr>) -> Option<Network> {
    from.filter(|from| !from.to_canonical().is_loopback()).map(Network::of)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn network_that_sends_invalid_credentials_is_refused_and_others_are_not() {
        let strangers = Strangers::new(3);
        let address = |text: &str| Some(text.parse().unwrap());
        let (here, beside, there) = (address("2001:db8::1"), address("2001:db8::ffff"), address("2001:db8:0:1::1"));
        strangers.record_success("good");
        for _ in 0..3 {
            assert!(strangers.may_try(here, Some("bad")).is_ok());
            strangers.record_failure(here);
        }
        assert!(strangers.may_try(here, Some("bad")).is_err());
        assert!(strangers.may_try(beside, None).is_err(), "addresses of one network share a limit");
        assert!(strangers.may_try(here, Some("good")).is_ok(), "a known credential passes");
        assert!(strangers.may_try(there, Some("bad")).is_ok());
        assert!(strangers.may_try(None, None).is_ok());
        let local = address("127.0.0.1");
        (0..9).for_each(|_| strangers.record_failure(local));
        assert!(strangers.may_try(local, None).is_ok(), "loopback addresses are not counted");
        tokio::time::advance(Duration::from_secs(20)).await;
        assert!(strangers.may_try(here, Some("bad")).is_ok(), "three attempts a minute are one every twenty seconds");
        strangers.record_failure(here);
        assert!(strangers.may_try(here, Some("bad")).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn failed_attempts_from_many_addresses_use_bounded_memory() {
        let strangers = Strangers::new(1);
        let address = |number: u32| Some(IpAddr::from(number.to_be_bytes()));
        for number in 0..60_000 {
            strangers.record_failure(address(0x0a00_0000 + number));
        }
        assert!(strangers.addresses.lock().unwrap().buckets.len() <= MOST_ADDRESSES);
        let fresh = address(0x0b00_0001);
        assert!(strangers.may_try(fresh, Some("good")).is_ok());
        strangers.record_failure(fresh);
        assert!(strangers.may_try(fresh, Some("bad")).is_err(), "a new address is counted too");
    }
}
