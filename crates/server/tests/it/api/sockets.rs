//! Tests `/v1` over a WebSocket.

use serde_json::{Value, json};

use server_testkit::actions::{Scene, writing};
use server_testkit::client::{Question, confirmation, text};
use server_testkit::world::World;

/// One socket subscribes to a session from a cursor and to the project from now on; no event is missed or repeated.
#[tokio::test]
async fn subscriptions_continue_from_their_cursors() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let question = agent.asks_in(&session, confirmation()).await;
    let mut socket = alice.joins("/v1/ws").await;
    let subscribed = async |socket: &mut server_testkit::websocket::Socket, message: Value| {
        socket.says(message).await;
        let reply = socket.hears().await;
        assert_eq!((&reply["type"], &reply["status"]), (&json!("result"), &json!(200)), "{reply}");
        text(&reply["result"]["cursor"])
    };
    subscribed(&mut socket, json!({ "type": "subscribe", "id": "s", "session": session, "after": 1 })).await;
    assert_eq!(socket.event("s").await, ("2".into(), "interaction.asked".into()));
    let from = subscribed(&mut socket, json!({ "type": "subscribe", "id": "p" })).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let (mut of_session, mut of_project) = (None, None);
    for _ in 0..2 {
        let message = socket.hears().await;
        assert_eq!(message["event"]["type"], "interaction.answered");
        let place = if message["subscription"] == "s" { &mut of_session } else { &mut of_project };
        assert!(place.replace(text(&message["cursor"])).is_none(), "told twice");
    }
    assert_eq!(of_session.unwrap(), "3");
    let reply = socket.asks(json!({ "type": "unsubscribe", "subscription": "s" })).await;
    assert_eq!(reply["result"], json!({ "subscription": "s", "cursor": "3" }));
    // A subscription with an earlier cursor continues there.
    let mut again = alice.joins("/v1/ws").await;
    subscribed(&mut again, json!({ "type": "subscribe", "id": "p", "after": from })).await;
    assert_eq!(again.event("p").await, (of_project.unwrap(), "interaction.answered".into()));
}

/// An agent runs its whole loop on one socket, and a person answers on another.
#[tokio::test]
async fn action_is_proposed_answered_started_and_reported_over_sockets() {
    let scene = Scene::new().await;
    let (mut agent, mut person) = (scene.agent.joins("/v1/ws").await, scene.alice.joins("/v1/ws").await);
    let mut propose = writing("call_1");
    propose["type"] = json!("propose");
    propose["session"] = json!(scene.session);
    let waiting = agent.asks(propose.clone()).await;
    assert_eq!((&waiting["status"], &waiting["result"]["state"]), (&json!(202), &json!("waiting")));
    let question = text(&waiting["result"]["interaction"]);
    let answer = json!({ "type": "answer", "interaction": question, "option": "approve", "idempotency_key": "once" });
    let answered = person.asks(answer.clone()).await;
    assert_eq!((&answered["status"], &answered["result"]["status"]), (&json!(200), &json!("answered")));
    assert_eq!(
        person.asks(answer).await["result"],
        answered["result"],
        "a repeated idempotency key returns the first result"
    );
    let other = json!({ "type": "answer", "interaction": question, "option": "reject", "idempotency_key": "once" });
    assert_eq!(person.asks(other).await["problem"]["code"], "idempotency_conflict");
    let late = person.asks(json!({ "type": "answer", "interaction": question, "option": "reject" })).await;
    assert_eq!((&late["status"], &late["problem"]["code"]), (&json!(409), &json!("interaction_already_resolved")));
    assert_eq!(late["problem"]["resolution"]["answer"]["by"]["name"], "alice", "the refusal names the winner");
    let call = |kind: &str| json!({ "type": kind, "session": scene.session, "call_id": "call_1" });
    let allowed = agent.asks(call("action")).await;
    assert_eq!(allowed["result"]["state"], "allowed");
    assert!(person.asks(call("action")).await["result"]["permit"].is_null(), "only the agent sees its permit");
    let mut start = call("start");
    start["permit"] = allowed["result"]["permit"].clone();
    assert_eq!(agent.asks(start.clone()).await["result"]["state"], "started");
    assert_eq!(agent.asks(start).await["problem"]["code"], "action_state");
    let mut outcome = call("outcome");
    outcome["outcome"] = json!("done");
    outcome["result"] = json!({ "bytes": 5 });
    assert_eq!(agent.asks(outcome).await["result"]["state"], "done");
    assert_eq!(agent.asks(propose).await["result"]["state"], "done", "an equal call returns the existing decision");
}

