//! Tests edits: the policy rules on an edit again, and it runs, other people are asked, or it is refused to its author.

use serde_json::{Value, json};

use server_testkit::actions::{Scene, call, question_of};
use server_testkit::client::confirmation;

const SECURITY: &str = r#"
[[rule]]
name = "production"
tools = ["write_file"]
verdict = "ask"
ask = { audience = { groups = ["security"] } }
"#;
const NEVER: &str =
    "[[rule]]\nname = \"frozen\"\ntools = [\"write_file\"]\nverdict = \"deny\"\nreason = \"A freeze.\"\n";
const SCHEMA: &str = r#"
[[tool]]
name = "write_file"
schema = { type = "object", required = ["path"], additionalProperties = false, properties = { path = { type = "string" }, mode = { type = "integer" } } }
[[rule]]
name = "writing"
tools = ["write_file"]
verdict = "ask"
"#;

fn edit(arguments: Value) -> Value {
    json!({ "option": "edit", "arguments": arguments })
}

/// The agent receives the edited arguments; both versions are stored; the permit is for the edited one.
#[tokio::test]
async fn edited_action_runs_with_the_edited_arguments() {
    let scene = Scene::new().await;
    let action = scene.writes("c1").await;
    let original = action.shown["arguments"].clone();
    scene.alice.decides(&action, edit(json!({ "path": "safe.md", "content": "hello" }))).await.done();
    let seen = scene.agent.sees(&action).await;
    assert_eq!(seen.shown["state"], "allowed");
    assert_eq!(seen.shown["arguments"], json!({ "path": "safe.md", "content": "hello" }));
    assert_eq!(seen.shown["original_arguments"], original);
    let asked = scene.alice.reads(&action.question()).await;
    assert_eq!(asked["action"]["arguments"], original);
    assert_eq!(asked["resolution"]["answer"]["arguments"], seen.shown["arguments"]);
    assert_eq!(scene.proposes(server_testkit::actions::writing("c1")).await.shown, seen.shown, "the call keeps its id");
    let edited = call("c1", "write_file", seen.shown["arguments"].clone());
    scene.agent.proposes_in(&scene.session, edited).await.refused(409, "call_conflict");
    let started = scene.agent.starts(&seen).await.done();
    assert_eq!(started["arguments"], json!({ "path": "safe.md", "content": "hello" }));
}

/// An edit must carry complete arguments for the tool of the call, and no other answer may carry arguments.
#[tokio::test]
async fn edit_without_complete_arguments_is_refused() {
    let scene = Scene::new().await;
    let action = scene.writes("c1").await;
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    for body in [
        json!({ "option": "edit" }),
        edit(json!([])),
        edit(json!("rm")),
        edit(json!({ "a": deep })),
        json!({ "option": "approve", "arguments": {} }),
        json!({ "option": "reject", "arguments": {} }),
    ] {
        scene.alice.decides(&action, body).await.refused_at(422, "answer_invalid", &["/arguments"]);
    }
    let tool = json!({ "option": "edit", "arguments": {}, "tool": "read_file" });
    scene.alice.decides(&action, tool).await.refused(422, "body_invalid");
    assert_eq!(scene.agent.state(&action).await, "waiting");
}

/// If the policy declares a schema for the tool, an edit must fit it; each error has a pointer.
#[tokio::test]
async fn edit_that_does_not_fit_the_tool_schema_is_refused() {
    let scene = Scene::ruled_by(SCHEMA).await;
    let action = scene.proposes(call("c1", "write_file", json!({ "path": "a" }))).await;
    let wrong = scene.alice.decides(&action, edit(json!({ "path": "b", "mode": "rw" }))).await;
    wrong.refused_at(422, "answer_invalid", &["/arguments/mode"]);
    let missing = scene.alice.decides(&action, edit(json!({ "mode": 1 }))).await.refused(422, "answer_invalid");
    assert!(missing["errors"][0]["pointer"].as_str().unwrap().starts_with("/arguments"), "{missing}");
    assert_eq!(scene.agent.state(&action).await, "waiting");
    scene.alice.decides(&action, edit(json!({ "path": "b", "mode": 6 }))).await.done();
    assert_eq!(scene.agent.state(&action).await, "allowed");
}

