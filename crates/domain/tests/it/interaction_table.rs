//! Tests every state of an interaction against every command, without wildcards.

use crate::common::people::{at, caller, session, uuid};
use crate::common::questions::{draft, question};
use crate::common::table::cells;
use holdpoint_domain::delivery::MOST_ATTEMPTS;
use holdpoint_domain::interaction::{Change, Handover};
use holdpoint_domain::{
    AnswerId, AutoSource, Caller, Delivery, Interaction, InteractionId, LeaseId, Refusal, Resolution, Role, State,
    Timestamp,
};
use serde_json::{Value, json};

/// Closing commands. A cell of a pending question shows its collected state; a cell of a closed question shows its delivery, with the
/// attempt from 1.
const CLOSING: &str = "
state              | approve          | reject           | auto            | expire          | cancel
pending            | answered waiting | answered waiting | auto waiting    | expired waiting | cancelled waiting
claimed by me      | answered waiting | answered waiting | auto waiting    | expired waiting | cancelled waiting
claimed by other   | ClaimedByOther   | ClaimedByOther   | auto waiting    | expired waiting | cancelled waiting
claim lapsed       | answered waiting | answered waiting | auto waiting    | expired waiting | cancelled waiting
one vote of two    | answered waiting | answered waiting | auto waiting    | expired waiting | cancelled waiting
my vote of two     | AlreadyVoted     | answered waiting | auto waiting    | expired waiting | cancelled waiting
quorum claimed     | pending +1 bob   | answered waiting | auto waiting    | expired waiting | cancelled waiting
overdue, held      | answered waiting | answered waiting | auto waiting    | AlreadyOverdue  | cancelled waiting
past due, held     | answered waiting | answered waiting | auto waiting    | pending overdue | cancelled waiting
past due           | TooLate          | TooLate          | TooLate         | expired waiting | cancelled waiting
past due, deny     | TooLate          | TooLate          | TooLate         | auto waiting    | cancelled waiting
warning due        | answered waiting | answered waiting | auto waiting    | expired waiting | cancelled waiting
vote, claim over   | answered waiting | answered waiting | auto waiting    | expired waiting | cancelled waiting
vote, claim, warn  | answered waiting | answered waiting | auto waiting    | expired waiting | cancelled waiting
notice             | NotOffered       | answered no      | auto no         | expired no      | cancelled no
answered, waiting  | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
answered, leased   | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
answered, lapsed   | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
answered, last try | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
answered, done     | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
answered, failed   | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
auto-resolved      | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
denied at deadline | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
expired            | TooLate          | TooLate          | AlreadyResolved | AlreadyResolved | AlreadyResolved
cancelled          | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
withdrawn          | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
notice, read       | AlreadyResolved  | AlreadyResolved  | AlreadyResolved | AlreadyResolved | AlreadyResolved
handed over        | HandedOver       | HandedOver       | HandedOver      | HandedOver      | cancelled waiting
abstained          | answered waiting | answered waiting | auto waiting    | expired waiting | cancelled waiting
the second         | answered no      | answered no      | auto no         | expired no      | cancelled no
";

/// Claims, and changes that happen with time.
const KEEPING: &str = "
state              | claim                 | release         | tick
pending            | pending alice         | NotClaimed      | nothing
claimed by me      | pending alice         | pending         | nothing
claimed by other   | ClaimedByOther        | NotClaimed      | nothing
claim lapsed       | pending alice         | NotClaimed      | pending
one vote of two    | pending +1 alice      | NotClaimed      | nothing
my vote of two     | pending +1 alice      | NotClaimed      | nothing
quorum claimed     | pending alice         | NotClaimed      | nothing
overdue, held      | pending alice overdue | NotClaimed      | nothing
past due, held     | pending alice         | NotClaimed      | pending overdue
past due           | TooLate               | NotClaimed      | expired waiting
past due, deny     | TooLate               | NotClaimed      | auto waiting
warning due        | pending alice         | NotClaimed      | pending warned
vote, claim over   | pending +1 alice      | NotClaimed      | pending +1
vote, claim, warn  | pending +1 alice      | NotClaimed      | pending +1 bob warned
notice             | pending alice         | NotClaimed      | nothing
answered, waiting  | AlreadyResolved       | AlreadyResolved | nothing
answered, leased   | AlreadyResolved       | AlreadyResolved | nothing
answered, lapsed   | AlreadyResolved       | AlreadyResolved | answered waiting 1
answered, last try | AlreadyResolved       | AlreadyResolved | answered failed 20
answered, done     | AlreadyResolved       | AlreadyResolved | nothing
answered, failed   | AlreadyResolved       | AlreadyResolved | nothing
auto-resolved      | AlreadyResolved       | AlreadyResolved | nothing
denied at deadline | AlreadyResolved       | AlreadyResolved | nothing
expired            | TooLate               | AlreadyResolved | nothing
cancelled          | AlreadyResolved       | AlreadyResolved | nothing
withdrawn          | AlreadyResolved       | AlreadyResolved | nothing
notice, read       | AlreadyResolved       | AlreadyResolved | nothing
handed over        | HandedOver            | HandedOver      | nothing
abstained          | pending -1 alice      | NotClaimed      | nothing
the second         | pending alice         | NotClaimed      | nothing
";

