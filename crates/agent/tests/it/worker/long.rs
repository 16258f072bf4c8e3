//! Long sessions and wide turns: the cost of a turn does not grow with the history.

use std::sync::Arc;

use domain::{AgentVersion, AnswerDraft, Caller, Effect, Role, Session, SessionInput, SignedDuration, Status};
use engine::{Definitions, Engine, Ids, InteractionQuery, MasterKey, NewKey, Settings, Start, Vault};
use futures::future::BoxFuture;
use holdpoint_agent::model::{Delta, Model, ModelCall, ModelError, Request, Turn};
use holdpoint_agent::tool::{Tool, ToolOutcome, ToolRun, ToolSpec};
use holdpoint_agent::worker::{Kit, Worker};
use parking_lot::Mutex;
use serde_json::{Value, json};
use store::{Cost, InteractionFilter, Page, Store, StoreError, SystemClock};
use store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::worker::counting::{Counting, Given};

/// A model that calls tools in `turns` turns, and records the job counts of the store before each turn.
struct Long {
    turns: usize,
    calls: Vec<&'static str>,
    store: Arc<Counting>,
    seen: Arc<Mutex<Vec<Given>>>,
}

impl Model for Long {
    fn turn<'a>(
        &'a self,
        _: Request<'a>,
        _: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>> {
        let mut seen = self.seen.lock();
        seen.push(self.store.given());
        let over = seen.len() > self.turns;
        let call = |(index, tool): (usize, &&str)| ModelCall {
            id: format!("call_{index}"),
            tool: (*tool).to_owned(),
            arguments: json!({ "path": format!("{index}") }),
        };
        let calls = if over { Vec::new() } else { self.calls.iter().enumerate().map(call).collect() };
        Box::pin(async move { Ok(Turn { text: "On.".into(), calls, ..Turn::default() }) })
    }
}

struct Quick(ToolSpec);

impl Tool for Quick {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run<'a>(&'a self, _: &'a Value, _: &'a ToolRun) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async { ToolOutcome::Done(json!("done")) })
    }
}

struct TestKit(Arc<Long>);

impl Kit for TestKit {
    fn model(&self, _: &AgentVersion, _: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::clone(&self.0) as Arc<dyn Model>)
    }

    fn tools<'a>(&'a self, _: &'a domain::ProjectName, agent: &'a AgentVersion) -> holdpoint_agent::worker::Tools<'a> {
        let tool = |name: &String| -> Arc<dyn Tool> {
            let (description, schema) = (String::new(), json!({ "type": "object" }));
            Arc::new(Quick(ToolSpec { name: name.clone(), description, schema, repeatable: false, parallel: true }))
        };
        let tools = agent.tools.iter().map(tool).collect();
        Box::pin(async move { Ok(tools) })
    }
}

/// An engine on a counting store, and a worker that runs when the test says so.
struct CountingWorld {
    engine: Engine,
    worker: Worker,
    store: Arc<Counting>,
    seen: Arc<Mutex<Vec<Given>>>,
    alice: Caller,
    _directory: TempDir,
}

impl CountingWorld {
    async fn of(turns: usize, calls: Vec<&'static str>) -> Self {
        let directory = TempDir::new().unwrap();
        let clock = Arc::new(SystemClock);
        let inner = Arc::new(SqliteStore::open(directory.path(), clock.clone(), &SqliteOptions::default()).unwrap());
        let store = Arc::new(Counting::new(inner));
        // The lease is so long that it is never renewed: the number of renewals depends on time, not on turns.
        let settings = Settings { step_lease: SignedDuration::from_hours(10), ..Settings::default() };
        let vault = Vault::new(MasterKey::from_bytes([7; 32]));
        let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
        let engine = Engine::new(shared, clock, Ids::default(), vault, settings);
        let agent = serde_json::from_value(json!({
            "name": "guide", "version": "1", "model": { "provider": "scripted", "script": { "turns": [] } },
            "tools": ["read_file", "write_file"], "workspace": "demo",
            "limits": { "iterations": 5000, "rounds": 10, "retries": 3 },
        }));
        engine.set_definitions(Definitions { agents: vec![agent.unwrap()], flows: Vec::new() });
        let seen: Arc<Mutex<Vec<Given>>> = Arc::default();
        let long = Long { turns, calls, store: Arc::clone(&store), seen: Arc::clone(&seen) };
        let worker = Worker::new(engine.clone(), Arc::new(TestKit(Arc::new(long))), "worker".into(), 1);
        let new = NewKey::named(Role::Operator, "alice");
        let (key, _) = engine.key_install("default", "default", new).await.unwrap();
        let alice = key.caller(engine.now()).unwrap();
        Self { engine, worker, store, seen, alice, _directory: directory }
    }

    async fn opens(&self, input: Value) -> Session {
        let session_input = SessionInput { input, ..SessionInput::default() };
        let start = Start { agent: Some("guide".into()), session_input, ..Start::default() };
        self.engine.session_start(&self.alice, start, None).await.unwrap()
    }

