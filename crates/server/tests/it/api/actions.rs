//! Tests actions: an agent proposes a call, the policy rules on it, people decide, and only an allowed action runs.

use std::collections::BTreeSet;

use domain::Role;
use serde_json::{Value, json};

use server_testkit::actions::{Scene, call, writing};
use server_testkit::client::{ids, text};
use server_testkit::world::World;

/// The built-in policy allows reading: the reply contains the permit, and nobody is asked.
#[tokio::test]
async fn allowed_action_gets_a_permit_without_a_question() {
    let scene = Scene::new().await;
    let reply = scene.agent.proposes_in(&scene.session, call("c1", "read_file", json!({ "path": "a" }))).await;
    assert_eq!(reply.status, 200);
    let shown = reply.done();
    assert_eq!((&shown["state"], &shown["ruling"]["rule"]), (&json!("allowed"), &json!("read-freely")));
    assert_eq!(shown["ruling"]["verdict"], "allow");
    assert_eq!((&shown["permit"].is_string(), shown.get("interaction")), (&true, None));
    let read = scene.alice.get(&format!("/v1/sessions/{}/actions/c1", scene.session)).await.done();
    assert_eq!(read.get("permit"), None, "a reader is shown the permit");
    assert_eq!(scene.agent.events(&scene.session).await, ["session.started", "action.allowed"]);
}

/// The agent receives the reason of a denial, cannot start the action, and nobody is asked.
#[tokio::test]
async fn denied_action_never_starts() {
    let rule = "[[rule]]\nname = \"never\"\ntools = [\"format_disk\"]\nverdict = \"deny\"\nreason = \"Disks stay.\"\n";
    let scene = Scene::ruled_by(rule).await;
    let denied = scene.proposes(call("c1", "format_disk", json!({}))).await;
    assert_eq!((&denied.shown["state"], &denied.shown["feedback"]), (&json!("denied"), &json!("Disks stay.")));
    let permit = json!("prm_00000000-0000-7000-8000-000000000000.00");
    scene.agent.starts_with(&denied, &permit).await.refused(409, "action_state");
    assert_eq!(scene.alice.get("/v1/interactions").await.done()["interactions"], json!([]));
    assert_eq!(scene.agent.events(&scene.session).await, ["session.started", "action.denied"]);
}

/// An action that the policy asks about waits for people. The question shows the exact call and the rule that asks.
#[tokio::test]
async fn action_that_the_policy_asks_about_waits_for_a_person() {
    let scene = Scene::new().await;
    let body =
        json!({ "call_id": "c1", "tool": "write_file", "arguments": { "path": "a" }, "context": { "why": "tidy" } });
    let reply = scene.agent.proposes_in(&scene.session, body).await;
    assert_eq!((reply.status, &reply.headers["retry-after"].to_str().unwrap()), (202, &"0"));
    let waiting = scene.proposes(json!({ "call_id": "c1", "tool": "write_file", "arguments": { "path": "a" } })).await;
    let asked = scene.alice.reads(&waiting.question()).await;
    assert_eq!(asked["kind"], "approval");
    assert_eq!(asked["action"]["arguments"], json!({ "path": "a" }));
    assert_eq!(asked["context"], json!({ "why": "tidy" }));
    assert_eq!(asked["asked_by_rule"]["rule"], "ask-before-changing");
    assert_eq!(asked["asked_by_rule"]["policy"], waiting.shown["ruling"]["policy"]);
    assert_eq!(scene.agent.session(&scene.session).await["status"], "waiting_user_input");
    let allowed = scene.approved(&waiting).await;
    assert_eq!(allowed.shown["state"], "allowed");
    let closed = scene.alice.reads(&waiting.question()).await;
    assert_eq!(closed["delivery"]["state"], "not_needed", "the agent reads the decision from the action");
    assert_eq!(scene.agent.deliveries().await, Vec::<String>::new());
    let events = scene.agent.events(&scene.session).await;
    let wanted = ["session.started", "interaction.asked", "action.waiting", "interaction.answered", "action.allowed"];
    assert_eq!(events, wanted);
}

/// An action passes through all its states from proposal to outcome, and the event list shows each of them.
#[tokio::test]
async fn an_action_goes_from_its_call_to_its_outcome() {
    let scene = Scene::new().await;
    let started = scene.started("c1").await;
    assert_eq!(started.shown["state"], "started");
    assert_eq!(started.shown["lease_until"], "2026-01-01T00:01:00Z");
    assert_eq!(started.shown.get("permit"), None);
    let done = scene.agent.has_done(&started).await;
    assert_eq!((&done["state"], &done["result"]), (&json!("done"), &json!({ "bytes": 5 })));
    let events = scene.agent.events(&scene.session).await;
    assert_eq!(events[4..], ["action.allowed", "action.started", "action.done"]);
}

