//! Steps of tests about actions: agents propose, people decide, admins set policies.

use domain::Role;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{ApiClient, Question, Reply, reply, text};
use crate::world::World;

/// An action that an agent has proposed.
#[derive(Debug, Clone)]
pub struct Proposed {
    pub session: String,
    pub call: String,
    /// View of the action that the agent received.
    pub shown: Value,
}

impl Proposed {
    /// Path of an operation on the action.
    pub fn path(&self, verb: &str) -> String {
        format!("/v1/sessions/{}/actions/{}{verb}", self.session, self.call)
    }

    /// The last question about the action.
    pub fn question(&self) -> Question {
        question_of(&self.shown)
    }

    /// Permit of the action.
    pub fn permit(&self) -> Value {
        let permit = self.shown["permit"].clone();
        assert!(permit.is_string(), "{} has no permit", self.shown);
        permit
    }
}

/// The last question about an action.
pub fn question_of(shown: &Value) -> Question {
    Question { id: text(&shown["interaction"]), session: text(&shown["session"]), shown: shown.clone() }
}

/// Body that proposes a call of a tool.
pub fn call(call: &str, tool: &str, arguments: Value) -> Value {
    json!({ "call_id": call, "tool": tool, "arguments": arguments })
}

/// Body that proposes a write, which the default policy asks people about.
pub fn writing(name: &str) -> Value {
    call(name, "write_file", json!({ "path": "notes.md", "content": "hello" }))
}

/// Text of a policy that asks by default and has these rules.
pub fn policy(rules: &str) -> String {
    format!("version = 1\ndefault = \"ask\"\n{rules}")
}

impl ApiClient {
    /// Proposes a call in a session.
    pub async fn proposes_in(&self, session: &str, body: Value) -> Reply {
        self.post(&format!("/v1/sessions/{session}/actions"), body).await
    }

    /// Proposes a call and expects it to be accepted.
    pub async fn proposes(&self, session: &str, body: Value) -> Proposed {
        let call = text(&body["call_id"]);
        let shown = self.proposes_in(session, body).await.done();
        Proposed { session: session.to_owned(), call, shown }
    }

    /// Reads the current state of the action.
    pub async fn sees(&self, action: &Proposed) -> Proposed {
        let shown = self.get(&action.path("")).await.done();
        Proposed { shown, ..action.clone() }
    }

    /// State of the action, by its name in `/v1`.
    pub async fn state(&self, action: &Proposed) -> String {
        text(&self.sees(action).await.shown["state"])
    }

    /// Starts the action with this permit.
    pub async fn starts_with(&self, action: &Proposed, permit: &Value) -> Reply {
        self.post(&action.path("/start"), json!({ "permit": permit, "lease_seconds": 60 })).await
    }

    /// Starts the action with its own permit.
    pub async fn starts(&self, action: &Proposed) -> Reply {
        self.starts_with(action, &action.permit()).await
    }

    /// Reports an outcome of the action.
    pub async fn reports(&self, action: &Proposed, outcome: Value) -> Reply {
        self.post(&action.path("/outcome"), outcome).await
    }

    /// Reports that the action is done, and returns the action.
    pub async fn has_done(&self, action: &Proposed) -> Value {
        self.reports(action, json!({ "outcome": "done", "result": { "bytes": 5 } })).await.done()
    }

    /// Answers the question about an action.
    pub async fn decides(&self, action: &Proposed, body: Value) -> Reply {
        self.answers(&action.question(), body).await
    }

    /// Sends a PUT request.
    pub async fn put(&self, path: &str, body: Value) -> Reply {
        reply(self.request(Method::PUT, path).json(&body)).await
    }

    /// Sends a DELETE request.
    pub async fn delete(&self, path: &str) -> Reply {
        reply(self.request(Method::DELETE, path)).await
    }

    /// Puts a policy in force in the project.
    pub async fn rules_by(&self, rules: &str) -> Value {
        self.put("/v1/policy", json!({ "text": policy(rules), "reason": "a test" })).await.done()
    }

    /// Grants of the project, including those no longer in force.
    pub async fn grants(&self) -> Vec<Value> {
        self.get("/v1/grants?over=true").await.done()["grants"].as_array().cloned().unwrap()
    }
}

/// An agent in a session of its own, a person who answers, and an admin.
pub struct Scene {
    pub world: World,
    pub agent: ApiClient,
    pub alice: ApiClient,
    pub root: ApiClient,
    pub session: String,
}

impl Scene {
    /// Creates a scene under the built-in policy.
    pub async fn new() -> Self {
        Self::in_world(World::new().await).await
    }

    /// Creates a scene in an existing world.
    pub async fn in_world(world: World) -> Self {
        let (agent, alice, root) = (world.agent().await, world.person("alice").await, world.admin().await);
        let session = agent.opens(json!({ "agent": "helper" })).await;
        Self { world, agent, alice, root, session }
    }

    /// Creates a scene under these rules.
    pub async fn ruled_by(rules: &str) -> Self {
        let scene = Self::new().await;
        scene.root.rules_by(rules).await;
        scene
    }

    /// Proposes an action as the agent and expects it to be accepted.
    pub async fn proposes(&self, body: Value) -> Proposed {
        self.agent.proposes(&self.session, body).await
    }

    /// Proposes a write as the agent, about which people are asked.
    pub async fn writes(&self, name: &str) -> Proposed {
        let waiting = self.proposes(writing(name)).await;
        assert_eq!(waiting.shown["state"], "waiting");
        waiting
    }

    /// Approves an action as Alice, with additional fields of the answer.
    pub async fn approved_with(&self, action: &Proposed, more: Value) -> Proposed {
        let mut body = json!({ "option": "approve" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.alice.decides(action, body).await.done();
        self.agent.sees(action).await
    }

    /// Approves an action as Alice.
    pub async fn approved(&self, action: &Proposed) -> Proposed {
        self.approved_with(action, json!({})).await
    }

    /// Starts an approved write. Its lease lasts one minute.
    pub async fn started(&self, name: &str) -> Proposed {
        let allowed = self.approved(&self.writes(name).await).await;
        self.agent.starts(&allowed).await.done();
        self.agent.sees(&allowed).await
    }

    /// Creates a person in the group `security`.
    pub async fn security(&self, name: &str) -> ApiClient {
        self.world.someone("default", Role::Operator, name, &["security"]).await
    }
}
