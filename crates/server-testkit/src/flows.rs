//! A client of the dialect `flows`, for tests.

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{ApiClient, Question, Reply, reply, text};

/// UUID of an id without its prefix.
pub fn bare(id: &str) -> String {
    id.split_once('_').map_or(id, |(_, uuid)| uuid).to_owned()
}

/// Path of a session in `flows`.
pub fn flow(session: &str, rest: &str) -> String {
    format!("/api/flows/{}{rest}", bare(session))
}

impl ApiClient {
    /// Sends a command on a question, with the channel of the question in the header.
    pub async fn flows(&self, question: &Question, verb: &str, body: Value) -> Reply {
        let channel = text(&question.shown["channel"]);
        self.flows_in(&channel, question, verb, body).await
    }

    /// Sends a command on a question with another channel in the header.
    pub async fn flows_in(&self, channel: &str, question: &Question, verb: &str, body: Value) -> Reply {
        let path = flow(&question.session, &format!("/interactions/{}/{verb}", bare(&question.id)));
        reply(self.request(Method::POST, &path).header("X-Chat-Session-Id", channel).json(&body)).await
    }

    /// Questions of a session in `flows`.
    pub async fn flows_questions(&self, session: &str) -> Value {
        self.get(&flow(session, "/interactions")).await.done()
    }
}

/// Body of a question with a form that has one required field.
pub fn form() -> Value {
    let schema = json!({ "type": "object", "required": ["amount"], "properties": { "amount": { "type": "integer" } } });
    json!({ "kind": "form", "title": "How much?", "message": "For the release.", "schema": schema })
}
