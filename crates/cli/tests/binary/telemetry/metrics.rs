//! Tests Prometheus metrics, some of which survive restarts.

use serde_json::{Value, json};

use crate::common::{Client, Deployment, on_postgres, soon, until};

#[tokio::test]
async fn metrics_count_questions_and_the_open_count_returns_to_zero() {
    let deployment = Deployment::sqlite();
    let server = deployment.launch().start().await;
    let bot = server.client(&deployment.key("agent", "bot"));
    let alice = server.client(&deployment.key("operator", "alice"));
    assert_eq!(bot.metric("flow_interaction_open").await, 0.0);

    let session = bot.start().await;
    let answered = bot.ask(&session, json!({ "kind": "confirmation", "title": "answered" })).await;
    gauge_reaches(&bot, 1.0).await;
    let expiring = json!({ "kind": "question", "title": "expiring", "deadline_seconds": 1 });
    let expired = bot.ask(&session, expiring).await;
    let falling = json!({ "kind": "approval", "title": "falling", "deadline_seconds": 1, "fallback": "deny",
        "action": { "tool": "t", "arguments": {} } });
    let auto = bot.ask(&session, falling).await;
    assert_eq!(bot.metric("flow_interaction_created_total").await, 3.0);

    alice.approve(&answered).await;
    alice.answer(&answered, json!({ "effect": "approve" })).await.problem(409, "interaction_already_resolved");
    for question in [&expired, &auto] {
        soon("the deadline", bot.get(&format!("/v1/interactions/{question}?wait=120"))).await;
    }
    gauge_reaches(&bot, 0.0).await;
    for (name, expected) in [
        ("flow_interaction_created_total", 3.0),
        ("flow_interaction_responded_total", 1.0),
        ("flow_interaction_expired_total", 1.0),
        ("flow_interaction_auto_resolved_total", 1.0),
        ("flow_interaction_wait_duration_seconds_count", 3.0),
    ] {
        assert_eq!(bot.metric(name).await, expected, "{name}");
    }
    let text = bot.get("/metrics").await.body.as_str().unwrap().to_owned();
    assert!(text.contains("# TYPE flow_interaction_open gauge"), "{text}");
    assert!(text.contains("# TYPE flow_interaction_wait_duration_seconds histogram"), "{text}");
}

/// Waits until the gauge of open questions has a value. A busy server counts anew only after a pause.
async fn gauge_reaches(client: &Client, expected: f64) {
    let reached = async || (client.metric("flow_interaction_open").await == expected).then_some(());
    until("the number of open questions", reached).await;
}

#[tokio::test]
async fn wait_duration_of_a_question_survives_a_restart() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch();
    let (bot, alice) = (deployment.key("agent", "bot"), deployment.key("operator", "alice"));
    let server = launch.start().await;
    let question = server.client(&bot).ask_plainly("asked before").await;
    let still = server.client(&bot).ask_plainly("still open").await;
    server.kill();

    let server = launch.start().await;
    let client = server.client(&alice);
    assert_eq!(client.metric("flow_interaction_open").await, 2.0);
    let answered = client.approve(&question).await.body;
    let waited = seconds(&answered["resolution"]["at"]) - seconds(&answered["created_at"]);
    let counted = client.metric("flow_interaction_wait_duration_seconds_sum").await;
    assert!(waited > 0.0 && (counted - waited).abs() < 0.001, "waited {waited}, counted {counted}");
    assert_eq!(client.metric("flow_interaction_wait_duration_seconds_count").await, 1.0);
    client.approve(&still).await;
    // The server caches the count for a while if counting took long.
    gauge_reaches(&client, 0.0).await;
}

fn seconds(moment: &Value) -> f64 {
    let moment: jiff::Timestamp = moment.as_str().unwrap().parse().unwrap();
    moment.duration_since(jiff::Timestamp::UNIX_EPOCH).as_secs_f64()
}

#[test]
fn separate_worker_serves_only_metrics_and_health() {
    on_postgres(async |deployment| {
        let launch = deployment.launch();
        let worker = launch.clone().into_worker().with(&["--metrics-listen", &launch.address()]).start().await;
        let anybody = worker.client("");
        let text = anybody.get("/metrics").await.done(200).body.as_str().unwrap().to_owned();
        for state in ["running", "due", "resting", "waiting"] {
            assert!(text.contains(&format!("flow_steps_open{{state=\"{state}\"}} 0\n")), "{text}");
        }
        assert_eq!(anybody.get("/healthz").await.status, 200);
        anybody.get("/v1/sessions").await.problem(404, "route_not_found");
        assert!(worker.stop().success());
    });
}
