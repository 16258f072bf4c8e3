//! Tests learnt rules: they are suggested from repeated decisions, adopted by an admin, and suspended by a
//! contradicting decision.

use serde_json::{Value, json};

use server_testkit::actions::{Proposed, Scene, call, policy};
use server_testkit::client::text;

fn command(name: &str, command: &str) -> Value {
    call(name, "execute_command", json!({ "command": command }))
}

/// Proposes a command and lets alice decide on it.
async fn decide_on_command(scene: &Scene, name: &str, words: &str, option: &str) -> Proposed {
    let waiting = scene.proposes(command(name, words)).await;
    assert_eq!(waiting.shown["state"], "waiting", "{name}");
    scene.alice.decides(&waiting, json!({ "option": option })).await.done();
    waiting
}

async fn suggestions(scene: &Scene) -> Vec<Value> {
    scene.alice.get("/v1/policy/suggestions").await.done()["suggestions"].as_array().cloned().unwrap()
}

/// Creates a scene with a rule in force that was learnt from five approvals.
async fn scene_with_learnt_rule() -> (Scene, String) {
    let scene = Scene::new().await;
    for number in 0..5 {
        decide_on_command(&scene, &format!("c{number}"), "npm ci", "approve").await;
    }
    let id = text(&suggestions(&scene).await[0]["id"]);
    scene.root.post(&format!("/v1/policy/suggestions/{id}/adopt"), json!({})).await.done();
    (scene, id)
}

#[tokio::test]
async fn five_equal_decisions_are_suggested_and_adopted() {
    let scene = Scene::new().await;
    let before = scene.root.get("/v1/policy").await.done();
    let mut interactions = Vec::new();
    for number in 0..5 {
        assert_eq!(suggestions(&scene).await, Vec::<Value>::new(), "{number} decisions are too few");
        interactions.push(
            decide_on_command(&scene, &format!("c{number}"), "npm ci", "approve").await.shown["interaction"].clone(),
        );
    }
    let found = suggestions(&scene).await;
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (&one["verdict"], &one["tool"], &one["agent"], &one["before"], &one["support"]),
        (&json!("allow"), &json!("execute_command"), &json!("bot"), &json!("ask-before-changing"), &json!(5))
    );
    interactions.reverse();
    assert_eq!(one["interactions"], Value::Array(interactions));
    assert_eq!(scene.root.get("/v1/policy").await.done(), before, "suggesting changes nothing");

    let adopt = format!("/v1/policy/suggestions/{}/adopt", text(&one["id"]));
    for caller in [&scene.alice, &scene.agent] {
        caller.post(&adopt, json!({})).await.refused(403, "role_forbids");
    }
    scene.root.post("/v1/policy/suggestions/learnt-000000000000/adopt", json!({})).await.refused(404, "not_found");
    scene.root.post(&adopt, json!({ "reason": " " })).await.refused_at(422, "body_invalid", &["/reason"]);
    let adopted = scene.root.post_once("k", &adopt, json!({})).await.done();
    assert_eq!(
        (&adopted["source"], &adopted["reason"], &adopted["suspended"]),
        (&json!("project"), &json!("learnt from 5 equal decisions"), &json!([]))
    );
    assert!(text(&adopted["text"]).contains(one["rule"].as_str().unwrap()));
    assert_eq!(
        scene.root.post_once("k", &adopt, json!({})).await.done(),
        adopted,
        "a repeated command returns the first result"
    );
    scene.root.post(&adopt, json!({})).await.refused(404, "not_found");
    scene.root.post_once("l", &adopt, json!({})).await.refused(404, "not_found");
    let allowed = scene.proposes(command("c9", "npm ci")).await.shown;
    assert_eq!((&allowed["state"], &allowed["ruling"]["rule"]), (&json!("allowed"), &one["id"]));
    assert_eq!(scene.proposes(command("c10", "npm ci; reboot")).await.shown["state"], "waiting");
    assert_eq!(suggestions(&scene).await, Vec::<Value>::new(), "a rule in force is not suggested");
    let trail = scene.root.get("/v1/audit?type=policy.changed").await.done();
    assert!(text(&trail["entries"][0]["data"]["diff"]).contains(&format!("+name = \"{}\"", text(&one["id"]))));
}