    /// Runs the due steps, and returns the number of jobs that the store was given meanwhile.
    async fn runs(&self) -> Given {
        let before = self.store.given();
        self.worker.run_due(&CancellationToken::new()).await.unwrap();
        self.store.given().since(before)
    }

    /// Size in bytes of the stored state of the only step, and length of its journal.
    async fn kept(&self, session: &Session) -> (usize, u64) {
        let (scope, step) = (session.scope, session.step);
        let found = store::read::<_, StoreError, _>(&*self.store, Cost::Point, move |reads| {
            Ok(reads.step_state(&scope, step)?.unwrap())
        });
        let state = found.await.unwrap();
        (state.body.to_string().len(), state.upto)
    }

    async fn status(&self, session: &Session) -> domain::SessionStatus {
        self.engine.session(&self.alice, session.id).await.unwrap().0.status()
    }
}

impl Drop for CountingWorld {
    fn drop(&mut self) {
        self.store.close();
    }
}

/// Whether two turns cost the same. Point queries may differ: a worker checks its lease at every wake-up, and the
/// number of wake-ups depends on time.
const fn alike(one: Given, other: Given) -> bool {
    // Two results may be journalled in one transaction or in two.
    one.transactions.abs_diff(other.transactions) <= 1
        && one.scans == other.scans
        && one.points < 24
        && other.points < 24
}

#[tokio::test]
async fn cost_of_a_turn_is_constant_over_1000_turns() {
    let place = CountingWorld::of(1000, vec!["read_file", "read_file"]).await;
    let session = place.opens(json!("Go")).await;
    let run = place.runs().await;
    assert_eq!(place.status(&session).await, domain::SessionStatus::Completed);
    let seen = place.seen.lock().clone();
    assert_eq!(seen.len(), 1001);
    let turns: Vec<Given> = seen.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(turns[1..].iter().all(|turn| alike(*turn, turns[1])), "{:?} and {:?}", turns[1], turns[999]);
    assert!(turns[1].scans == 0 && turns[1].transactions < 12, "{:?}", turns[1]);
    // The journal and the owner of the workspace are read when the worker claims the step, and never again.
    assert!(run.scans <= 3, "{run:?}");
    // The journal has the beginning, a turn and two results a thousand times, and the last turn. The state contains no
    // entry.
    let (bytes, journal) = place.kept(&session).await;
    assert_eq!(journal, 1 + 1000 * 3 + 1);
    assert!(bytes < 1024, "{bytes}");
}

#[tokio::test]
async fn cost_of_a_message_is_constant_over_100_messages() {
    let place = CountingWorld::of(0, Vec::new()).await;
    let session = place.opens(Value::Null).await;
    place.runs().await;
    let mut resumes = Vec::new();
    for number in 0..100 {
        place.engine.session_message(&place.alice, session.id, format!("And {number}?"), false, None).await.unwrap();
        resumes.push(place.runs().await);
    }
    assert_eq!(place.seen.lock().len(), 100);
    assert!(resumes[1..].iter().all(|resume| alike(*resume, resumes[1])), "{resumes:?}");
    assert!(resumes[1].transactions <= 4 && resumes[1].scans <= 3, "{:?}", resumes[1]);
    let (bytes, journal) = place.kept(&session).await;
    assert_eq!(journal, 1 + 100 * 2);
    assert!(bytes < 1024, "{bytes}");
}

#[tokio::test]
async fn cost_of_an_answer_is_constant_with_64_open_questions() {
    let place = CountingWorld::of(1, vec!["write_file"; 64]).await;
    let session = place.opens(json!("Go")).await;
    place.runs().await;
    let (wide, _) = place.kept(&session).await;
    assert!(wide < 64 * 256, "{wide}");
    let filter = InteractionFilter { status: Some(Status::Pending), ..InteractionFilter::default() };
    let query = InteractionQuery { filter, ..InteractionQuery::default() };
    let (open, _) = place.engine.interaction_list(&place.alice, query, Page { after: None, limit: 200 }).await.unwrap();
    assert_eq!(open.len(), 64);
    let mut resumes = Vec::new();
    for asked in &open {
        let draft = AnswerDraft { effect: Some(Effect::Approve), ..AnswerDraft::default() };
        place.engine.interaction_answer(&place.alice, asked.id, draft, None).await.unwrap();
        resumes.push(place.runs().await);
    }
    assert!(resumes[1..63].iter().all(|resume| alike(*resume, resumes[1])), "{resumes:?}");
    assert!(resumes[1].transactions < 12 && resumes[1].scans <= 2, "{:?}", resumes[1]);
    assert_eq!(place.status(&session).await, domain::SessionStatus::Completed);
    assert_eq!(place.seen.lock().len(), 2);
    let (bytes, _) = place.kept(&session).await;
    assert!(bytes < 1024, "{bytes}");
}