/// A call id that is proposed again with equal arguments returns the existing action. The order of keys does not
/// matter.
#[tokio::test]
async fn repeated_call_id_with_equal_arguments_returns_the_existing_action() {
    let scene = Scene::new().await;
    let first = scene.writes("c1").await;
    let before = scene.agent.events(&scene.session).await;
    let turned =
        json!({ "arguments": { "content": "hello", "path": "notes.md" }, "tool": "write_file", "call_id": "c1" });
    assert_eq!(scene.proposes(turned).await.shown, first.shown);
    assert_eq!(scene.agent.events(&scene.session).await, before);
    for other in [
        call("c1", "write_file", json!({ "path": "notes.md", "content": "hullo" })),
        call("c1", "write_file", json!({ "path": "notes.md" })),
        call("c1", "delete_file", json!({ "path": "notes.md", "content": "hello" })),
    ] {
        scene.agent.proposes_in(&scene.session, other).await.refused(409, "call_conflict");
    }
    let other = scene.world.someone("default", Role::Agent, "other", &[]).await;
    other.proposes_in(&scene.session, writing("c1")).await.refused(404, "not_found");
    let allowed = scene.approved(&first).await;
    assert_eq!(scene.proposes(writing("c1")).await.shown, allowed.shown, "also after the decision");
    scene.alice.commands(&scene.session, "cancel").await.done();
    assert_eq!(scene.proposes(writing("c1")).await.shown["state"], "allowed", "also after the end of the session");
    scene.agent.proposes_in(&scene.session, writing("c2")).await.refused(409, "session_ended");
}

/// Twenty workers of one agent propose an identical call at once: one question and one event result.
#[tokio::test]
async fn call_proposed_twice_concurrently_opens_one_question() {
    let scene = Scene::new().await;
    let all = (0..20).map(|_| scene.agent.proposes_in(&scene.session, writing("c1")));
    let replies = futures::future::join_all(all).await;
    let asked: BTreeSet<String> = replies.into_iter().map(|reply| text(&reply.done()["interaction"])).collect();
    assert_eq!(asked.len(), 1);
    let open = scene.alice.get("/v1/interactions?status=pending").await.done();
    assert_eq!(ids(&open["interactions"]), asked.into_iter().collect::<Vec<_>>());
    assert_eq!(scene.agent.events(&scene.session).await, ["session.started", "interaction.asked", "action.waiting"]);
}

/// Parallel calls of one turn are all stored; each has its own question and is answered separately.
#[tokio::test]
async fn parallel_actions_have_separate_questions() {
    let scene = Scene::new().await;
    let names = ["c1", "c2", "c3", "c4"];
    let mut open = Vec::new();
    for name in names {
        open.push(scene.writes(name).await);
    }
    let free = scene.proposes(call("c0", "read_file", json!({}))).await;
    scene.agent.starts(&free).await.done();
    scene.approved(&open[2]).await;
    scene.alice.decides(&open[0], json!({ "option": "reject", "feedback": "no" })).await.done();
    let page = scene.agent.get(&format!("/v1/sessions/{}/actions", scene.session)).await.done();
    let states: Vec<(String, String)> =
        page["actions"].as_array().unwrap().iter().map(|it| (text(&it["call_id"]), text(&it["state"]))).collect();
    let wanted = [("c0", "started"), ("c1", "rejected"), ("c2", "waiting"), ("c3", "allowed"), ("c4", "waiting")];
    assert_eq!(states, wanted.map(|(call, state)| (call.to_owned(), state.to_owned())));
    assert_eq!(scene.agent.session(&scene.session).await["status"], "waiting_user_input");
    let first = scene.agent.get(&format!("/v1/sessions/{}/actions?limit=3", scene.session)).await.done();
    assert_eq!(first["next"], "c2");
    let rest = scene.agent.get(&format!("/v1/sessions/{}/actions?limit=3&cursor=c2", scene.session)).await.done();
    assert_eq!(rest["actions"].as_array().unwrap().len(), 2);
    assert_eq!(rest.get("next"), None);
}

/// A waiting caller receives the decision at once. A caller whose wait has ended may repeat its request.
#[tokio::test]
async fn waiting_agent_receives_the_decision() {
    let scene = Scene::new().await;
    let patient = json!({ "call_id": "c1", "tool": "write_file", "arguments": {}, "wait": 60 });
    let waiting = scene.agent.proposes_in(&scene.session, patient.clone());
    let deciding = async {
        scene.world.listened_to(1).await;
        let open = scene.alice.get("/v1/interactions?status=pending").await.done();
        let answer = json!({ "option": "approve" });
        let id = &ids(&open["interactions"])[0];
        scene.alice.post(&format!("/v1/interactions/{id}/answer"), answer).await.done();
    };
    let (reply, ()) = tokio::join!(waiting, deciding);
    assert_eq!((reply.status, &reply.body["state"]), (200, &json!("allowed")));
    assert!(reply.body["permit"].is_string());

    let short_wait = json!({ "call_id": "c2", "tool": "write_file", "arguments": {}, "wait": 1 });
    let over = scene.agent.proposes_in(&scene.session, short_wait).await;
    assert_eq!(
        (over.status, &over.body["state"], &over.headers["retry-after"]),
        (202, &json!("waiting"), &"0".parse().unwrap())
    );
    let again = json!({ "call_id": "c2", "tool": "write_file", "arguments": {}, "wait": 60 });
    let going_on = scene.agent.proposes_in(&scene.session, again);
    let question = server_testkit::actions::question_of(&over.body);
    let deciding = async {
        scene.world.listened_to(1).await;
        scene.alice.answers(&question, json!({ "option": "reject", "feedback": "not now" })).await.done();
    };
    let (reply, ()) = tokio::join!(going_on, deciding);
    assert_eq!(
        (reply.status, &reply.body["state"], &reply.body["feedback"]),
        (200, &json!("rejected"), &json!("not now"))
    );
    let read = scene.agent.get(&format!("/v1/sessions/{}/actions/c2?wait=60", scene.session)).await;
    assert_eq!(read.body["state"], "rejected", "a decided action is returned at once");
}

