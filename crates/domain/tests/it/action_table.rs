//! Tests every state of a proposed action against every command, without wildcards.

use crate::common::people::{at, caller, session, uuid};
use crate::common::table::cells;
use holdpoint_domain::action::ActionChange;
use holdpoint_domain::{
    Action, ActionState, AgentEnvironment, Call, Effect, InteractionId, Outcome, Permit, PermitId, Refusal, Role,
    Ruling, Timestamp, Verdict,
};
use serde_json::{Value, json};

/// Commands of people and of the policy.
const DECIDING: &str = "
state           | release     | edit           | reject      | ask others
allowed         | ActionNot   | ActionNot      | ActionNot   | ActionNot
permit over     | ActionNot   | ActionNot      | ActionNot   | ActionNot
waiting         | allowed     | allowed edited | rejected    | waiting edited
denied          | ActionNot   | ActionNot      | ActionNot   | ActionNot
rejected        | ActionNot   | ActionNot      | ActionNot   | ActionNot
started         | ActionNot   | ActionNot      | ActionNot   | ActionNot
overdue         | ActionNot   | ActionNot      | ActionNot   | ActionNot
overdue, repeat | ActionNot   | ActionNot      | ActionNot   | ActionNot
done            | ActionNot   | ActionNot      | ActionNot   | ActionNot
failed          | ActionNot   | ActionNot      | ActionNot   | ActionNot
unknown         | allowed     | allowed edited | ActionNot   | ActionNot
unknown, asked  | allowed     | allowed edited | ActionNot   | ActionNot
";

/// Commands of the agent.
const ACTING: &str = "
state           | start         | start, other permit | start, other agent | done          | failed        | cannot tell | done, other agent
allowed         | started       | PermitUnknown       | NotYourAction      | ActionNot     | ActionNot     | ActionNot   | NotYourAction
permit over     | PermitExpired | PermitUnknown       | NotYourAction      | ActionNot     | ActionNot     | ActionNot   | NotYourAction
waiting         | ActionNot     | ActionNot           | NotYourAction      | ActionNot     | ActionNot     | ActionNot   | NotYourAction
denied          | ActionNot     | ActionNot           | NotYourAction      | ActionNot     | ActionNot     | ActionNot   | NotYourAction
rejected        | ActionNot     | ActionNot           | NotYourAction      | ActionNot     | ActionNot     | ActionNot   | NotYourAction
started         | ActionNot     | ActionNot           | NotYourAction      | done          | failed        | unknown     | NotYourAction
overdue         | ActionNot     | ActionNot           | NotYourAction      | done          | failed        | unknown     | NotYourAction
overdue, repeat | ActionNot     | ActionNot           | NotYourAction      | done          | failed        | unknown     | NotYourAction
done            | ActionNot     | ActionNot           | NotYourAction      | ActionNot     | ActionNot     | ActionNot   | NotYourAction
failed          | ActionNot     | ActionNot           | NotYourAction      | ActionNot     | ActionNot     | ActionNot   | NotYourAction
unknown         | ActionNot     | ActionNot           | NotYourAction      | done          | failed        | ActionNot   | NotYourAction
unknown, asked  | ActionNot     | ActionNot           | NotYourAction      | done          | failed        | ActionNot   | NotYourAction
";

/// The end of the lease, and statements of people about a run whose outcome is unknown.
const RECOUNTING: &str = "
state           | lapse   | it ran    | it failed | leave it
allowed         | nothing | ActionNot | ActionNot | ActionNot
permit over     | nothing | ActionNot | ActionNot | ActionNot
waiting         | nothing | ActionNot | ActionNot | ActionNot
denied          | nothing | ActionNot | ActionNot | ActionNot
rejected        | nothing | ActionNot | ActionNot | ActionNot
started         | nothing | ActionNot | ActionNot | ActionNot
overdue         | unknown | ActionNot | ActionNot | ActionNot
overdue, repeat | allowed | ActionNot | ActionNot | ActionNot
done            | nothing | ActionNot | ActionNot | ActionNot
failed          | nothing | ActionNot | ActionNot | ActionNot
unknown         | nothing | done      | failed    | unknown
unknown, asked  | nothing | done      | failed    | unknown
";

