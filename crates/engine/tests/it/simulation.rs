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

use testkit::{Sabotage, SimulationRun, simulate};
use world::World;

/// Number of seeds in `make test`; `make verify` runs thousands.
const SEEDS: u64 = 200;
/// Number of steps of each seed.
const STEPS: usize = 45;

/// Counts of what happened.
#[derive(Default)]
struct Totals {
    crashes: usize,
    questions: usize,
    completed: usize,
    archived: usize,
    acted: [usize; 3],
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.crashes += other.crashes;
        self.questions += other.questions;
        self.completed += other.completed;
        self.archived += other.archived;
        self.acted.iter_mut().zip(other.acted).for_each(|(total, acted)| *total += acted);
    }
}

fn run(seed: u64, sabotage: Option<Sabotage>, tells: bool) -> SimulationRun<Totals> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut world = World::of(seed, sabotage, tells);
        let wrong = live(&mut world).await.err();
        let questions = world.books.iter().flat_map(|books| books.questions.values());
        let done =
            |question: &&domain::Interaction| matches!(question.delivery(), Some(domain::Delivery::Completed { .. }));
        let totals = Totals {
            crashes: world.crashes,
            questions: questions.clone().count(),
            completed: questions.filter(done).count(),
            archived: world.books.iter().map(|books| books.archived.len()).sum(),
            acted: world.acted(),
        };
        SimulationRun { wrong, totals, story: std::mem::take(&mut world.story) }
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

#[test]
fn crashes_and_races_lose_and_repeat_nothing() {
    let Some((seeds, totals)) = simulate(SEEDS, |seed, tells| run(seed, None, tells), Totals::add) else { return };
    let Totals { crashes, questions, completed, archived, acted: [started, edited, granted] } = totals;
    println!(
        "{seeds} seeds: {crashes} deaths, {questions} questions, {completed} completed, {archived} archived; \
         {started} actions started, {edited} edited, {granted} let through by a grant"
    );
    // A simulation in which nothing happens proves nothing.
    let seeds = seeds as usize;
    assert!(crashes > seeds / 2 && questions > 4 * seeds && completed > 2 * seeds && archived > seeds / 2);
    assert!(started > seeds && edited > seeds / 50 && granted > seeds / 50);
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
