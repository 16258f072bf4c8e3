//! Tests permits: a permit is valid for one start of one action, and an outcome is reported once.

use domain::Role;
use serde_json::{Value, json};

use server_testkit::actions::{Proposed, Scene, call, question_of, writing};
use server_testkit::client::text;

/// A start spends the permit; a second start is refused.
#[tokio::test]
async fn a_permit_starts_one_action_once() {
    let scene = Scene::new().await;
    let allowed = scene.approved(&scene.writes("c1").await).await;
    let started = scene.agent.starts(&allowed).await.done();
    assert_eq!(started["state"], "started");
    assert!(text(&allowed.permit()).starts_with(&text(&started["spent_permit"])));
    scene.agent.starts(&allowed).await.refused(409, "action_state");
    scene.agent.has_done(&allowed).await;
    scene.agent.starts(&allowed).await.refused(409, "action_state");
    let events = scene.agent.events(&scene.session).await;
    assert_eq!(events.iter().filter(|name| *name == "action.started").count(), 1);
}

/// Several workers start with one permit at once: one wins.
#[tokio::test]
async fn one_of_several_concurrent_starts_wins() {
    let scene = Scene::new().await;
    for round in 0..5 {
        let allowed = scene.approved(&scene.writes(&format!("c{round}")).await).await;
        let replies = futures::future::join_all((0..8).map(|_| scene.agent.starts(&allowed))).await;
        let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!((won.len(), lost.len()), (1, 7));
        for reply in lost {
            reply.refused(409, "action_state");
        }
    }
}

/// A start that is repeated under its idempotency key returns the first result.
#[tokio::test]
async fn start_repeated_with_its_idempotency_key_returns_the_first_result() {
    let scene = Scene::new().await;
    let allowed = scene.approved(&scene.writes("c1").await).await;
    let body = json!({ "permit": allowed.permit() });
    let first = scene.agent.post_once("k", &allowed.path("/start"), body.clone()).await.done();
    assert_eq!(scene.agent.post_once("k", &allowed.path("/start"), body).await.done(), first);
    let other = json!({ "permit": allowed.permit(), "lease_seconds": 5 });
    scene.agent.post_once("k", &allowed.path("/start"), other).await.refused(409, "idempotency_conflict");
}

/// A permit is bound to its tenant, session, call, arguments and agent, and cannot be forged.
#[tokio::test]
async fn permit_is_bound_to_its_session_call_arguments_and_agent() {
    let scene = Scene::new().await;
    let (first, second) = (scene.writes("c1").await, scene.writes("c2").await);
    let (first, second) = (scene.approved(&first).await, scene.approved(&second).await);
    scene.agent.starts_with(&first, &second.permit()).await.refused(403, "permit_unknown");

    let elsewhere = scene.agent.opens(json!({ "agent": "helper" })).await;
    let twin = scene.agent.proposes(&elsewhere, writing("c1")).await;
    let twin = scene.approved(&twin).await;
    scene.agent.starts_with(&twin, &first.permit()).await.refused(403, "permit_unknown");

    let good = text(&first.permit());
    let (id, seal) = good.split_once('.').unwrap();
    let flipped: String = seal.chars().map(|c| if c == '0' { '1' } else { '0' }).collect();
    let other_id = text(&second.permit()).split_once('.').unwrap().0.to_owned();
    for tampered in [
        String::new(),
        id.to_owned(),
        format!("{id}."),
        format!("{id}.{flipped}"),
        format!("{other_id}.{seal}"),
        format!("{good}0"),
        good[..good.len() - 1].to_owned(),
        good.to_uppercase(),
    ] {
        scene.agent.starts_with(&first, &json!(tampered)).await.refused(403, "permit_unknown");
    }
    let other = scene.world.someone("default", Role::Agent, "other", &[]).await;
    other.starts(&first).await.refused(404, "not_found");
    scene.alice.starts(&first).await.refused(403, "role_forbids");
    scene.root.starts(&first).await.refused(403, "not_your_action");
    assert_eq!(scene.agent.state(&first).await, "allowed", "the refused requests did not change the action");
    scene.agent.starts(&first).await.done();
}

