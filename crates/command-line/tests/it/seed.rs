//! Seed of generated texts.

use std::hash::{BuildHasher, Hasher, RandomState};

use proptest::test_runner::{Config, RngSeed};

/// Returns the usual seed, so that each run of `make test` compares the same texts. Long runs set `PROPTEST_CASES` and get a random seed, which
/// a failed test prints; `PROPTEST_RNG_SEED` repeats it.
pub(crate) fn seed(usual: u64) -> RngSeed {
    let seed = match Config::default().rng_seed {
        RngSeed::Random if std::env::var_os("PROPTEST_CASES").is_none() => usual,
        RngSeed::Random => RandomState::new().build_hasher().finish(),
        RngSeed::Fixed(seed) => seed,
    };
    println!("PROPTEST_RNG_SEED={seed}");
    RngSeed::Fixed(seed)
}