/// A person who edits can read the schema of the arguments, if the policy declares one.
#[tokio::test]
async fn reviewer_can_read_the_schema_of_the_tool() {
    let scene = Scene::new().await;
    let action = scene.writes("c1").await;
    let path = action.question().path("/schema");
    assert_eq!(scene.alice.get(&path).await.done(), json!({}));
    scene.root.rules_by(SCHEMA).await;
    let told = scene.alice.get(&path).await.done();
    assert_eq!(told["schema"]["properties"]["mode"], json!({ "type": "integer" }));
    let asked = scene.agent.asks_in(&scene.session, confirmation()).await;
    assert_eq!(scene.alice.get(&asked.path("/schema")).await.done(), json!({}), "the question has no action");
}

/// A call that does not fit the schema is asked about, although a rule allows the tool, and no grant for the
/// tool covers it.
#[tokio::test]
async fn call_that_does_not_fit_the_tool_schema_is_asked_about() {
    let scene = Scene::ruled_by(&SCHEMA.replace("verdict = \"ask\"", "verdict = \"allow\"")).await;
    let fits = scene.proposes(call("c1", "write_file", json!({ "path": "a", "mode": 6 }))).await;
    assert_eq!(fits.shown["state"], "allowed");
    let wrong = json!({ "path": "a", "mode": "rw" });
    let action = scene.proposes(call("c2", "write_file", wrong.clone())).await;
    assert_eq!(action.shown["state"], "waiting");
    let reason = action.shown["ruling"]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("It does not fit the schema of its tool: `/mode`") && !reason.contains(".."),
        "{reason}"
    );
    let body = json!({ "tool": "write_file", "arguments": wrong });
    assert_eq!(scene.alice.post("/v1/policy/explain", body).await.done()["ruling"]["verdict"], "ask");
    let remember = json!({ "option": "approve", "remember": { "scope": "session", "arguments": "any" } });
    scene.alice.decides(&action, remember).await.done();
    assert_eq!(scene.agent.state(&action).await, "allowed");
    let again = scene.proposes(call("c3", "write_file", json!({ "path": "a", "mode": "rx" }))).await;
    assert_eq!(again.shown["state"], "waiting");
}

/// A denied edit is refused to its author, and the question stays open.
#[tokio::test]
async fn denied_edit_is_refused_and_the_question_stays_open() {
    let scene = Scene::new().await;
    let action = scene.writes("c1").await;
    scene.root.rules_by(NEVER).await;
    let refused = scene.alice.decides(&action, edit(json!({ "path": "b" }))).await.refused(403, "edit_denied");
    assert_eq!(refused["title"], "the policy denies this edit: A freeze.");
    assert_eq!(scene.alice.reads(&action.question()).await["status"], "pending");
    assert_eq!(scene.agent.state(&action).await, "waiting");
    scene.alice.decides(&action, json!({ "option": "reject", "feedback": "a freeze" })).await.done();
    assert_eq!(scene.agent.state(&action).await, "rejected");
}

/// A denied edit is not counted as a vote, so that nobody else is led to agree to it.
#[tokio::test]
async fn denied_edit_is_not_counted_as_a_vote() {
    let two =
        "[[rule]]\nname = \"two\"\ntools = [\"write_file\"]\nverdict = \"ask\"\nask = { audience = { quorum = 2 } }\n";
    let scene = Scene::ruled_by(two).await;
    let action = scene.writes("c1").await;
    scene.root.rules_by(NEVER).await;
    scene.alice.decides(&action, edit(json!({ "path": "b" }))).await.refused(403, "edit_denied");
    assert_eq!(scene.alice.reads(&action.question()).await.get("votes"), None);
}

/// An approval that names an argument that was not shown is refused, because the call would run without that argument.
#[tokio::test]
async fn approval_with_arguments_is_refused() {
    let scene = Scene::ruled_by(SCHEMA).await;
    let action = scene.proposes(call("c1", "write_file", json!({ "path": "a" }))).await;
    for data in [json!({ "mode": 6 }), json!({ "mode": 6, "key": "value" }), json!({ "path": "b" })] {
        let body = json!({ "option": "approve", "data": data });
        scene.alice.decides(&action, body).await.refused_at(422, "answer_invalid", &["/data"]);
    }
    let body = json!({ "option": "approve", "data": { "key": "value" } });
    scene.alice.decides(&action, body).await.done();
}

