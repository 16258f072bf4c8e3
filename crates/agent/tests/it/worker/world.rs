//! A store in a directory, an engine with real time, and a worker whose model and tools the test scripts.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use domain::{
    AgentVersion, AnswerDraft, Caller, Effect, Event, FlowVersion, Interaction, InteractionId, Key, Role, Session,
    SessionId, SessionInput, SignedDuration, Status,
};
use engine::{Definitions, Engine, Ids, InteractionQuery, MasterKey, NewKey, Settings, Start, Vault};
use futures::future::BoxFuture;
use holdpoint_agent::model::{Delta, Message, Model, ModelCall, ModelError, Request, Turn};
use holdpoint_agent::tool::{ReplacedContent, Tool, ToolError, ToolOutcome, ToolRun, ToolSpec};
use holdpoint_agent::tools::Workspace;
use holdpoint_agent::worker::{Kit, Worker};
use parking_lot::Mutex;
use serde_json::{Value, json};
use store::{Cost, InteractionFilter, Page, Store, StoreError, SystemClock, read};
use store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// Longest time that a test waits for something that should happen at once.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// Script of the model and the tools, and a record of their use.
#[derive(Default)]
pub(crate) struct Play {
    turns: Mutex<VecDeque<Result<Turn, ModelError>>>,
    asked: Mutex<Vec<Vec<Message>>>,
    runs: Mutex<Vec<(String, Value)>>,
    secrets: Mutex<Vec<BTreeMap<String, String>>>,
    pub(crate) hang: AtomicUsize,
    /// If positive, the model hangs after it has sent its text.
    pub(crate) mute: AtomicUsize,
    /// While this is set, the model does not finish its turn.
    pub(crate) slow: AtomicBool,
    /// Workspace of the real file tools, if the test uses them.
    pub(crate) workspace: Mutex<Option<Workspace>>,
    /// Number of times that the tools will be unavailable.
    pub(crate) toolless: AtomicUsize,
}

/// The model that follows the script.
struct Playing(Arc<Play>);

impl Model for Playing {
    fn turn<'a>(
        &'a self,
        request: Request<'a>,
        on_delta: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>> {
        self.0.asked.lock().push(request.history.to_vec());
        let turn = self.0.turns.lock().pop_front();
        Box::pin(async move {
            let turn = turn.unwrap_or_else(|| Err(ModelError::Refused("the script has no more turns".into())))?;
            on_delta(Delta::Text(turn.text.clone()));
            if self.0.mute.load(Ordering::Acquire) > 0 {
                std::future::pending::<()>().await;
            }
            while self.0.slow.load(Ordering::Acquire) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(turn)
        })
    }
}

struct Recorded {
    play: Arc<Play>,
    spec: ToolSpec,
}

impl Tool for Recorded {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn replaces<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Option<ReplacedContent>> {
        let text = arguments["replaces"].as_str().map(str::to_owned);
        Box::pin(async { text.map(|text| ReplacedContent { content_hash: text.clone(), text: Some(text) }) })
    }

    fn run<'a>(&'a self, arguments: &'a Value, run: &'a ToolRun) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            self.play.runs.lock().push((self.spec.name.clone(), arguments.clone()));
            let secrets = run.secrets.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
            self.play.secrets.lock().push(secrets);
            if self.play.hang.load(Ordering::Acquire) > 0 {
                std::future::pending::<()>().await;
            }
            if arguments.get("until_cut").is_some() {
                run.cancel.cancelled().await;
                return ToolOutcome::Failed { message: "it was cut short".into(), result: Value::Null };
            }
            match arguments.get("fails") {
                Some(_) => ToolOutcome::Failed { message: "it broke".into(), result: Value::Null },
                None => match arguments.get("prints") {
                    Some(text) => ToolOutcome::Done(json!({ "printed": text })),
                    None => ToolOutcome::Done(json!({ "ran": self.spec.name })),
                },
            }
        })
    }
}

struct TestKit(Arc<Play>);

