//! `approvals`: tests the socket of a channel. Several sessions of a channel may use equal call ids; a decision applies
//! to the call that the client was shown.

use serde_json::{Value, json};

use server_testkit::client::{ApiClient, text};
use server_testkit::websocket::Socket;
use server_testkit::world::World;

/// An external agent opens a session in a channel and proposes a call.
async fn proposes(bot: &ApiClient, channel: &str, path: &str) -> String {
    let session = bot.opens(json!({ "channel": channel })).await;
    let call = json!({ "call_id": "s1t1c0", "tool": "delete_file", "arguments": { "path": path } });
    let proposed = bot.post(&format!("/v1/sessions/{session}/actions"), call).await.done();
    assert_eq!(proposed["state"], "waiting");
    session
}

async fn state(bot: &ApiClient, session: &str) -> Value {
    bot.get(&format!("/v1/sessions/{session}/actions/s1t1c0")).await.done()["state"].clone()
}

fn approval(call: &str) -> Value {
    json!({ "type": "hitl_decision", "call_id": call, "decision": "approve" })
}

/// Returns the id of the next call that needs approval and the file in its arguments.
async fn shown(editor: &mut Socket) -> (String, String) {
    let call = editor.hears_of("tool_call").await;
    assert_eq!(call["requires_approval"], true, "{call}");
    (text(&call["call_id"]), text(&call["arguments"]["path"]))
}

/// A late decision applies to the call that the client received, even if a newer session has a call with an equal id.
#[tokio::test]
async fn late_decision_applies_to_the_call_that_was_shown_or_is_refused() {
    let world = World::new().await;
    let (alice, bot) = (world.person("alice").await, world.agent().await);
    let first = proposes(&bot, "chat-k", "first.txt").await;
    let mut editor = alice.joins("/ws/chat-k").await;
    let (call, path) = shown(&mut editor).await;
    assert_eq!((&call, path.as_str()), (&format!("{first}:s1t1c0"), "first.txt"));
    editor.leaves().await;
    let second = proposes(&bot, "chat-k", "precious.txt").await;
    let mut editor = alice.joins("/ws/chat-k").await;
    editor.is_refused(approval("s1t1c0"), "not_found").await;
    editor.says(approval(&call)).await;
    let resolved = editor.hears_of("hitl_resolved").await;
    assert_eq!((&resolved["call_id"], &resolved["decision"]), (&json!(call), &json!("approve")));
    assert_eq!((state(&bot, &first).await, state(&bot, &second).await), (json!("allowed"), json!("waiting")));
    editor.is_refused(approval(&call), "interaction_already_resolved").await;
    let pending = alice.get("/sessions/chat-k/pending-approvals").await.done();
    assert_eq!(
        (&pending["count"], &pending["pending_approvals"][0]["call_id"]),
        (&json!(1), &json!(format!("{second}:s1t1c0")))
    );
    // On the socket of one session a call has the id that the agent gave it, and calls of other sessions cannot be
    // reached.
    let mut own = alice.joins(&format!("/ws/{second}")).await;
    assert_eq!(shown(&mut own).await, ("s1t1c0".to_owned(), "precious.txt".to_owned()));
    own.is_refused(approval(&call), "not_found").await;
    // The id of a call that has ended does not refer to a newer call.
    alice.commands(&second, "cancel").await.done();
    let third = proposes(&bot, "chat-k", "third.txt").await;
    editor.is_refused(approval(&format!("{second}:s1t1c0")), "interaction_already_resolved").await;
    own.is_refused(approval("s1t1c0"), "interaction_already_resolved").await;
    assert_eq!(state(&bot, &third).await, "waiting");
    let elsewhere = proposes(&bot, "chat-l", "elsewhere.txt").await;
    editor.is_refused(approval(&format!("{elsewhere}:s1t1c0")), "not_found").await;
    assert_eq!(state(&bot, &elsewhere).await, "waiting");
}

/// A call id that looks like an id of this server is not mistaken for one.
#[tokio::test]
async fn call_id_that_looks_like_a_question_id_refers_to_the_call() {
    let world = World::new().await;
    let (alice, bot) = (world.person("alice").await, world.agent().await);
    let session = bot.opens(json!({})).await;
    let question = bot.asks_in(&session, json!({ "kind": "confirmation", "title": "Shall we?" })).await;
    let call = json!({ "call_id": question.id, "tool": "delete_file", "arguments": { "path": "a" } });
    bot.post(&format!("/v1/sessions/{session}/actions"), call).await.done();
    let mut editor = alice.joins(&format!("/ws/{session}")).await;
    assert_eq!(editor.hears_of("tool_call").await["call_id"], json!(question.id));
    assert_eq!(editor.hears_of("tool_call").await["call_id"], json!(format!("{session}:{}", question.id)));
    editor.says(approval(&question.id)).await;
    assert_eq!(editor.hears_of("hitl_resolved").await["call_id"], json!(question.id));
    let action = bot.get(&format!("/v1/sessions/{session}/actions/{}", question.id)).await.done();
    assert_eq!(action["state"], "waiting");
}

