//! `approvals`: tools that the client runs. An approved call is sent to one client and started; the client's result is
//! the outcome.

use std::sync::Arc;

use serde_json::{Value, json};

use server_testkit::client::{ApiClient, text};
use server_testkit::play::Play;
use server_testkit::websocket::Socket;
use server_testkit::world::brisk;
use server_testkit::world::{PATIENCE, World};

/// A hosted editor agent with a scripted model, and the person who opened its session.
struct Scene {
    world: World,
    alice: ApiClient,
    play: Arc<Play>,
    session: String,
}

impl Scene {
    async fn new() -> Self {
        Self::in_world(World::new().await).await
    }

    async fn in_world(world: World) -> Self {
        let alice = world.person("alice").await;
        let play = world.plays();
        let session = alice.edits().await;
        Self { world, alice, play, session }
    }

    async fn joins(&self) -> Socket {
        self.alice.joins(&format!("/ws/{}", self.session)).await
    }

    /// Reads an action as `/v1` shows it.
    async fn action(&self, call: &str) -> Value {
        self.alice.get(&format!("/v1/sessions/{}/actions/{call}", self.session)).await.done()
    }

    /// Lets the agent call a tool and returns the `tool_call` message.
    async fn calls(&self, editor: &mut Socket, tool: &str) -> Value {
        self.play.says("I will.", &[("c", tool, json!({ "path": "a.md" }))]);
        self.play.says("Done.", &[]);
        editor.says(json!({ "type": "user_message", "content": "Go on.", "role": "user" })).await;
        editor.hears_of("tool_call").await
    }
}

async fn decides(editor: &mut Socket, call: &str, decision: &str, more: Value) {
    let mut message = json!({ "type": "hitl_decision", "call_id": call, "decision": decision });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    editor.says(message).await;
}

/// The whole life of a call: asked, approved, sent to the client, run, reported, read by the model.
#[tokio::test]
async fn an_approved_call_is_run_by_the_client() {
    let scene = Scene::new().await;
    let mut editor = scene.joins().await;
    let asked = scene.calls(&mut editor, "write_file").await;
    assert_eq!((&asked["requires_approval"], &asked["arguments"]), (&json!(true), &json!({ "path": "a.md" })));
    let call = text(&asked["call_id"]);
    decides(&mut editor, &call, "edit", json!({ "modified_arguments": { "path": "b.md" } })).await;
    assert_eq!(editor.hears_of("hitl_resolved").await["decision"], "edit");
    let run = editor.hears().await;
    let expected = json!({ "type": "tool_call", "call_id": call, "tool_name": "write_file",
                           "arguments": { "path": "b.md" }, "requires_approval": false });
    assert_eq!(run, expected);
    assert_eq!(scene.action(&call).await["state"], "started", "the permit is spent when the call is sent");
    // The outcome is not accepted from another channel.
    let mut elsewhere = scene.alice.joins("/ws/elsewhere").await;
    let long = format!("{}:{call}", scene.session);
    elsewhere.is_refused(json!({ "type": "tool_result", "call_id": long, "result": "other" }), "not_found").await;
    assert_eq!(scene.action(&call).await["state"], "started");
    editor.says(json!({ "type": "tool_result", "call_id": call, "result": { "bytes": 5 } })).await;
    let mut said = String::new();
    loop {
        let message = editor.hears_of("assistant_message").await;
        said.push_str(message["token"].as_str().unwrap());
        if message["is_final"] == true {
            break;
        }
    }
    assert_eq!(said, "Done.");
    assert_eq!(scene.action(&call).await["result"], json!({ "bytes": 5 }));
    assert!(scene.play.results()[0].0.contains("bytes"), "{:?}", scene.play.results());
    let again = json!({ "type": "tool_result", "call_id": call, "result": "again" });
    editor.is_refused(again, "action_state").await;
}

/// A tool that failed is not reported as rejected, even if its error text says so.
#[tokio::test]
async fn failed_tool_is_not_reported_as_rejected() {
    let scene = Scene::new().await;
    let mut editor = scene.joins().await;
    let call = text(&scene.calls(&mut editor, "execute_command").await["call_id"]);
    let old = json!({ "type": "tool_result", "call_id": call, "error": "Error: Операция отклонена: execute_command" });
    editor.is_refused(old.clone(), "action_state").await;
    assert_eq!(scene.action(&call).await["state"], "waiting", "the text of an error decides nothing");
    decides(&mut editor, &call, "approve", json!({})).await;
    editor.hears_of("tool_call").await;
    editor.says(old).await;
    while editor.hears_of("assistant_message").await["is_final"] != true {}
    let failed = scene.action(&call).await;
    assert_eq!((&failed["state"], &failed["rejected_by"]), (&json!("failed"), &Value::Null));
    assert!(scene.play.results()[0].1, "the model reads that the tool failed");
}

