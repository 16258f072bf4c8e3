//! Seeded simulation of agents, people, clock jumps, lost replies and crashes of the process between any two steps of the engine. After every step
//! all invariants are checked.
//!
//! `HOLDPOINT_SIM_SEEDS=n` runs `n` seeds; `HOLDPOINT_SIM_SEED=n` replays one seed and prints its story.

mod books;
mod calls;
mod cast;
mod check;
mod command;
mod deeds;
mod draw;
mod draw_calls;
mod ending;
mod place;
mod questions;
mod readers;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};

use testkit::Sabotage;
use world::World;

/// Number of seeds in `make test`; `make verify` runs thousands.
const SEEDS: u64 = 200;
/// Number of steps of each seed.
const STEPS: usize = 45;

/// Result of one seed.
struct Run {
    wrong: Option<String>,
    crashes: usize,
    questions: usize,
    completed: usize,
    archived: usize,
    acted: [usize; 3],
    story: Vec<String>,
}

fn run(seed: u64, sabotage: Option<Sabotage>, tells: bool) -> Run {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut world = World::of(seed, sabotage, tells);
        let wrong = live(&mut world).await.err();
        let questions = world.books.iter().flat_map(|books| books.questions.values());
        let done =
            |question: &&domain::Interaction| matches!(question.delivery(), Some(domain::Delivery::Completed { .. }));
        Run {
            wrong,
            crashes: world.crashes,
            questions: questions.clone().count(),
            completed: questions.filter(done).count(),
            archived: world.books.iter().map(|books| books.archived.len()).sum(),
            acted: world.acted(),
            story: std::mem::take(&mut world.story),
        }
    })
}

async fn live(world: &mut World) -> world::Verdict {
    for _ in 0..STEPS {
        world.time_passes();
        let commands = world.draw_together();
        world.together(commands, true).await?;
    }
    world.run_to_the_end().await
}

/// Runs seeds on all processors until one fails or all are done.
fn run_all(seeds: u64) -> Result<[usize; 7], (u64, String)> {
    let next = AtomicU64::new(0);
    let failed = parking_lot::Mutex::new(None);
    let totals = parking_lot::Mutex::new([0; 7]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds || failed.lock().is_some() {
                        return;
                    }
                    let run = run(seed, None, false);
                    let [started, edited, granted] = run.acted;
                    let figures = [run.crashes, run.questions, run.completed, run.archived, started, edited, granted];
                    totals.lock().iter_mut().zip(figures).for_each(|(total, figure)| *total += figure);
                    if let Some(wrong) = run.wrong {
                        *failed.lock() = Some((seed, wrong));
                    }
                }
            });
        }
    });
    failed.into_inner().map_or_else(|| Ok(totals.into_inner()), Err)
}

#[expect(clippy::disallowed_methods, reason = "seeds are asked for by hand, and by no configuration")]
fn asked_for(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[expect(clippy::print_stderr, reason = "a failing seed tells its story")]
fn tell(seed: u64, run: &Run) {
    for line in &run.story {
        eprintln!("{line}");
    }
    eprintln!("seed {seed}: {}", run.wrong.as_deref().unwrap_or("nothing went wrong"));
}

#[test]
fn crashes_and_races_lose_and_repeat_nothing() {
    if let Some(seed) = asked_for("HOLDPOINT_SIM_SEED") {
        let run = run(seed, None, true);
        tell(seed, &run);
        assert_eq!(run.wrong, None, "seed {seed}");
        return;
    }
    let seeds = asked_for("HOLDPOINT_SIM_SEEDS").unwrap_or(SEEDS);
    match run_all(seeds) {
        Err((seed, wrong)) => {
            tell(seed, &run(seed, None, true));
            panic!("HOLDPOINT_SIM_SEED={seed} replays it: {wrong}");
        }
        Ok([crashes, questions, completed, archived, started, edited, granted]) => {
            println!(
                "{seeds} seeds: {crashes} deaths, {questions} questions, {completed} completed, {archived} archived; \
                 {started} actions started, {edited} edited, {granted} let through by a grant"
            );
            // A simulation in which nothing happens proves nothing.
            let seeds = seeds as usize;
            assert!(crashes > seeds / 2 && questions > 4 * seeds && completed > 2 * seeds && archived > seeds / 2);
            assert!(started > seeds && edited > seeds / 50 && granted > seeds / 50);
        }
    }
}

#[test]
fn runs_with_one_seed_are_identical() {
    for seed in 0..10 {
        assert_eq!(run(seed, None, true).story, run(seed, None, true).story, "seed {seed}");
    }
}

/// Asserts that at least one of a few seeds detects the defect.
fn check(sabotage: Sabotage) {
    let noticed = (0..40).find_map(|seed| run(seed, Some(sabotage), false).wrong);
    assert!(noticed.is_some(), "no check detected {sabotage:?}");
}

#[test]
fn sabotaged_store_is_detected() {
    check(Sabotage::DropsEvents);
    check(Sabotage::DropsEntries);
    check(Sabotage::AcknowledgesWithoutCommit);
    check(Sabotage::KeepsHalf);
    check(Sabotage::ForgetsKeys);
    check(Sabotage::ClockAhead);
}
