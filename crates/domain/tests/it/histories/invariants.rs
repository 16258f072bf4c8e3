//! Invariants that hold after every step of a history.

use std::collections::BTreeSet;

use holdpoint_domain::delivery::MOST_ATTEMPTS;
use holdpoint_domain::{
    Answer, AnswerId, Delivery, Effect, Fallback, Interaction, LeaseId, Resolution, SignedDuration, State, Status,
    Timestamp,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::common::people::{at, uuid};
use crate::histories::world::{MOST, World, WorldAction};

/// Closing events, of which a question has at most one.
const CLOSINGS: [&str; 4] =
    ["interaction.answered", "interaction.auto_resolved", "interaction.expired", "interaction.cancelled"];

/// Checks the changes that a step made.
pub(crate) fn of_the_step(before: &World, after: &World, deed: &WorldAction) {
    let changed = before.interactions.iter().zip(&after.interactions).filter(|(was, is)| was != is);
    for (was, is) in changed {
        assert_eq!(is.revision, was.revision + 1, "a change increments the revision by one: {deed:?}");
        assert_eq!((is.id, &is.origin, &is.question), (was.id, &was.origin, &was.question), "{deed:?}");
        if let State::Resolved { resolution, at, delivery, .. } = &was.state {
            let State::Resolved { resolution: now, at: then, delivery: after, .. } = &is.state else {
                return assert_ne!(is.status(), Status::Pending, "a closed question opened again: {deed:?}");
            };
            assert_eq!((now, then), (resolution, at), "a resolution is final: {deed:?}");
            of_the_delivery(delivery, after, deed);
        }
        if let (State::Pending(was), State::Pending(is)) = (&was.state, &is.state) {
            of_the_votes(&was.votes, &is.votes, deed);
            assert!(
                is.warned >= was.warned && is.overdue >= was.overdue,
                "a warning or an overdue mark was removed by {deed:?}"
            );
        }
        of_the_lease(was, is, before.now(), after.used, deed);
        of_the_events(before, after, is, deed);
        round_trip(is);
    }
    let same = before.interactions.iter().zip(&after.interactions).all(|(was, is)| was == is);
    let quiet = same && before.session == after.session && before.interactions.len() == after.interactions.len();
    if quiet {
        assert_eq!(before.events, after.events, "a deed without a change recorded an event: {deed:?}");
    }
    round_trip(&after.session);
}

/// Checks that a vote stays unless its voter answers differently, and that each person has at most one vote.
fn of_the_votes(was: &[Answer], is: &[Answer], deed: &WorldAction) {
    let (kept, lost): (Vec<&Answer>, Vec<&Answer>) = was.iter().partition(|vote| is.contains(vote));
    assert!(is.iter().take(kept.len()).eq(kept.iter().copied()), "the order of the votes changed: {deed:?}");
    let fresh = &is[kept.len()..];
    assert!(fresh.len() <= 1 && lost.len() <= fresh.len(), "a vote was lost: {deed:?}");
    for (lost, fresh) in lost.iter().zip(fresh) {
        assert!(lost.by == fresh.by && !lost.agrees_with(fresh), "{lost:?} became {fresh:?}: {deed:?}");
    }
    let people: BTreeSet<&str> = is.iter().map(|vote| vote.by.name.as_str()).collect();
    assert_eq!(people.len(), is.len(), "a person has two votes: {deed:?}");
}

/// Checks that the attempt number only grows, by one for each take, and that an ended delivery does not change.
fn of_the_delivery(was: &Delivery, is: &Delivery, deed: &WorldAction) {
    let (from, to) = (attempt(was), attempt(is));
    let legal = match (was, is) {
        (Delivery::Waiting { .. }, Delivery::Processing { .. }) => to == from + 1,
        (Delivery::Processing { lease, until, .. }, Delivery::Processing { lease: now, until: longer, .. })
            if lease == now =>
        {
            to == from && longer >= until
        }
        (Delivery::Processing { .. }, Delivery::Processing { .. }) => to == from + 1,
        (
            Delivery::Processing { .. },
            Delivery::Waiting { .. } | Delivery::Completed { .. } | Delivery::Failed { .. },
        ) => to == from,
        _ => was == is,
    };
    assert!(legal && to <= MOST_ATTEMPTS, "{was:?} became {is:?} by {deed:?}");
}

/// Checks that only the holder of the lease in force completes, fails or extends, and that only the asker takes.
fn of_the_lease(was: &Interaction, is: &Interaction, now: Timestamp, used: Option<LeaseId>, deed: &WorldAction) {
    match deed {
        WorldAction::Heartbeat { .. } | WorldAction::Complete { .. } | WorldAction::Fail { .. } => {
            let held = match was.delivery() {
                Some(Delivery::Processing { lease, until, .. }) => Some(*lease) == used && *until > now,
                _ => false,
            };
            assert!(held, "{deed:?} with {used:?} on {:?}", was.delivery());
        }
        WorldAction::Take { .. } => {
            let taken =
                matches!(is.delivery(), Some(Delivery::Processing { by, .. }) if by.name == is.origin.asked_by.name);
            assert!(taken, "{deed:?} gave {:?}", is.delivery());
        }
        _ => {
            let ended = matches!(is.delivery(), Some(Delivery::Completed { .. }));
            assert!(!ended, "{deed:?} completed a delivery");
        }
    }
}

/// Checks that a change records one event, and a heartbeat none. A closing event has its own name.
fn of_the_events(before: &World, after: &World, is: &Interaction, deed: &WorldAction) {
    let new: Vec<&str> = after.events[before.events.len()..]
        .iter()
        .filter(|event| event.interaction == Some(is.id))
        .map(|event| event.name.as_str())
        .collect();
    let expected = usize::from(!matches!(deed, WorldAction::Heartbeat { .. }));
    assert_eq!(new.len(), expected, "{deed:?} recorded {new:?}");
}

/// Checks the invariants of the whole session.
pub(crate) fn of_the_world(world: &World) {
    let open = || world.interactions.iter().filter(|interaction| interaction.status() == Status::Pending);
    let blocking = open().filter(|interaction| interaction.question.kind.blocks()).count();
    assert_eq!((world.session.open as usize, world.session.waiting_on as usize), (open().count(), blocking));
    assert!(world.session.open <= MOST);
    assert!(world.session.ended.is_none() || open().count() == 0, "a finished session has no open question");
    let numbers: Vec<u64> = world.events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=world.session.last_seq).collect::<Vec<_>>(), "numbered from 1 without gaps");
    for interaction in &world.interactions {
        let told = |names: &[&str]| {
            let about = world.events.iter().filter(|event| event.interaction == Some(interaction.id));
            about.filter(|event| names.contains(&event.name.as_str())).count()
        };
        let closed = interaction.status() != Status::Pending;
        assert_eq!(told(&["interaction.asked"]), 1);
        assert_eq!(told(&CLOSINGS), usize::from(closed), "a closed question has exactly one closing event");
        let name = format!("interaction.{}", interaction.status().name());
        assert_eq!(told(&[&name]), usize::from(closed), "the closing event has the name of the status");
        let completed = matches!(interaction.delivery(), Some(Delivery::Completed { .. }));
        assert_eq!(told(&["delivery.completed"]), usize::from(completed), "a completed delivery has exactly one event");
        of_the_question(interaction);
    }
}