/// Delivery commands. `take` is by the agent that asked, `steal` by another agent; `false` completes with a lease that was never given.
const DELIVERING: &str = "
state              | take         | steal    | heartbeat    | complete     | false        | again        | for good
pending            | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
claimed by me      | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
claimed by other   | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
claim lapsed       | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
one vote of two    | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
my vote of two     | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
quorum claimed     | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
overdue, held      | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
past due, held     | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
past due           | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
past due, deny     | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
warning due        | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
vote, claim over   | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
vote, claim, warn  | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
notice             | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
answered, waiting  | processing 1 | NotYours | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost
answered, leased   | Taken        | NotYours | processing 1 | completed 1  | LeaseLost    | waiting 1    | failed 1
answered, lapsed   | processing 2 | NotYours | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost
answered, last try | Closed       | NotYours | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost
answered, done     | Closed       | NotYours | Closed       | Closed       | Closed       | Closed       | Closed
answered, failed   | Closed       | NotYours | Closed       | Closed       | Closed       | Closed       | Closed
auto-resolved      | processing 1 | NotYours | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost
denied at deadline | processing 1 | NotYours | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost
expired            | processing 1 | NotYours | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost
cancelled          | processing 1 | NotYours | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost    | LeaseLost
withdrawn          | Closed       | NotYours | Closed       | Closed       | Closed       | Closed       | Closed
notice, read       | Closed       | NotYours | Closed       | Closed       | Closed       | Closed       | Closed
handed over        | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
abstained          | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
the second         | StillPending | NotYours | StillPending | StillPending | StillPending | StillPending | StillPending
";

/// Handover and abstention. `gone` marks a question that was handed over, `-1` one abstention.
const MOVING: &str = "
state              | hand over            | abstain
pending            | pending gone         | pending -1
claimed by me      | pending gone         | pending -1
claimed by other   | ClaimedByOther       | pending -1 bob
claim lapsed       | pending gone         | pending -1 bob
one vote of two    | pending +1 gone      | pending +1 -1
my vote of two     | pending +1 gone      | pending -1
quorum claimed     | pending gone         | pending -1 bob
overdue, held      | pending overdue gone | pending -1 overdue
past due, held     | pending gone         | pending -1
past due           | TooLate              | TooLate
past due, deny     | TooLate              | TooLate
warning due        | pending gone         | pending -1
vote, claim over   | pending +1 gone      | pending +1 -1 bob
vote, claim, warn  | pending +1 gone      | pending +1 -1 bob
notice             | pending gone         | pending -1
answered, waiting  | AlreadyResolved      | AlreadyResolved
answered, leased   | AlreadyResolved      | AlreadyResolved
answered, lapsed   | AlreadyResolved      | AlreadyResolved
answered, last try | AlreadyResolved      | AlreadyResolved
answered, done     | AlreadyResolved      | AlreadyResolved
answered, failed   | AlreadyResolved      | AlreadyResolved
auto-resolved      | AlreadyResolved      | AlreadyResolved
denied at deadline | AlreadyResolved      | AlreadyResolved
expired            | TooLate              | TooLate
cancelled          | AlreadyResolved      | AlreadyResolved
withdrawn          | AlreadyResolved      | AlreadyResolved
notice, read       | AlreadyResolved      | AlreadyResolved
handed over        | HandedOver           | HandedOver
abstained          | pending -1 gone      | AlreadyAbstained
the second         | pending gone         | pending -1
";

/// The caller of most commands, who is in the audience.
fn alice() -> Caller {
    caller("alice", Role::Operator, &[])
}

fn bob() -> Caller {
    caller("bob", Role::Operator, &[])
}