#[tokio::test]
async fn contradicting_decision_withdraws_a_suggestion() {
    let scene = Scene::new().await;
    for number in 0..5 {
        decide_on_command(&scene, &format!("c{number}"), "npm ci", "approve").await;
    }
    let id = text(&suggestions(&scene).await[0]["id"]);
    decide_on_command(&scene, "c5", "npm ci", "reject").await;
    assert_eq!(suggestions(&scene).await, Vec::<Value>::new());
    scene.root.post(&format!("/v1/policy/suggestions/{id}/adopt"), json!({})).await.refused(404, "not_found");
    let held = scene.alice.get("/v1/policy/suggestions").await.done()["held_back"][0].clone();
    assert_eq!(
        (&held["verdict"], &held["tool"], &held["agent"], &held["support"], &held["against"]),
        (&json!("allow"), &json!("execute_command"), &json!("bot"), &json!(5), &json!(1))
    );
    let example = &held["counter_examples"][0];
    assert_eq!((&example["session"], &example["call_id"]), (&json!(scene.session), &json!("c5")));
    assert_eq!(
        (&example["decision"]["effect"], &example["decision"]["by"]["name"]),
        (&json!("reject"), &json!("alice"))
    );
}

/// The rejection of a question that was open when the rule was adopted suspends the rule; the policy shows who
/// suspended it and why.
#[tokio::test]
async fn contradicting_decision_suspends_a_learnt_rule() {
    let scene = Scene::new().await;
    for number in 0..5 {
        decide_on_command(&scene, &format!("c{number}"), "npm ci", "approve").await;
    }
    let open = scene.proposes(command("open", "npm ci")).await;
    let other = scene.proposes(command("other", "npm test")).await;
    let id = text(&suggestions(&scene).await[0]["id"]);
    let adopted = scene.root.post(&format!("/v1/policy/suggestions/{id}/adopt"), json!({})).await.done();
    let allowed = scene.proposes(command("c6", "npm ci")).await;
    assert_eq!(allowed.shown["state"], "allowed");
    scene.alice.decides(&other, json!({ "option": "reject" })).await.done();
    assert_eq!(scene.root.get("/v1/policy").await.done(), adopted, "an answer about another command changes nothing");

    scene.alice.decides(&open, json!({ "option": "reject", "feedback": "not any more" })).await.done();
    let shown = scene.agent.get("/v1/policy").await.done();
    assert_eq!((&shown["version"], &shown["text"]), (&adopted["version"], &adopted["text"]));
    let suspended = &shown["suspended"][0];
    assert_eq!(
        (&suspended["rule"], &suspended["by"]["name"], &suspended["effect"], &suspended["interaction"]),
        (&json!(id), &json!("alice"), &json!("reject"), &open.shown["interaction"])
    );
    let asked = scene.proposes(command("c7", "npm ci")).await.shown;
    assert_eq!((&asked["state"], &asked["ruling"]["rule"]), (&json!("waiting"), &json!("ask-before-changing")));
    scene.agent.starts(&allowed).await.refused(409, "permit_void");
    let explained =
        json!({ "tool": "execute_command", "arguments": { "command": "npm ci" }, "agent": "bot", "user": "bot" });
    let explained = scene.agent.post("/v1/policy/explain", explained).await.done();
    assert_eq!(explained["ruling"]["verdict"], "ask");
    let fits = explained["considered"].as_array().unwrap();
    assert!(fits.iter().any(|one| one["rule"] == json!(id) && one["why"] == "suspended"), "{explained}");
    let trail = scene.root.get("/v1/audit?type=policy.rule_suspended").await.done();
    assert_eq!((trail["entries"].as_array().unwrap().len(), &trail["entries"][0]["by"]["name"]), (1, &json!("alice")));
    assert_eq!(trail["entries"][0]["data"]["rule"], json!(id));

    // The rule stays suspended through other policy changes, even if it is removed and put back, until an admin lifts
    // the suspension.
    let more = format!("{}\n[[rule]]\nname = \"more\"\ntools = [\"x\"]\nverdict = \"deny\"\n", text(&adopted["text"]));
    let put = scene.root.put("/v1/policy", json!({ "text": more })).await.done();
    assert_eq!(put["suspended"], shown["suspended"]);
    assert_eq!(scene.proposes(command("c8", "npm ci")).await.shown["state"], "waiting");
    assert_eq!(scene.root.rules_by("").await["suspended"], json!([]));
    let back = scene.root.put("/v1/policy", json!({ "text": more })).await.done();
    assert_eq!(back["suspended"], shown["suspended"]);
    let lift = format!("/v1/policy/suspensions/{id}/lift");
    let why = json!({ "reason": "it was a mistake" });
    for caller in [&scene.alice, &scene.agent] {
        caller.post(&lift, why.clone()).await.refused(403, "role_forbids");
    }
    scene.root.post(&lift, json!({ "reason": " " })).await.refused_at(422, "body_invalid", &["/reason"]);
    let lifted = scene.root.post_once("k", &lift, why.clone()).await.done();
    assert_eq!(lifted["suspended"], json!([]));
    assert_eq!(scene.root.post_once("k", &lift, why.clone()).await.done(), lifted);
    scene.root.post(&lift, why).await.refused(404, "not_found");
    assert_eq!(scene.proposes(command("c11", "npm ci")).await.shown["state"], "allowed");
    let trail = scene.root.get("/v1/audit?type=policy.suspension_lifted").await.done();
    let entry = &trail["entries"][0];
    assert_eq!(
        (&entry["by"]["name"], &entry["data"]["rule"], &entry["data"]["reason"]),
        (&json!("root"), &json!(id), &json!("it was a mistake"))
    );
}

