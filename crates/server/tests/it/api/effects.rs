//! Tests each way in which a question about an action can end: only approve and edit lead to a permit.

use serde_json::{Value, json};

use server_testkit::actions::{Proposed, Scene, call};
use server_testkit::client::text;

/// Checks the effect of the decision, and that the action never starts: not with an invented permit and not after a
/// later approval.
async fn assert_never_starts(scene: &Scene, action: &Proposed, effect: Value, feedback: &str) {
    let seen = scene.agent.sees(action).await;
    assert_eq!((&seen.shown["state"], &seen.shown["effect"]), (&json!("rejected"), &effect), "{}", seen.shown);
    assert_eq!(seen.shown["feedback"], json!(feedback));
    assert_eq!(seen.shown.get("permit"), None);
    let made_up = json!("prm_00000000-0000-7000-8000-000000000000.00");
    let refused = scene.agent.starts_with(action, &made_up).await;
    assert!(["action_state", "session_ended"].contains(&refused.body["code"].as_str().unwrap()), "{}", refused.body);
    scene.agent.reports(action, json!({ "outcome": "done" })).await.refused(409, "action_state");
    scene.alice.decides(action, json!({ "option": "approve" })).await;
    assert_eq!(scene.agent.state(action).await, "rejected", "a later approval changes nothing");
}

/// Only approve and edit give a permit. Regression test: reject, retry and skip all ran the tool.
#[tokio::test]
async fn only_approve_and_edit_lead_to_a_permit() {
    let scene = Scene::new().await;
    for (option, more) in [("approve", json!({})), ("edit", json!({ "arguments": { "path": "b" } }))] {
        let action = scene.writes(option).await;
        let mut body = json!({ "option": option });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        scene.alice.decides(&action, body).await.done();
        let seen = scene.agent.sees(&action).await;
        assert_eq!(seen.shown["state"], "allowed");
        scene.agent.starts(&seen).await.done();
    }
    for option in ["retry", "reject"] {
        let action = scene.writes(option).await;
        scene.alice.decides(&action, json!({ "option": option, "feedback": "smaller" })).await.done();
        assert_never_starts(&scene, &action, json!(option), "smaller").await;
    }
    let last = scene.writes("terminate").await;
    let beside = scene.writes("beside").await;
    scene.alice.decides(&last, json!({ "option": "terminate", "feedback": "stop all" })).await.done();
    assert_never_starts(&scene, &last, json!("terminate"), "stop all").await;
    assert_never_starts(&scene, &beside, Value::Null, "stop all").await;
    assert_eq!(scene.agent.session(&scene.session).await["status"], "cancelled");
}

/// Options that a rule offers in place of the default ones do not run the action unless they approve it.
#[tokio::test]
async fn options_of_a_rule_other_than_approve_do_not_run_the_action() {
    let rule = r#"
[[rule]]
name = "mail"
tools = ["send_mail"]
verdict = "ask"
[rule.ask]
options = [
  { id = "send", label = "Send", effect = "approve" },
  { id = "later", label = "Not now", effect = "skip" },
  { id = "draft", label = "Keep as a draft", effect = "custom", metadata = { folder = "drafts" } },
  { id = "tell", label = "Say something", effect = "provide", requires_input = true },
]
"#;
    let scene = Scene::ruled_by(rule).await;
    for (option, effect) in [("later", "skip"), ("draft", "custom"), ("tell", "provide")] {
        let action = scene.proposes(call(option, "send_mail", json!({ "to": "bob" }))).await;
        let asked = scene.alice.reads(&action.question()).await;
        assert_eq!(asked["options"].as_array().unwrap().len(), 4);
        scene.alice.decides(&action, json!({ "option": option, "feedback": "hm" })).await.done();
        assert_never_starts(&scene, &action, json!(effect), "hm").await;
    }
    let action = scene.proposes(call("send", "send_mail", json!({ "to": "bob" }))).await;
    scene.alice.decides(&action, json!({ "option": "edit", "arguments": {} })).await.refused(422, "answer_invalid");
    scene.alice.decides(&action, json!({ "option": "send" })).await.done();
    assert_eq!(scene.agent.state(&action).await, "allowed");
}

/// At the deadline the question ends with the fallback of the rule, or expires.
#[tokio::test]
async fn fallback_of_the_rule_takes_effect_at_the_deadline() {
    let rules = r#"
[[rule]]
name = "plain"
tools = ["plain"]
verdict = "ask"
ask = { deadline_seconds = 60 }
[[rule]]
name = "denied"
tools = ["denied"]
verdict = "ask"
ask = { deadline_seconds = 60, fallback = "deny" }
[[rule]]
name = "optional"
tools = ["optional"]
verdict = "ask"
ask = { deadline_seconds = 60, fallback = { option = "retry" } }
[[rule]]
name = "held"
tools = ["held"]
verdict = "ask"
ask = { deadline_seconds = 60, fallback = "hold" }
"#;
    let scene = Scene::ruled_by(rules).await;
    let mut actions = Vec::new();
    for tool in ["plain", "denied", "optional", "held"] {
        actions.push(scene.proposes(call(tool, tool, json!({}))).await);
    }
    assert_eq!(scene.alice.reads(&actions[0].question()).await["deadline"], "2026-01-01T00:01:00Z");
    scene.world.passes(60).await;
    assert_never_starts(&scene, &actions[0], Value::Null, "nobody answered in time").await;
    assert_never_starts(&scene, &actions[1], json!("reject"), "nobody answered in time").await;
    assert_never_starts(&scene, &actions[2], json!("retry"), "nobody answered in time").await;
    assert_eq!(scene.agent.state(&actions[3]).await, "waiting");
    scene.approved(&actions[3]).await;
    assert_eq!(scene.agent.state(&actions[3]).await, "allowed", "the question stayed open and was approved late");
}

/// A question that is withdrawn or closed rejects its action; so does the end of the session.
#[tokio::test]
async fn cancelled_question_rejects_its_action() {
    let scene = Scene::new().await;
    let (withdrawn, closed, expired) = (scene.writes("a").await, scene.writes("b").await, scene.writes("c").await);
    let left = scene.writes("d").await;
    let cancel = |reason: &str| json!({ "reason": reason });
    scene.agent.post(&withdrawn.question().path("/cancel"), cancel("no longer needed")).await.done();
    scene.alice.post(&closed.question().path("/cancel"), cancel("wrong file")).await.done();
    scene.alice.post(&expired.question().path("/expire"), json!({})).await.done();
    assert_never_starts(&scene, &withdrawn, Value::Null, "no longer needed").await;
    assert_never_starts(&scene, &closed, Value::Null, "wrong file").await;
    assert_never_starts(&scene, &expired, Value::Null, "nobody answered in time").await;
    scene.alice.commands(&scene.session, "cancel").await.done();
    let seen = scene.agent.sees(&left).await;
    assert_eq!(text(&seen.shown["state"]), "rejected");
    assert_eq!(seen.shown["rejected_by"]["name"], "alice");
}

/// An automatic answer may bypass the audience and is recorded; it cannot edit.
#[tokio::test]
async fn automatic_answer_can_approve_but_not_edit() {
    let scene = Scene::new().await;
    let action = scene.writes("a").await;
    let path = action.question().path("/auto");
    scene.root.post(&path, json!({ "option": "edit" })).await.refused(422, "answer_invalid");
    scene.root.post(&path, json!({ "option": "approve", "source": "auto_policy" })).await.done();
    assert_eq!(scene.agent.state(&action).await, "allowed");
}
