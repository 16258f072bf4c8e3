//! The AsyncAPI document: what is said on the WebSockets, made of the types that read and write it.

use serde_json::{Map, Value, json};
use utoipa::OpenApi;

use crate::dialects::approvals::words;

/// Every type that is part of a message.
#[derive(OpenApi)]
#[openapi(components(schemas(
    protocol::AnswerBody,
    protocol::AskBody,
    protocol::EmptyBody,
    protocol::OutcomeBody,
    protocol::PermitBody,
    protocol::ProposeBody,
    protocol::SocketClosing,
    protocol::SocketError,
    protocol::SocketEvent,
    protocol::SocketResult,
    protocol::SubscribeBody,
    protocol::UnsubscribeBody,
    words::AssistantMessage,
    words::Decision,
    words::Decisions,
    words::Expired,
    words::Resolved,
    words::ToolCall,
    words::ToolResult,
    words::UserMessage,
    words::Warning,
    words::Wrong,
)))]
struct Types;

/// One message of one wire.
struct Row {
    /// Its `type`.
    name: &'static str,
    /// The type that the rest of it is read or written as.
    schema: &'static str,
    /// What stands beside it: its name, an example, and whether it has to be there.
    beside: &'static [(&'static str, &'static str, bool)],
    /// What it means.
    summary: &'static str,
}

const fn row(
    name: &'static str,
    schema: &'static str,
    beside: &'static [(&'static str, &'static str, bool)],
    summary: &'static str,
) -> Row {
    Row { name, schema, beside, summary }
}

/// What bodies have over HTTP alone: on a socket nothing waits.
const WAIT: &str = "wait";
const ID: (&str, &str, bool) = ("id", "1", false);
const ONCE: (&str, &str, bool) = ("idempotency_key", "once-1", false);
const SESSION: (&str, &str, bool) = ("session", "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", true);
const TRACE: (&str, &str, bool) = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false);
const CALL: (&str, &str, bool) = ("call_id", "call_1", true);
const QUESTION: (&str, &str, bool) = ("interaction", "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", true);

/// What a client of `/v1/ws` says.
const ASKED: [Row; 8] = [
    row("subscribe", "SubscribeBody", &[("id", "1", true)], "Be told what happens, from a cursor on"),
    row("unsubscribe", "UnsubscribeBody", &[ID], "Be told no more"),
    row("propose", "ProposeBody", &[ID, ONCE, SESSION, TRACE], "Propose an action; the decision comes as an event"),
    row("action", "EmptyBody", &[ID, SESSION, CALL], "Read an action, with its permit where it is the caller's to run"),
    row("start", "PermitBody", &[ID, ONCE, SESSION, CALL], "Start an action that may run; its permit is spent"),
    row("outcome", "OutcomeBody", &[ID, ONCE, SESSION, CALL], "Report what became of an action"),
    row("ask", "AskBody", &[ID, ONCE, SESSION, TRACE], "Put a question to people; its end comes as an event"),
    row("answer", "AnswerBody", &[ID, ONCE, QUESTION], "Answer a question"),
];

/// What the server says there.
const SAID: [Row; 4] = [
    row("result", "SocketResult", &[], "What came of a request: the status and body that HTTP would have"),
    row("error", "SocketError", &[], "Why a request was not carried out; the socket stays"),
    row("event", "SocketEvent", &[], "Something happened"),
    row("closing", "SocketClosing", &[], "The server ends the socket, and says where each subscription is"),
];

/// What a client of `/ws/{session}` says.
const DECIDED: [Row; 4] = [
    row("user_message", "UserMessage", &[], "Say something to the agent"),
    row("hitl_decision", "Decision", &[], "Decide about a call"),
    row("hitl_decisions", "Decisions", &[], "Decide about many calls, each on its own"),
    row("tool_result", "ToolResult", &[], "Report what became of a call that this client was given to run"),
];