/// The name of a learnt rule is reserved for its exact text; an edited rule needs another name.
#[tokio::test]
async fn name_of_a_learnt_rule_is_reserved_for_its_text() {
    let (scene, id) = scene_with_learnt_rule().await;
    let text = text(&scene.root.get("/v1/policy").await.done()["text"]);
    let other = text.replace("npm ci", "npm cx");
    for put in [other.clone(), policy("[[rule]]\nname = \"learnt-mine\"\ntools = [\"x\"]\nverdict = \"allow\"\n")] {
        let refused = scene.root.put("/v1/policy", json!({ "text": put })).await.refused(422, "policy_invalid");
        assert!(refused["errors"][0]["message"].as_str().unwrap().contains("error[reserved_name]"), "{refused}");
    }
    scene.root.put("/v1/policy", json!({ "text": other.replace(&id, "mine") })).await.done();
}

/// The rejection of a question that an agent asked by itself about an equal action suspends the rule too.
#[tokio::test]
async fn rejecting_an_agents_own_question_suspends_a_learnt_rule() {
    let (scene, id) = scene_with_learnt_rule().await;
    let action = json!({ "tool": "execute_command", "arguments": { "command": "npm ci" } });
    let body = json!({ "kind": "approval", "title": "May I?", "action": action });
    let question = scene.agent.asks_in(&scene.session, body.clone()).await;
    scene.alice.answers(&question, json!({ "option": "approve" })).await.done();
    assert_eq!(scene.root.get("/v1/policy").await.done()["suspended"], json!([]));
    let question = scene.agent.asks_in(&scene.session, body).await;
    scene.alice.answers(&question, json!({ "option": "reject" })).await.done();
    assert_eq!(scene.root.get("/v1/policy").await.done()["suspended"][0]["rule"], json!(id));
    assert_eq!(scene.proposes(command("c9", "npm ci")).await.shown["state"], "waiting");
}

/// A call that an earlier rule denies stays denied, and no rule is suggested for it.
#[tokio::test]
async fn no_rule_is_suggested_for_a_call_that_the_policy_denies() {
    let scene = Scene::new().await;
    for number in 0..5 {
        decide_on_command(&scene, &format!("c{number}"), "npm ci", "approve").await;
    }
    let never = "[[rule]]\nname = \"never\"\ntools = [\"execute_command\"]\nverdict = \"deny\"\n";
    let id = text(&suggestions(&scene).await[0]["id"]);
    scene.root.rules_by(never).await;
    assert_eq!(suggestions(&scene).await, Vec::<Value>::new());
    scene.root.post(&format!("/v1/policy/suggestions/{id}/adopt"), json!({})).await.refused(404, "not_found");
    assert_eq!(scene.root.get("/v1/policy").await.done()["text"], json!(policy(never)));
}