const NOW: i64 = 100;

#[test]
fn every_state_against_every_command() {
    let cells = [DECIDING, ACTING, RECOUNTING].into_iter().flat_map(cells);
    let mut checked = 0;
    for (state, command, expected) in cells {
        check(state, command, expected);
        checked += 1;
    }
    assert_eq!(checked, 12 * 15);
}

/// Only a permit in force for exactly these arguments starts an action. A permit from before an edit does not.
#[test]
fn permit_from_before_an_edit_is_refused() {
    let stale = permit(1, &action(json!({ "path": "a" })), 200);
    let edited = Some(json!({ "path": "b" }));
    let proposed = Action { edited, ..action_in("waiting") };
    let proposed = Action { state: ActionState::Allowed { permit: stale }, ..proposed };
    let agent = caller("agent", Role::Agent, &[]).actor;
    let refused = proposed.start(&agent, PermitId::from_uuid(uuid(1)), at(NOW), at(NOW + 300));
    assert_eq!(refused, Err(Refusal::PermitUnknown));
}

#[test]
fn call_proposed_again_must_have_the_same_call_and_agent() {
    let proposed = action_in("waiting");
    let agent = caller("agent", Role::Agent, &[]).actor;
    assert_eq!(proposed.require_same(&action(json!({ "path": "a" })), &agent), Ok(()));
    assert_eq!(
        proposed.require_same(&action(json!({ "path": "b" })), &agent),
        Err(Refusal::CallConflict("call".into()))
    );
    let other = Call { tool: "delete_file".into(), arguments: json!({ "path": "a" }) };
    assert_eq!(proposed.require_same(&other, &agent), Err(Refusal::CallConflict("call".into())));
    let stranger = caller("stranger", Role::Agent, &[]).actor;
    assert_eq!(proposed.require_same(&action(json!({ "path": "a" })), &stranger), Err(Refusal::NotYourAction));
}

fn check(state: &str, command: &str, expected: &str) {
    let before = action_in(state);
    let revision = before.revision;
    let found = match run(before, command) {
        None => "nothing".to_owned(),
        Some(Err(refusal)) => name(&refusal),
        Some(Ok((after, event_draft))) => {
            assert_eq!(after.revision, revision + 1, "{state} | {command}");
            assert!(event_draft.kind.name().starts_with("action."), "{state} | {command}");
            assert!(event_draft.data().get("arguments").is_none(), "{state} | {command}");
            let edited = if after.edited.is_some() { " edited" } else { "" };
            format!("{}{edited}", after.status(at(NOW)).name())
        }
    };
    assert_eq!(found, expected, "{state} | {command}");
}

fn run(proposed: Action, command: &str) -> Option<Result<ActionChange, Refusal>> {
    let agent = caller("agent", Role::Agent, &[]).actor;
    let stranger = caller("stranger", Role::Agent, &[]).actor;
    let alice = caller("alice", Role::Operator, &[]).actor;
    let (good, other) = (PermitId::from_uuid(uuid(1)), PermitId::from_uuid(uuid(9)));
    let until = at(NOW + 300);
    let fresh = |proposed: &Action| permit(2, &proposed.effective(), 1000);
    let done = || Outcome::Done { result: json!({ "bytes": 1 }) };
    let edited = json!({ "path": "b" });
    Some(match command {
        "release" => proposed.clone().release(&alice, fresh(&proposed), None),
        "edit" => proposed.release(&alice, permit(2, &action(edited.clone()), 1000), Some(edited)),
        "reject" => proposed.reject(alice, Some(Effect::Reject), Some("no".into())),
        "ask others" => proposed.ask_others(&alice, InteractionId::from_uuid(uuid(8)), edited, ruling()),
        "start" => proposed.start(&agent, good, at(NOW), until),
        "start, other permit" => proposed.start(&agent, other, at(NOW), until),
        "start, other agent" => proposed.start(&stranger, good, at(NOW), until),
        "done" => proposed.report(&agent, done(), None),
        "done, other agent" => proposed.report(&stranger, done(), None),
        "failed" => proposed.report(&agent, Outcome::Failed { message: "disk".into(), result: Value::Null }, None),
        "cannot tell" => proposed.report(&agent, Outcome::Unknown, None),
        "lapse" => return proposed.clone().lapse(Some(fresh(&proposed)), at(NOW)).map(Ok),
        "it ran" => proposed.recount(&alice, Some(Effect::Provide), None),
        "it failed" => proposed.recount(&alice, Some(Effect::Reject), None),
        "leave it" => proposed.recount(&alice, Some(Effect::Skip), None),
        other => panic!("no command {other}"),
    })
}

