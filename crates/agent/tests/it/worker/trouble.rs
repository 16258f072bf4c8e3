//! Steps in trouble: an expired question stays closed, and a step that keeps failing ends as failed, with its reason.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use domain::{
    AgentVersion, AnswerDraft, Caller, Role, Session, SessionInput, SessionStatus, SignedDuration, Status, Timestamp,
};
use engine::{Definitions, Engine, Ids, InteractionQuery, MasterKey, NewKey, Settings, Start, Vault};
use futures::future::BoxFuture;
use holdpoint_agent::model::{Delta, Message, Model, ModelCall, ModelError, Request, Turn};
use holdpoint_agent::tool::ToolError;
use holdpoint_agent::worker::{Kit, Worker};
use parking_lot::Mutex;
use serde_json::{Value, json};
use store::{Clock, Page, StepState, Store, StoreError};
use store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;
use testkit::ManualClock;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::worker::world::results;

/// Script of a model that asks a question in each of `questions` turns, and of tools that are unavailable while
/// `without_tools` is set.
#[derive(Default)]
struct Play {
    questions: AtomicUsize,
    without_tools: AtomicBool,
    shown: Mutex<Vec<Vec<Message>>>,
    tried: Mutex<Vec<Timestamp>>,
}

struct Asking(Arc<Play>);

impl Model for Asking {
    fn turn<'a>(
        &'a self,
        request: Request<'a>,
        _: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>> {
        let number = {
            let mut shown = self.0.shown.lock();
            shown.push(request.history.to_vec());
            shown.len()
        };
        let (id, tool) = ("call_0".into(), "ask_user_clarify".into());
        let call = ModelCall { id, tool, arguments: json!({ "question": format!("Question {number}?") }) };
        let calls = if number > self.0.questions.load(Ordering::Acquire) { Vec::new() } else { vec![call] };
        Box::pin(async move { Ok(Turn { text: "On.".into(), calls, ..Turn::default() }) })
    }
}

struct TestKit(Arc<Play>, ManualClock);

impl Kit for TestKit {
    fn model(&self, _: &AgentVersion, _: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Asking(Arc::clone(&self.0))))
    }

    fn tools<'a>(&'a self, _: &'a domain::ProjectName, _: &'a AgentVersion) -> holdpoint_agent::worker::Tools<'a> {
        self.0.tried.lock().push(self.1.now());
        let none = self.0.without_tools.load(Ordering::Acquire);
        Box::pin(async move { if none { Err(ToolError("the tools are unavailable".into())) } else { Ok(Vec::new()) } })
    }
}

/// An engine and a worker under a clock that the test moves.
struct ClockedWorld {
    engine: Engine,
    worker: Worker,
    store: Arc<dyn Store>,
    clock: ManualClock,
    play: Arc<Play>,
    alice: Caller,
    _directory: TempDir,
}

impl ClockedWorld {
    async fn new() -> Self {
        let (directory, clock) = (TempDir::new().unwrap(), ManualClock::default());
        let opened = SqliteStore::open(directory.path(), Arc::new(clock.clone()), &SqliteOptions::default()).unwrap();
        let store: Arc<dyn Store> = Arc::new(opened);
        let engine = node(&store, &clock);
        let agent = serde_json::from_value(json!({
            "name": "guide", "version": "1", "model": { "provider": "scripted", "script": { "turns": [] } },
            "tools": ["ask_user"], "deadlines": { "question": 60 },
        }));
        engine.set_definitions(Definitions { agents: vec![agent.unwrap()], flows: Vec::new() });
        let new = NewKey::named(Role::Operator, "alice");
        let (key, _) = engine.key_install("default", "default", new).await.unwrap();
        let (alice, play) = (key.caller(engine.now()).unwrap(), Arc::<Play>::default());
        let kit = Arc::new(TestKit(Arc::clone(&play), clock.clone()));
        let worker = Worker::new(engine.clone(), kit, "worker".into(), 1);
        Self { engine, worker, store, clock, play, alice, _directory: directory }
    }

    async fn opens(&self) -> Session {
        let session_input = SessionInput { input: json!("Go"), ..SessionInput::default() };
        let start = Start { agent: Some("guide".into()), session_input, ..Start::default() };
        self.engine.session_start(&self.alice, start, None).await.unwrap()
    }

    async fn runs(&self) {
        self.worker.run_due(&CancellationToken::new()).await.unwrap();
    }

    /// Runs the worker, second by second, until the session has ended.
    async fn ended(&self, session: &Session) -> Session {
        for _ in 0..3600 {
            self.runs().await;
            let (session, ..) = self.engine.session(&self.alice, session.id).await.unwrap();
            if session.ended.is_some() {
                return session;
            }
            self.clock.advance(SignedDuration::from_secs(1));
        }
        unreachable!("it never ends");
    }

    /// All questions that were ever asked, in their current state.
    async fn questions(&self) -> Vec<domain::Interaction> {
        let page = Page { after: None, limit: 200 };
        self.engine.interaction_list(&self.alice, InteractionQuery::default(), page).await.unwrap().0
    }
}