impl Kit for TestKit {
    fn model(&self, _: &AgentVersion, _: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Playing(Arc::clone(&self.0))))
    }

    fn tools<'a>(&'a self, _: &'a domain::ProjectName, agent: &'a AgentVersion) -> holdpoint_agent::worker::Tools<'a> {
        let tool = |name: &String| -> Arc<dyn Tool> {
            let reading = name.starts_with("read") || name.starts_with("list");
            let spec = ToolSpec {
                name: name.clone(),
                description: String::new(),
                schema: json!({ "type": "object" }),
                repeatable: reading,
                parallel: reading,
            };
            Arc::new(Recorded { play: Arc::clone(&self.0), spec })
        };
        let workspace = self.0.workspace.lock().clone();
        let real = |name: &String| workspace.as_ref()?.tools(std::slice::from_ref(name)).pop();
        let names = agent.tools.iter().filter(|name| *name != "ask_user");
        let tools: Vec<_> = names.map(|name| real(name).unwrap_or_else(|| tool(name))).collect();
        let less =
            self.0.toolless.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1)).is_ok();
        Box::pin(async move { if less { Err(ToolError("no tools today".into())) } else { Ok(tools) } })
    }
}

/// Store, engine and workers of one test.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) play: Arc<Play>,
    store: Arc<dyn Store>,
    _directory: TempDir,
    stop: CancellationToken,
    working: JoinSet<()>,
    workers: usize,
}

impl World {
    /// Creates a world with a worker, an agent called `guide`, and these flows.
    pub(crate) fn new(flows: Value) -> Self {
        Self::settled(flows, Settings::default())
    }

    pub(crate) fn with(flows: Value, step_lease: SignedDuration) -> Self {
        Self::settled(flows, Settings { step_lease, ..Settings::default() })
    }