/// A call that the policy allows is sent without a question, to one of two clients.
#[tokio::test]
async fn call_is_sent_to_one_of_two_clients() {
    let scene = Scene::new().await;
    for _ in 0..5 {
        let (mut first, mut second) = (scene.joins().await, scene.joins().await);
        scene.play.says("", &[("c", "read_file", json!({ "path": "a.md" }))]);
        scene.play.says("Done.", &[]);
        first.says(json!({ "type": "user_message", "content": "Read it." })).await;
        let (winner, call) = tokio::select! {
            call = first.hears_of("tool_call") => (&mut first, call),
            call = second.hears_of("tool_call") => (&mut second, call),
        };
        assert_eq!(call["requires_approval"], false);
        winner.says(json!({ "type": "tool_result", "call_id": call["call_id"], "result": "text" })).await;
        for mut editor in [first, second] {
            loop {
                let message = editor.hears().await;
                assert_ne!(message["type"], "tool_call", "the call was sent to two clients");
                if message["is_final"] == true {
                    break;
                }
            }
            editor.leaves().await;
        }
    }
}

/// A call that no client received waits for the next client. If a client received a call and disappeared, people are
/// asked about the outcome; a repeatable call is offered again instead.
#[tokio::test]
async fn call_of_a_lost_client_is_offered_again_or_asked_about() {
    let scene = Scene::new().await;
    let mut editor = scene.joins().await;
    let call = text(&scene.calls(&mut editor, "write_file").await["call_id"]);
    editor.leaves().await;
    let mut next = scene.joins().await;
    assert_eq!(next.hears().await["call_id"], json!(call), "a pending call is shown again");
    decides(&mut next, &call, "approve", json!({})).await;
    assert_eq!(next.hears_of("tool_call").await["requires_approval"], false);
    next.leaves().await;
    // The call was started and its outcome is unknown: it is not run again, and people are asked.
    scene.world.passes(61).await;
    let mut third = scene.joins().await;
    let asked = third.hears().await;
    assert_eq!((&asked["type"], &asked["kind"]), (&json!("tool_call"), &json!("choice")));
    assert_eq!(asked["call_id"], asked["interaction"], "a second question about the call has its own id");
    let stale = json!({ "type": "hitl_decision", "call_id": call, "decision": "approve" });
    third.is_refused(stale, "interaction_already_resolved").await;
    let question = text(&asked["call_id"]);
    decides(&mut third, &question, "edit", json!({ "modified_arguments": { "option": "run_again" } })).await;
    let again = third.hears_of("tool_call").await;
    assert_eq!((&again["call_id"], &again["requires_approval"]), (&json!(call), &json!(false)));
    third.says(json!({ "type": "tool_result", "call_id": call, "result": "ok" })).await;
    while third.hears_of("assistant_message").await["is_final"] != true {}
    let repeatable = scene.calls(&mut third, "read_file").await;
    let call = text(&repeatable["call_id"]);
    third.leaves().await;
    scene.world.passes(61).await;
    let mut last = scene.joins().await;
    let offered = last.hears().await;
    assert_eq!((&offered["call_id"], &offered["requires_approval"]), (&json!(call), &json!(false)));
}

/// The question about an unknown outcome has the default deadline of the dialect, on the socket of a channel too.
#[tokio::test]
async fn question_about_an_unknown_outcome_in_a_channel_has_a_deadline() {
    let scene = Scene::new().await;
    let mut editor = scene.alice.joins("/ws/my-session?agent=editor").await;
    let asked = scene.calls(&mut editor, "write_file").await;
    let call = text(&asked["call_id"]);
    decides(&mut editor, &call, "approve", json!({})).await;
    let run = editor.hears_of("tool_call").await;
    assert_eq!((&run["call_id"], &run["requires_approval"]), (&json!(call), &json!(false)));
    editor.leaves().await;
    scene.world.passes(61).await;
    let mut next = scene.alice.joins("/ws/my-session").await;
    let lost = next.hears_of("tool_call").await;
    assert_eq!((&lost["kind"], &lost["call_id"]), (&json!("choice"), &lost["interaction"]));
    let time = |value: &Value| text(value).parse::<domain::Timestamp>().unwrap();
    assert_eq!(time(&lost["expires_at"]).duration_since(time(&lost["created_at"])).as_secs(), 300);
    // The client that ran the call can still report it under its name.
    next.says(json!({ "type": "tool_result", "call_id": call, "result": "late" })).await;
    while next.hears_of("assistant_message").await["is_final"] != true {}
}

