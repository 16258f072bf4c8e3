//! Tests calls about which several rules ask: each rule has its own audience, and all must be satisfied.

use domain::Role;
use serde_json::{Value, json};

use server_testkit::actions::{Proposed, Scene, call};
use server_testkit::client::{ApiClient, ids};

const DEPLOY: &str = r#"
[[rule]]
name = "staging"
tools = ["deploy"]
when = 'args.env == "staging"'
verdict = "ask"
ask = { audience = { roles = ["operator"] }, deadline_seconds = 600, fallback = "hold" }
[[rule]]
name = "rest"
tools = ["deploy"]
verdict = "ask"
ask = { audience = { groups = ["ops"], quorum = 2, four_eyes = true }, deadline_seconds = 300, fallback = "deny" }
"#;

const PAY: &str = r#"
[[rule]]
name = "small"
tools = ["pay"]
when = 'args.amount >= 0.0 && args.amount < 10.0'
verdict = "allow"
[[rule]]
name = "large"
tools = ["pay"]
when = 'args.amount >= 10.0'
verdict = "ask"
ask = { audience = { groups = ["finance"], quorum = 2, four_eyes = true } }
"#;

fn approve() -> Value {
    json!({ "option": "approve" })
}

async fn member_of_group(scene: &Scene, group: &str, name: &str) -> ApiClient {
    scene.world.someone("default", Role::Viewer, name, &[group]).await
}

/// Proposes a deployment whose target is not a string: the first rule cannot be evaluated, and the second matches.
async fn propose_deployment(scene: &Scene, name: &str) -> Proposed {
    scene.proposes(call(name, "deploy", json!({ "env": ["production"] }))).await
}

/// Returns the audience, the quorum and the `met` flag of each requirement.
fn shown(question: &Value) -> Vec<(Value, Value, Value)> {
    let of = |one: &Value| (json!([one["roles"], one["groups"]]), one["quorum"].clone(), one["met"].clone());
    question["requirements"].as_array().map_or_else(Vec::new, |several| several.iter().map(of).collect())
}

/// An agent that changes the type of an argument cannot avoid the stricter rule.
#[tokio::test]
async fn argument_of_the_wrong_type_does_not_avoid_the_stricter_rule() {
    let scene = Scene::ruled_by(DEPLOY).await;
    let (vera, victor) = (member_of_group(&scene, "ops", "vera").await, member_of_group(&scene, "ops", "victor").await);
    let plain = scene.proposes(call("c0", "deploy", json!({ "env": "production" }))).await;
    let plain = scene.alice.reads(&plain.question()).await;
    assert_eq!((&plain["audience"]["quorum"], plain.get("requirements")), (&json!(2), None));
    let wrong = [json!({ "env": ["production"] }), json!({}), json!({ "env": null }), json!({ "x": 1 })];
    for (number, arguments) in wrong.into_iter().enumerate() {
        let action = scene.proposes(call(&format!("c{}", number + 1), "deploy", arguments)).await;
        let asked = scene.alice.reads(&action.question()).await;
        assert_eq!((&asked["audience"]["groups"], &asked["audience"]["quorum"]), (&json!(["ops"]), &json!(2)));
        assert_eq!(asked["audience"]["four_eyes"], true);
        assert_eq!(asked["fallback"], "deny", "the fallbacks of the rules differ");
        assert_eq!(asked["asked_by_rule"]["rule"], "staging");
        assert_eq!(asked["asked_by_rule"]["also"], json!(["rest"]));
        let (operators, ops) = (json!([["operator"], []]), json!([[], ["ops"]]));
        let both =
            |met: [bool; 2]| vec![(operators.clone(), json!(1), json!(met[0])), (ops.clone(), json!(2), json!(met[1]))];
        assert_eq!(shown(&asked), both([false, false]));
        scene.alice.decides(&action, approve()).await.done();
        assert_eq!(scene.agent.state(&action).await, "waiting", "the answer of one operator is not enough");
        vera.decides(&action, approve()).await.done();
        assert_eq!(shown(&scene.alice.reads(&action.question()).await), both([true, false]));
        victor.decides(&action, approve()).await.done();
        assert_eq!(shown(&scene.alice.reads(&action.question()).await), both([true, true]));
        let allowed = scene.agent.sees(&action).await;
        assert_eq!(allowed.shown["state"], "allowed");
        scene.agent.starts(&allowed).await.done();
    }
}