/// A permit expires after a day, and the action is then rejected.
#[tokio::test]
async fn permit_expires_after_a_day() {
    let scene = Scene::new().await;
    let allowed = scene.approved(&scene.writes("c1").await).await;
    assert_eq!(allowed.shown["permit_expires_at"], "2026-01-02T00:00:00Z");
    scene.world.passes(24 * 3600 - 1).await;
    assert_eq!(scene.agent.state(&allowed).await, "allowed");
    scene.world.passes(1).await;
    let over = scene.agent.sees(&allowed).await.shown;
    assert_eq!((&over["state"], over.get("permit")), (&json!("rejected"), None));
    assert_eq!(over["feedback"], "the permit ran out at 2026-01-02T00:00:00Z");
    scene.agent.starts(&allowed).await.refused(410, "permit_expired");
    assert_eq!(scene.proposes(writing("c1")).await.shown["state"], "rejected");
}

/// No action starts while the session is paused. The permit is valid again after a resume, and void after the end.
#[tokio::test]
async fn no_action_starts_in_a_paused_or_ended_session() {
    let scene = Scene::new().await;
    let (first, second) = (scene.writes("c1").await, scene.writes("c2").await);
    let (first, second) = (scene.approved(&first).await, scene.approved(&second).await);
    scene.alice.commands(&scene.session, "pause").await.done();
    scene.agent.starts(&first).await.refused(409, "session_paused");
    scene.alice.commands(&scene.session, "resume").await.done();
    scene.agent.starts(&first).await.done();
    scene.alice.commands(&scene.session, "cancel").await.done();
    scene.agent.starts(&second).await.refused(409, "session_ended");
    assert_eq!(scene.agent.has_done(&first).await["state"], "done", "an outcome can still be reported");
}

/// An outcome is reported once, after the start, by the agent that started the action.
#[tokio::test]
async fn outcome_is_reported_once_by_the_agent_that_started_the_action() {
    let scene = Scene::new().await;
    let allowed = scene.approved(&scene.writes("c0").await).await;
    scene.agent.reports(&allowed, json!({ "outcome": "done" })).await.refused(409, "action_state");
    let failed = json!({ "outcome": "failed", "message": "disk full", "result": { "written": 3 } });
    let told = [(json!({ "outcome": "done", "result": [1] }), "done"), (failed, "failed")];
    for (number, (outcome, state)) in told.into_iter().enumerate() {
        let started = scene.started(&format!("c{}", number + 1)).await;
        let other = scene.world.someone("default", Role::Agent, "other", &[]).await;
        other.reports(&started, outcome.clone()).await.refused(404, "not_found");
        let shown = scene.agent.reports(&started, outcome.clone()).await.done();
        assert_eq!((&shown["state"], &shown["result"]), (&json!(state), &outcome["result"]));
        assert_eq!(shown.get("message"), outcome.get("message"));
        scene.agent.reports(&started, outcome).await.refused(409, "action_state");
    }
    let started = scene.started("c3").await;
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    for (outcome, places) in [
        (json!({ "outcome": "done", "result": deep }), ["/result"]),
        (json!({ "outcome": "done", "result": "x".repeat(300_000) }), ["/result"]),
        (json!({ "outcome": "failed", "message": "nul\u{0}" }), ["/message"]),
    ] {
        scene.agent.reports(&started, outcome).await.refused_at(422, "body_invalid", &places);
    }
    scene.agent.reports(&started, json!({ "outcome": "maybe" })).await.refused(422, "body_invalid");
    scene.agent.starts_with(&started, &Value::Null).await.refused(422, "body_invalid");
    let long = json!({ "permit": "x", "lease_seconds": 90_000 });
    scene.agent.post(&started.path("/start"), long).await.refused_at(422, "body_invalid", &["/lease_seconds"]);
}

