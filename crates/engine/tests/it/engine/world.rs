//! A store in a directory, a clock that is moved by hand, an engine, and people and agents by name.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    AnswerDraft, Caller, Command, Event, Interaction, InteractionId, Key, Question, Refusal, Role, Session, SessionId,
    SignedDuration,
};
use holdpoint_engine::{Ask, Engine, Error, Ids, MasterKey, NewKey, Settings, Start, Vault};
use serde_json::{Value, json};
use store::Store;
use store_sqlite::{Options, SqliteStore};
use tempfile::TempDir;
use testkit::ManualClock;

/// As long as a test waits for what should come at once.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// Where a story takes place.
pub(crate) struct World {
    pub engine: Engine,
    pub clock: ManualClock,
    pub store: Arc<dyn Store>,
    pub directory: TempDir,
}

impl World {
    /// An empty world.
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    /// An empty world in which something else is set.
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

    /// The same with something else set.
    pub(crate) fn over_with(store: Arc<dyn Store>, settings: Settings) -> Self {
        let (directory, clock) = (TempDir::new().unwrap(), ManualClock::default());
        let engine = engine(&store, &clock, [7; 32], settings);
        Self { engine, clock, store, directory }
    }

    /// The same world after its server was down for a while.
    pub(crate) fn restarted_after(self, down: SignedDuration) -> Self {
        self.store.close();
        self.clock.advance(down);
        let store = open(&self.directory, &self.clock);
        let engine = engine(&store, &self.clock, [7; 32], Settings::default());
        Self { engine, store, ..self }
    }

    /// A second engine on the same store, with its own master key.
    pub(crate) fn another_engine(&self, master: [u8; 32]) -> Engine {
        engine(&self.store, &self.clock, master, Settings::default())
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.advance(SignedDuration::from_secs(seconds));
    }

    /// Somebody of the default project.
    pub(crate) async fn caller(&self, role: Role, user: &str) -> Caller {
        self.stranger("default", role, user, &[]).await
    }

    /// Somebody of another tenant, or in groups.
    pub(crate) async fn stranger(&self, tenant: &str, role: Role, user: &str, groups: &[&str]) -> Caller {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        let new = NewKey { groups, ..NewKey::named(role, user) };
        let (key, _): (Key, String) = self.engine.key_install(tenant, "default", new).await.unwrap();
        key.caller(self.engine.now()).unwrap()
    }

    /// The agent that most stories are about.
    pub(crate) async fn agent(&self) -> Caller {
        self.caller(Role::Agent, "deployer").await
    }

    /// A person who answers.
    pub(crate) async fn person(&self, user: &str) -> Caller {
        self.caller(Role::Operator, user).await
    }

    /// A session that somebody starts.
    pub(crate) async fn session(&self, by: &Caller) -> Session {
        self.engine.start(by, Start::default(), None).await.unwrap()
    }

    /// A session that somebody starts for the agent.
    pub(crate) async fn session_of_agent(&self, by: &Caller) -> Session {
        let start = Start { agent: Some("deployer".into()), ..Start::default() };
        self.engine.start(by, start, None).await.unwrap()
    }

    /// A question as it is asked: a confirmation, and whatever else is given.
    pub(crate) async fn try_ask(&self, by: &Caller, session: &Session, fields: Value) -> Result<Interaction, Error> {
        self.engine.ask(by, session.id, ask(fields), None).await
    }

    /// A question that is fine.
    pub(crate) async fn ask(&self, by: &Caller, session: &Session, fields: Value) -> Interaction {
        self.try_ask(by, session, fields).await.unwrap()
    }

    /// Somebody chooses an option.
    pub(crate) async fn choose(&self, by: &Caller, id: InteractionId, option: &str) -> Result<Interaction, Error> {
        self.engine.answer(by, id, choice(option), None).await
    }

    /// A question as it is now.
    pub(crate) async fn now(&self, by: &Caller, id: InteractionId) -> Interaction {
        self.engine.interaction(by, id, Duration::ZERO).await.unwrap()
    }

    /// A session as it is now.
    pub(crate) async fn session_now(&self, by: &Caller, id: SessionId) -> Session {
        self.engine.session(by, id).await.unwrap().0
    }

    /// Somebody steers a session.
    pub(crate) async fn control(&self, by: &Caller, id: SessionId, command: Command) -> Result<Session, Error> {
        self.engine.control(by, id, command, Some("because".into()), None).await
    }

    /// The names of a session's events.
    pub(crate) async fn events(&self, by: &Caller, id: SessionId) -> Vec<String> {
        let events: Vec<Event> = self.engine.events(by, id, 0, 10_000, Duration::ZERO).await.unwrap();
        events.into_iter().map(|event| event.name).collect()
    }
}

/// What is asked: a confirmation, and whatever else is given.
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

/// An answer that gives data.
pub(crate) fn data(data: Value) -> AnswerDraft {
    AnswerDraft { data, ..AnswerDraft::default() }
}

/// The domain's no.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        other => unreachable!("{other:?} is no refusal"),
    }
}

/// The places in which something is wrong.
pub(crate) fn pointers<T: std::fmt::Debug>(result: Result<T, Error>) -> Vec<String> {
    match refusal(result) {
        Refusal::QuestionInvalid(problems) | Refusal::AnswerInvalid(problems) => {
            problems.into_iter().map(|problem| problem.pointer).collect()
        }
        other => unreachable!("{other:?} names no places"),
    }
}

fn open(directory: &TempDir, clock: &ManualClock) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(directory.path(), Arc::new(clock.clone()), &Options::default()).unwrap())
}

fn engine(store: &Arc<dyn Store>, clock: &ManualClock, master: [u8; 32], settings: Settings) -> Engine {
    let vault = Vault::new(MasterKey::from_bytes(master));
    Engine::new(Arc::clone(store), Arc::new(clock.clone()), Ids::default(), vault, settings)
}
