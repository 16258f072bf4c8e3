//! A test world: a store in a directory, a manual clock, an engine, and people and agents by name.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    AnswerDraft, Caller, Command, Event, Interaction, InteractionId, Key, Question, Refusal, Role, Session, SessionId,
    SignedDuration,
};
use holdpoint_engine::{Ask, Engine, Error, Ids, MasterKey, NewKey, Settings, Start, Vault};
use serde_json::{Value, json};
use store::Store;
use store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;
use testkit::ManualClock;

/// Time limit for results that should arrive at once.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// Engine, clock and store of one test.
pub(crate) struct World {
    pub engine: Engine,
    pub clock: ManualClock,
    pub store: Arc<dyn Store>,
    pub directory: TempDir,
}

impl World {
    /// An empty world with default settings.
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    /// An empty world with these settings.
    pub(crate) fn with(settings: Settings) -> Self {
        let (directory, clock) = (TempDir::new().unwrap(), ManualClock::default());
        let store = open(&directory, &clock);
        let engine = engine(&store, &clock, [7; 32], settings);
        Self { engine, clock, store, directory }
    }

    /// An empty world on another store.
    pub(crate) fn over(store: Arc<dyn Store>) -> Self {
        Self::over_with(store, Settings::default())
    }

    /// An empty world on another store, with these settings.
    pub(crate) fn over_with(store: Arc<dyn Store>, settings: Settings) -> Self {
        let (directory, clock) = (TempDir::new().unwrap(), ManualClock::default());
        let engine = engine(&store, &clock, [7; 32], settings);
        Self { engine, clock, store, directory }
    }

    /// Restarts the server after a downtime.
    pub(crate) fn restarted_after(self, down: SignedDuration) -> Self {
        self.store.close();
        self.clock.advance(down);
        let store = open(&self.directory, &self.clock);
        let engine = engine(&store, &self.clock, [7; 32], Settings::default());
        Self { engine, store, ..self }
    }

    /// A second engine on this store, with a master key of its own.
    pub(crate) fn another_engine(&self, master: [u8; 32]) -> Engine {
        engine(&self.store, &self.clock, master, Settings::default())
    }

    /// Moves the clock forward.
    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.advance(SignedDuration::from_secs(seconds));
    }

    /// A caller of the default project.
    pub(crate) async fn caller(&self, role: Role, user: &str) -> Caller {
        self.stranger("default", role, user, &[]).await
    }

    /// A caller of another tenant, or one with groups.
    pub(crate) async fn stranger(&self, tenant: &str, role: Role, user: &str, groups: &[&str]) -> Caller {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        let new = NewKey { groups, ..NewKey::named(role, user) };
        let (key, _): (Key, String) = self.engine.key_install(tenant, "default", new).await.unwrap();
        key.caller(self.engine.now()).unwrap()
    }

    /// The agent of most tests.
    pub(crate) async fn agent(&self) -> Caller {
        self.caller(Role::Agent, "deployer").await
    }

    /// Creates a person with the role `operator`.
    pub(crate) async fn person(&self, user: &str) -> Caller {
        self.caller(Role::Operator, user).await
    }

    /// Starts a session of the caller.
    pub(crate) async fn session(&self, by: &Caller) -> Session {
        self.engine.session_start(by, Start::default(), None).await.unwrap()
    }

    /// Starts a session of the agent.
    pub(crate) async fn session_of_agent(&self, by: &Caller) -> Session {
        let start = Start { agent: Some("deployer".into()), ..Start::default() };
        self.engine.session_start(by, start, None).await.unwrap()
    }

    /// Asks a confirmation with these fields added.
    pub(crate) async fn try_ask(&self, by: &Caller, session: &Session, fields: Value) -> Result<Interaction, Error> {
        self.engine.interaction_ask(by, session.id, ask(fields), None).await
    }

    /// Asks a question, and asserts that it is accepted.
    pub(crate) async fn ask(&self, by: &Caller, session: &Session, fields: Value) -> Interaction {
        self.try_ask(by, session, fields).await.unwrap()
    }

    /// Answers a question with an option.
    pub(crate) async fn choose(&self, by: &Caller, id: InteractionId, option: &str) -> Result<Interaction, Error> {
        self.engine.interaction_answer(by, id, choice(option), None).await
    }

    /// Reads the present state of a question.
    pub(crate) async fn now(&self, by: &Caller, id: InteractionId) -> Interaction {
        self.engine.interaction_get(by, id, Duration::ZERO).await.unwrap()
    }

    /// Reads the present state of a session.
    pub(crate) async fn session_now(&self, by: &Caller, id: SessionId) -> Session {
        self.engine.session(by, id).await.unwrap().0
    }

    /// Runs a control command on a session.
    pub(crate) async fn control(&self, by: &Caller, id: SessionId, command: Command) -> Result<Session, Error> {
        self.engine.session_control(by, id, command, Some("because".into()), None).await
    }

    /// Names of a session's events.
    pub(crate) async fn events(&self, by: &Caller, id: SessionId) -> Vec<String> {
        let events: Vec<Event> = self.engine.event_list(by, id, 0, 10_000, Duration::ZERO).await.unwrap();
        events.into_iter().map(|event| event.name).collect()
    }
}

/// A confirmation with these fields added.
pub(crate) fn ask(fields: Value) -> Ask {
    let mut body = json!({ "kind": "confirmation", "title": "May I?", "required": true });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let deadline_seconds = body["deadline_seconds"].as_i64();
    let resume_point = body.get("resume_point").cloned();
    let question: Question = serde_json::from_value(body).unwrap();
    Ask { question, deadline_seconds, resume_point, traceparent: None }
}

/// An answer that chooses an option.
pub(crate) fn choice(option: &str) -> AnswerDraft {
    AnswerDraft { options: vec![option.into()], ..AnswerDraft::default() }
}

/// An answer that provides data.
pub(crate) fn data(data: Value) -> AnswerDraft {
    AnswerDraft { data, ..AnswerDraft::default() }
}

/// Refusal of a result. Panics if the result is anything else.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        other => unreachable!("{other:?} is not a refusal"),
    }
}

/// JSON pointers of the problems of a refusal.
pub(crate) fn pointers<T: std::fmt::Debug>(result: Result<T, Error>) -> Vec<String> {
    match refusal(result) {
        Refusal::QuestionInvalid(problems) | Refusal::AnswerInvalid(problems) => {
            problems.into_iter().map(|problem| problem.pointer).collect()
        }
        other => unreachable!("{other:?} has no pointers"),
    }
}

fn open(directory: &TempDir, clock: &ManualClock) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(directory.path(), Arc::new(clock.clone()), &SqliteOptions::default()).unwrap())
}

fn engine(store: &Arc<dyn Store>, clock: &ManualClock, master: [u8; 32], settings: Settings) -> Engine {
    let vault = Vault::new(MasterKey::from_bytes(master));
    Engine::new(Arc::clone(store), Arc::new(clock.clone()), Ids::default(), vault, settings)
}