/// Checks the invariants of one question.
fn of_the_question(interaction: &Interaction) {
    let sleeps = interaction.wake_at().is_none();
    match &interaction.state {
        State::Pending(pending) => {
            let voters: BTreeSet<&str> = pending.votes.iter().map(|vote| vote.by.name.as_str()).collect();
            assert_eq!(voters.len(), pending.votes.len(), "each person has at most one vote");
            assert!(
                !pending.overdue || interaction.question.holds(),
                "only a question with the fallback `hold` is overdue"
            );
        }
        State::Resolved { resolution, at, delivery, .. } => {
            let processing = matches!(delivery, Delivery::Processing { .. });
            assert_eq!(sleeps, !processing, "time concerns a closed question only while a lease runs");
            let needed = !matches!(delivery, Delivery::NotNeeded);
            let withdrawn =
                matches!(resolution, Resolution::Cancelled { by, .. } if by.name == interaction.origin.asked_by.name);
            assert_eq!(needed, interaction.question.kind.blocks() && !withdrawn);
            of_the_resolution(interaction, resolution, *at);
        }
    }
}

/// Checks that the resolution was made by a permitted person, in time, and with an offered answer.
fn of_the_resolution(interaction: &Interaction, resolution: &Resolution, at: Timestamp) {
    let question = &interaction.question;
    let Some(answer) = resolution.answer() else { return };
    if answer.effect.runs_action() {
        assert!(matches!(answer.effect, Effect::Approve | Effect::Edit));
        let offered =
            question.options.iter().any(|option| option.effect == answer.effect && answer.options.contains(&option.id));
        assert!(offered, "the question does not offer {answer:?}");
    }
    assert_eq!(answer.arguments.is_some(), answer.effect == Effect::Edit, "only an edit takes arguments");
    assert!(
        answer.options.iter().all(|id| question.option(id).is_some()),
        "the answer names only options of the question"
    );
    match resolution {
        Resolution::Answered { answer, votes } => {
            assert!(question.holds() || question.deadline.is_none_or(|deadline| at < deadline), "answered in time");
            let everybody: Vec<&Answer> = if votes.is_empty() { vec![answer] } else { votes.iter().collect() };
            assert!(
                everybody.iter().all(|vote| vote.by.name != interaction.origin.asked_by.name),
                "the asker answered"
            );
            assert!(
                everybody.iter().all(|vote| !["bot", "twin"].contains(&vote.by.name.as_str())),
                "an agent answered"
            );
            let starter = everybody.iter().any(|vote| vote.by == interaction.origin.started_by);
            let four_eyes = question.audiences().iter().all(|audience| audience.four_eyes);
            assert!(!(starter && four_eyes), "four eyes");
            let agreeing: BTreeSet<&str> =
                everybody.iter().filter(|vote| vote.agrees_with(answer)).map(|vote| vote.by.name.as_str()).collect();
            let enough = agreeing.len() >= question.audience.quorum as usize;
            assert!(enough || answer.effect.holds_back(), "decided by {agreeing:?} alone: {question:?}");
            if !question.requirements.is_empty() && !answer.effect.holds_back() {
                let of_ops = ["alice", "carol"];
                assert!(
                    of_ops.iter().all(|name| agreeing.contains(name)),
                    "decided by {agreeing:?}, not by both of ops"
                );
                assert!(agreeing.contains("bob") || agreeing.contains("victor"), "decided by {agreeing:?}");
            }
        }
        Resolution::AutoResolved { answer, .. } if answer.by.name == "holdpoint" => {
            let as_written = match &question.fallback {
                Some(Fallback::Option(option)) => answer.options == [option.clone()],
                Some(Fallback::Value(value)) => answer.data == *value && answer.effect == Effect::Provide,
                Some(Fallback::Deny) => answer.effect == Effect::Reject,
                Some(Fallback::Hold) | None => false,
            };
            assert!(as_written, "{answer:?} is not the fallback {:?}", question.fallback);
        }
        Resolution::AutoResolved { .. } | Resolution::Expired | Resolution::Cancelled { .. } => {}
    }
}

