//! Tests generated histories of one session. The invariants hold for every sequence of commands and times.

mod invariants;
mod world;

use holdpoint_domain::Command;
use proptest::prelude::*;
use world::{World, WorldAction};

/// Number of a person or an agent.
fn actor() -> impl Strategy<Value = usize> {
    0..world::ACTORS.len()
}

/// Number of an actor: mostly the first agent, which asks and takes.
fn agent() -> impl Strategy<Value = usize> {
    prop_oneof![4 => Just(0usize), 1 => actor()]
}

/// Generates one deed: an action of a participant or of the clock. `which` selects a question asked so far; a deed may use an old lease.
fn deed() -> impl Strategy<Value = WorldAction> {
    let which = || 0..4usize;
    let draft = || 0..world::DRAFTS.len();
    let command = prop_oneof![
        4 => Just(Command::Pause),
        4 => Just(Command::Resume),
        1 => Just(Command::Cancel),
        1 => Just(Command::Complete),
        1 => Just(Command::Fail),
    ];
    prop_oneof![
        4 => (agent(), 0..world::TEMPLATES.len(), proptest::option::of(1..300i64))
            .prop_map(|(who, template, due)| WorldAction::Ask { who, template, due }),
        8 => (actor(), which(), draft()).prop_map(|(who, which, draft)| WorldAction::Answer { who, which, draft }),
        1 => (actor(), which(), draft()).prop_map(|(who, which, draft)| WorldAction::Auto { who, which, draft }),
        1 => which().prop_map(|which| WorldAction::Expire { which }),
        1 => (actor(), which()).prop_map(|(who, which)| WorldAction::Cancel { who, which }),
        2 => (actor(), which(), -5..100i64).prop_map(|(who, which, span)| WorldAction::Claim { who, which, span }),
        1 => (actor(), which()).prop_map(|(who, which)| WorldAction::Release { who, which }),
        5 => (agent(), which(), -5..60i64).prop_map(|(who, which, span)| WorldAction::Take { who, which, span }),
        2 => (which(), 0..3usize, -5..60i64).prop_map(|(which, back, span)| WorldAction::Heartbeat { which, back, span }),
        3 => (which(), 0..3usize).prop_map(|(which, back)| WorldAction::Complete { which, back }),
        2 => (which(), 0..3usize, any::<bool>()).prop_map(|(which, back, again)| WorldAction::Fail { which, back, again }),
        3 => which().prop_map(|which| WorldAction::Tick { which }),
        3 => (-30..200i64).prop_map(WorldAction::Jump),
        1 => (actor(), command).prop_map(|(who, command)| WorldAction::Control { who, command }),
    ]
}

/// Writes no regression files, because a failing history is printed completely.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: ProptestConfig::default().cases.max(256),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// Every invariant holds after every step of every history.
    #[test]
    fn invariants_hold_after_every_step(deeds in proptest::collection::vec(deed(), 1..80)) {
        let mut world = World::new();
        for deed in deeds {
            let before = world.clone();
            world.play(&deed);
            invariants::of_the_step(&before, &world, &deed);
            invariants::of_the_world(&world);
        }
    }

    /// With time alone, every question comes to rest after a few steps and is not woken again.
    #[test]
    fn question_needs_no_wake_up_after_its_timers_have_fired(deeds in proptest::collection::vec(deed(), 1..40)) {
        let mut world = World::new();
        deeds.iter().for_each(|deed| world.play(deed));
        for interaction in world.interactions {
            invariants::of_time(interaction);
        }
    }

    /// A delivery whose lease always lapses ends as failed instead of being repeated forever.
    #[test]
    fn delivery_fails_after_the_maximum_number_of_attempts(fails in proptest::collection::vec(any::<bool>(), 30)) {
        invariants::of_a_hopeless_delivery(&fails);
    }
}