fn agent() -> Caller {
    caller("bot", Role::Agent, &[])
}

fn lease(number: u128) -> LeaseId {
    LeaseId::from_uuid(uuid(number))
}

fn answer_id() -> AnswerId {
    AnswerId::from_uuid(uuid(20))
}

/// An approval with these further fields, asked by the agent at second 0 with a deadline at second 100.
fn asked(fields: &[(&str, Value)]) -> Interaction {
    let mut all = json!({ "kind": "approval", "action": { "tool": "deploy", "arguments": {} }, "deadline": at(100) });
    for (name, value) in fields {
        all[*name] = value.clone();
    }
    let question = question(all).admit().unwrap();
    Interaction::ask(InteractionId::from_uuid(uuid(10)), &session(), agent().actor, question, at(0)).0
}

fn answered(interaction: Interaction, who: &Caller, effect: &str, now: Timestamp) -> Result<Change, Refusal> {
    let reviewer = interaction.admit(who).unwrap();
    interaction.answer(&reviewer, answer_id(), draft(json!({ "effect": effect })), None, now)
}

fn claimed(interaction: Interaction, who: &Caller, until: i64) -> Interaction {
    let reviewer = interaction.admit(who).unwrap();
    interaction.claim(&reviewer, at(10), at(until)).unwrap().0
}

/// Hands the question over to a channel, in a session that was opened for it.
fn handed(interaction: Interaction, who: &Caller, channel: &str, now: Timestamp) -> Result<Handover, Refusal> {
    let reviewer = interaction.admit(who).unwrap();
    let mut to = session();
    to.head.channel = channel.into();
    interaction.hand_over(&reviewer, (&to, InteractionId::from_uuid(uuid(11))), None, now)
}

/// A question that was approved by `alice` and taken by the agent `times` times. The last lease has number 30 and ends at second 90.
fn taken(times: u32) -> Interaction {
    let approved = answered(asked(&[]), &alice(), "approve", at(10)).unwrap().0;
    let failed = (1..times).fold(approved, |interaction, _| {
        let taken = interaction.take(&agent().actor, lease(30), at(10), at(90)).unwrap().0;
        taken.fail(lease(30), "crashed".into(), true, at(20)).unwrap().0
    });
    failed.take(&agent().actor, lease(30), at(30), at(90)).unwrap().0
}

/// An interaction in this state, and the time of the command.
fn in_state(state: &str) -> (Interaction, Timestamp) {
    let two = || asked(&[("audience", json!({ "quorum": 2 }))]);
    let voted = |interaction| answered(interaction, &bob(), "approve", at(10)).unwrap().0;
    let with_fallback = |fallback: &str| asked(&[("fallback", json!(fallback))]);
    let notice = || asked(&[("kind", json!("notice")), ("deadline", Value::Null), ("action", Value::Null)]);
    match state {
        "pending" => (asked(&[]), at(50)),
        "claimed by me" => (claimed(asked(&[]), &alice(), 60), at(50)),
        "claimed by other" => (claimed(asked(&[]), &bob(), 60), at(50)),
        "claim lapsed" => (claimed(asked(&[]), &bob(), 50), at(50)),
        "one vote of two" => (voted(two()), at(50)),
        "my vote of two" => (answered(two(), &alice(), "approve", at(10)).unwrap().0, at(50)),
        "quorum claimed" => (claimed(two(), &bob(), 60), at(50)),
        "overdue, held" => (with_fallback("hold").tick(answer_id(), at(100)).unwrap().0, at(150)),
        "past due, held" => (with_fallback("hold"), at(100)),
        "past due" => (asked(&[]), at(100)),
        "past due, deny" => (with_fallback("deny"), at(150)),
        "warning due" => (asked(&[("warn_at", json!(at(40)))]), at(50)),
        "vote, claim over" => (claimed(voted(two()), &bob(), 50), at(50)),
        "vote, claim, warn" => {
            let asked = asked(&[("audience", json!({ "quorum": 2 })), ("warn_at", json!(at(40)))]);
            (claimed(voted(asked), &bob(), 60), at(50))
        }
        "notice" => (notice(), at(50)),
        "answered, waiting" => (answered(asked(&[]), &bob(), "approve", at(10)).unwrap().0, at(50)),
        "answered, leased" => (taken(1), at(50)),
        "answered, lapsed" => (taken(1), at(90)),
        "answered, last try" => (taken(MOST_ATTEMPTS), at(90)),
        "answered, done" => (taken(1).complete(lease(30), at(40)).unwrap().0, at(50)),
        "answered, failed" => (taken(1).fail(lease(30), "broken".into(), false, at(40)).unwrap().0, at(50)),
        "auto-resolved" => (carried_out(asked(&[]), "auto", at(10)).unwrap(), at(50)),
        "denied at deadline" => (with_fallback("deny").tick(answer_id(), at(100)).unwrap().0, at(150)),
        "expired" => (asked(&[]).tick(answer_id(), at(100)).unwrap().0, at(150)),
        "cancelled" => (carried_out(asked(&[]), "cancel", at(10)).unwrap(), at(50)),
        "withdrawn" => (asked(&[]).cancel(agent().actor, "moot".into(), at(10)).unwrap().0, at(50)),
        "notice, read" => (answered(notice(), &bob(), "provide", at(10)).unwrap().0, at(50)),
        "handed over" => (handed(asked(&[]), &bob(), "elsewhere", at(10)).unwrap().first.0, at(50)),
        "the second" => (handed(asked(&[]), &bob(), "elsewhere", at(10)).unwrap().second.0, at(50)),
        "abstained" => (carried_out(asked(&[]), "abstain", at(10)).unwrap(), at(50)),
        other => panic!("no way to {other}"),
    }
}