/// An engine with its own id generator, as each node has one.
fn node(store: &Arc<dyn Store>, clock: &ManualClock) -> Engine {
    let vault = Vault::new(MasterKey::from_bytes([7; 32]));
    Engine::new(Arc::clone(store), Arc::new(clock.clone()), Ids::default(), vault, Settings::default())
}

impl Drop for ClockedWorld {
    fn drop(&mut self) {
        self.store.close();
    }
}

fn reason(session: Session) -> String {
    session.ended.unwrap().1.reason.unwrap()
}

#[tokio::test]
async fn expired_question_is_final_and_the_next_one_is_asked() {
    let place = ClockedWorld::new().await;
    place.play.questions.store(2, Ordering::Release);
    let session = place.opens().await;
    place.runs().await;
    place.clock.advance(SignedDuration::from_secs(61));
    place.engine.fire_due().await.unwrap();
    place.runs().await;
    let statuses: Vec<Status> = place.questions().await.iter().map(domain::Interaction::status).collect();
    assert_eq!(statuses, [Status::Expired, Status::Pending]);
    let second = place.questions().await.remove(1);
    assert_eq!(second.question.title, "Question 2?");
    // The worker does not start the step while nothing happens.
    let tried = place.play.tried.lock().len();
    for _ in 0..10 {
        place.clock.advance(SignedDuration::from_secs(1));
        place.runs().await;
    }
    assert_eq!(place.play.tried.lock().len(), tried);
    let draft = AnswerDraft { data: json!("Yes."), ..AnswerDraft::default() };
    place.engine.interaction_answer(&place.alice, second.id, draft, None).await.unwrap();
    assert_eq!(place.ended(&session).await.status(), SessionStatus::Completed);
    let read = [
        ("Nobody answered in time, and the question is closed.".to_owned(), false),
        ("A person (alice) answered.\nGiven: Yes.".to_owned(), false),
    ];
    assert_eq!(results(place.play.shown.lock().last().unwrap()), read);
    assert_eq!((place.questions().await.len(), place.play.shown.lock().len()), (2, 3));
}

#[tokio::test]
async fn failing_step_is_retried_with_growing_delays_and_then_fails() {
    let place = ClockedWorld::new().await;
    place.play.without_tools.store(true, Ordering::Release);
    let session = place.opens().await;
    let ended = place.ended(&session).await;
    assert_eq!(ended.status(), SessionStatus::Failed);
    assert!(reason(ended).contains("the tools are unavailable"));
    let tried = place.play.tried.lock().clone();
    let rests: Vec<i64> = tried.windows(2).map(|pair| pair[1].duration_since(pair[0]).as_secs()).collect();
    assert!(rests.len() >= 3 && rests.windows(2).all(|pair| pair[1] >= 2 * pair[0]), "{rests:?}");
    for _ in 0..10 {
        place.clock.advance(SignedDuration::from_hours(1));
        place.runs().await;
    }
    assert_eq!(place.play.tried.lock().len(), tried.len(), "a failed step is not tried again");
}

#[tokio::test]
async fn answer_to_a_step_with_unreadable_state_fails_the_session() {
    let place = ClockedWorld::new().await;
    place.play.questions.store(1, Ordering::Release);
    let session = place.opens().await;
    place.runs().await;
    let (scope, step) = (session.scope, session.step);
    let broken = store::transact::<_, StoreError, _>(&*place.store, move |tx| {
        let upto = tx.step_state(&scope, step)?.map_or(0, |state| state.upto);
        tx.step_state_save(&scope, step, &StepState { upto, body: Value::from("gone") })
    });
    broken.await.unwrap();
    let asked = place.questions().await.remove(0);
    let draft = AnswerDraft { data: json!("Yes."), ..AnswerDraft::default() };
    place.engine.interaction_answer(&place.alice, asked.id, draft, None).await.unwrap();
    let ended = place.ended(&session).await;
    assert_eq!(ended.status(), SessionStatus::Failed);
    assert!(reason(ended).contains("the journal cannot be read"));
    assert_eq!(place.play.shown.lock().len(), 1, "the step does not continue with an unreadable state");
}

/// Names of calls begin with the number of their step in the session, so that no two steps may have one number.
#[tokio::test]
async fn steps_keep_their_order_if_the_clock_of_a_node_is_behind() {
    let place = ClockedWorld::new().await;
    place.play.without_tools.store(true, Ordering::Release);
    let session = place.opens().await;
    place.ended(&session).await;
    place.clock.advance(SignedDuration::from_hours(-1));
    let other = node(&place.store, &place.clock);
    let retry = engine::StepCommand::Retry;
    let session = other.step_control(&place.alice, (session.id, None), retry, None, None).await.unwrap();
    let (_, _, steps) = place.engine.session(&place.alice, session.id).await.unwrap();
    let attempts: Vec<u32> = steps.iter().map(|step| step.attempt).collect();
    assert_eq!((attempts, steps[1].id), (vec![1, 2], session.step));
}