/// A client that reconnects can still report a call that it was sent.
#[tokio::test]
async fn reconnected_client_can_report_its_call() {
    let scene = Scene::new().await;
    let mut editor = scene.joins().await;
    let call = text(&scene.calls(&mut editor, "read_file").await["call_id"]);
    editor.leaves().await;
    let mut back = scene.joins().await;
    back.says(json!({ "type": "tool_result", "call_id": call, "result": "late" })).await;
    while back.hears_of("assistant_message").await["is_final"] != true {}
    assert_eq!(scene.action(&call).await["state"], "done");
}

/// Answers pings until the lease of the call ends later than `until`.
async fn answer_pings_until_lease_ends_after(scene: &Scene, editor: &mut Socket, call: &str, until: &str) {
    let kept = async {
        while text(&scene.action(call).await["lease_until"]).as_str() <= until {
            editor.answers_pings(1).await;
        }
    };
    tokio::time::timeout(PATIENCE, kept).await.unwrap();
}

/// Advances the clock in steps of 50 seconds while the client stays connected, and checks that the call stays started.
async fn check_lease_is_extended(scene: &Scene, editor: &mut Socket, call: &str, times: usize) {
    for _ in 0..times {
        let until = text(&scene.action(call).await["lease_until"]);
        scene.world.passes(50).await;
        answer_pings_until_lease_ends_after(scene, editor, call, &until).await;
    }
    assert_eq!(scene.action(call).await["state"], "started");
}

/// While a client is connected, its calls stay leased.
#[tokio::test]
async fn lease_of_a_call_is_extended_while_its_client_is_connected() {
    let scene = Scene::in_world(World::with(brisk()).await).await;
    let mut editor = scene.joins().await;
    let call = text(&scene.calls(&mut editor, "read_file").await["call_id"]);
    check_lease_is_extended(&scene, &mut editor, &call, 8).await;
}

/// A client that reconnects does not receive its running call again until the lease has run out.
#[tokio::test]
async fn reconnected_client_does_not_receive_its_running_call_again() {
    for by_channel in [false, true] {
        let scene = Scene::in_world(World::with(brisk()).await).await;
        let path = if by_channel { "/ws/my-session?agent=editor" } else { &format!("/ws/{}", scene.session) };
        let mut editor = scene.alice.joins(path).await;
        let given = text(&scene.calls(&mut editor, "read_file").await["call_id"]);
        let (session, call) = match given.split_once(':') {
            Some((session, call)) => (session.to_owned(), call.to_owned()),
            None => (scene.session.clone(), given.clone()),
        };
        let scene = Scene { session, ..scene };
        let until = text(&scene.action(&call).await["lease_until"]);
        drop(editor);
        scene.world.passes(59).await;
        let mut back = scene.alice.joins(path).await;
        answer_pings_until_lease_ends_after(&scene, &mut back, &call, &until).await;
        check_lease_is_extended(&scene, &mut back, &call, 5).await;
        // The dialect has no message by which a client says that it still runs a call, so the wait is bounded.
        scene.world.passes(50).await;
        back.answers_pings(2).await;
        scene.world.passes(61).await;
        let again = back.hears_of("tool_call").await;
        assert_eq!((&again["call_id"], &again["requires_approval"]), (&json!(given), &json!(false)));
        check_lease_is_extended(&scene, &mut back, &call, 8).await;
    }
}

/// A call whose client has gone is sent to another client that stayed connected.
#[tokio::test]
async fn call_of_a_lost_client_is_sent_to_another_connected_client() {
    let scene = Scene::in_world(World::with(brisk()).await).await;
    let (mut first, mut second) = (scene.joins().await, scene.joins().await);
    scene.play.says("", &[("c", "read_file", json!({ "path": "a.md" }))]);
    first.says(json!({ "type": "user_message", "content": "Read it." })).await;
    let (lost, mut there, call) = tokio::select! {
        call = first.hears_of("tool_call") => (first, second, call),
        call = second.hears_of("tool_call") => (second, first, call),
    };
    lost.leaves().await;
    scene.world.passes(61).await;
    let offered = there.hears_of("tool_call").await;
    assert_eq!((&offered["call_id"], &offered["requires_approval"]), (&call["call_id"], &json!(false)));
}

/// No call is sent while the session is paused; waiting calls are sent when it resumes.
#[tokio::test]
async fn no_call_is_sent_while_the_session_is_paused() {
    let scene = Scene::new().await;
    let mut editor = scene.joins().await;
    let call = text(&scene.calls(&mut editor, "write_file").await["call_id"]);
    scene.alice.commands(&scene.session, "pause").await.done();
    decides(&mut editor, &call, "approve", json!({})).await;
    editor.hears_of("hitl_resolved").await;
    editor.is_refused(json!({ "type": "nothing" }), "body_invalid").await;
    assert_eq!(scene.action(&call).await["state"], "allowed");
    scene.alice.commands(&scene.session, "resume").await.done();
    assert_eq!(editor.hears_of("tool_call").await["requires_approval"], false);
}

