//! A hosted agent whose model plays a script, and whose tools a client runs.

use std::collections::VecDeque;
use std::sync::Arc;

use agent::model::{Delta, Message, Model, ModelCall, ModelError, Request, Turn};

use agent::worker::{Kit, Worker};
use domain::AgentVersion;
use engine::Definitions;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::client::ApiClient;
use crate::world::World;

/// Script of a model: its next turns, and the histories that it received.
#[derive(Default)]
pub struct Play {
    turns: Mutex<VecDeque<Result<Turn, ModelError>>>,
    shown: Mutex<Vec<Vec<Message>>>,
}

struct PlayKit(Arc<Play>);

struct Playing(Arc<Play>);

impl Model for Playing {
    fn turn<'a>(
        &'a self,
        request: Request<'a>,
        said: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>> {
        self.0.shown.lock().push(request.history.to_vec());
        let turn = self.0.turns.lock().pop_front();
        Box::pin(async move {
            let turn = turn.unwrap_or_else(|| Ok(Turn { text: "Fine.".into(), ..Turn::default() }))?;
            for word in turn.text.split_inclusive(' ') {
                said(Delta::Text(word.to_owned()));
            }
            Ok(turn)
        })
    }
}

impl Kit for PlayKit {
    fn model(&self, _: &AgentVersion, _: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Playing(Arc::clone(&self.0))))
    }

    fn tools<'a>(&'a self, _: &'a domain::ProjectName, _: &'a AgentVersion) -> agent::worker::Tools<'a> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

impl Play {
    /// Adds a turn with these calls to the script.
    pub fn says(&self, text: &str, calls: &[(&str, &str, Value)]) {
        let call = |(id, tool, arguments): &(&str, &str, Value)| ModelCall {
            id: (*id).to_owned(),
            tool: (*tool).to_owned(),
            arguments: arguments.clone(),
        };
        let turn = Turn { text: text.into(), calls: calls.iter().map(call).collect(), ..Turn::default() };
        self.turns.lock().push_back(Ok(turn));
    }

    /// Adds a turn in which the model fails.
    pub fn fails(&self, why: &str) {
        self.turns.lock().push_back(Err(ModelError::Refused(why.into())));
    }

    /// Results that the model was shown at its last turn, in order, each with whether the call failed.
    pub fn results(&self) -> Vec<(String, bool)> {
        let shown = self.shown.lock().last().cloned().unwrap_or_default();
        let result = |message: &Message| match message {
            Message::Result { content, failed, .. } => Some((content.clone(), *failed)),
            _ => None,
        };
        shown.iter().filter_map(result).collect()
    }
}

impl World {
    /// Starts a worker for an agent called `editor` whose tools its client runs.
    pub fn plays(&self) -> Arc<Play> {
        let agent: AgentVersion = serde_json::from_value(json!({
            "name": "editor", "version": "1", "model": { "provider": "scripted", "script": { "turns": [] } },
            "instructions": "Be brief.",
            "client_tools": [{ "name": "write_file" }, { "name": "read_file", "repeatable": true },
                             { "name": "execute_command" }],
        }))
        .unwrap();
        self.engine.set_definitions(Definitions { agents: vec![agent], flows: Vec::new() });
        let play = Arc::new(Play::default());
        let kit = Arc::new(PlayKit(Arc::clone(&play)));
        self.works(Worker::new(self.engine.clone(), kit, "worker".into(), 8));
        play
    }
}

impl ApiClient {
    /// Opens a session with the agent `editor`.
    pub async fn edits(&self) -> String {
        self.opens(json!({ "agent": "editor" })).await
    }
}
