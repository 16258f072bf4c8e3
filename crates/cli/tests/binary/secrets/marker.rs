//! Tests that a secret and a resume point reach the agent and no other place. The marker must not be in the files or
//! logs of the store, not in API replies, metrics, logs or traces, and, after delivery, not in the memory of the
//! process.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::postgres::TestPostgres;

use super::places::{files_with, memory_with};
use crate::common::{Client, Deployment, Launch, Raw, Server, until};
use crate::telemetry::Collector;

const SECRET: &str = "xyzzy-marker-c0ffee-31337";
const RESUME: &str = "plugh-marker-decade-4711";
/// Public text that the same search must find, which proves that the search works.
const CONTROL: &str = "fnord-marker-facade-2342";
/// Text in half of a request that is never finished.
const UNFINISHED: &str = "frotz-marker-5eed-1729";

/// Bodies of replies, each with a label of its request.
struct LabelledReplies(Vec<(String, String)>);

impl LabelledReplies {
    fn note(&mut self, what: &str, body: &Value) {
        self.0.push((what.to_owned(), body.to_string()));
    }

    async fn get(&mut self, client: &Client, path: &str) {
        let reply = client.get(path).await.done(200);
        self.note(path, &reply.body);
    }
}

/// Places outside the API where a marker could be.
struct OutsidePlaces<'a> {
    deployment: &'a Deployment,
    launch: &'a Launch,
    /// Directory of the database server with its files and logs.
    database: Option<PathBuf>,
}

impl OutsidePlaces<'_> {
    fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let mut found = files_with(self.deployment.data(), text);
        found.extend(self.database.iter().flat_map(|database| files_with(database, text)));
        found
    }

    fn has_no_marker(&self, when: &str) {
        for marker in [SECRET, RESUME] {
            assert_eq!(self.files_with(marker), Vec::<PathBuf>::new(), "{marker} {when}");
            assert!(!self.launch.logged().contains(marker), "{marker} in the logs {when}");
            assert!(!self.launch.said().contains(marker), "{marker} in the output {when}");
        }
        let control = self.files_with(CONTROL);
        assert_ne!(control, Vec::<PathBuf>::new(), "the search itself works {when}");
        if let Some(database) = &self.database {
            let inside = |place: &Path| control.iter().any(|path| path.starts_with(place));
            assert!(inside(&database.join("log")), "statements are logged with their values: {control:?}");
            assert!(inside(&database.join("data/pg_wal")), "{control:?}");
        }
    }
}

async fn asks(bot: &Client) -> (String, String) {
    let session = bot.start().await;
    let field = json!({ "name": "TOKEN", "type": "password", "pattern": "^xyzzy-.*7$" });
    let question =
        json!({ "kind": "secret", "title": CONTROL, "secrets": [field], "resume_point": { "memory": RESUME } });
    let question = bot.ask(&session, question).await;
    (session, question)
}

async fn takes_and_completes(bot: &Client, question: &str) {
    let path = format!("/v1/interactions/{question}/delivery");
    let take = bot.request("POST", &format!("{path}/take")).header("Idempotency-Key", question);
    let taken = bot.attempt(take).await.unwrap().done(200);
    assert_eq!((taken.text("/secrets/TOKEN"), taken.text("/resume_point/memory")), (SECRET.into(), RESUME.into()));
    bot.post(&format!("{path}/complete"), json!({ "lease": taken.text("/lease") })).await.done(200);
    let again = bot.request("POST", &format!("{path}/take")).header("Idempotency-Key", question);
    let again = bot.attempt(again).await.unwrap().done(200);
    assert_eq!(
        (again.body.get("secrets"), again.body.get("resume_point")),
        (None, None),
        "the values are returned only once"
    );
}

