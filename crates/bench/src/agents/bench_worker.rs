//! Runs a worker in this process on a real store, with a model and tools that take no time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::model::{Delta, Model, ModelCall, ModelError, Request, Turn};
use agent::tool::{Tool, ToolOutcome, ToolRun, ToolSpec};
use agent::worker::{Kit, Worker};
use domain::{AgentVersion, AnswerDraft, Caller, EventKind, InteractionId, Role, Session, SessionId, SessionInput};
use engine::{Definitions, Engine, Ids, MasterKey, NewKey, Settings, Start, Vault};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use store::{Store, SystemClock};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::Fallible;

/// Largest number of steps that run at once: at most one for each session.
const AT_ONCE: usize = 64;
/// Time limit of every wait.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// Behaviour of the model: it makes `calls` calls of `tool` in each of its first `turns` turns, and ends in the next
/// turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) turns: usize,
    pub(super) tool: &'static str,
    pub(super) calls: usize,
}

/// A worker with its store and model. Dropping it stops the worker.
pub(super) struct BenchWorker {
    pub(super) engine: Engine,
    pub(super) person: Caller,
    asked: Arc<Mutex<Vec<Instant>>>,
    #[expect(dead_code, reason = "the runtime runs the worker until it is dropped")]
    working: JoinSet<()>,
}

impl BenchWorker {
    pub(super) async fn open(store: &Arc<dyn Store>, part: Part) -> Fallible<Self> {
        let vault = Vault::new(MasterKey::from_bytes([7; 32]));
        let engine = Engine::new(Arc::clone(store), Arc::new(SystemClock), Ids::default(), vault, Settings::default());
        engine.set_definitions(Definitions { agents: vec![serde_json::from_value(definition())?], flows: Vec::new() });
        let new = NewKey::named(Role::Operator, "bench-person");
        let (key, _) = engine.key_install("default", "default", new).await?;
        let person = key.caller(engine.now()).ok_or("the key cannot be used")?;
        let asked: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let kit = Arc::new(BenchKit { asked: Arc::clone(&asked), part });
        let worker = Worker::new(engine.clone(), kit, "bench".into(), AT_ONCE);
        let mut working = JoinSet::new();
        working.spawn(async move { worker.run(CancellationToken::new()).await });
        Ok(Self { engine, person, asked, working })
    }

    /// Opens a session with the agent.
    pub(super) async fn starts(&self) -> Fallible<Session> {
        let session_input = SessionInput { input: json!("Go."), ..SessionInput::default() };
        let start = Start { agent: Some("bench".into()), session_input, ..Start::default() };
        Ok(self.engine.session_start(&self.person, start, None).await?)
    }

    /// Times of all requests to the model so far.
    pub(super) fn asked(&self) -> Vec<Instant> {
        self.asked.lock().clone()
    }

    /// Waits for this many more questions of a session and returns them. `after` is the last event that was read.
    pub(super) async fn questions(
        &self,
        session: SessionId,
        after: &mut u64,
        many: usize,
    ) -> Fallible<Vec<InteractionId>> {
        let mut found = Vec::new();
        while found.len() < many {
            for event in self.read(session, after).await? {
                found
                    .extend(event.interaction.filter(|_| matches!(event.kind(), Some(EventKind::InteractionAsked(_)))));
            }
        }
        Ok(found)
    }

    /// Waits for the end of a session.
    pub(super) async fn ended(&self, session: SessionId, after: &mut u64) -> Fallible<()> {
        loop {
            for event in self.read(session, after).await? {
                match event.kind() {
                    Some(EventKind::SessionCompleted(_)) => return Ok(()),
                    Some(EventKind::SessionFailed(end) | EventKind::SessionCancelled(end)) => {
                        return Err(format!("the session: {:?}", end.reason).into());
                    }
                    _ => {}
                }
            }
        }
    }

    async fn read(&self, session: SessionId, after: &mut u64) -> Fallible<Vec<domain::Event>> {
        let events = self.engine.event_list(&self.person, session, *after, 200, PATIENCE).await?;
        *after = events.last().ok_or("no more events arrive")?.seq;
        Ok(events)
    }

    /// Approves a question as a person.
    pub(super) async fn approves(&self, question: InteractionId) -> Fallible<()> {
        let draft = AnswerDraft { effect: Some(domain::Effect::Approve), ..AnswerDraft::default() };
        self.engine.interaction_answer(&self.person, question, draft, None).await?;
        Ok(())
    }
}

fn definition() -> Value {
    json!({
        "name": "bench", "version": "1", "model": { "provider": "scripted", "script": { "turns": [] } },
        "tools": ["read_file", "write_file", "ask_user"], "workspace": "bench",
        "limits": { "iterations": 1_000_000, "rounds": 1_000_000, "retries": 3 },
    })
}

struct BenchKit {
    asked: Arc<Mutex<Vec<Instant>>>,
    part: Part,
}

impl Kit for BenchKit {
    fn model(&self, _: &AgentVersion, _: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Instantly { asked: Arc::clone(&self.asked), part: self.part }))
    }

    fn tools<'a>(&'a self, _: &'a domain::ProjectName, agent: &'a AgentVersion) -> agent::worker::Tools<'a> {
        let tool = |name: &String| -> Arc<dyn Tool> {
            let (description, schema) = (String::new(), json!({ "type": "object" }));
            Arc::new(Nothing(ToolSpec { name: name.clone(), description, schema, repeatable: false, parallel: true }))
        };
        let tools = agent.tools.iter().filter(|name| *name != "ask_user").map(tool).collect();
        Box::pin(async move { Ok(tools) })
    }
}

struct Instantly {
    asked: Arc<Mutex<Vec<Instant>>>,
    part: Part,
}

impl Model for Instantly {
    fn turn<'a>(
        &'a self,
        _: Request<'a>,
        _: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>> {
        let Part { turns, tool, calls } = self.part;
        let number = {
            let mut asked = self.asked.lock();
            asked.push(Instant::now());
            asked.len()
        };
        let call = |index: usize| ModelCall {
            id: format!("call_{index}"),
            tool: tool.to_owned(),
            arguments: match tool {
                "ask_user_confirm" => json!({ "question": "Go on?" }),
                _ => json!({ "path": format!("notes/{number}-{index}.md") }),
            },
        };
        let calls = if number > turns { Vec::new() } else { (0..calls).map(call).collect() };
        Box::pin(async move { Ok(Turn { text: "On.".into(), calls, ..Turn::default() }) })
    }
}

struct Nothing(ToolSpec);

impl Tool for Nothing {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run<'a>(&'a self, _: &'a Value, _: &'a ToolRun) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async { ToolOutcome::Done(json!("done")) })
    }
}
