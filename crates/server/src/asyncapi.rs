//! The AsyncAPI document: the messages of the WebSockets, generated from the types that parse and write them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::OpenApi;

/// Types of the messages of `/v1/ws`.
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
)))]
struct Types;

/// One kind of message on a channel.
pub struct MessageType {
    /// Value of its `type` field.
    name: &'static str,
    /// Schema of the message body, by its name in the document.
    schema: &'static str,
    /// Fields that the message has beside its body.
    beside: &'static [Field],
    /// One sentence on its meaning.
    summary: &'static str,
}

/// Name of a field, an example of its value, and whether the field is required.
type Field = (&'static str, &'static str, bool);

impl MessageType {
    /// Describes a message whose `type` is `name` and whose other fields are the fields of `schema`.
    #[must_use]
    pub const fn new(name: &'static str, schema: &'static str, summary: &'static str) -> Self {
        Self { name, schema, beside: &[], summary }
    }
}

/// A WebSocket that the server offers.
pub struct Channel {
    /// Name of the channel in the document.
    pub name: &'static str,
    /// Path, with its parameters in braces.
    pub address: &'static str,
    /// Description of each path parameter, by name.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Messages that clients send.
    pub received: &'static [MessageType],
    /// Messages that the server sends.
    pub sent: &'static [MessageType],
    /// An OpenAPI document whose components hold the schemas that the messages name.
    pub types: utoipa::openapi::OpenApi,
    /// Whether the server replies to each message with a `result` or an `error`.
    pub replies: bool,
}

const fn row(name: &'static str, schema: &'static str, beside: &'static [Field], summary: &'static str) -> MessageType {
    MessageType { name, schema, beside, summary }
}

/// Field that bodies have over HTTP only: a socket does not wait.
const WAIT: &str = "wait";
const ID: Field = ("id", "1", false);
const IDEMPOTENCY_KEY: Field = ("idempotency_key", "once-1", false);
const SESSION: Field = ("session", "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", true);
const TRACE: Field = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false);
const CALL: Field = ("call_id", "call_1", true);
const QUESTION: Field = ("interaction", "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", true);

/// Messages that clients of `/v1/ws` send.
const RECEIVED: [MessageType; 8] = [
    row("subscribe", "SubscribeBody", &[("id", "1", true)], "Receive events, starting after a cursor"),
    row("unsubscribe", "UnsubscribeBody", &[ID], "End a subscription"),
    row(
        "propose",
        "ProposeBody",
        &[ID, IDEMPOTENCY_KEY, SESSION, TRACE],
        "Propose an action; the decision comes as an event",
    ),
    row("action", "EmptyBody", &[ID, SESSION, CALL], "Read an action, with its permit if the caller may run it"),
    row("start", "PermitBody", &[ID, IDEMPOTENCY_KEY, SESSION, CALL], "Start an allowed action and spend its permit"),
    row("outcome", "OutcomeBody", &[ID, IDEMPOTENCY_KEY, SESSION, CALL], "Report the outcome of an action"),
    row("ask", "AskBody", &[ID, IDEMPOTENCY_KEY, SESSION, TRACE], "Ask people a question; its end comes as an event"),
    row("answer", "AnswerBody", &[ID, IDEMPOTENCY_KEY, QUESTION], "Answer a question"),
];

/// Messages that the server sends on `/v1/ws`.
const SENT: [MessageType; 4] = [
    row("result", "SocketResult", &[], "Result of a request: the status and body of the HTTP reply"),
    row("error", "SocketError", &[], "Refusal of a request; the socket stays open"),
    row("event", "SocketEvent", &[], "Something happened"),
    row("closing", "SocketClosing", &[], "The server closes the socket and sends the position of each subscription"),
];

/// The AsyncAPI document, with the channels that a crate above this one adds.
#[must_use]
pub fn asyncapi(added: Vec<Channel>) -> Value {
    let own = Channel {
        name: "v1",
        address: "/v1/ws",
        parameters: &[],
        received: &RECEIVED,
        sent: &SENT,
        types: Types::openapi(),
        replies: true,
    };
    let (mut channels, mut operations, mut messages) = (Map::new(), Map::new(), Map::new());
    let mut schemas = BTreeMap::new();
    for channel in std::iter::once(own).chain(added) {
        let types = serde_json::to_value(&channel.types).unwrap_or_default();
        let types = types["components"]["schemas"].as_object().cloned().unwrap_or_default();
        let mut refs = Map::new();
        for message in channel.received.iter().chain(channel.sent) {
            let name = format!("{}_{}", channel.name, message.name);
            refs.insert(name.clone(), json!({ "$ref": format!("#/components/messages/{name}") }));
            messages.insert(name, message.described(&types));
        }
        schemas.extend(types);
        let mut described = json!({ "address": channel.address, "messages": refs, "bindings": { "ws": {} } });
        for (name, description) in channel.parameters {
            described["parameters"][name] = json!({ "description": description });
        }
        channels.insert(channel.name.to_owned(), described);
        for (action, types) in [("receive", channel.received), ("send", channel.sent)] {
            for message in types {
                let (name, operation) = operation(&channel, action, message);
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

fn operation(
    Channel { name: channel_name, replies, .. }: &Channel,
    action: &str,
    row: &MessageType,
) -> (String, Value) {
    let message = |name: &str| json!({ "$ref": format!("#/channels/{channel_name}/messages/{channel_name}_{name}") });
    let channel = json!({ "$ref": format!("#/channels/{channel_name}") });
    let mut operation = json!({
        "action": action, "channel": channel, "summary": row.summary, "messages": [message(row.name)]
    });
    if *replies && action == "receive" {
        operation["reply"] = json!({ "channel": channel, "messages": [message("result"), message("error")] });
    }
    (format!("{channel_name}_{action}_{}", row.name), operation)
}

impl MessageType {
    /// Describes a message: the schema of its body, its other fields, and an example.
    fn described(&self, schemas: &Map<String, Value>) -> Value {
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