/// An action that the policy has come to deny cannot be approved, not even by one vote of several. It can still be
/// rejected.
#[tokio::test]
async fn action_that_the_policy_now_denies_cannot_be_approved() {
    let two =
        "[[rule]]\nname = \"two\"\ntools = [\"write_file\"]\nverdict = \"ask\"\nask = { audience = { quorum = 2 } }\n";
    for scene in [Scene::new().await, Scene::ruled_by(two).await] {
        let action = scene.writes("c1").await;
        scene.root.rules_by(NEVER).await;
        let approve = json!({ "option": "approve" });
        let refused = scene.alice.decides(&action, approve.clone()).await.refused(403, "action_denied");
        assert_eq!(refused["title"], "the policy now denies this action: A freeze.");
        let seen = scene.alice.reads(&action.question()).await;
        assert_eq!((&seen["status"], seen.get("votes")), (&json!("pending"), None));
        let many = json!({ "answers": [{ "interaction": action.question().id, "option": "approve" }] });
        let results = scene.alice.post("/v1/interactions/answers", many).await.done();
        assert_eq!(results["results"][0]["problem"]["code"], "action_denied", "{results}");
        let auto = action.question().path("/auto");
        let body = json!({ "option": "approve", "source": "auto_policy" });
        scene.root.post(&auto, body).await.refused(403, "action_denied");
        scene.alice.decides(&action, json!({ "option": "reject", "feedback": "a freeze" })).await.done();
        assert_eq!(scene.agent.state(&action).await, "rejected");
    }
}

/// A question that an agent asks by itself carries no permit, so it can be approved under any policy.
#[tokio::test]
async fn question_without_an_action_can_be_approved_under_any_policy() {
    let scene = Scene::new().await;
    scene.root.rules_by(NEVER).await;
    let action = json!({ "tool": "write_file", "arguments": { "path": "a" } });
    let asked = json!({ "kind": "approval", "title": "May I?", "action": action });
    let asked = scene.agent.post(&format!("/v1/sessions/{}/interactions", scene.session), asked).await.done();
    let place = format!("/v1/interactions/{}/answer", asked["id"].as_str().unwrap());
    scene.alice.post(&place, json!({ "option": "approve" })).await.done();
}

/// An edit that needs the approval of others asks them; both versions are stored and shown.
#[tokio::test]
async fn edit_under_a_stricter_rule_is_asked_of_that_rules_audience() {
    let scene = Scene::new().await;
    let sam = scene.security("sam").await;
    let action = scene.writes("c1").await;
    scene.root.rules_by(SECURITY).await;
    let edited = json!({ "path": "production.md" });
    let remember =
        json!({ "option": "edit", "arguments": edited, "remember": { "scope": "session", "arguments": "exact" } });
    scene.alice.decides(&action, remember).await.refused_at(422, "answer_invalid", &["/remember"]);
    scene.alice.decides(&action, edit(edited.clone())).await.done();
    let seen = scene.agent.sees(&action).await;
    assert_eq!((&seen.shown["state"], &seen.shown["ruling"]["rule"]), (&json!("waiting"), &json!("production")));
    assert_eq!((&seen.shown["arguments"], &seen.shown["original_arguments"]), (&edited, &action.shown["arguments"]));
    assert_ne!(seen.shown["interaction"], action.shown["interaction"]);
    let second = sam.reads(&question_of(&seen.shown)).await;
    assert_eq!(second["action"]["arguments"], edited);
    assert_eq!(second["asked_by_rule"]["rule"], "production");
    assert_eq!(sam.reads(&action.question()).await["status"], "answered");
    scene.alice.decides(&seen, json!({ "option": "approve" })).await.refused(403, "not_in_audience");
    sam.decides(&seen, json!({ "option": "approve" })).await.done();
    let allowed = scene.agent.sees(&action).await;
    assert_eq!((&allowed.shown["state"], &allowed.shown["arguments"]), (&json!("allowed"), &edited));
    scene.agent.starts(&allowed).await.done();
}

