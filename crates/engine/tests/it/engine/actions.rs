//! Tests actions while the policy changes, and actions in a session that can open no more questions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use domain::{ActionState, AnswerDraft, Call, Caller, Effect, Refusal, Role, Session, SignedDuration, Timestamp};
use holdpoint_engine::{ActionReply, Engine, Error, Ids, MasterKey, NewKey, Propose, Settings, Start, Vault};
use serde_json::{Value, json};
use store::{Clock, Store};
use store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

use crate::engine::world::{World, refusal};

const ALLOW: &str = "version = 1\n[[rule]]\nname = \"a\"\ntools = [\"write\"]\nverdict = \"allow\"\n";
const ASK: &str = "version = 1\n[[rule]]\nname = \"a\"\ntools = [\"write\"]\nverdict = \"ask\"\n";
const DENY: &str = "version = 1\n[[rule]]\nname = \"a\"\ntools = [\"write\"]\nverdict = \"deny\"\n";

/// A clock that never returns one time twice, so that a later commit has a later time.
struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(1_800_000_000_000_000 + self.0.fetch_add(1, Ordering::SeqCst)).unwrap()
    }
}

/// An engine whose transactions can be ordered by their times.
struct Race {
    engine: Engine,
    agent: Caller,
    alice: Caller,
    root: Caller,
    session: Session,
    _directory: TempDir,
}

impl Race {
    async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(TickingClock(AtomicI64::new(0)));
        let store = SqliteStore::open(directory.path(), Arc::clone(&clock), &SqliteOptions::default()).unwrap();
        let vault = Vault::new(MasterKey::from_bytes([7; 32]));
        let store: Arc<dyn Store> = Arc::new(store);
        let engine = Engine::new(store, clock, Ids::default(), vault, Settings::default());
        let mut callers = Vec::new();
        for (role, name) in [(Role::Agent, "bot"), (Role::Operator, "alice"), (Role::Admin, "root")] {
            let new = NewKey::named(role, name);
            let (key, _) = engine.key_install("default", "default", new).await.unwrap();
            callers.push(key.caller(engine.now()).unwrap());
        }
        let session = engine.session_start(&callers[0], Start::default(), None).await.unwrap();
        let [agent, alice, root] = callers.try_into().unwrap();
        Self { engine, agent, alice, root, session, _directory: directory }
    }

    /// Puts a policy in force, and returns the time of that and the version of the policy.
    async fn puts(&self, text: &str) -> (Timestamp, String) {
        let put = self.engine.policy_put(&self.root, text.into(), (None, None), None).await.unwrap();
        (put.state.at, put.policy.version().to_owned())
    }

    async fn proposes(&self, call: String) -> ActionReply {
        self.engine.action_propose(&self.agent, self.session.id, writing(&call), None).await.unwrap()
    }
}

fn writing(call_id: &str) -> Propose {
    let call = Call { tool: "write".into(), arguments: json!({ "path": call_id }) };
    Propose {
        call_id: call_id.into(),
        call,
        context: Value::Null,
        expected_content: None,
        traceparent: None,
        repeatable: false,
        client: false,
        deadline_seconds: None,
    }
}

/// The policy that ruled on an action was in force when the action was committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn action_is_judged_again_if_the_policy_changes_before_the_commit() {
    let race = Race::new().await;
    let mut reigns = BTreeMap::from([race.puts(DENY).await]);
    for round in 0..25 {
        let actions = (0..8).map(|number| race.proposes(format!("c{round}-{number}")));
        let text = if round % 2 == 0 { ALLOW } else { DENY };
        let (_, put) = tokio::join!(futures::future::join_all(actions), race.puts(text));
        reigns.insert(put.0, put.1);
    }
    let (all, _) = race.engine.action_list(&race.agent, race.session.id, String::new(), 1000).await.unwrap();
    assert_eq!(all.len(), 25 * 8);
    let mut ruled_by = BTreeMap::new();
    for ActionReply { action, .. } in all {
        let (_, reigned) = reigns.range(..action.at).next_back().unwrap();
        assert_eq!(action.ruling.policy, *reigned, "{} was judged by a policy no longer in force", action.call_id);
        *ruled_by.entry(action.ruling.verdict).or_insert(0) += 1;
    }
    assert_eq!(ruled_by.len(), 2, "each policy ruled on an action");
}

/// An edit is accepted only if the policy in force at its commit allows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edit_is_judged_by_the_policy_in_force_at_its_commit() {
    let race = Race::new().await;
    for round in 0..25 {
        race.puts(ASK).await;
        let ActionState::Waiting { interaction } = race.proposes(format!("c{round}")).await.action.state else {
            unreachable!("the action asks no question")
        };
        let arguments = Some(json!({ "path": "edited" }));
        let edit = AnswerDraft { effect: Some(Effect::Edit), arguments, ..AnswerDraft::default() };
        let edited = race.engine.interaction_answer(&race.alice, interaction, edit, None);
        // In the last round the new policy is in force before the edit begins.
        let (edited, since) = if round == 24 {
            let (since, _) = race.puts(DENY).await;
            (edited.await, since)
        } else {
            let (edited, (since, _)) = tokio::join!(edited, race.puts(DENY));
            (edited, since)
        };
        match edited {
            Ok(answered) => assert!(answered.resolved_at().unwrap() < since, "a denied edit was accepted"),
            Err(Error::Refused(Refusal::EditDenied(_))) => {}
            Err(other) => unreachable!("{other:?}"),
        }
    }
}

/// In a session that has its maximum of open questions, an action whose lease runs out gets the state `Unknown` without a question, and the timers
/// continue.
#[tokio::test]
async fn timers_continue_in_a_session_with_too_many_open_questions() {
    let world = World::with(Settings { most_open: 1, ..Settings::default() });
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let read = |call: &str| Propose { call: Call { tool: "read_file".into(), arguments: json!({}) }, ..writing(call) };
    for call in ["a", "b"] {
        let acted = world.engine.action_propose(&agent, session.id, read(call), None).await.unwrap();
        let name = (session.id, call.to_owned());
        world.engine.action_start(&agent, name, acted.permit.unwrap(), Some(60), None).await.unwrap();
    }
    let waiting = world.engine.action_propose(&agent, session.id, writing("open"), None).await.unwrap();
    assert!(matches!(waiting.action.state, ActionState::Waiting { .. }));
    let full = world.engine.action_propose(&agent, session.id, writing("full"), None).await;
    assert_eq!(refusal(full.map(|acted| acted.action)), Refusal::TooManyOpen { most: 1 });
    world.clock.advance(SignedDuration::from_secs(60));
    world.engine.fire_due().await.unwrap();
    for call in ["a", "b"] {
        let acted = world.engine.action_get(&alice, session.id, call.into(), std::time::Duration::ZERO).await.unwrap();
        assert!(matches!(acted.action.state, ActionState::Unknown { interaction: None, permit: Some(_) }));
    }
}
