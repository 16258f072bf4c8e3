//! Tests a PostgreSQL server that stops and comes back.

use testkit::postgres::TestPostgres;

use crate::common::{Deployment, Reply, Stream, soon, until};

#[test]
fn database_outage_refuses_requests_and_loses_no_acknowledged_write() {
    let postgres = TestPostgres::private().unwrap();
    let database = postgres.fresh_database().unwrap();
    let deployment = Deployment::postgres(database.url());
    tokio::runtime::Runtime::new().unwrap().block_on(check_outage(&deployment, &postgres));
}

async fn check_outage(deployment: &Deployment, postgres: &TestPostgres) {
    let mut server = deployment.launch().start().await;
    let (bot, alice) =
        (server.client(&deployment.key("agent", "bot")), server.client(&deployment.key("operator", "alice")));
    let answered = bot.ask_plainly("answered before").await;
    let open = bot.ask_plainly("open").await;
    let resolved = alice.approve(&answered).await;
    let mut stream = Stream::open(&bot, "/v1/events/stream", Some("0-0")).await.unwrap();
    let mut last = None;
    for _ in 0..5 {
        last = soon("events", stream.next()).await.unwrap().id;
    }

    postgres.stop().unwrap();
    let refused = |reply: Reply| {
        let code = reply.text("/code");
        assert!(code == "storage_unavailable" || code == "in_doubt", "{code}");
        reply.problem(503, &code)
    };
    refused(bot.post("/v1/sessions", serde_json::json!({})).await);
    refused(alice.get("/v1/interactions").await);
    refused(alice.answer(&open, serde_json::json!({ "effect": "approve" })).await);
    refused(bot.get(&format!("/v1/interactions/{open}?wait=60")).await);
    refused(bot.get("/metrics").await);
    assert_eq!(bot.get("/healthz").await.status, 200);
    let unready = bot.get("/readyz").await;
    assert_eq!((unready.status, unready.body.as_str()), (503, Some("the store does not answer\n")));
    assert!(server.runs());

    postgres.resume().unwrap();
    until("a server that is ready again", async || (bot.get("/readyz").await.status == 200).then_some(())).await;
    assert_eq!(alice.question(&answered).await.body["resolution"], resolved.body["resolution"]);
    assert_eq!(alice.question(&open).await.text("/status"), "pending");
    alice.approve(&open).await;
    let mut stream = match soon("the stream's end, or its next event", stream.next()).await {
        Some(frame) if frame.event == "interrupted" => {
            Stream::open(&bot, "/v1/events/stream", last.as_deref()).await.unwrap()
        }
        Some(frame) => {
            assert_eq!(frame.event, "interaction.answered");
            return;
        }
        None => panic!("the stream ended without an event"),
    };
    assert_eq!(soon("the answer", stream.next()).await.unwrap().event, "interaction.answered");
}