/// The people who are asked about an edit may reject it or edit it again.
#[tokio::test]
async fn second_reviewer_may_reject_an_edit_or_edit_it_again() {
    let scene = Scene::new().await;
    let sam = scene.security("sam").await;
    let (first, second) = (scene.writes("c1").await, scene.writes("c2").await);
    scene.root.rules_by(SECURITY).await;
    for action in [&first, &second] {
        scene.alice.decides(action, edit(json!({ "path": "production.md" }))).await.done();
    }
    let (first, second) = (scene.agent.sees(&first).await, scene.agent.sees(&second).await);
    sam.decides(&first, json!({ "option": "reject", "feedback": "no" })).await.done();
    assert_eq!(scene.agent.state(&first).await, "rejected");
    sam.decides(&second, edit(json!({ "path": "staging.md" }))).await.done();
    let allowed = scene.agent.sees(&second).await.shown;
    assert_eq!((&allowed["state"], &allowed["arguments"]), (&json!("allowed"), &json!({ "path": "staging.md" })));
    assert_eq!(allowed["original_arguments"], json!({ "path": "notes.md", "content": "hello" }));
}

/// An edit by a person who would have to approve it needs no further approval.
#[tokio::test]
async fn edit_by_a_person_of_the_required_audience_needs_no_second_approval() {
    let scene = Scene::new().await;
    let sam = scene.security("sam").await;
    let action = scene.writes("c1").await;
    scene.root.rules_by(SECURITY).await;
    sam.decides(&action, edit(json!({ "path": "production.md" }))).await.done();
    assert_eq!(scene.agent.state(&action).await, "allowed");
}

/// Under a quorum, the required number of people must make an identical edit.
#[tokio::test]
async fn an_edit_needs_its_quorum() {
    let two =
        "[[rule]]\nname = \"two\"\ntools = [\"write_file\"]\nverdict = \"ask\"\nask = { audience = { quorum = 2 } }\n";
    let scene = Scene::ruled_by(two).await;
    let (sam, sue) = (scene.security("sam").await, scene.security("sue").await);
    let action = scene.writes("c1").await;
    sam.decides(&action, edit(json!({ "path": "b" }))).await.done();
    assert_eq!(scene.agent.state(&action).await, "waiting");
    scene.alice.decides(&action, edit(json!({ "path": "c" }))).await.done();
    assert_eq!(scene.agent.state(&action).await, "waiting", "the edits differ");
    sue.decides(&action, edit(json!({ "path": "b" }))).await.done();
    let allowed = scene.agent.sees(&action).await.shown;
    assert_eq!((&allowed["state"], &allowed["arguments"]), (&json!("allowed"), &json!({ "path": "b" })));
}

/// An edit may fall under another rule than the proposed call, if rules depend on the arguments.
#[tokio::test]
async fn edited_arguments_are_judged_by_the_rule_that_matches_them() {
    let rules = r#"
[[rule]]
name = "never-there"
tools = ["deploy"]
when = 'args.env == "bank"'
verdict = "deny"
reason = "Not there."
[[rule]]
name = "production"
tools = ["deploy"]
when = 'args.env == "production"'
verdict = "ask"
ask = { audience = { groups = ["security"] } }
[[rule]]
name = "elsewhere"
tools = ["deploy"]
verdict = "ask"
"#;
    let scene = Scene::ruled_by(rules).await;
    let sam = scene.security("sam").await;
    let to = |env: &str| json!({ "env": env });
    let action = scene.proposes(call("c1", "deploy", to("staging"))).await;
    assert_eq!(action.shown["ruling"]["rule"], "elsewhere");
    scene.alice.decides(&action, edit(to("bank"))).await.refused(403, "edit_denied");
    scene.alice.decides(&action, edit(to("production"))).await.done();
    let second = scene.agent.sees(&action).await;
    assert_eq!((&second.shown["state"], &second.shown["ruling"]["rule"]), (&json!("waiting"), &json!("production")));
    scene.alice.decides(&second, json!({ "option": "approve" })).await.refused(403, "not_in_audience");
    sam.decides(&second, edit(to("staging"))).await.done();
    let allowed = scene.agent.sees(&action).await.shown;
    assert_eq!((&allowed["state"], &allowed["arguments"]), (&json!("allowed"), &to("staging")));
}
