//! Hosted agents that play a script, and a worker that runs them.

use std::sync::Arc;

use agent::model::{Model, ModelError};
use agent::tool::{Tool, ToolOutcome, ToolRun, ToolSpec};
use agent::worker::{Kit, Worker};
use domain::AgentVersion;
use engine::Definitions;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// Record of the tools that ran, with their arguments.
pub type Runs = Arc<Mutex<Vec<(String, Value)>>>;

/// A worker that runs until it is dropped.
pub struct ScriptedWorker {
    pub runs: Runs,
    _working: JoinSet<()>,
}

impl ScriptedWorker {
    /// Defines these agents and starts a worker that runs them.
    pub fn of(world: &World, agents: Vec<Value>) -> Self {
        let agents = agents.into_iter().map(|agent| serde_json::from_value(agent).unwrap()).collect();
        world.engine.set_definitions(Definitions { agents, flows: Vec::new() });
        let runs = Runs::default();
        let kit = Arc::new(ScriptedKit(Arc::clone(&runs)));
        let worker = Worker::new(world.engine.clone(), kit, "workshop".into(), 4);
        let mut working = JoinSet::new();
        working.spawn(async move { worker.run(CancellationToken::new()).await });
        Self { runs, _working: working }
    }
}

/// An agent that plays these turns.
pub fn scripted(name: &str, turns: Value) -> Value {
    json!({ "name": name, "version": "1", "tools": ["ask_user", "delete_file"], "workspace": "demo",
            "instructions": "Play.", "model": { "provider": "scripted", "script": { "turns": turns } } })
}

/// Opens the models that agents choose, and records the arguments with which their tools run.
struct ScriptedKit(Runs);

impl Kit for ScriptedKit {
    fn model(&self, agent: &AgentVersion, _: Option<zeroize::Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError> {
        agent::models::open(&agent.model, None).map(Arc::from)
    }

    fn tools<'a>(&'a self, _: &'a domain::ProjectName, agent: &'a AgentVersion) -> agent::worker::Tools<'a> {
        let tool = |name: &String| -> Arc<dyn Tool> {
            let spec = ToolSpec {
                name: name.clone(),
                description: String::new(),
                schema: json!({ "type": "object" }),
                repeatable: false,
                parallel: false,
            };
            Arc::new(Recorded { runs: Arc::clone(&self.0), spec })
        };
        let tools = agent.tools.iter().filter(|name| *name != "ask_user").map(tool).collect();
        Box::pin(async move { Ok(tools) })
    }
}

struct Recorded {
    runs: Runs,
    spec: ToolSpec,
}

impl Tool for Recorded {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: &'a Value, _: &'a ToolRun) -> BoxFuture<'a, ToolOutcome> {
        self.runs.lock().push((self.spec.name.clone(), arguments.clone()));
        Box::pin(async { ToolOutcome::Done(json!("deleted")) })
    }
}