/// A question and an action keep the trace context of the socket message that created them, as over HTTP.
#[tokio::test]
async fn questions_and_actions_keep_the_trace_context_of_their_message() {
    let scene = Scene::new().await;
    let mut agent = scene.agent.joins("/v1/ws").await;
    let trace = |number: u32| format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{number:016x}-01");
    let mut ask = confirmation();
    for (name, value) in [("type", json!("ask")), ("session", json!(scene.session)), ("traceparent", json!(trace(1)))] {
        ask[name] = value;
    }
    ask["idempotency_key"] = json!("once");
    let asked = agent.asks(ask.clone()).await;
    assert_eq!((&asked["status"], &asked["result"]["status"]), (&json!(201), &json!("pending")), "{asked}");
    ask["traceparent"] = json!(trace(2));
    assert_eq!(
        agent.asks(ask.clone()).await["result"],
        asked["result"],
        "a repeated command keeps the trace of the first"
    );
    let question =
        Question { id: text(&asked["result"]["id"]), session: scene.session.clone(), shown: asked["result"].clone() };
    scene.alice.answers(&question, json!({ "option": "confirm" })).await.done();
    assert_eq!(scene.agent.takes(&question).await.done()["traceparent"], json!(trace(1)));

    let mut propose = writing("call_1");
    for (name, value) in
        [("type", json!("propose")), ("session", json!(scene.session)), ("traceparent", json!(trace(3)))]
    {
        propose[name] = value;
    }
    let waiting = agent.asks(propose).await;
    let id: domain::InteractionId = text(&waiting["result"]["interaction"]).parse().unwrap();
    let person = scene.world.engine.authenticate(&scene.alice.key).await.unwrap();
    let kept = scene.world.engine.interaction_get(&person, id, std::time::Duration::ZERO).await.unwrap();
    assert_eq!(kept.origin.traceparent, Some(trace(3)));
    ask["traceparent"] = Value::Null;
    assert_eq!(agent.asks(ask.clone()).await["status"], 201, "null counts as absent");
    ask["traceparent"] = json!(5);
    let refused = agent.asks(ask.clone()).await;
    assert_eq!(refused["problem"]["errors"][0]["pointer"], "/traceparent", "{refused}");
    // A trace context that is too long is ignored, as it is in the header.
    ask["traceparent"] = json!("x".repeat(129));
    assert_eq!(agent.asks(ask.clone()).await["status"], 201);
    let stray = agent
        .asks(json!({ "type": "action", "session": scene.session, "call_id": "call_1", "traceparent": trace(4) }))
        .await;
    assert_eq!(stray["problem"]["errors"][0]["pointer"], "/traceparent", "only `propose` and `ask` accept a trace");
}