/// An invalid call is refused with pointers to its fields, and changes nothing.
#[tokio::test]
async fn invalid_calls_are_refused_with_pointers_to_their_fields() {
    let scene = Scene::new().await;
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let before = scene.world.everything().await;
    let bad: Vec<(Value, &[&str])> = vec![
        (call("", "t", json!({})), &["/call_id"]),
        (call("with space", "t", json!({})), &["/call_id"]),
        (call(&"x".repeat(300), "t", json!({})), &["/call_id"]),
        (call("c", "", json!({})), &["/tool"]),
        (call("c", "two\nlines", json!({})), &["/tool"]),
        (call("c", "safe\u{202e}looc", json!({})), &["/tool"]),
        (call("c", &"t".repeat(201), json!({})), &["/tool"]),
        (call("c", "t", json!([])), &["/arguments"]),
        (call("c", "t", json!("ls")), &["/arguments"]),
        (call("c", "t", Value::Null), &["/arguments"]),
        (call("c", "t", json!({ "a": deep })), &["/arguments"]),
        (json!({ "call_id": "c", "tool": "t", "arguments": {}, "context": deep }), &["/context"]),
        (call("", "", json!(1)), &["/call_id", "/tool", "/arguments"]),
        (call("c", "t", json!({ "a": "x".repeat(300_000) })), &[""]),
    ];
    for (body, places) in bad {
        scene.agent.proposes_in(&scene.session, body).await.refused_at(422, "body_invalid", places);
    }
    let exact = r#"{"call_id": "c", "tool": "t", "arguments": {"n": 1234567890123456789012345678}}"#;
    let path = format!("/v1/sessions/{}/actions", scene.session);
    scene.agent.post_raw(&path, exact).await.refused_at(422, "body_invalid", &["/arguments/n"]);
    let unknown = json!({ "call_id": "c", "tool": "t", "arguments": {}, "verdict": "allow" });
    scene.agent.proposes_in(&scene.session, unknown).await.refused(422, "body_invalid");
    let missing = json!({ "call_id": "c", "tool": "t" });
    scene.agent.proposes_in(&scene.session, missing).await.refused(422, "body_invalid");
    let patient = json!({ "call_id": "c", "tool": "t", "arguments": {}, "wait": 301 });
    scene.agent.proposes_in(&scene.session, patient).await.refused_at(422, "body_invalid", &["/wait"]);
    scene.agent.get(&format!("{path}/c?wait=301")).await.refused(400, "query_invalid");
    scene.agent.get(&format!("{path}/c")).await.refused(404, "not_found");
    scene.agent.get(&format!("{path}/%00")).await.refused(400, "id_invalid");
    assert_eq!(scene.world.everything().await, before);
    let whole = call("big", "read_file", json!({ "n": 9_007_199_254_740_993_u64 }));
    assert_eq!(scene.proposes(whole).await.shown["arguments"]["n"], 9_007_199_254_740_993_u64);
}

/// A caller of another tenant can neither see nor change an action.
#[tokio::test]
async fn actions_are_invisible_to_another_tenant() {
    let scene = Scene::new().await;
    let allowed = scene.approved(&scene.writes("c1").await).await;
    let stranger = scene.world.stranger().await;
    stranger.get(&allowed.path("")).await.refused(404, "not_found");
    stranger.starts(&allowed).await.refused(404, "not_found");
    stranger.reports(&allowed, json!({ "outcome": "done" })).await.refused(404, "not_found");
    stranger.proposes_in(&scene.session, writing("c1")).await.refused(404, "not_found");
    stranger.get(&format!("/v1/sessions/{}/actions", scene.session)).await.refused(404, "not_found");
    assert_eq!(scene.agent.sees(&allowed).await.shown, allowed.shown);
}

/// A decision and its permit survive a restart of the server.
#[tokio::test]
async fn permit_survives_a_restart_of_the_server() {
    let scene = Scene::new().await;
    let allowed = scene.approved(&scene.writes("c1").await).await;
    let Scene { world, agent, .. } = scene;
    let world: World = world.restarts().await;
    let agent = agent.at(&world);
    assert_eq!(agent.sees(&allowed).await.shown, allowed.shown);
    agent.starts(&allowed).await.done();
}