/// Executes a command. The error is `None` if no change is due.
fn carried_out(it: Interaction, command: &str, now: Timestamp) -> Result<Interaction, Option<Refusal>> {
    let effect = if it.question.kind.blocks() { "approve" } else { "provide" };
    let change = match command {
        "approve" | "reject" => answered(it, &alice(), command, now),
        "auto" => {
            let by = (answer_id(), caller("policy", Role::Admin, &[]).actor, AutoSource::AutoPolicy);
            it.auto_resolve(by, draft(json!({ "effect": effect })), None, now)
        }
        "expire" => it.expire(answer_id(), &bob().actor, now),
        "cancel" => it.cancel(bob().actor, "superseded".into(), now),
        "claim" => {
            let reviewer = it.admit(&alice()).unwrap();
            it.claim(&reviewer, now, at(500))
        }
        "release" => it.release(&alice()),
        "hand over" => handed(it, &alice(), "third", now).map(|handed| handed.first),
        "abstain" => {
            let reviewer = it.admit(&alice()).unwrap();
            it.abstain(&reviewer, None, &[], now)
        }
        "take" => it.take(&agent().actor, lease(31), now, at(500)),
        "steal" => it.take(&caller("other bot", Role::Agent, &[]).actor, lease(31), now, at(500)),
        "heartbeat" => return it.heartbeat(lease(30), now, at(500)).map_err(Some),
        "complete" => it.complete(lease(30), now),
        "false" => it.complete(lease(99), now),
        "again" => it.fail(lease(30), "crashed".into(), true, now),
        "for good" => it.fail(lease(30), "broken".into(), false, now),
        "tick" => return it.tick(answer_id(), now).map(|(after, _)| after).ok_or(None),
        other => panic!("no command {other}"),
    };
    change.map(|(after, _)| after).map_err(Some)
}

/// Text of a cell.
fn shown(result: Result<Interaction, Option<Refusal>>, delivery_only: bool) -> String {
    match result {
        Ok(Interaction { state: State::Pending(pending), .. }) => {
            let mut words = vec!["pending".to_owned()];
            words.extend((!pending.votes.is_empty()).then(|| format!("+{}", pending.votes.len())));
            words.extend((!pending.abstained.is_empty()).then(|| format!("-{}", pending.abstained.len())));
            words.extend(pending.claim.map(|claim| claim.by.name));
            words.extend(pending.warned.then(|| "warned".to_owned()));
            words.extend(pending.overdue.then(|| "overdue".to_owned()));
            words.extend(pending.handed_over.map(|_| "gone".to_owned()));
            words.join(" ")
        }
        Ok(Interaction { state: State::Resolved { resolution, delivery, .. }, .. }) => {
            let delivery = match &delivery {
                Delivery::NotNeeded => "no".to_owned(),
                Delivery::Waiting { attempt: 0 } => "waiting".to_owned(),
                Delivery::Waiting { attempt }
                | Delivery::Processing { attempt, .. }
                | Delivery::Completed { attempt, .. }
                | Delivery::Failed { attempt, .. } => format!("{} {attempt}", delivery.name()),
            };
            if delivery_only {
                delivery
            } else {
                format!("{} {delivery}", resolution.status().name().trim_end_matches("_resolved"))
            }
        }
        Err(None) => "nothing".into(),
        Err(Some(refusal)) => refused(&refusal).into(),
    }
}