/// Starts an action and lets its lease run out: the outcome is unknown, and people are asked about it.
async fn action_with_unknown_outcome(scene: &Scene, name: &str) -> Proposed {
    let started = scene.started(name).await;
    scene.world.passes(60).await;
    let unknown = scene.agent.sees(&started).await;
    assert_eq!(unknown.shown["state"], "unknown");
    assert_ne!(unknown.shown["interaction"], started.shown["interaction"], "the outcome has a question of its own");
    unknown
}

/// A person settles an action with an unknown outcome; each option is tried.
#[tokio::test]
async fn person_settles_an_action_with_an_unknown_outcome() {
    let scene = Scene::new().await;
    let unknown = action_with_unknown_outcome(&scene, "ran").await;
    let asked = scene.alice.reads(&unknown.question()).await;
    let offered: Vec<String> = asked["options"].as_array().unwrap().iter().map(|option| text(&option["id"])).collect();
    assert_eq!(offered, ["it_ran", "it_failed", "run_again", "leave"]);
    assert_eq!(asked["title"], "What happened to write_file?");
    assert_eq!(asked["action"]["arguments"], unknown.shown["arguments"]);
    scene.alice.decides(&unknown, json!({ "option": "it_ran", "feedback": "I saw the file" })).await.done();
    let ran = scene.agent.sees(&unknown).await.shown;
    assert_eq!((&ran["state"], &ran["result"]), (&json!("done"), &json!("I saw the file")));

    let unknown = action_with_unknown_outcome(&scene, "failed").await;
    scene.alice.decides(&unknown, json!({ "option": "it_failed", "feedback": "no file there" })).await.done();
    let failed = scene.agent.sees(&unknown).await.shown;
    assert_eq!((&failed["state"], &failed["message"]), (&json!("failed"), &json!("no file there")));

    let unknown = action_with_unknown_outcome(&scene, "left").await;
    scene.alice.decides(&unknown, json!({ "option": "leave" })).await.done();
    assert_eq!(scene.agent.state(&unknown).await, "unknown");
    assert_eq!(scene.agent.has_done(&unknown).await["state"], "done", "the agent may still report the outcome");

    let unknown = action_with_unknown_outcome(&scene, "again").await;
    let remember = json!({ "option": "run_again", "remember": { "scope": "project", "arguments": "any" } });
    scene.alice.decides(&unknown, remember).await.refused_at(422, "answer_invalid", &["/remember"]);
    scene.alice.decides(&unknown, json!({ "option": "run_again" })).await.done();
    let again = scene.agent.sees(&unknown).await;
    assert_eq!(again.shown["state"], "allowed");
    scene.agent.starts(&again).await.done();
    assert_eq!(scene.agent.has_done(&again).await["state"], "done");
}

/// An agent may report an unknown outcome, and a late report withdraws the question about it.
#[tokio::test]
async fn late_report_withdraws_the_question_about_an_unknown_outcome() {
    let scene = Scene::new().await;
    let started = scene.started("c1").await;
    let unknown = scene.agent.reports(&started, json!({ "outcome": "unknown" })).await.done();
    assert_eq!(unknown["state"], "unknown");
    let asked = question_of(&unknown);
    assert_eq!(scene.alice.reads(&asked).await["status"], "pending");
    scene.agent.has_done(&started).await;
    let closed = scene.alice.reads(&asked).await;
    assert_eq!(closed["status"], "cancelled");
    assert_eq!(closed["resolution"]["reason"], "the agent reported the outcome");
    scene.alice.answers(&asked, json!({ "option": "it_failed" })).await.refused(409, "interaction_already_resolved");
    assert_eq!(scene.agent.state(&started).await, "done");

    let unknown = action_with_unknown_outcome(&scene, "c2").await;
    scene.agent.has_done(&unknown).await;
    assert_eq!(scene.alice.reads(&unknown.question()).await["status"], "cancelled");
    assert_eq!(scene.agent.session(&scene.session).await["status"], "running");
}

