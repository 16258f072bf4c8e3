//! Tests the dialects on the real binary, which is killed while people decide and while agents hold their answers.

use serde_json::{Value, json};

use crate::agents::place::{AgentFiles, times};
use crate::common::{Deployment, Stream, on_postgres, until};

/// `hitl`: an answer that was not processed when the server was killed is offered to its agent after the restart.
#[tokio::test]
async fn hitl_answers_that_were_not_processed_are_offered_after_a_kill() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch();
    let server = launch.start().await;
    let (alice, bot) =
        (server.client(&deployment.key("operator", "alice")), server.client(&deployment.key("agent", "bot")));
    let session = bot.start().await;
    let question = json!({ "kind": "choice", "title": "Which?", "options": [{ "id": "a", "label": "A" }] });
    let status = async |id: &str| alice.get(&format!("/hitl/requests/{id}")).await.done(200).text("/status");
    let take = async |id: &str, seconds: u32| {
        let taken =
            bot.post(&format!("/v1/interactions/{id}/delivery/take"), json!({ "lease_seconds": seconds })).await;
        taken.done(200).text("/lease")
    };
    let mut asked = Vec::new();
    for _ in 0..3 {
        let id = bot.ask(&session, question.clone()).await;
        let response = json!({ "request_id": id, "hitl_type": "decision", "response_data": { "decision": "a" } });
        let said = alice.post("/hitl/respond", response).await.done(200);
        assert_eq!(said.body["success"], json!(true));
        asked.push(id);
    }
    let [answered, processing, completed] = asked.as_slice() else { panic!("{asked:?}") };
    take(processing, 1).await;
    let lease = take(completed, 60).await;
    bot.post(&format!("/v1/interactions/{completed}/delivery/complete"), json!({ "lease": lease })).await.done(200);
    server.kill();

    let _server = launch.start().await;
    assert_eq!(status(answered).await, "answered");
    assert_eq!(status(completed).await, "completed");
    until("the lease of the dead to run out", async || (status(processing).await == "answered").then_some(())).await;
    let waiting = bot.get("/v1/deliveries").await.done(200).body;
    let waiting: Vec<&Value> = waiting["deliveries"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(waiting, [&json!(answered), &json!(processing)]);
    for id in [answered, processing] {
        let lease = take(id, 60).await;
        assert_eq!(status(id).await, "processing");
        bot.post(&format!("/v1/interactions/{id}/delivery/complete"), json!({ "lease": lease })).await.done(200);
        assert_eq!(status(id).await, "completed");
    }
}

/// `react`: a session outlives its stream and its server; a client that reconnects continues where it stopped.
#[tokio::test]
async fn react_conversation_continues_after_its_server_was_killed() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent(
        "weather",
        r#"tools = ["ask_user"]
        [model]
        provider = "scripted"
        [[model.script.turns]]
        calls = [{ tool = "ask_user_clarify", arguments = { title = "缺少 API Key", question = "执行该工具需要 OpenWeather API Key" } }]
        [[model.script.turns]]
        when = "ow-key"
        say = "It is sunny."
        "#,
    );
    let launch = files.launch(deployment.launch(), 2);
    let server = launch.start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    let said = alice.request("POST", "/api/agent/chat/react/stream");
    let said =
        said.json(&json!({ "message": "How is the weather?", "sessionId": "session-123" })).send().await.unwrap();
    assert_eq!(said.status(), 200);
    drop(said);
    let path = "/api/agent/chat/react/stream?sessionId=session-123";
    let mut stream = Stream::open(&alice, path, None).await.unwrap();
    let (mut last, mut asked) = (None, Value::Null);
    while asked.is_null() {
        let frame = stream.next().await.unwrap();
        if frame.event == "INTERACTION" {
            asked = serde_json::from_str(&frame.data).unwrap();
        }
        last = frame.id;
    }
    server.kill();

    let _server = launch.start().await;
    let answer = json!({ "sessionId": "session-123", "requestId": asked["data"]["requestId"], "selectedOptionId": "provide",
                         "feedback": "ow-key", "data": {} });
    let said = alice.post("/api/agent/chat/react/interaction_response", answer.clone()).await.done(200);
    assert_eq!(said.body["success"], json!(true));
    let mut stream = Stream::open(&alice, path, last.as_deref()).await.unwrap();
    let mut heard = Vec::new();
    loop {
        let frame = stream.next().await.unwrap();
        heard.push(frame.event.clone());
        if frame.event == "DONE" {
            let done: Value = serde_json::from_str(&frame.data).unwrap();
            assert_eq!(done["data"]["result"], json!("It is sunny."));
            break;
        }
    }
    assert!(!heard.contains(&"INTERACTION".to_owned()), "the interaction was settled: {heard:?}");
    let again = alice.post("/api/agent/chat/react/interaction_response", answer).await;
    assert_eq!((again.status, &again.body["success"]), (409, &json!(false)));
}

/// A conversation name that many clients use for the first time at once, on several nodes, becomes one conversation
/// with all messages.
#[test]
fn first_messages_on_several_nodes_open_one_conversation() {
    on_postgres(async |deployment| {
        let files = AgentFiles::new(deployment);
        files.agent(
            "listener",
            "[model]\nprovider = \"scripted\"\n[[model.script.turns]]\nsay = \"Yes.\"\nagain = true\n",
        );
        let nodes =
            [files.launch(deployment.launch(), 2).start().await, files.launch(deployment.launch(), 2).start().await];
        let key = deployment.key("operator", "alice");
        let clients = [nodes[0].client(&key), nodes[1].client(&key)];
        let says = |number: usize| {
            let body = json!({ "message": format!("This is {number}."), "sessionId": "session-123" });
            clients[number % 2].request("POST", "/api/agent/chat/react/stream").json(&body).send()
        };
        let said = futures::future::join_all((0..16).map(says)).await;
        assert!(said.iter().all(|reply| reply.as_ref().is_ok_and(|reply| reply.status() == 200)), "{said:?}");
        let sessions = clients[0].get("/v1/sessions").await.done(200).body["sessions"].clone();
        assert_eq!(sessions.as_array().map(Vec::len), Some(1), "{sessions}");
        let session = sessions[0]["id"].as_str().unwrap();
        assert_eq!(times(&clients[1], session, "message.sent").await, 16);
    });
}
