//! HTTP clients: people and agents with a key.

use std::net::SocketAddr;

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::sse::Frames;
use crate::world::{PATIENCE, World};

/// Address of the server and an HTTP client for it.
#[derive(Clone)]
pub struct HttpClient {
    pub address: SocketAddr,
    client: reqwest::Client,
}

impl HttpClient {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, client: reqwest::Client::new() }
    }

    /// Builds a request without a credential.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }
}

/// Sends a request and reads the whole reply.
pub async fn reply(request: RequestBuilder) -> Reply {
    let response = tokio::time::timeout(PATIENCE, request.send()).await.unwrap().unwrap();
    Reply::read(response).await
}

/// A question that an agent has asked.
#[derive(Debug, Clone)]
pub struct Question {
    pub id: String,
    pub session: String,
    /// View of the question that the agent received.
    pub shown: Value,
}

impl Question {
    /// Path of an operation on the question.
    pub fn path(&self, verb: &str) -> String {
        format!("/v1/interactions/{}{verb}", self.id)
    }
}

/// A caller with an API key.
#[derive(Clone)]
pub struct ApiClient {
    pub http: HttpClient,
    pub key: String,
    pub key_id: String,
}

impl ApiClient {
    /// Copy of this caller for another server.
    #[must_use]
    pub fn at(self, world: &World) -> Self {
        Self { http: world.http.clone(), ..self }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, path).bearer_auth(&self.key)
    }

    pub async fn get(&self, path: &str) -> Reply {
        reply(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        reply(self.request(Method::POST, path).json(&body)).await
    }

    /// Sends a POST request with this body unchanged.
    pub async fn post_raw(&self, path: &str, body: impl Into<reqwest::Body>) -> Reply {
        reply(self.request(Method::POST, path).header("content-type", "application/json").body(body)).await
    }

    /// Sends a POST request with an idempotency key.
    pub async fn post_once(&self, name: &str, path: &str, body: Value) -> Reply {
        reply(self.request(Method::POST, path).header("idempotency-key", name).json(&body)).await
    }

    /// Opens an event stream, optionally after the last event of an earlier stream.
    pub async fn follows(&self, path: &str, last: Option<&str>) -> Frames {
        let mut request = self.request(Method::GET, path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Frames::of(response)
    }

    pub async fn opens(&self, body: Value) -> String {
        text(&self.post("/v1/sessions", body).await.done()["id"])
    }

    pub async fn asks_in(&self, session: &str, body: Value) -> Question {
        let shown = self.post(&format!("/v1/sessions/{session}/interactions"), body).await.done();
        Question { id: text(&shown["id"]), session: session.to_owned(), shown }
    }

    pub async fn answers(&self, question: &Question, body: Value) -> Reply {
        self.post(&question.path("/answer"), body).await
    }

    pub async fn reads(&self, question: &Question) -> Value {
        self.get(&question.path("")).await.done()
    }

    pub async fn takes(&self, question: &Question) -> Reply {
        self.post(&question.path("/delivery/take"), json!({ "lease_seconds": 60 })).await
    }

    pub async fn completes(&self, question: &Question, lease: &Value) -> Reply {
        self.post(&question.path("/delivery/complete"), json!({ "lease": lease })).await
    }

    pub async fn commands(&self, session: &str, command: &str) -> Reply {
        self.post(&format!("/v1/sessions/{session}/control"), json!({ "command": command })).await
    }

    pub async fn session(&self, session: &str) -> Value {
        self.get(&format!("/v1/sessions/{session}")).await.done()
    }

    /// Identifiers of the deliveries that wait for this agent.
    pub async fn deliveries(&self) -> Vec<String> {
        ids(&self.get("/v1/deliveries").await.done()["deliveries"])
    }

    /// Names of the events of a session, in order. Checks that their numbers are 1, 2, 3 and so on.
    pub async fn events(&self, session: &str) -> Vec<String> {
        let page = self.get(&format!("/v1/sessions/{session}/events?limit=200")).await.done();
        let events = page["events"].as_array().cloned().unwrap();
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event["seq"], index + 1);
        }
        events.iter().map(|event| text(&event["type"])).collect()
    }
}

/// A reply with its complete body.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Reply {
    async fn read(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let streams = headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let text = if streams { String::new() } else { response.text().await.unwrap() };
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Self { status, headers, body }
    }

    /// Checks that the request succeeded and returns the body.
    pub fn done(self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.body);
        self.body
    }

    /// Checks that the request was refused with this status and code, in the form of every refusal, and returns the
    /// body.
    pub fn refused(self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, &self.body["code"]), (status, &json!(code)), "{}", self.body);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.body["status"], status);
        assert_eq!(self.body["type"], format!("urn:holdpoint:problem:{code}"));
        assert!(server::CODES.contains(&code), "{code} is not a known code");
        self.body
    }

    /// Checks that the request was refused with errors at exactly these JSON pointers.
    pub fn refused_at(self, status: u16, code: &str, pointers: &[&str]) -> Value {
        let body = self.refused(status, code);
        let found: Vec<String> = body["errors"].as_array().unwrap().iter().map(|at| text(&at["pointer"])).collect();
        assert_eq!(found, pointers, "{body}");
        body
    }
}

/// A JSON string as Rust text.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Identifiers of the objects in a list.
pub fn ids(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| text(&item["id"])).collect()
}

/// Replaces every UUID in a value by `…`.
pub fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(masked_text(text)),
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), masked(value))).collect(),
        other => other.clone(),
    }
}

fn masked_text(text: &str) -> String {
    const UUID: usize = 36;
    let start = text.len().saturating_sub(UUID);
    let tail = text.get(start..).unwrap_or_default();
    let is_uuid = tail.len() == UUID
        && tail.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if is_uuid { format!("{}…", &text[..start]) } else { text.to_owned() }
}

/// Body of a yes-or-no question.
pub fn confirmation() -> Value {
    json!({ "kind": "confirmation", "title": "Delete the file?" })
}