fn action_in(name: &str) -> Action {
    let action = action(json!({ "path": "a" }));
    let asked = InteractionId::from_uuid(uuid(7));
    let alice = caller("alice", Role::Operator, &[]).actor;
    let run = PermitId::from_uuid(uuid(1));
    let started = |until: i64| ActionState::Started { permit: run, since: at(50), until: at(until) };
    let state = match name {
        "allowed" => ActionState::Allowed { permit: permit(1, &action, 200) },
        "permit over" => ActionState::Allowed { permit: permit(1, &action, NOW) },
        "waiting" => ActionState::Waiting { interaction: asked },
        "denied" => ActionState::Denied,
        "rejected" => ActionState::Rejected { by: alice, effect: Some(Effect::Reject), feedback: None },
        "started" => started(200),
        "overdue" | "overdue, repeat" => started(NOW),
        "done" => ActionState::Done { result: Value::Null },
        "failed" => ActionState::Failed { message: "disk".into(), result: Value::Null },
        "unknown" => ActionState::Unknown { interaction: None, permit: Some(run) },
        "unknown, asked" => ActionState::Unknown { interaction: Some(asked), permit: Some(run) },
        other => panic!("no state {other}"),
    };
    let session = session();
    Action {
        scope: session.scope,
        session: session.id,
        call_id: "call".into(),
        call: action,
        edited: None,
        proposed_by: caller("agent", Role::Agent, &[]).actor,
        role: Role::Agent,
        environment: AgentEnvironment::default(),
        at: at(1),
        ruling: ruling(),
        grant: None,
        repeatable: name.ends_with("repeat"),
        hosted: false,
        runner: None,
        step: None,
        expected_content: None,
        asked: vec![asked],
        state,
        revision: 3,
    }
}

fn action(arguments: Value) -> Call {
    Call { tool: "write_file".into(), arguments }
}

fn permit(number: u128, action: &Call, expires: i64) -> Permit {
    Permit { id: PermitId::from_uuid(uuid(number)), digest: action.digest().to_string(), expires_at: at(expires) }
}

fn ruling() -> Ruling {
    Ruling {
        verdict: Verdict::Ask,
        rule: Some("writing".into()),
        reason: "it writes".into(),
        policy: "v1".into(),
        floor: None,
    }
}

fn name(refusal: &Refusal) -> String {
    let text = format!("{refusal:?}");
    text.split([' ', '(']).next().unwrap().to_owned()
}

/// The lease of an action can be extended by its runner, and only while the action runs.
#[test]
fn lease_is_extended_only_for_a_running_action_by_its_runner() {
    let agent = caller("agent", Role::Agent, &[]).actor;
    let stranger = caller("stranger", Role::Agent, &[]).actor;
    for (state, _, _) in cells(RECOUNTING).into_iter().step_by(4) {
        let kept = action_in(state).extend_lease(&agent, at(500), None);
        match state {
            "started" | "overdue" | "overdue, repeat" => {
                let kept = kept.unwrap();
                assert_eq!((kept.wake_at(), kept.revision), (Some(at(500)), 4), "{state}");
                assert_eq!(kept.lapse(Some(permit(2, &action(json!({})), 1000)), at(499)), None, "{state}");
            }
            _ => assert_eq!(name(&kept.unwrap_err()), "ActionNot", "{state}"),
        }
        assert_eq!(action_in(state).extend_lease(&stranger, at(500), None), Err(Refusal::NotYourAction), "{state}");
    }
}

