//! Tests the default deadlines of each dialect.

use domain::agent::Limits;
use domain::{SignedDuration, Timestamp};
use engine::{Definitions, Settings};
use serde_json::{Value, json};

use crate::cross::asking::{AskedQuestion, DialectWorld, asked};
use crate::cross::table::{Api, KINDS, asks};
use server_testkit::client::text;

/// Default deadline in seconds of a kind in each API, or `None` if it has no deadline.
fn default_deadline(api: Api, kind: &str) -> Option<i64> {
    match (api, kind) {
        // `hitl`: `timeout_seconds: float = 300.0`; a permission has 60.
        (Api::Hitl, "approval") => Some(60),
        (Api::Hitl, _) => Some(300),
        // `approvals`: pending calls expire after 5 minutes.
        (Api::Tools, _) => Some(300),
        // `flows`: the version of the agent sets the deadline; a form has half an hour.
        (Api::Flows, "form") => Some(1800),
        // `react`: `Integer timeoutSeconds` is optional. `/v1` has no default deadline either.
        (Api::Flows | Api::React | Api::Http | Api::Ws, _) => None,
    }
}

/// Every kind has the default deadline of the API that asked it, and the question ends at that time.
#[tokio::test]
async fn each_kind_has_the_default_deadline_of_the_asking_api() {
    let stage = DialectWorld::new().await;
    for api in crate::cross::table::APIS {
        for kind in KINDS.iter().filter(|kind| asks(api, kind.name).is_ok()) {
            let (asked, _) = asked(&stage, api, kind).await;
            let shown = read(&stage, &asked).await;
            let given = shown["deadline"].as_str().map(|_| seconds(&shown, "created_at", "deadline"));
            assert_eq!(given, default_deadline(api, kind.name), "{} on {api:?}: {shown}", kind.name);
            let Some(given) = given else { continue };
            if given > 60 {
                assert_eq!(
                    seconds(&shown, "warn_at", "deadline"),
                    60,
                    "the warning comes one minute before the deadline"
                );
            }
            stage.world.passes(given - 1).await;
            assert_eq!(read(&stage, &asked).await["status"], "pending", "{} on {api:?}", kind.name);
            stage.world.passes(1).await;
            assert_ne!(read(&stage, &asked).await["status"], "pending", "{} on {api:?}", kind.name);
        }
    }
}

/// Deadlines in the version of an agent take precedence over deadlines of the dialect, for its questions and for its calls.
#[tokio::test]
async fn deadlines_of_an_agent_version_override_those_of_the_dialect() {
    let stage = DialectWorld::new().await;
    let turns = |tool: &str, arguments: Value| json!([{ "calls": [{ "tool": tool, "arguments": arguments }] }, { "say": "Fine." }]);
    for (name, kind, turns) in [
        ("hasty-call", "approval", turns("delete_file", json!({ "path": "a" }))),
        ("hasty-question", "question", turns("ask_user_clarify", json!({ "question": "Q" }))),
    ] {
        let mut agent = server_testkit::scripted_worker::scripted(name, turns);
        agent["deadlines"] = json!({ kind: 90 });
        let agents = vec![serde_json::from_value(agent).unwrap()];
        stage.world.engine.set_definitions(Definitions { agents, flows: Vec::new() });
        let mut editor = stage.alice.joins(&format!("/ws/{name}?agent={name}")).await;
        editor.says(json!({ "type": "user_message", "content": "Go." })).await;
        let call = editor.hears_of("tool_call").await;
        assert_eq!(seconds(&call, "created_at", "expires_at"), 90, "{call}");
        stage.world.passes(30).await;
        let warning = editor.hears_of("hitl_timeout_warning").await;
        assert_eq!((&warning["call_id"], &warning["seconds_left"]), (&call["call_id"], &json!(60)));
        stage.world.passes(60).await;
        assert_eq!(editor.hears_of("hitl_expired").await["call_id"], call["call_id"]);
    }
}

/// Other limits and durations that clients of the dialects rely on.
#[test]
fn default_limits_match_the_dialects() {
    let ours = Settings::default();
    let limits = server::ServerLimits::default();
    assert_eq!(ours.retention, SignedDuration::from_hours(30 * 24), "closed requests stay 30 days");
    assert_eq!(ours.lease, SignedDuration::from_secs(300), "an unfinished delivery is offered again after 300 s");
    assert_eq!(ours.warning, SignedDuration::from_secs(60), "people are warned at one minute left");
    assert_eq!(limits.heartbeat.as_secs(), 15, "a heartbeat every 15 s");
    let Limits { rounds, retries, .. } = Limits::default();
    assert_eq!((rounds, retries), (10, 3), "at most 10 rounds of questions, and at most 3 retries in a row");
    assert!(ours.deadlines.is_empty(), "the defaults of the dialects apply unless deadlines are configured");
}

async fn read(stage: &DialectWorld, asked: &AskedQuestion) -> Value {
    stage.alice.get(&format!("/v1/interactions/{}", asked.id)).await.done()
}

fn seconds(shown: &Value, from: &str, to: &str) -> i64 {
    let [from, to]: [Timestamp; 2] = [from, to].map(|name| text(&shown[name]).parse().unwrap());
    to.duration_since(from).as_secs()
}
