//! Runs of a simulation with many seeds.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// Result of one seed.
pub struct SimulationRun<F> {
    /// First violation; `None` if every check passed.
    pub wrong: Option<String>,
    /// Counts of what happened.
    pub totals: F,
    /// Everything that happened, if the run was told to record it.
    pub story: Vec<String>,
}

/// Runs the seeds of a simulation on all processors, and returns their number and their totals. `run` gets a seed and whether to record the
/// story; `add` adds the counts of a run to the total.
///
/// `HOLDPOINT_SIM_SEEDS` replaces the number of seeds. With `HOLDPOINT_SIM_SEED` only that seed runs, its story is printed, and the result is
/// `None`, because one seed is not enough to judge totals.
pub fn simulate<F: Default + Send>(
    seeds: u64,
    run: impl Fn(u64, bool) -> SimulationRun<F> + Sync,
    add: impl Fn(&mut F, &F) + Sync,
) -> Option<(u64, F)> {
    if let Some(seed) = asked_for("HOLDPOINT_SIM_SEED") {
        let run = run(seed, true);
        tell(seed, &run);
        assert_eq!(run.wrong, None, "seed {seed}");
        return None;
    }
    let seeds = asked_for("HOLDPOINT_SIM_SEEDS").unwrap_or(seeds);
    let next = AtomicU64::new(0);
    let failed = Mutex::new(None);
    let totals = Mutex::new(F::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds || failed.lock().is_some() {
                        return;
                    }
                    let run = run(seed, false);
                    add(&mut totals.lock(), &run.totals);
                    if let Some(wrong) = run.wrong {
                        *failed.lock() = Some((seed, wrong));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner();
    if let Some((seed, _)) = &failed {
        tell(*seed, &run(*seed, true));
    }
    assert_eq!(failed, None, "HOLDPOINT_SIM_SEED with this seed runs it again");
    Some((seeds, totals.into_inner()))
}

#[expect(clippy::disallowed_methods, reason = "seeds are asked for by hand, and by no configuration")]
fn asked_for(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[expect(clippy::print_stderr, reason = "a failing seed tells its story")]
fn tell<F>(seed: u64, run: &SimulationRun<F>) {
    for line in &run.story {
        eprintln!("{line}");
    }
    eprintln!("seed {seed}: {}", run.wrong.as_deref().unwrap_or("nothing went wrong"));
}