/// A report of an earlier run does not end the run that people started again, not even while the outcome of that run is
/// unknown.
#[tokio::test]
async fn late_report_of_an_earlier_run_does_not_end_the_current_run() {
    let scene = Scene::new().await;
    let allowed = scene.approved(&scene.writes("c1").await).await;
    let first = allowed.permit();
    scene.agent.starts(&allowed).await.done();
    scene.world.passes(60).await;
    let unknown = scene.agent.sees(&allowed).await;
    assert_eq!(unknown.shown["state"], "unknown");
    assert!(
        text(&first).starts_with(&text(&unknown.shown["spent_permit"])),
        "the action names the run with the unknown outcome"
    );
    scene.alice.decides(&unknown, json!({ "option": "run_again" })).await.done();
    let again = scene.agent.sees(&unknown).await;
    let second = again.permit();
    let started = scene.agent.starts(&again).await.done();
    let late = json!({ "outcome": "failed", "message": "the first has failed", "permit": first });
    scene.agent.reports(&again, late.clone()).await.refused(409, "another_run");
    scene.world.passes(60).await;
    let unknown = scene.agent.sees(&again).await;
    scene.agent.reports(&again, late.clone()).await.refused(409, "another_run");
    let mut socket = scene.agent.joins("/v1/ws").await;
    let mut request = late;
    (request["type"], request["session"]) = (json!("outcome"), json!(scene.session));
    request["call_id"] = unknown.shown["call_id"].clone();
    assert_eq!(socket.asks(request).await["problem"]["code"], "another_run");
    assert_eq!(scene.alice.reads(&unknown.question()).await["status"], "pending", "the question stays open");
    for none in ["", "prm_", "run 2"] {
        let body = json!({ "outcome": "done", "permit": none });
        scene.agent.reports(&again, body).await.refused(403, "permit_unknown");
    }
    assert!(text(&second).starts_with(&text(&started["spent_permit"])));
    let own = json!({ "outcome": "done", "permit": started["spent_permit"] });
    assert_eq!(scene.agent.reports(&again, own).await.done()["state"], "done");
}

/// An action of an idempotent tool is offered again with a new permit, and nobody is asked.
#[tokio::test]
async fn idempotent_action_is_offered_again_after_its_lease_expired() {
    let rules = r#"
[[tool]]
name = "ping"
idempotent = true
[[rule]]
name = "pings"
tools = ["ping"]
verdict = "allow"
"#;
    let scene = Scene::ruled_by(rules).await;
    let allowed = scene.proposes(call("c1", "ping", json!({}))).await;
    scene.agent.starts(&allowed).await.done();
    scene.world.passes(60).await;
    let offered = scene.agent.sees(&allowed).await;
    assert_eq!(offered.shown["state"], "allowed");
    assert_ne!(offered.permit(), allowed.permit());
    scene.agent.starts(&allowed).await.refused(403, "permit_unknown");
    scene.agent.starts(&offered).await.done();
    scene.agent.has_done(&offered).await;
    let wanted = ["action.allowed", "action.started", "action.offered", "action.started", "action.done"];
    assert_eq!(scene.agent.events(&scene.session).await[1..], wanted);
}

/// The people who had to approve an action decide whether it runs again.
#[tokio::test]
async fn approvers_of_an_action_are_asked_about_its_unknown_outcome() {
    let rules = r#"
[[rule]]
name = "production"
tools = ["deploy"]
verdict = "ask"
ask = { audience = { groups = ["security"] } }
"#;
    let scene = Scene::ruled_by(rules).await;
    let sam = scene.security("sam").await;
    let action = scene.proposes(call("c1", "deploy", json!({}))).await;
    sam.decides(&action, json!({ "option": "approve" })).await.done();
    let allowed = scene.agent.sees(&action).await;
    scene.agent.starts(&allowed).await.done();
    scene.world.passes(60).await;
    let unknown = scene.agent.sees(&allowed).await;
    scene.alice.decides(&unknown, json!({ "option": "run_again" })).await.refused(403, "not_in_audience");
    sam.decides(&unknown, json!({ "option": "run_again" })).await.done();
    assert_eq!(scene.agent.state(&unknown).await, "allowed");
}