/// Sends answers that are refused, each with the marker somewhere in it.
async fn refused(alice: &Client, question: &str, heard: &mut LabelledReplies) {
    let data = |data: Value| json!({ "data": data });
    for (body, status) in [
        (data(json!({ "TOKEN": format!("{SECRET}-no") })), 422),
        (data(json!({ "TOKEN": [SECRET] })), 422),
        (data(json!({ "TOKEN": SECRET, "OTHER": SECRET })), 422),
        (data(json!({ "OTHER": SECRET })), 422),
        (data(json!(SECRET)), 422),
        (json!({ "options": SECRET }), 422),
        (json!({ "effect": SECRET }), 422),
        (json!({ "data": { "TOKEN": SECRET }, "keep": SECRET }), 422),
        (json!({ "effect": "reject", "data": { "TOKEN": SECRET } }), 422),
    ] {
        let reply = alice.answer(question, body).await.done(status);
        heard.note("a refusal", &reply.body);
    }
    for body in [format!(r#"{{"data": {{"TOKEN": "{SECRET}"#), format!(r#"{{"data": {{"TOKEN": {SECRET}}}}}"#)] {
        let request = alice.request("POST", &format!("/v1/interactions/{question}/answer"));
        let request = request.header("Content-Type", "application/json").body(body);
        let reply = alice.attempt(request).await.unwrap().done(400);
        heard.note("a body that is not JSON", &reply.body);
    }
    let many = json!({ "answers": [{ "interaction": question, "data": { "TOKEN": SECRET }, "effect": SECRET }] });
    heard.note("one answer of a batch", &alice.post("/v1/interactions/answers", many).await.done(200).body);
}

/// Asks, answers and takes secrets, and collects the replies. No client is connected afterwards.
async fn run_commands_with_secrets(around: &OutsidePlaces<'_>, server: &Server) -> LabelledReplies {
    let deployment = around.deployment;
    let (bot, alice) =
        (server.client(&deployment.key("agent", "bot")), server.client(&deployment.key("operator", "alice")));
    let mut heard = LabelledReplies(Vec::new());
    let (session, question) = asks(&bot).await;
    refused(&alice, &question, &mut heard).await;
    let answer = json!({ "data": { "TOKEN": SECRET }, "keep": true });
    let answered = alice.answer(&question, answer.clone()).await.done(200);
    heard.note("the answer", &answered.body);
    heard.note(
        "the second answer",
        &alice.answer(&question, answer).await.problem(409, "interaction_already_resolved").body,
    );
    heard.get(&bot, "/v1/deliveries").await;
    around.has_no_marker("before it was delivered");
    takes_and_completes(&bot, &question).await;
    // The stored secret answers the next question by itself.
    let (later, second) = asks(&bot).await;
    heard.note("the second question", &alice.question(&second).await.body);
    takes_and_completes(&bot, &second).await;
    for path in [
        format!("/v1/interactions/{question}"),
        "/v1/interactions?limit=200".into(),
        "/v1/sessions".into(),
        format!("/v1/sessions/{session}/events"),
        format!("/v1/sessions/{later}/events"),
        "/v1/secrets".into(),
        "/v1/stats".into(),
        "/metrics".into(),
    ] {
        heard.get(&alice, &path).await;
    }
    heard
}

/// Checks that the memory search finds a text while a request holds it, and no longer after the request has ended.
async fn memory_is_searched(server: &Server, address: &str, key: &str) {
    assert_ne!(memory_with(server.pid(), CONTROL), Vec::<String>::new(), "the search finds an argument of the process");
    let mut half = Raw::open(address);
    let head = format!("POST /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Length: 500");
    half.send(&format!("{head}\r\n\r\n{{\"title\": \"{UNFINISHED}")).await;
    until("the unfinished request in memory", async || {
        (!memory_with(server.pid(), UNFINISHED).is_empty()).then_some(())
    })
    .await;
    drop(half);
    until("its end", async || memory_with(server.pid(), UNFINISHED).is_empty().then_some(())).await;
}

async fn check(deployment: &Deployment, database: Option<PathBuf>) {
    let collector = Collector::start();
    let log = format!("trace,{CONTROL}=info");
    let launch = deployment.launch().with(&["--log", &log, "--otlp-endpoint", &collector.endpoint()]);
    let server = launch.start().await;
    let around = OutsidePlaces { deployment, launch: &launch, database };
    let heard = run_commands_with_secrets(&around, &server).await;
    for (what, said) in &heard.0 {
        assert!(!said.contains(SECRET) && !said.contains(RESUME), "{what}: {said}");
    }
    around.has_no_marker("after it was delivered");
    memory_is_searched(&server, &launch.address(), &deployment.key("agent", "bot")).await;
    for marker in [SECRET, RESUME] {
        let mut found = Vec::new();
        let gone = async || {
            found = memory_with(server.pid(), marker);
            found.is_empty().then_some(())
        };
        // The server needs a moment to notice a connection that was just closed.
        assert!(
            tokio::time::timeout(std::time::Duration::from_secs(10), until("a clean memory", gone)).await.is_ok(),
            "{marker} is in the memory of the process: {found:?}"
        );
    }
    assert!(server.stop().success());
    around.has_no_marker("after the server has stopped");
    assert!(collector.has(b"chatSessionId"), "traces were sent");
    assert!(!collector.has(SECRET.as_bytes()) && !collector.has(RESUME.as_bytes()), "a trace contains the secret");
}

#[tokio::test]
async fn delivered_secret_remains_nowhere_on_sqlite() {
    check(&Deployment::sqlite(), None).await;
}

/// Runs on PostgreSQL, with every statement and its values in the log of the database.
#[test]
fn delivered_secret_remains_nowhere_on_postgres() {
    let postgres = TestPostgres::private().unwrap();
    let database = postgres.fresh_database().unwrap();
    let logging = "alter system set log_statement = 'all'; select pg_reload_conf()";
    for statement in logging.split("; ") {
        database.connect().unwrap().batch_execute(statement).unwrap();
    }
    let deployment = Deployment::postgres(database.url());
    let directory = postgres.directory().map(Path::to_owned);
    tokio::runtime::Runtime::new().unwrap().block_on(check(&deployment, directory));
}