/// If the rules that would allow or restrict a call both fail, the people of the strict rule are asked.
#[tokio::test]
async fn call_whose_rules_all_fail_is_asked_of_the_strict_rules_audience() {
    let scene = Scene::ruled_by(PAY).await;
    let (fay, finn) =
        (member_of_group(&scene, "finance", "fay").await, member_of_group(&scene, "finance", "finn").await);
    for (number, arguments) in [json!({ "amount": "5000" }), json!({}), json!({ "amount": [5000] })].iter().enumerate()
    {
        let action = scene.proposes(call(&format!("c{number}"), "pay", arguments.clone())).await;
        let asked = scene.alice.reads(&action.question()).await;
        assert_eq!((&asked["audience"]["groups"], &asked["audience"]["quorum"]), (&json!(["finance"]), &json!(2)));
        scene.alice.decides(&action, approve()).await.done();
        assert_eq!(scene.agent.state(&action).await, "waiting", "an operator who is not in finance");
        fay.decides(&action, approve()).await.done();
        assert_eq!(scene.agent.state(&action).await, "waiting");
        finn.decides(&action, approve()).await.done();
        let allowed = scene.agent.sees(&action).await;
        scene.agent.starts(&allowed).await.done();
    }
    // A person outside every requirement may not answer, and a single rejection decides.
    let action = scene.proposes(call("c9", "pay", json!({}))).await;
    let other = member_of_group(&scene, "law", "lea").await;
    other.decides(&action, approve()).await.refused(403, "not_in_audience");
    fay.decides(&action, json!({ "option": "reject", "feedback": "no amount" })).await.done();
    assert_eq!(scene.agent.state(&action).await, "rejected");
}

/// Each person who can meet one of the requirements finds the question in their list, and nobody else does.
#[tokio::test]
async fn the_question_is_listed_for_the_members_of_each_requirement() {
    let scene = Scene::ruled_by(DEPLOY).await;
    let action = propose_deployment(&scene, "c1").await;
    let (vera, other) = (member_of_group(&scene, "ops", "vera").await, member_of_group(&scene, "law", "lea").await);
    for (who, listed) in [(&scene.alice, 1), (&vera, 1), (&other, 0), (&scene.root, 0)] {
        let page = who.get("/v1/interactions?mine=true&status=pending").await.done();
        let found = ids(&page["interactions"]);
        assert_eq!(found.len(), listed, "{page}");
        assert!(found.iter().all(|id| *id == action.question().id));
    }
}

/// The shortest deadline applies, and contradicting fallbacks become a denial.
#[tokio::test]
async fn shortest_deadline_of_the_requirements_applies() {
    let scene = Scene::ruled_by(DEPLOY).await;
    let action = propose_deployment(&scene, "c1").await;
    scene.alice.decides(&action, approve()).await.done();
    scene.world.passes(301).await;
    assert_eq!(scene.agent.state(&action).await, "rejected");
}

/// A claim excludes nobody, no grant is possible, a handover keeps requirements and votes, and an abstention
/// can leave the audience too small.
#[tokio::test]
async fn claims_grants_handovers_and_abstentions_keep_the_requirements() {
    let scene = Scene::ruled_by(DEPLOY).await;
    let (vera, victor) = (member_of_group(&scene, "ops", "vera").await, member_of_group(&scene, "ops", "victor").await);
    let action = propose_deployment(&scene, "c1").await;
    scene.alice.post(&action.question().path("/claim"), json!({})).await.done();
    vera.decides(&action, approve()).await.done();
    let mut remember = approve();
    remember["remember"] = json!({ "scope": "session", "arguments": "exact" });
    scene.alice.decides(&action, remember).await.refused_at(422, "answer_invalid", &["/remember"]);
    let handed = scene.alice.post(&action.question().path("/handover"), json!({ "channel": "night" })).await.done();
    let second = handed["handed_over"]["interaction"].as_str().unwrap().to_owned();
    let there = format!("/v1/interactions/{second}");
    let seen = scene.alice.get(&there).await.done();
    assert_eq!((shown(&seen).len(), seen["votes"].as_array().map(Vec::len)), (2, Some(1)));
    let answer = format!("{there}/answer");
    scene.alice.post(&answer, approve()).await.done();
    assert_eq!(scene.agent.state(&action).await, "waiting");
    let left = victor.post(&format!("{there}/abstain"), json!({})).await.done();
    assert_eq!(left["deserted"], true, "{left}");
    victor.post(&answer, approve()).await.done();
    assert_eq!(scene.agent.state(&action).await, "allowed");
}