fn refused(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::AlreadyResolved(_) => "AlreadyResolved",
        Refusal::TooLate(_) => "TooLate",
        Refusal::AlreadyOverdue(_) => "AlreadyOverdue",
        Refusal::AlreadyVoted(_) => "AlreadyVoted",
        Refusal::AlreadyAbstained(_) => "AlreadyAbstained",
        Refusal::HandedOver(_) => "HandedOver",
        Refusal::ClaimedByOther { by } => {
            assert_eq!(by, "bob");
            "ClaimedByOther"
        }
        Refusal::NotClaimed(_) => "NotClaimed",
        Refusal::AnswerInvalid(_) => "NotOffered",
        Refusal::StillPending(_) => "StillPending",
        Refusal::DeliveryTaken { .. } => "Taken",
        Refusal::DeliveryClosed(_) => "Closed",
        Refusal::LeaseLost => "LeaseLost",
        Refusal::NotYourDelivery => "NotYours",
        other => panic!("unexpected {other:?}"),
    }
}

fn check(state: &str, command: &str, expected: &str, delivery_only: bool) {
    let (before, now) = in_state(state);
    let result = carried_out(before.clone(), command, now);
    if let Ok(after) = &result {
        assert_eq!(after.revision, before.revision + 1, "{state} -- {command}: revision");
        if let Some(was) = resolution(&before) {
            assert_eq!(resolution(after), Some(was), "{state} -- {command}: a resolution is final");
        }
    }
    if let Err(Some(Refusal::AlreadyResolved(how))) = &result {
        assert_eq!(**how, before, "{state} -- {command}: the refusal contains the resolution");
    }
    assert_eq!(shown(result, delivery_only), expected, "{state} -- {command} at {now}: {before:#?}");
}

fn resolution(interaction: &Interaction) -> Option<(&Resolution, &Timestamp)> {
    match &interaction.state {
        State::Pending(_) => None,
        State::Resolved { resolution, at, .. } => Some((resolution, at)),
    }
}

#[test]
fn every_state_against_every_closing_command() {
    cells(CLOSING).into_iter().for_each(|(state, command, expected)| check(state, command, expected, false));
}

#[test]
fn every_state_against_claim_release_and_time() {
    cells(KEEPING).into_iter().for_each(|(state, command, expected)| check(state, command, expected, false));
}

#[test]
fn every_state_against_handing_over_and_abstaining() {
    cells(MOVING).into_iter().for_each(|(state, command, expected)| check(state, command, expected, false));
}

/// A question follows only the question that it was handed over to, and only after that one is resolved.
#[test]
fn handed_over_question_follows_the_resolution_of_its_successor() {
    let Handover { first, second } = handed(asked(&[]), &bob(), "elsewhere", at(10)).unwrap();
    let (first, second) = (first.0, second.0);
    assert_eq!(first.clone().follow(&second), None);
    let other = handed(asked(&[]), &bob(), "elsewhere", at(10)).unwrap().first.0;
    for command in ["approve", "reject", "auto", "expire", "cancel"] {
        let ended = carried_out(second.clone(), command, at(50)).unwrap();
        let (followed, event_draft) = first.clone().follow(&ended).unwrap();
        assert_eq!(resolution(&followed), resolution(&ended), "{command}");
        assert_eq!(event_draft.kind.name(), format!("interaction.{}", ended.status().name()));
        assert_eq!(followed.handed_over(), first.handed_over());
        assert!(followed.clone().follow(&ended).is_none(), "once");
        assert_eq!(asked(&[]).follow(&ended), None, "a question that was not handed over follows no other");
        let stray = Interaction { id: InteractionId::from_uuid(uuid(12)), ..ended };
        assert_eq!(other.clone().follow(&stray), None);
    }
}

#[test]
fn every_state_against_every_command_of_delivery() {
    cells(DELIVERING).into_iter().for_each(|(state, command, expected)| check(state, command, expected, true));
}

#[test]
fn the_tables_have_the_same_states() {
    let states = |table| {
        let mut states: Vec<&str> = cells(table).into_iter().map(|(state, ..)| state).collect();
        states.dedup();
        states
    };
    assert_eq!(states(CLOSING).len(), 30);
    assert_eq!(states(CLOSING), states(KEEPING));
    assert_eq!(states(CLOSING), states(DELIVERING));
    assert_eq!(states(CLOSING), states(MOVING));
}
