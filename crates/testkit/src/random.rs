//! A deterministic pseudo-random number generator.

/// Generator that returns equal numbers for equal seeds on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator with this seed.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number (`SplitMix64`).
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `end`, exclusive.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a number of this type")]
    pub const fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.number() % end as u64) as usize }
    }

    /// Returns true once in `times` calls on average.
    pub const fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Picks a random element; `None` for an empty slice.
    pub fn pick<'a, T>(&mut self, several: &'a [T]) -> Option<&'a T> {
        several.get(self.below(several.len()))
    }

    /// Fills a slice with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let number = self.number().to_le_bytes();
            chunk.copy_from_slice(&number[..chunk.len()]);
        }
    }
}