/// An edit is ruled on again, and the votes for it count for the rules that ask about it.
#[tokio::test]
async fn votes_for_an_edit_count_for_every_rule_that_asks_about_it() {
    let scene = Scene::ruled_by(DEPLOY).await;
    let (vera, victor) = (member_of_group(&scene, "ops", "vera").await, member_of_group(&scene, "ops", "victor").await);
    let edit = json!({ "option": "edit", "arguments": { "env": "production" } });
    let action = propose_deployment(&scene, "c1").await;
    for who in [&scene.alice, &vera, &victor] {
        who.decides(&action, edit.clone()).await.done();
    }
    assert_eq!(scene.agent.state(&action).await, "allowed", "two of the three votes meet the rule that asks now");
    // In the other direction one more rule asks about the edit, and its operators have not been asked.
    let action = scene.proposes(call("c2", "deploy", json!({ "env": "production" }))).await;
    let edit = json!({ "option": "edit", "arguments": { "env": 7 } });
    for who in [&vera, &victor] {
        who.decides(&action, edit.clone()).await.done();
    }
    let seen = scene.agent.sees(&action).await;
    assert_eq!(seen.shown["state"], "waiting");
    assert_eq!(shown(&scene.alice.reads(&seen.question()).await).len(), 2);
}

/// The people of all requirements are asked about the outcome of a call.
#[tokio::test]
async fn people_of_all_requirements_are_asked_about_an_unknown_outcome() {
    let scene = Scene::ruled_by(DEPLOY).await;
    let (vera, victor) = (member_of_group(&scene, "ops", "vera").await, member_of_group(&scene, "ops", "victor").await);
    let action = propose_deployment(&scene, "c1").await;
    for who in [&scene.alice, &vera, &victor] {
        who.decides(&action, approve()).await.done();
    }
    let allowed = scene.agent.sees(&action).await;
    scene.agent.starts(&allowed).await.done();
    scene.world.passes(61).await;
    let unknown = scene.agent.sees(&allowed).await;
    assert_eq!(shown(&scene.alice.reads(&unknown.question()).await).len(), 2);
    scene.alice.decides(&unknown, json!({ "option": "run_again" })).await.done();
    assert_eq!(scene.agent.state(&unknown).await, "unknown");
}

/// `explain` lists every rule that asks, with its reason and its audience.
#[tokio::test]
async fn explain_shows_every_rule_that_asks() {
    let scene = Scene::ruled_by(PAY).await;
    let body = json!({ "tool": "pay", "arguments": {}, "agent": "bot" });
    let told = scene.alice.post("/v1/policy/explain", body).await.done();
    let asks = told["asks"].as_array().unwrap();
    assert_eq!((asks.len(), &asks[0]["rule"], &asks[0]["because"]), (2, &json!("large"), &json!("fails")));
    assert_eq!((&asks[0]["error"], &asks[0]["audience"]["quorum"]), (&json!("there is no `amount`"), &json!(2)));
    assert_eq!((asks[1].get("rule"), &asks[1]["because"]), (None, &json!("default")));
    let body = json!({ "tool": "pay", "arguments": { "amount": 5.0 }, "agent": "bot" });
    assert_eq!(scene.alice.post("/v1/policy/explain", body).await.done().get("asks"), None);
}

/// Only the policy creates requirements: an agent cannot ask with its own.
#[tokio::test]
async fn agent_cannot_ask_with_its_own_requirements() {
    let scene = Scene::new().await;
    let place = format!("/v1/sessions/{}/interactions", scene.session);
    let asked = json!({ "kind": "confirmation", "title": "Go?", "requirements": [{ "quorum": 1 }] });
    scene.agent.post(&place, asked).await.refused(422, "body_invalid");
}