/// What the server says there.
const SHOWN: [Row; 6] = [
    row("assistant_message", "AssistantMessage", &[], "A part of what the agent says"),
    row("tool_call", "ToolCall", &[], "A call that people are asked about, or that this client is to run now"),
    row("hitl_resolved", "Resolved", &[], "How a call was decided"),
    row("hitl_timeout_warning", "Warning", &[], "The time to decide runs out"),
    row("hitl_expired", "Expired", &[], "Nobody decided in time"),
    row("error", "Wrong", &[], "Something is wrong; the connection stays"),
];

/// The whole document.
#[must_use]
pub fn asyncapi() -> Value {
    let types = serde_json::to_value(Types::openapi()).unwrap_or_default();
    let schemas = &types["components"]["schemas"];
    let (mut channels, mut operations, mut messages) = (Map::new(), Map::new(), Map::new());
    let wires: [(&str, &str, &[Row], &[Row]); 2] =
        [("v1", "/v1/ws", &ASKED, &SAID), ("approvals", "/ws/{session}", &DECIDED, &SHOWN)];
    for (wire, address, heard, said) in wires {
        let mut here = Map::new();
        for row in heard.iter().chain(said) {
            let name = format!("{wire}_{}", row.name);
            here.insert(name.clone(), json!({ "$ref": format!("#/components/messages/{name}") }));
            messages.insert(name, row.message(schemas));
        }
        let mut channel = json!({ "address": address, "messages": here, "bindings": { "ws": {} } });
        if address.contains("{session}") {
            channel["parameters"] =
                json!({ "session": { "description": "`ses_…`, its UUID, or the name of a channel" } });
        }
        channels.insert(wire.to_owned(), channel);
        for (action, rows) in [("receive", heard), ("send", said)] {
            for row in rows {
                let (name, operation) = operation(wire, action, row);
                operations.insert(name, operation);
            }
        }
    }
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Holdpoint over WebSocket",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A key as `Authorization: Bearer KEY`, a cookie from the server's own page, or a ticket of \
                            `POST /v1/tickets` as `?ticket=`. Messages are JSON objects, sent as text. The names of operations \
                            are the server's side: it receives what clients send.",
            "license": { "name": "Apache-2.0" }
        },
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": { "messages": messages, "schemas": schemas }
    })
}

fn operation(wire: &str, action: &str, row: &Row) -> (String, Value) {
    let message = |name: &str| json!({ "$ref": format!("#/channels/{wire}/messages/{wire}_{name}") });
    let channel = json!({ "$ref": format!("#/channels/{wire}") });
    let mut operation = json!({
        "action": action, "channel": channel, "summary": row.summary, "messages": [message(row.name)]
    });
    if wire == "v1" && action == "receive" {
        operation["reply"] = json!({ "channel": channel, "messages": [message("result"), message("error")] });
    }
    (format!("{wire}_{action}_{}", row.name), operation)
}

impl Row {
    /// The message: the schema of its type, with what stands beside it, and an example of both.
    fn message(&self, schemas: &Value) -> Value {
        let mut payload = schemas[self.schema].clone();
        let mut example = payload["example"].take();
        payload["type"] = json!("object");
        payload["properties"]["type"] = json!({ "type": "string", "const": self.name });
        let mut required = payload["required"].as_array().cloned().unwrap_or_default();
        required.push(json!("type"));
        example["type"] = json!(self.name);
        for (name, sample, needed) in self.beside {
            payload["properties"][*name] = json!({ "type": "string" });
            example[*name] = json!(sample);
            if *needed && !required.contains(&json!(name)) {
                required.push(json!(name));
            }
        }
        payload["required"] = Value::Array(required);
        without(&mut payload, "example");
        without(&mut payload["properties"], WAIT);
        without(&mut example, WAIT);
        json!({ "name": self.name, "summary": self.summary, "payload": payload, "examples": [{ "payload": example }] })
    }
}

fn without(object: &mut Value, field: &str) {
    if let Some(fields) = object.as_object_mut() {
        fields.remove(field);
    }
}