    pub(crate) fn settled(flows: Value, settings: Settings) -> Self {
        let directory = TempDir::new().unwrap();
        let clock = Arc::new(SystemClock);
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(directory.path(), clock.clone(), &SqliteOptions::default()).unwrap());
        let vault = Vault::new(MasterKey::from_bytes([7; 32]));
        let engine = Engine::new(Arc::clone(&store), clock, Ids::default(), vault, settings);
        let agent: AgentVersion = serde_json::from_value(json!({
            "name": "guide", "version": "1", "model": { "provider": "scripted", "script": { "turns": [] } },
            "instructions": "Be kind.", "workspace": "demo",
            "tools": ["read_file", "list_files", "write_file", "execute_command", "ask_user"],
            "client_tools": [{ "name": "open_editor", "schema": {
                "type": "object", "properties": { "line": { "type": "integer" } },
            } }],
        }))
        .unwrap();
        let flows: Vec<FlowVersion> = serde_json::from_value(flows).unwrap();
        engine.set_definitions(Definitions { agents: vec![agent], flows });
        let mut world = Self {
            engine,
            play: Arc::default(),
            store,
            _directory: directory,
            stop: CancellationToken::new(),
            working: JoinSet::new(),
            workers: 0,
        };
        world.work();
        world
    }

    /// Starts a worker of the world.
    pub(crate) fn work(&mut self) {
        let kit = Arc::new(TestKit(Arc::clone(&self.play)));
        self.workers += 1;
        let worker = Worker::new(self.engine.clone(), kit, format!("worker-{}", self.workers), 8);
        let (stop, until) = (self.stop.clone(), self.stop.clone());
        self.working.spawn(async move { worker.run(stop).await });
        let engine = self.engine.clone();
        self.working.spawn(async move {
            tokio::select! { () = engine.run_timers() => {}, () = until.cancelled() => {} }
        });
    }

    /// Aborts every worker at its current point.
    pub(crate) fn kill(&mut self) {
        self.working.abort_all();
    }

    /// Stops every worker in an orderly way.
    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        while let Some(done) = self.working.join_next().await {
            done.unwrap();
        }
        self.stop = CancellationToken::new();
    }

    /// Adds a turn to the script of the model.
    pub(crate) fn says(&self, text: &str, calls: &[(&str, Value)]) {
        let calls = calls.iter().enumerate().map(|(index, (tool, arguments))| ModelCall {
            id: format!("call_{index}"),
            tool: (*tool).to_owned(),
            arguments: arguments.clone(),
        });
        let turn = Turn { text: text.into(), calls: calls.collect(), ..Turn::default() };
        self.play.turns.lock().push_back(Ok(turn));
    }

    pub(crate) fn model_fails(&self, error: ModelError) {
        self.play.turns.lock().push_back(Err(error));
    }

    /// History that the model was shown when it was asked last.
    pub(crate) fn shown(&self) -> Vec<Message> {
        self.play.asked.lock().last().cloned().unwrap_or_default()
    }

    /// History that the model was shown at this turn, counted from 0.
    pub(crate) fn shown_at(&self, turn: usize) -> Vec<Message> {
        self.play.asked.lock().get(turn).cloned().unwrap_or_default()
    }

    /// Number of times that the model was asked.
    pub(crate) fn turns(&self) -> usize {
        self.play.asked.lock().len()
    }

    /// Tools that ran and their arguments, in order.
    pub(crate) fn runs(&self) -> Vec<(String, Value)> {
        self.play.runs.lock().clone()
    }

    pub(crate) fn secrets(&self) -> Vec<BTreeMap<String, String>> {
        self.play.secrets.lock().clone()
    }

    pub(crate) async fn person(&self, user: &str) -> Caller {
        self.key(user, Role::Operator).await
    }

    pub(crate) async fn key(&self, user: &str, role: Role) -> Caller {
        let new = NewKey::named(role, user);
        let (key, _): (Key, String) = self.engine.key_install("default", "default", new).await.unwrap();
        key.caller(self.engine.now()).unwrap()
    }

    /// Puts a policy in force.
    pub(crate) async fn rules(&self, text: &str) {
        let new = NewKey::named(Role::Admin, "root");
        let (key, _): (Key, String) = self.engine.key_install("default", "default", new).await.unwrap();
        let root = key.caller(self.engine.now()).unwrap();
        self.engine.policy_put(&root, text.into(), (None, None), None).await.unwrap();
    }

    pub(crate) async fn opens(&self, by: &Caller, agent: Option<&str>, flow: Option<&str>, input: Value) -> Session {
        let start = Start {
            agent: agent.map(str::to_owned),
            flow: flow.map(str::to_owned),
            session_input: SessionInput { input, ..SessionInput::default() },
            ..Start::default()
        };
        self.engine.session_start(by, start, None).await.unwrap()
    }

    /// Waits until there are `many` open questions, and returns them, the oldest first.
    pub(crate) async fn open(&self, by: &Caller, many: usize) -> Vec<Interaction> {
        self.until(|| async {
            let filter = InteractionFilter { status: Some(Status::Pending), ..InteractionFilter::default() };
            let query = InteractionQuery { filter, ..InteractionQuery::default() };
            let page = Page { after: None, limit: 200 };
            let (found, _) = self.engine.interaction_list(by, query, page).await.unwrap();
            (found.len() == many).then_some(found)
        })
        .await
    }

    /// Waits for the only open question.
    pub(crate) async fn asked(&self, by: &Caller) -> Interaction {
        self.open(by, 1).await.remove(0)
    }

    pub(crate) async fn answers(
        &self,
        by: &Caller,
        id: InteractionId,
        effect: Effect,
        draft: AnswerDraft,
    ) -> Interaction {
        let draft = AnswerDraft { effect: Some(effect), ..draft };
        self.engine.interaction_answer(by, id, draft, None).await.unwrap()
    }

    /// Waits until the session has ended.
    pub(crate) async fn ended(&self, by: &Caller, id: SessionId) -> Session {
        self.until(|| async {
            let (session, ..) = self.engine.session(by, id).await.unwrap();
            session.ended.is_some().then_some(session)
        })
        .await
    }

    pub(crate) async fn events(&self, by: &Caller, id: SessionId) -> Vec<Event> {
        self.engine.event_list(by, id, 0, 1000, Duration::ZERO).await.unwrap()
    }

    /// Number of questions of a session that have secret values.
    pub(crate) async fn sealed(&self, of: &Session) -> usize {
        let (scope, id) = (of.scope, of.id);
        let found = read::<_, StoreError, _>(&*self.store, Cost::Point, move |reads| {
            reads.interactions_with_sealed_value(&scope, id, "secrets")
        });
        found.await.unwrap().len()
    }

    /// Polls until there is a result.
    pub(crate) async fn until<T, F: Future<Output = Option<T>>>(&self, look: impl Fn() -> F) -> T {
        let looking = async {
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(SOON, looking).await.unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill();
        self.store.close();
    }
}

/// Results that the model was shown, in order, each with whether the call failed.
pub(crate) fn results(shown: &[Message]) -> Vec<(String, bool)> {
    let result = |message: &Message| match message {
        Message::Result { content, failed, .. } => Some((content.clone(), *failed)),
        _ => None,
    };
    shown.iter().filter_map(result).collect()
}
