//! Seeded simulation of the worker: models with arbitrary turns, tools that fail and hang, people who answer, pause and
//! cancel, clocks that jump, and workers and processes that die between any two effects. All invariants are checked
//! after every round.
//!
//! `HOLDPOINT_SIM_SEEDS=n` runs more seeds; `HOLDPOINT_SIM_SEED=n` runs one and prints its story. The draws of a seed
//! are reproducible, but on a busy machine threads may run in another order around a death.

mod broken;
mod check;
mod check_runs;
mod deeds;
mod draw;
mod dying_worker;
mod ending;
mod kit;
mod place;
mod play;
mod stored_state;
mod world;

use broken::Defect;
use play::Totals;
use testkit::{Sabotage, SimulationRun, simulate};
use world::World;

/// Number of seeds in `make test`; `make verify` runs thousands.
const SEEDS: u64 = 200;
/// Number of rounds before every session has to end.
const ROUNDS: usize = 14;

fn run(seed: u64, defect: Option<Defect>, tells: bool) -> SimulationRun<Totals> {
    // The paused clock of tokio advances only when every task waits for time.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut world = World::of(seed, defect, tells);
        let wrong = live(&mut world).await.err();
        let totals = world.totals();
        SimulationRun { wrong, totals, story: std::mem::take(&mut world.story) }
    })
}

async fn live(world: &mut World) -> world::Verdict {
    for _ in 0..ROUNDS {
        world.time_passes();
        let deeds = world.draw_deeds();
        world.round(deeds, true).await?;
    }
    world.check_that_every_session_ends().await
}

#[test]
fn crashes_run_no_action_unallowed_or_twice_and_lose_no_turn() {
    if let Some((seeds, totals)) = simulate(SEEDS, |seed, tells| run(seed, None, tells), Totals::add) {
        println!("{seeds} seeds: {totals:?}");
        // A simulation in which nothing happens proves nothing.
        totals.require_enough(seeds).unwrap();
    }
}

/// Checks that a few seeds are enough to notice this defect, with a message that contains `words`.
fn check(defect: Defect, words: &str) {
    let mut said: Vec<String> = Vec::new();
    let noticed = (0..40).any(|seed| {
        said.extend(run(seed, Some(defect), false).wrong);
        said.last().is_some_and(|wrong| wrong.contains(words))
    });
    assert!(noticed, "nobody noticed {defect:?}, only {said:#?}");
}

#[test]
fn an_action_that_runs_without_a_permit_is_noticed() {
    check(Defect::RunsUnasked, "was never proposed");
    check(Defect::Store(Sabotage::ForgetsStarts), "runs without a start");
}

#[test]
fn an_action_that_runs_twice_after_a_death_is_noticed() {
    // The first run used the recorded start, so that the second run has no start.
    check(Defect::RunsAgain, "runs without a start");
}

#[test]
fn a_result_that_is_lost_or_given_twice_is_noticed() {
    check(Defect::Store(Sabotage::LosesResults), "the journal of");
    check(Defect::TellsTooLittle, "without results");
    check(Defect::TellsTwice, "a result without a call");
}

#[test]
fn an_answer_that_is_used_before_it_is_journalled_is_noticed() {
    check(Defect::Store(Sabotage::LosesResults), "is shown messages that differ from its journal");
}

#[test]
fn repeated_model_request_about_a_decided_call_is_noticed() {
    check(Defect::AsksAgain, "is shown messages that differ from its journal");
}

#[test]
fn a_session_that_ends_with_an_open_question_is_noticed() {
    check(Defect::Store(Sabotage::LeavesQuestions), "is open, and the step that asked it has ended");
}

#[test]
fn lost_or_partial_commits_and_missing_events_are_noticed() {
    check(Defect::Store(Sabotage::AcknowledgesWithoutCommit), "");
    check(Defect::Store(Sabotage::KeepsHalf), "");
    check(Defect::Store(Sabotage::DropsEvents), "have gaps");
}