/// After people had an action run again, a report or an extension of the first run is refused.
#[test]
fn report_for_another_run_is_refused() {
    let agent = caller("agent", Role::Agent, &[]).actor;
    let (own, other) = (PermitId::from_uuid(uuid(1)), PermitId::from_uuid(uuid(99)));
    let done = || Outcome::Done { result: Value::Null };
    for state in ["started", "overdue", "unknown", "unknown, asked"] {
        let refused = action_in(state).report(&agent, done(), Some(other));
        assert_eq!(refused, Err(Refusal::AnotherRun(own)), "{state}");
        action_in(state).report(&agent, done(), Some(own)).unwrap();
    }
    assert_eq!(action_in("started").extend_lease(&agent, at(500), Some(other)), Err(Refusal::AnotherRun(own)));
    action_in("started").extend_lease(&agent, at(500), Some(own)).unwrap();
}

/// A repeatable action is offered again only if a runner is left that could start it.
#[test]
fn overdue_action_without_a_new_permit_becomes_unknown() {
    let overdue = Action { repeatable: true, ..action_in("overdue") };
    let fresh = permit(2, &action(json!({})), 1000);
    assert_eq!(overdue.clone().lapse(Some(fresh), at(NOW)).unwrap().0.status(at(NOW)).name(), "allowed");
    assert_eq!(overdue.lapse(None, at(NOW)).unwrap().0.status(at(NOW)).name(), "unknown");
}

/// An unknown outcome always keeps the identifier of its run, regardless of how it became unknown.
#[test]
fn unknown_outcome_keeps_the_id_of_its_run() {
    let alice = caller("alice", Role::Operator, &[]).actor;
    let agent = caller("agent", Role::Agent, &[]).actor;
    let run = Some(PermitId::from_uuid(uuid(1)));
    let check = |after: Action| assert_eq!(after.state.run(), run, "{:?}", after.state);
    check(action_in("overdue").lapse(Some(permit(2, &action(json!({})), 1000)), at(NOW)).unwrap().0);
    check(action_in("started").report(&agent, Outcome::Unknown, run).unwrap().0);
    check(action_in("unknown").ask_about_outcome(InteractionId::from_uuid(uuid(8))));
    check(action_in("unknown, asked").recount(&alice, Some(Effect::Skip), None).unwrap().0);
    // States that an earlier version stored do not name the run, so every report is accepted.
    let old: ActionState = serde_json::from_value(json!({ "state": "unknown" })).unwrap();
    let old = Action { state: old, ..action_in("unknown") };
    old.report(&agent, Outcome::Done { result: Value::Null }, run).unwrap();
}

#[test]
fn expired_permit_rejects_the_action() {
    let over = action_in("permit over");
    assert_eq!(
        (over.status(at(NOW - 1)).name(), over.status(at(NOW)).name(), over.status(Timestamp::MAX).name()),
        ("allowed", "rejected", "rejected")
    );
}

/// If a client does not start an action in time, the action fails, so that the step that waits for it is woken.
#[test]
fn action_that_a_client_does_not_start_in_time_fails() {
    let runner = Some(holdpoint_domain::Actor { kind: holdpoint_domain::ActorKind::User, name: "alice".into() });
    let fresh = permit(9, &action(json!({})), NOW + 300);
    let allowed = Action { runner: runner.clone(), ..action_in("allowed") };
    assert_eq!(allowed.wake_at(), Some(at(200)));
    assert!(allowed.lapse(Some(fresh.clone()), at(NOW)).is_none());
    let over = Action { runner, ..action_in("permit over") };
    let (failed, event_draft) = over.lapse(Some(fresh), at(NOW)).unwrap();
    assert_eq!((failed.status(at(NOW)).name(), event_draft.kind.name()), ("failed", "action.failed"));
    assert_eq!(failed.wake_at(), None);
    assert_eq!(action_in("permit over").wake_at(), None, "an agent that runs the action itself needs no wake-up");
}
