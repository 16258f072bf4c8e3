//! Sets up an installation with agents, and helpers that start sessions and read them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{Client, Deployment, Launch, until};

/// Directories of agents, flows and workspaces.
pub(crate) struct AgentFiles {
    pub(crate) agents: PathBuf,
    pub(crate) flows: PathBuf,
    pub(crate) workspaces: PathBuf,
}

impl AgentFiles {
    /// Creates empty directories and one workspace.
    pub(crate) fn new(deployment: &Deployment) -> Self {
        let files = Self {
            agents: deployment.path("agents"),
            flows: deployment.path("flows"),
            workspaces: deployment.path("workspaces"),
        };
        for dir in [&files.agents, &files.flows, &files.workspaces.join("demo")] {
            fs::create_dir_all(dir).unwrap();
        }
        files
    }

    /// Uses the agents and flows of the demo, with a fresh copy of its workspace.
    pub(crate) fn demo(deployment: &Deployment) -> Self {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/demo");
        let files = Self { agents: demo.join("agents"), flows: demo.join("flows"), ..Self::new(deployment) };
        for file in fs::read_dir(demo.join("workspace")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), files.file(file.file_name().to_str().unwrap())).unwrap();
        }
        files
    }

    /// Path of a file in the workspace.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.workspaces.join("demo").join(name)
    }

    /// Writes the definition of an agent to the file of its name.
    pub(crate) fn agent(&self, name: &str, text: &str) {
        fs::write(self.agents.join(format!("{name}.toml")), format!("name = \"{name}\"\nversion = \"1\"\n{text}"))
            .unwrap();
    }

    /// Adds the arguments for these directories and this many worker steps. A short step lease lets steps of a killed
    /// server be claimed soon.
    pub(crate) fn launch(&self, launch: Launch, steps: usize) -> Launch {
        let text = |path: &Path| path.display().to_string();
        let (agents, flows, workspaces) = (text(&self.agents), text(&self.flows), text(&self.workspaces));
        let steps = steps.to_string();
        launch.with(&["--agents", &agents, "--flows", &flows, "--workspaces", &workspaces]).with(&[
            "--worker-steps",
            &steps,
            "--step-lease-seconds",
            "3",
        ])
    }
}

/// Opens a session of a hosted agent and returns its identifier.
pub(crate) async fn starts(caller: &Client, agent: &str) -> String {
    let opened = caller.post("/v1/sessions", json!({ "agent": agent, "input": "Begin." })).await.done(201);
    assert_eq!(opened.body["driven"], true, "{:?}", opened.body);
    opened.text("/id")
}

/// Waits for the end of a session and returns the session.
pub(crate) async fn ended(caller: &Client, session: &str) -> Value {
    until("the end of the session", async || {
        let shown = caller.get(&format!("/v1/sessions/{session}")).await.done(200).body;
        ["completed", "failed", "cancelled"].contains(&shown["status"].as_str().unwrap()).then_some(shown)
    })
    .await
}

/// Lists the open questions of a session.
pub(crate) async fn open(caller: &Client, session: &str) -> Vec<Value> {
    let found = caller.get(&format!("/v1/interactions?session={session}&status=pending")).await.done(200);
    found.body["interactions"].as_array().unwrap().clone()
}

/// Waits for an open question of a session and returns it.
pub(crate) async fn asked(caller: &Client, session: &str) -> Value {
    until("a question", async || open(caller, session).await.into_iter().next()).await
}

/// Number of events of this type in a session.
pub(crate) async fn times(caller: &Client, session: &str, event: &str) -> usize {
    let page = caller.get(&format!("/v1/sessions/{session}/events?limit=200")).await.done(200).body;
    page["events"].as_array().unwrap().iter().filter(|one| one["type"] == event).count()
}
