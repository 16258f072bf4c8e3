//! Tests generated histories of one proposed action. In every order of commands, one permit starts the action once, and a final state
//! never changes.

use crate::common::people::{at, caller, session, uuid};
use holdpoint_domain::{
    Action, ActionState, AgentEnvironment, Call, Effect, InteractionId, Outcome, Permit, PermitId, Role, Ruling,
    Verdict,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One command of a history.
#[derive(Debug, Clone)]
enum Try {
    /// People decide with this effect, and the decision is applied to the action as the engine does.
    Decide(Effect),
    /// Other people are asked about an edit.
    AskOthers,
    /// A start with one of the permits given so far.
    Start {
        permit: usize,
        seconds: i64,
    },
    Report(u8),
    Lapse,
    Puzzle,
    Pass(i64),
}

fn tries() -> impl Strategy<Value = Vec<Try>> {
    use Effect::{Approve, Custom, Edit, Provide, Reject, Retry, Skip, Terminate};
    let effect = prop::sample::select(vec![Approve, Approve, Edit, Reject, Retry, Terminate, Provide, Skip, Custom]);
    let one = prop_oneof![
        4 => effect.prop_map(Try::Decide),
        1 => Just(Try::AskOthers),
        5 => (0..4usize, 1..60i64).prop_map(|(permit, seconds)| Try::Start { permit, seconds }),
        2 => (0..3u8).prop_map(Try::Report),
        2 => Just(Try::Lapse),
        1 => Just(Try::Puzzle),
        2 => (0..100i64).prop_map(Try::Pass),
    ];
    proptest::collection::vec(one, 1..40)
}

/// An action with all permits that were given and spent for it.
struct Story {
    proposed: Action,
    given: Vec<PermitId>,
    spent: Vec<PermitId>,
    now: i64,
}

impl Story {
    fn new(repeatable: bool) -> Self {
        let session = session();
        let asked = InteractionId::from_uuid(uuid(7));
        let proposed = Action {
            scope: session.scope,
            session: session.id,
            call_id: "call".into(),
            call: Call { tool: "write_file".into(), arguments: json!({ "path": "a" }) },
            edited: None,
            proposed_by: caller("agent", Role::Agent, &[]).actor,
            role: Role::Agent,
            environment: AgentEnvironment::default(),
            at: at(0),
            ruling: Ruling {
                verdict: Verdict::Ask,
                rule: None,
                reason: String::new(),
                policy: "v1".into(),
                floor: None,
            },
            grant: None,
            repeatable,
            hosted: false,
            runner: None,
            step: None,
            expected_content: None,
            asked: vec![asked],
            state: ActionState::Waiting { interaction: asked },
            revision: 1,
        };
        Self { proposed, given: Vec::new(), spent: Vec::new(), now: 1 }
    }

    fn permit(&mut self, arguments: &Value) -> Permit {
        let id = PermitId::from_uuid(uuid(100 + self.given.len() as u128));
        self.given.push(id);
        let action = Call { tool: "write_file".into(), arguments: arguments.clone() };
        Permit { id, digest: action.digest().to_string(), expires_at: at(self.now + 150) }
    }

    fn play(&mut self, attempt: &Try) {
        let (agent, alice) = (caller("agent", Role::Agent, &[]).actor, caller("alice", Role::Operator, &[]).actor);
        let proposed = self.proposed.clone();
        let unknown = matches!(proposed.state, ActionState::Unknown { .. });
        let edited = json!({ "path": "edited" });
        let step = match attempt {
            Try::Pass(seconds) => {
                self.now += seconds;
                None
            }
            Try::Decide(Effect::Approve) => {
                let permit = self.permit(&proposed.effective().arguments);
                proposed.release(&alice, permit, None).ok()
            }
            Try::Decide(Effect::Edit) if !unknown => {
                let permit = self.permit(&edited);
                proposed.release(&alice, permit, Some(edited)).ok()
            }
            Try::Decide(effect) if unknown => proposed.recount(&alice, Some(*effect), None).ok(),
            Try::Decide(effect) => proposed.reject(alice, Some(*effect), None).ok(),
            Try::AskOthers => {
                let asked = InteractionId::from_uuid(uuid(8));
                let ruling = proposed.ruling.clone();
                proposed.ask_others(&alice, asked, edited, ruling).ok()
            }
            Try::Start { permit, seconds } => {
                let Some(id) = self.given.iter().rev().nth(*permit).copied() else { return };
                let started = proposed.start(&agent, id, at(self.now), at(self.now + seconds)).ok();
                self.spent.extend(started.is_some().then_some(id));
                started
            }
            Try::Report(0) => proposed.report(&agent, Outcome::Done { result: Value::Null }, None).ok(),
            Try::Report(1) => {
                proposed.report(&agent, Outcome::Failed { message: "disk".into(), result: Value::Null }, None).ok()
            }
            Try::Report(_) => proposed.report(&agent, Outcome::Unknown, None).ok(),
            Try::Lapse => {
                let permit = self.permit(&proposed.effective().arguments);
                proposed.lapse(Some(permit), at(self.now))
            }
            Try::Puzzle if unknown => {
                self.proposed = proposed.ask_about_outcome(InteractionId::from_uuid(uuid(9)));
                None
            }
            Try::Puzzle => None,
        };
        if let Some((after, _)) = step {
            self.proposed = after;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn permit_starts_an_action_once_and_a_final_state_never_changes(tries in tries(), repeatable in any::<bool>()) {
        let mut story = Story::new(repeatable);
        let mut released = false;
        for attempt in &tries {
            let before = story.proposed.clone();
            story.play(attempt);
            let after = &story.proposed;
            released |= matches!(attempt, Try::Decide(Effect::Approve | Effect::Edit)) && before != *after;
            let over = |of: &Action| {
                matches!(of.state, ActionState::Denied | ActionState::Rejected { .. } | ActionState::Done { .. } | ActionState::Failed { .. })
            };
            prop_assert!(!over(&before) || before == *after, "{:?} went on to {:?}", before.state, after.state);
            prop_assert!(released || story.spent.is_empty(), "the action ran without an approval or an edit");
            prop_assert!(before == *after || before.revision < after.revision);
            let mut without_repeats = story.spent.clone();
            without_repeats.dedup();
            prop_assert_eq!(&without_repeats, &story.spent, "a permit was spent twice");
            if let ActionState::Allowed { permit } = &after.state {
                prop_assert_eq!(&permit.digest, &after.effective().digest().to_string());
                prop_assert!(!story.spent.contains(&permit.id));
            }
        }
    }
}
