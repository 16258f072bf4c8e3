//! Client of the HTTP API for tests.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// An HTTP client with the address of a server and an API key.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    key: String,
}

/// Status and body of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    /// JSON body, or any other body as a string.
    pub(crate) body: Value,
}

impl Client {
    /// Creates a client of the server at this address.
    pub(crate) fn new(base: &str, key: &str) -> Self {
        let http = reqwest::Client::builder().timeout(Duration::from_mins(1)).build().unwrap();
        Self { http, base: base.to_owned(), key: key.to_owned() }
    }

    /// Copy of this client with another key.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// Builds a request with the key; the caller adds the rest and sends it.
    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.key)
    }

    /// Sends a request to a server that may be down.
    pub(crate) async fn attempt(&self, request: RequestBuilder) -> reqwest::Result<Reply> {
        let response = request.send().await?;
        let status = response.status().as_u16();
        let header = response.headers().get("content-type");
        let content_type = header.map_or("", |value| value.to_str().unwrap()).to_owned();
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Reply { status, content_type, body })
    }

    /// Sends a GET request.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.attempt(self.request("GET", path)).await.unwrap()
    }

    /// Sends a POST request with a JSON body.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.attempt(self.request("POST", path).json(&body)).await.unwrap()
    }

    /// Sum of a metric over all its labels.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let reply = self.get("/metrics").await.done(200);
        let text = reply.body.as_str().unwrap();
        let of_name = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
        let series = text.lines().filter(of_name);
        series.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
    }

    /// Opens a session and returns its identifier.
    pub(crate) async fn start(&self) -> String {
        self.post("/v1/sessions", json!({ "agent": "tester" })).await.done(201).text("/id")
    }

    /// Asks a question and returns its identifier.
    pub(crate) async fn ask(&self, session: &str, question: Value) -> String {
        self.post(&format!("/v1/sessions/{session}/interactions"), question).await.done(201).text("/id")
    }

    /// Asks for a confirmation in a new session and returns the identifier of the question.
    pub(crate) async fn ask_plainly(&self, title: &str) -> String {
        let session = self.start().await;
        self.ask(&session, json!({ "kind": "confirmation", "title": title })).await
    }

    /// Sends an answer to a question.
    pub(crate) async fn answer(&self, question: &str, answer: Value) -> Reply {
        self.post(&format!("/v1/interactions/{question}/answer"), answer).await
    }

    /// Answers a question with an approval.
    pub(crate) async fn approve(&self, question: &str) -> Reply {
        self.answer(question, json!({ "effect": "approve" })).await.done(200)
    }

    /// Reads a question from the API.
    pub(crate) async fn question(&self, question: &str) -> Reply {
        self.get(&format!("/v1/interactions/{question}")).await.done(200)
    }
}

impl Reply {
    /// Asserts that the reply has this status and returns the reply.
    pub(crate) fn done(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:?}", self.body);
        self
    }

    /// Asserts that the reply is a problem with this status and code, and returns the reply.
    pub(crate) fn problem(self, status: u16, code: &str) -> Self {
        let found = (self.status, self.content_type.as_str(), self.body["code"].as_str());
        assert_eq!(found, (status, "application/problem+json", Some(code)), "{:?}", self.body);
        self
    }

    /// Text at a pointer in the body.
    pub(crate) fn text(&self, pointer: &str) -> String {
        let found = self.body.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_else(|| panic!("nothing at {pointer} in {:?}", self.body)).to_owned()
    }
}