/// Checks that a change happens at `wake_at` and not before, and that after a few changes no further one is due.
pub(crate) fn of_time(mut interaction: Interaction) {
    let id = AnswerId::from_uuid(uuid(7));
    for _ in 0..5 {
        let Some(wake) = interaction.wake_at() else {
            let far = interaction.clone().tick(id, at(1_000_000_000));
            return assert_eq!(far, None, "time changed a question that has no wake-up time");
        };
        let early = interaction.clone().tick(id, wake - SignedDuration::from_nanos(1));
        assert_eq!(early, None, "too early");
        let changed = interaction.clone().tick(id, wake).map(|(after, _)| after).unwrap();
        assert_eq!(changed.revision, interaction.revision + 1);
        assert!(changed.wake_at().is_none_or(|next| next >= wake || changed.status() == Status::Pending));
        interaction = changed;
    }
    assert_eq!(interaction.wake_at(), None, "the wake-up times do not end: {interaction:?}");
}

/// Takes an answer repeatedly. Each time the lease lapses, or the agent fails and asks for another attempt.
pub(crate) fn of_a_hopeless_delivery(fails: &[bool]) {
    let lease = LeaseId::from_uuid(uuid(8));
    let by = crate::histories::world::actor(0).actor;
    let mut delivery = Delivery::Waiting { attempt: 0 };
    let mut taken = 0;
    for fails in fails {
        let Ok(processing) = delivery.clone().take(lease, by.clone(), at(0), at(10)) else { break };
        taken += 1;
        delivery = if *fails {
            processing.fail(lease, "again".into(), true, at(5)).unwrap()
        } else {
            assert_eq!(processing.lapse(at(9)), None);
            processing.lapse(at(10)).unwrap()
        };
    }
    assert_eq!((taken, delivery.name()), (MOST_ATTEMPTS, "failed"));
}

const fn attempt(delivery: &Delivery) -> u32 {
    match delivery {
        Delivery::NotNeeded => 0,
        Delivery::Waiting { attempt }
        | Delivery::Processing { attempt, .. }
        | Delivery::Completed { attempt, .. }
        | Delivery::Failed { attempt, .. } => *attempt,
    }
}

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
}
