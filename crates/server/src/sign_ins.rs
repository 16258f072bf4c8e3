//! Rate limits of sign-in attempts, per account and per address. Each node counts for itself.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::error::ApiError;

/// Number of accounts and addresses to remember before those without a remaining limit are dropped.
const MOST: usize = 10_000;
/// Burst of attempts on an account from one address, and the interval after which another attempt is allowed.
const OF_ACCOUNT: (u32, Duration) = (10, Duration::from_secs(6));
/// Burst of attempts on an account from all addresses, and the interval after which another attempt is allowed.
const OF_ACCOUNT_ALONE: (u32, Duration) = (1000, Duration::from_millis(200));
/// Burst of attempts from one address, and the interval after which another attempt is allowed.
const OF_ADDRESS: (u32, Duration) = (30, Duration::from_secs(2));

/// Rate limits of sign-in attempts.
pub(crate) struct SignIns {
    /// Attempts on an account from one address: attempts of others do not lock out its owner.
    by_account: DefaultKeyedRateLimiter<(String, Option<IpAddr>)>,
    /// Attempts on an account from all addresses: many addresses together cannot guess faster.
    by_account_alone: DefaultKeyedRateLimiter<String>,
    by_address: DefaultKeyedRateLimiter<IpAddr>,
}

impl Default for SignIns {
    fn default() -> Self {
        Self {
            by_account: RateLimiter::keyed(quota(OF_ACCOUNT)),
            by_account_alone: RateLimiter::keyed(quota(OF_ACCOUNT_ALONE)),
            by_address: RateLimiter::keyed(quota(OF_ADDRESS)),
        }
    }
}

impl SignIns {
    /// Counts an attempt from an address, and refuses it if the limit is exceeded.
    pub(crate) fn check_address(&self, from: Option<IpAddr>) -> Result<(), ApiError> {
        trim(&self.by_address);
        let often = from.is_some_and(|from| self.by_address.check_key(&from).is_err());
        if often { Err(ApiError::TooManySignIns(OF_ADDRESS.0)) } else { Ok(()) }
    }

    /// Counts an attempt on an account, and refuses it if the limit is exceeded.
    pub(crate) fn check(&self, tenant: &str, name: &str, from: Option<IpAddr>) -> Result<(), ApiError> {
        self.check_address(from)?;
        trim(&self.by_account);
        trim(&self.by_account_alone);
        let account: String = format!("{tenant}\n{name}").chars().take(300).collect();
        if self.by_account.check_key(&(account.clone(), from)).is_err() {
            return Err(ApiError::TooManySignIns(OF_ACCOUNT.0));
        }
        let often = self.by_account_alone.check_key(&account).is_err();
        if often { Err(ApiError::TooManySignIns(OF_ACCOUNT_ALONE.0)) } else { Ok(()) }
    }
}

fn quota((burst, every): (u32, Duration)) -> Quota {
    let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
    Quota::with_period(every).unwrap_or(Quota::per_second(NonZeroU32::MIN)).allow_burst(burst)
}

fn trim<K: Hash + Eq + Clone>(limiter: &DefaultKeyedRateLimiter<K>) {
    if limiter.len() > MOST {
        limiter.retain_recent();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_in_attempts_are_limited_per_account_and_per_address() {
        let (here, there) = (Some([10, 0, 0, 1].into()), Some([10, 0, 0, 2].into()));
        let sign_ins = SignIns::default();
        let tried = |name: &str, from| sign_ins.check("default", name, from).is_ok();
        assert!((0..10).all(|_| tried("alice", here)));
        assert!(!tried("alice", here), "the account is locked for this address");
        assert!(tried("alice", there), "other addresses can still try the account");
        assert!((0..19).all(|number| tried(&number.to_string(), here)));
        assert!(!tried("bob", here), "the address is locked");
        assert!(tried("bob", there));
    }

    #[test]
    fn sign_in_attempts_on_one_account_are_limited_across_addresses() {
        let sign_ins = SignIns::default();
        let from = |number: u32| Some(IpAddr::from(number.to_be_bytes()));
        let let_through = (0..3000).filter(|number| sign_ins.check("default", "alice", from(*number)).is_ok()).count();
        assert!((1000..1500).contains(&let_through), "{let_through}");
        assert!(sign_ins.check("default", "bob", from(1)).is_ok());
    }
}