/// An error reply carries the id of the request and the problem document of HTTP; the socket stays open.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn invalid_message_gets_a_problem_and_the_socket_stays_open() {
    let scene = Scene::new().await;
    let mut socket = scene.agent.joins("/v1/ws").await;
    let nowhere = "ses_00000000-0000-7000-8000-000000000000";
    for (message, status, code, at) in [
        (json!({}), 422, "body_invalid", "/type"),
        (json!({ "type": "nothing" }), 422, "body_invalid", "/type"),
        (json!({ "type": 5 }), 422, "body_invalid", "/type"),
        (json!({ "type": "subscribe", "sesion": nowhere }), 422, "body_invalid", "/sesion"),
        (json!({ "type": "subscribe", "session": "x" }), 422, "body_invalid", "/session"),
        (json!({ "type": "subscribe", "session": nowhere }), 404, "not_found", "-"),
        (json!({ "type": "subscribe", "session": scene.session, "after": "x" }), 400, "query_invalid", "-"),
        (json!({ "type": "subscribe", "after": 5 }), 400, "query_invalid", "-"),
        (json!({ "type": "unsubscribe", "subscription": "x" }), 404, "not_found", "-"),
        (json!({ "type": "propose", "call_id": "a", "tool": "t", "arguments": {} }), 422, "body_invalid", "/session"),
        (
            json!({ "type": "propose", "session": scene.session, "call_id": "a", "tool": "t", "arguments": [] }),
            422,
            "body_invalid",
            "/arguments",
        ),
        (
            json!({ "type": "propose", "session": scene.session, "call_id": "a", "tool": "t", "arguments": {}, "wait": 5 }),
            422,
            "body_invalid",
            "/wait",
        ),
        (json!({ "type": "action", "session": scene.session, "call_id": "absent" }), 404, "not_found", "-"),
        (json!({ "type": "action", "session": scene.session, "call_id": "a\u{0}" }), 422, "body_invalid", "/call_id"),
        (json!({ "type": "start", "session": scene.session, "call_id": "a" }), 422, "body_invalid", ""),
        (
            json!({ "type": "outcome", "session": scene.session, "call_id": "a", "outcome": "great" }),
            422,
            "body_invalid",
            "/outcome",
        ),
        (json!({ "type": "answer", "interaction": nowhere, "option": "a" }), 422, "body_invalid", "/interaction"),
        (
            json!({ "type": "answer", "interaction": nowhere.replace("ses_", "int_"), "option": "a" }),
            403,
            "role_forbids",
            "-",
        ),
        (json!({ "type": "ask", "kind": "question", "title": "Q" }), 422, "body_invalid", "/session"),
        (json!({ "type": "ask", "session": scene.session, "kind": "question" }), 422, "body_invalid", ""),
        (json!({ "type": "ask", "session": nowhere, "kind": "question", "title": "Q" }), 404, "not_found", "-"),
        (
            json!({ "type": "action", "session": nowhere, "call_id": "a", "idempotency_key": "" }),
            422,
            "body_invalid",
            "/idempotency_key",
        ),
    ] {
        let reply = socket.asks(message.clone()).await;
        assert_eq!((&reply["type"], &reply["status"]), (&json!("error"), &json!(status)), "{message} got {reply}");
        assert_eq!(reply["problem"]["code"], code, "{message} got {reply}");
        if at != "-" {
            assert_eq!(reply["problem"]["errors"][0]["pointer"], at, "{message} got {reply}");
        }
    }
    for (text, code) in [("{", "malformed_json"), ("[1]", "body_invalid"), (r#"{"id":"a","id":"b"}"#, "body_invalid")] {
        socket.sends(tokio_tungstenite::tungstenite::Message::Text(text.into())).await;
        let reply = socket.hears().await;
        assert_eq!((&reply["problem"]["code"], &reply["id"]), (&json!(code), &Value::Null), "{text}");
    }
    assert_eq!(socket.asks(json!({ "type": "subscribe" })).await["status"], 200);
}

/// A socket has a maximum of subscriptions, and their names are unique.
#[tokio::test]
async fn subscriptions_of_a_socket_are_limited_and_named_uniquely() {
    let world = World::new().await;
    let agent = world.agent().await;
    let mut socket = agent.joins("/v1/ws").await;
    for number in 0..32 {
        socket.says(json!({ "type": "subscribe", "id": format!("n{number}") })).await;
        assert_eq!(socket.hears().await["status"], 200);
    }
    socket.says(json!({ "type": "subscribe", "id": "n0" })).await;
    assert_eq!(socket.hears().await["problem"]["errors"][0]["pointer"], "/id");
    let full = socket.asks(json!({ "type": "subscribe" })).await;
    assert_eq!((&full["status"], &full["problem"]["code"]), (&json!(409), &json!("too_many_subscriptions")));
    socket.asks(json!({ "type": "unsubscribe", "subscription": "n3" })).await;
    assert_eq!(socket.asks(json!({ "type": "subscribe" })).await["status"], 200);
}

/// Sessions and events of another tenant are not visible on the socket.
#[tokio::test]
async fn socket_receives_no_events_of_another_tenant() {
    let scene = Scene::new().await;
    let stranger = scene.world.stranger().await;
    let mut socket = stranger.joins("/v1/ws").await;
    let refused = socket.asks(json!({ "type": "subscribe", "session": scene.session })).await;
    assert_eq!(refused["problem"]["code"], "not_found");
    socket.says(json!({ "type": "subscribe", "id": "p", "after": "0-0" })).await;
    assert_eq!(socket.hears().await["status"], 200);
    scene.writes("call_1").await;
    let own = stranger.opens(json!({})).await;
    assert_eq!(socket.hears().await["event"]["session"], json!(own), "an event of another tenant is first");
    let nobody = scene.world.http.joins(scene.world.http.handshake("/v1/ws")).await;
    nobody.err().unwrap().refused(401, "unauthenticated");
    scene.alice.get("/v1/ws").await.refused(426, "upgrade_required");
}