/// The socket of a channel shows the open questions of all its running sessions.
#[tokio::test]
async fn channel_socket_shows_open_questions_of_all_its_sessions() {
    let world = World::new().await;
    let (alice, bot) = (world.person("alice").await, world.agent().await);
    let mut early = alice.joins("/ws/chat-k").await;
    let first = proposes(&bot, "chat-k", "first.txt").await;
    assert_eq!(shown(&mut early).await, (format!("{first}:s1t1c0"), "first.txt".to_owned()));
    let second = proposes(&bot, "chat-k", "second.txt").await;
    assert_eq!(shown(&mut early).await, (format!("{second}:s1t1c0"), "second.txt".to_owned()));
    let mut late = alice.joins("/ws/chat-k").await;
    let both = [shown(&mut late).await.1, shown(&mut late).await.1];
    assert_eq!(both, ["first.txt", "second.txt"]);
    for (session, path) in [(&first, "first.txt"), (&second, "second.txt")] {
        alice.commands(session, "cancel").await.done();
        for editor in [&mut early, &mut late] {
            let told = editor.hears_of("hitl_resolved").await;
            assert_eq!(
                (&told["call_id"], &told["source"]),
                (&json!(format!("{session}:s1t1c0")), &json!("system")),
                "{path}"
            );
        }
    }
    // Both sessions have ended; a new session still appears on the open sockets.
    let third = proposes(&bot, "chat-k", "third.txt").await;
    for editor in [&mut early, &mut late] {
        assert_eq!(shown(editor).await, (format!("{third}:s1t1c0"), "third.txt".to_owned()));
    }
}

/// The id of a session refers to the session, even if a channel has that name.
#[tokio::test]
async fn session_id_refers_to_the_session_even_if_a_channel_has_that_name() {
    let world = World::new().await;
    let (alice, bot) = (world.person("alice").await, world.agent().await);
    let session = proposes(&bot, "chat-k", "mine.txt").await;
    let bare = session.trim_start_matches("ses_").to_owned();
    proposes(&bot, &bare, "theirs.txt").await;
    for name in [&session, &bare] {
        let mut editor = alice.joins(&format!("/ws/{name}")).await;
        assert_eq!(shown(&mut editor).await, ("s1t1c0".to_owned(), "mine.txt".to_owned()), "{name}");
        let pending = alice.get(&format!("/sessions/{name}/pending-approvals")).await.done();
        assert_eq!(pending["count"], 1, "{pending}");
        let pending = alice.get(&format!("/hitl/conversations/{name}/pending")).await.done();
        assert_eq!(pending["total"], 1, "{pending}");
    }
}

/// No API accepts a channel name that looks like a session id.
#[tokio::test]
async fn channel_name_that_looks_like_a_session_id_is_refused() {
    let world = World::new().await;
    let (alice, bot) = (world.person("alice").await, world.agent().await);
    world.plays();
    let own = bot.opens(json!({})).await;
    let asked = bot.asks_in(&own, json!({ "kind": "confirmation", "title": "Shall we?" })).await;
    for name in ["ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", &own, "ses_1"] {
        let opened = bot.post("/v1/sessions", json!({ "channel": name })).await;
        opened.refused_at(422, "body_invalid", &["/channel"]);
        let started = alice.post("/api/flows/editor/start", json!({ "chatSessionId": name })).await;
        started.refused_at(422, "body_invalid", &["/chatSessionId"]);
        let handed = alice.post(&asked.path("/handover"), json!({ "channel": name })).await;
        handed.refused_at(422, "body_invalid", &["/channel"]);
    }
    // A message does not create such a channel either.
    alice.is_refused_at_handshake("/ws/ses_1").await.refused(404, "not_found");
    assert_eq!(alice.get("/v1/sessions").await.done()["sessions"].as_array().map(Vec::len), Some(1));
}

/// A message to a channel goes to the agent that listens there, even if other sessions run in the channel.
#[tokio::test]
async fn message_to_a_channel_goes_to_the_hosted_agent_in_it() {
    let world = World::new().await;
    let (alice, bot) = (world.person("alice").await, world.agent().await);
    let play = world.plays();
    let mut editor = alice.joins("/ws/chat-k?agent=editor").await;
    play.says("Hello to you.", &[]);
    editor.says(json!({ "type": "user_message", "content": "Hello." })).await;
    while editor.hears_of("assistant_message").await["is_final"] != true {}
    let foreign = proposes(&bot, "chat-k", "other.txt").await;
    assert_eq!(shown(&mut editor).await.0, format!("{foreign}:s1t1c0"));
    play.says("Still here.", &[]);
    editor.says(json!({ "type": "user_message", "content": "Are you there?" })).await;
    while editor.hears_of("assistant_message").await["is_final"] != true {}
    let mut other = alice.joins("/ws/chat-k?agent=nobody").await;
    other.is_refused(json!({ "type": "user_message", "content": "And you?" }), "not_found").await;
    // A question that an agent asks in the channel belongs to the agent's own session.
    let asked = json!({ "conversation_id": "chat-k", "request_type": "clarification", "question": "Which?" });
    let asked = text(&bot.post("/hitl/requests", asked).await.done()["id"]);
    assert_eq!(bot.get(&format!("/v1/interactions/{asked}")).await.done()["session"], json!(foreign));
}