/// Other people may watch and decide; only the client of the person who opened the session runs the tool.
#[tokio::test]
async fn only_the_client_of_the_session_opener_runs_its_calls() {
    let scene = Scene::new().await;
    let bob = scene.world.person("bob").await;
    let mut watcher = bob.joins(&format!("/ws/{}", scene.session)).await;
    let mut editor = scene.joins().await;
    let call = text(&scene.calls(&mut editor, "write_file").await["call_id"]);
    watcher.hears_of("tool_call").await;
    decides(&mut watcher, &call, "approve", json!({})).await;
    assert_eq!(editor.hears_of("tool_call").await["requires_approval"], false);
    watcher.is_refused(json!({ "type": "tool_result", "call_id": call, "result": "mine" }), "not_your_action").await;
    editor.says(json!({ "type": "tool_result", "call_id": call, "result": "ok" })).await;
    loop {
        let message = watcher.hears().await;
        assert_ne!(message["type"], "tool_call", "the call was sent to another person");
        if message["is_final"] == true {
            break;
        }
    }
}

/// The first message opens a session in the channel that the client names.
#[tokio::test]
async fn first_message_opens_a_session_in_the_channel() {
    let scene = Scene::new().await;
    let hello = json!({ "type": "user_message", "content": "Hello." });
    let mut unknown = scene.alice.joins("/ws/my-session?agent=nobody").await;
    unknown.is_refused(hello.clone(), "not_found").await;
    scene.play.says("Hello to you.", &[]);
    scene.play.says("Hello again.", &[]);
    let mut editor = scene.alice.joins("/ws/my-session?agent=editor").await;
    editor.is_refused(json!({ "type": "hitl_decision", "call_id": "a", "decision": "approve" }), "not_found").await;
    editor.says(hello.clone()).await;
    while editor.hears_of("assistant_message").await["is_final"] != true {}
    editor.leaves().await;
    // A client that reconnects to the channel joins the running session.
    let mut again = scene.alice.joins("/ws/my-session").await;
    again.says(hello).await;
    while again.hears_of("assistant_message").await["is_final"] != true {}
    let sessions = scene.alice.get("/v1/sessions").await.done();
    let sessions: Vec<&Value> =
        sessions["sessions"].as_array().unwrap().iter().filter(|one| one["channel"] == "my-session").collect();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["agent"], "editor");
}

/// Clients that start one conversation at the same time share one session. After the session has ended, the next
/// message starts a new session with the agent of the old one, even if the channel is named by the id of its first
/// session.
#[tokio::test]
async fn concurrent_first_messages_open_one_session() {
    let scene = Scene::new().await;
    let hello = || json!({ "type": "user_message", "content": "Hello." });
    let heard = async |editor: &mut Socket| while editor.hears_of("assistant_message").await["is_final"] != true {};
    let of = async |channel: &str| {
        let page = scene.alice.get("/v1/sessions?limit=200").await.done();
        let all = page["sessions"].as_array().cloned().unwrap().into_iter();
        all.filter(|one| one["channel"] == channel).collect::<Vec<Value>>()
    };
    // The clients name no agent: the server has only one.
    let mut editors = futures::future::join_all((0..8).map(|_| scene.alice.joins("/ws/together"))).await;
    futures::future::join_all(editors.iter_mut().map(|editor| editor.says(hello()))).await;
    for editor in &mut editors {
        heard(editor).await;
    }
    assert_eq!(of("together").await.len(), 1);
    let own = scene.session.trim_start_matches("ses_").to_owned();
    for (name, last) in [("together".to_owned(), text(&of("together").await[0]["id"])), (own, scene.session.clone())] {
        let mut editor = scene.alice.joins(&format!("/ws/{name}")).await;
        scene.alice.commands(&last, "cancel").await.done();
        for _ in 0..2 {
            editor.says(hello()).await;
            heard(&mut editor).await;
        }
        let sessions = of(&name).await;
        assert_eq!(sessions.len(), 2, "{name}: {sessions:?}");
        assert!(sessions.iter().all(|one| one["agent"] == "editor"), "{sessions:?}");
    }
}

/// A failed step is reported to the client.
#[tokio::test]
async fn failed_step_is_reported_to_the_client() {
    let scene = Scene::new().await;
    let mut editor = scene.joins().await;
    scene.play.fails("the key is wrong");
    editor.says(json!({ "type": "user_message", "content": "Go on." })).await;
    let error = editor.hears_of("error").await;
    assert_eq!(error["code"], "step_failed");
    assert!(text(&error["content"]).contains("the key is wrong"), "{error}");
}
