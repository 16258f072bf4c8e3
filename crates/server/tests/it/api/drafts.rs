//! Tests drafts of a policy: simulated against earlier calls, and evaluated in the shadow of the policy in force.

use std::time::Duration;

use domain::{Actor, Shadow};
use engine::Settings;
use serde_json::{Value, json};
use store::StoreError;

use server_testkit::actions::{Scene, call, policy, writing};
use server_testkit::client::{ApiClient, Reply, text};
use server_testkit::world::{Setup, World};

const OPEN: &str = "[[rule]]\nname = \"open\"\ntools = [\"write_file\"]\nverdict = \"allow\"\nreason = \"Go on.\"\n";
const NEVER: &str = "[[rule]]\nname = \"never\"\ntools = [\"write_file\"]\nverdict = \"deny\"\n";

async fn simulates(by: &ApiClient, rules: &str, more: Value) -> Reply {
    let mut body = json!({ "text": policy(rules) });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    by.post("/v1/policy/simulate", body).await
}

/// Creates a scene in which a draft has enough time even on a busy machine.
async fn scene_with_long_draft_time() -> Scene {
    let settings = Settings { draft_time: Duration::from_mins(1), ..Settings::default() };
    Scene::in_world(World::with(Setup { settings, ..Setup::default() }).await).await
}

async fn set_shadow_policy(scene: &Scene, rules: &str) -> Value {
    scene.root.put("/v1/policy/shadow", json!({ "text": policy(rules), "reason": "a test" })).await.done()
}

fn calls(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| text(&one["call_id"])).collect()
}

/// A simulation lists the rulings that would change, their counts, and the decisions of people that the draft
/// contradicts. It changes nothing.
#[tokio::test]
async fn simulation_lists_changed_rulings_and_contradicted_decisions() {
    let scene = Scene::new().await;
    scene.approved(&scene.writes("c1").await).await;
    let rejected = scene.writes("c2").await;
    scene.alice.decides(&rejected, json!({ "option": "reject", "feedback": "not there" })).await.done();
    scene.writes("c3").await;
    scene.proposes(call("c4", "read_file", json!({ "path": "a" }))).await;
    let before = scene.world.everything().await;

    let open = simulates(&scene.alice, OPEN, json!({})).await.done();
    assert_eq!((&open["judged"], &open["more"]), (&json!(4), &json!(false)));
    let changes = json!([{ "from": "allow", "to": "ask", "count": 1 }, { "from": "ask", "to": "allow", "count": 3 }]);
    assert_eq!(open["changes"], changes);
    assert_eq!(calls(&open["changed"]), ["c4", "c3", "c2", "c1"], "the newest comes first");
    assert_eq!((&open["contradictions"], calls(&open["contradicted"])), (&json!(1), vec!["c2".to_owned()]));
    let found = &open["contradicted"][0];
    assert_eq!((&found["tool"], &found["agent"]), (&json!("write_file"), &json!("bot")));
    assert_eq!(found["session"], json!(scene.session));
    assert_eq!(
        (&found["before"]["verdict"], &found["before"]["rule"], &found["before"]["policy"]),
        (&json!("ask"), &json!("ask-before-changing"), &rejected.shown["ruling"]["policy"])
    );
    assert_eq!(
        (&found["after"]["verdict"], &found["after"]["rule"], &found["after"]["reason"], &found["after"]["policy"]),
        (&json!("allow"), &json!("open"), &json!("Go on."), &open["version"])
    );
    assert_eq!(
        (&found["decision"]["interaction"], &found["decision"]["effect"], &found["decision"]["by"]["name"]),
        (&rejected.shown["interaction"], &json!("reject"), &json!("alice"))
    );
    assert!(!open.to_string().contains("hello"), "arguments are not repeated");

    let never = simulates(&scene.alice, NEVER, json!({})).await.done();
    assert_eq!((&never["contradictions"], calls(&never["contradicted"])), (&json!(1), vec!["c1".to_owned()]));
    let same = simulates(&scene.alice, OPEN, json!({})).await.done();
    assert_eq!(same, open);
    assert_eq!(scene.world.everything().await, before);
}

/// A simulation evaluates each call for the agent, user and role that proposed it.
#[tokio::test]
async fn simulation_evaluates_each_call_for_its_proposer() {
    let scene = Scene::new().await;
    scene.writes("c1").await;
    for (who, count) in [
        ("agents = [\"bot\"]", 1),
        ("agents = [\"helper\"]", 0),
        ("users = [\"bot\"]", 1),
        ("users = [\"alice\"]", 0),
        ("roles = [\"agent\"]", 1),
        ("roles = [\"admin\"]", 0),
    ] {
        let found = simulates(&scene.alice, &format!("{OPEN}{who}\n"), json!({})).await.done();
        assert_eq!(found["changed"].as_array().unwrap().len(), count, "{who}");
    }
}

/// A simulation evaluates the arguments that the stored ruling was about. An edit is not an approval of the proposed
/// arguments; edited arguments are evaluated only if other people were asked about them.
#[tokio::test]
async fn simulation_does_not_count_an_edit_as_an_approval() {
    let scene = Scene::new().await;
    let waiting = scene.writes("c1").await;
    let edit = json!({ "effect": "edit", "arguments": { "path": "other.md", "content": "x" } });
    scene.alice.decides(&waiting, edit).await.done();
    let never = simulates(&scene.alice, NEVER, json!({})).await.done();
    assert_eq!((&never["contradictions"], calls(&never["changed"])), (&json!(0), vec!["c1".to_owned()]));
    assert_eq!(never["changed"][0]["decision"]["effect"], "edit");
}

/// A simulation is bounded by a number of actions and by a time.
#[tokio::test]
async fn simulation_is_limited_by_count_and_time() {
    let scene = Scene::new().await;
    for number in 0..60 {
        scene.proposes(call(&format!("old-{number:02}"), "read_file", json!({ "path": "a" }))).await;
    }
    scene.world.passes(60).await;
    let middle = scene.world.clock_now();
    scene.world.passes(60).await;
    scene.writes("new").await;
    let all = simulates(&scene.alice, OPEN, json!({})).await.done();
    assert_eq!((&all["judged"], &all["more"]), (&json!(61), &json!(false)), "more than one batch was read");
    assert_eq!(all["changed"].as_array().unwrap().len(), 61);
    let few = simulates(&scene.alice, OPEN, json!({ "limit": 1 })).await.done();
    assert_eq!(
        (&few["judged"], &few["more"], calls(&few["changed"])),
        (&json!(1), &json!(true), vec!["new".to_owned()])
    );
    let late = simulates(&scene.alice, OPEN, json!({ "since": middle })).await.done();
    assert_eq!((&late["judged"], &late["more"]), (&json!(1), &json!(false)));
    for limit in [0, 10_001] {
        simulates(&scene.alice, OPEN, json!({ "limit": limit })).await.refused_at(422, "body_invalid", &["/limit"]);
    }
}

/// An invalid draft is refused with its findings, both in a simulation and as a shadow policy.
#[tokio::test]
async fn invalid_draft_is_refused_with_its_findings() {
    let scene = Scene::new().await;
    let bad = json!({ "text": policy("[[rule]]\nname = \"x\"\ntool = [\"a\"]\nverdict = \"allow\"\n") });
    let refused = scene.alice.post("/v1/policy/simulate", bad.clone()).await;
    let refused = refused.refused_at(422, "policy_invalid", &["/text", "/text"]);
    assert!(text(&refused["errors"][1]["message"]).contains("policy.toml:5"), "{refused}");
    scene.root.put("/v1/policy/shadow", bad).await.refused_at(422, "policy_invalid", &["/text", "/text"]);
    scene.root.get("/v1/policy/shadow").await.refused(404, "not_found");
}

/// A simulation does not read actions of other projects.
#[tokio::test]
async fn simulation_reads_actions_of_its_own_project_only() {
    let scene = Scene::new().await;
    scene.writes("c1").await;
    let stranger = scene.world.stranger().await;
    assert_eq!(simulates(&stranger, OPEN, json!({})).await.done()["judged"], json!(0));
}

/// A shadow policy decides nothing. Its differing rulings are counted, and shown beside the rulings of the policy in force.
#[tokio::test]
async fn shadow_policy_counts_differing_rulings_and_decides_nothing() {
    let scene = scene_with_long_draft_time().await;
    scene.world.engine.policy_record().await.unwrap();
    scene.writes("before").await;
    let unchanged = scene.agent.get("/v1/policy").await.done();
    scene.world.passes(1).await;
    let set = set_shadow_policy(&scene, OPEN).await;
    assert_eq!(scene.agent.get("/v1/policy").await.done(), unchanged, "a draft does not change the policy in force");
    assert_eq!((&set["changes"], &set["recent"]), (&json!([]), &json!([])));
    assert_eq!(
        (&set["set_by"]["name"], &set["reason"], &set["text"]),
        (&json!("root"), &json!("a test"), &json!(policy(OPEN)))
    );
    scene.world.passes(1).await;
    scene.writes("c1").await;
    scene.writes("c1").await;
    scene.world.passes(1).await;
    assert_eq!(scene.proposes(call("c2", "read_file", json!({ "path": "a" }))).await.shown["state"], "allowed");
    let agreed = scene.proposes(call("c3", "launch", json!({}))).await;
    assert_eq!(agreed.shown["state"], "waiting");
    scene.world.engine.wait_for_drafts().await;
    let shown = scene.root.get("/v1/policy/shadow").await.done();
    let changes = json!([{ "from": "allow", "to": "ask", "count": 1 }, { "from": "ask", "to": "allow", "count": 1 }]);
    assert_eq!(shown["changes"], changes);
    assert_eq!(calls(&shown["recent"]), ["c2", "c1"]);
    let one = &shown["recent"][1];
    assert_eq!(
        (&one["given"]["rule"], &one["drafted"]["rule"], &one["drafted"]["policy"], &one["tool"]),
        (&json!("ask-before-changing"), &json!("open"), &set["version"], &json!("write_file"))
    );
    let in_force = scene.agent.get("/v1/policy").await.done();
    assert_eq!((&in_force["source"], &in_force["changed_by"]["name"]), (&json!("builtin"), &json!("holdpoint")));

    let other = set_shadow_policy(&scene, NEVER).await;
    assert_eq!((&other["changes"], &other["recent"]), (&json!([]), &json!([])), "another draft resets the counts");
    scene.writes("c4").await;
    scene.world.engine.wait_for_drafts().await;
    let shown = scene.root.get("/v1/policy/shadow").await.done();
    assert_eq!(shown["changes"], json!([{ "from": "ask", "to": "deny", "count": 1 }]));
    assert_eq!(scene.root.delete("/v1/policy/shadow").await.status, 204);
    scene.agent.get("/v1/policy/shadow").await.refused(404, "not_found");
    scene.root.delete("/v1/policy/shadow").await.refused(404, "not_found");
    scene.writes("c5").await;
}

/// Setting and removing a shadow policy are recorded in the audit trail with the person, the reason and the difference
/// of the texts.
#[tokio::test]
async fn shadow_policy_changes_are_in_the_audit_trail() {
    let scene = Scene::new().await;
    let set = set_shadow_policy(&scene, OPEN).await;
    scene.root.delete("/v1/policy/shadow").await;
    let trail = scene.root.get("/v1/audit?type=policy.shadow_set").await.done();
    let entry = &trail["entries"][0];
    assert_eq!(
        (&entry["by"]["name"], &entry["data"]["version"], &entry["data"]["reason"]),
        (&json!("root"), &set["version"], &json!("a test"))
    );
    assert!(text(&entry["data"]["diff"]).contains("+name = \"open\""), "{entry}");
    let trail = scene.root.get("/v1/audit?type=policy.shadow_removed").await.done();
    assert_eq!(trail["entries"][0]["data"]["version"], set["version"]);
}

/// A shadow policy that cannot be read changes no ruling; its failures are counted.
#[tokio::test]
async fn unreadable_shadow_policy_changes_no_ruling() {
    let scene = Scene::new().await;
    let set = set_shadow_policy(&scene, OPEN).await;
    let mut scene = scene;
    scene.world = scene.world.restarts().await;
    let (store, version) = (scene.world.store.clone(), text(&set["version"]));
    let scope = scene.world.scope().await;
    let written = store::transact::<_, StoreError, _>(&*store, move |tx| {
        let number = tx.policy_state(&scope)?.and_then(|state| state.shadow).map_or(0, |shadow| shadow.number);
        let (version, at) = (version.clone(), tx.now()?);
        tx.shadow_save(&scope, &Shadow { number, version, by: Actor::system(), at, reason: None }, "no policy")
    });
    written.await.unwrap();
    let agent = scene.agent.clone().at(&scene.world);
    for call in ["c1", "c2"] {
        let shown = agent.proposes(&scene.session, writing(call)).await.shown;
        assert_eq!((&shown["state"], &shown["ruling"]["rule"]), (&json!("waiting"), &json!("ask-before-changing")));
    }
    scene.world.engine.wait_for_drafts().await;
    // An agent may not read the shadow report, because it contains calls of other agents.
    agent.get("/v1/policy/shadow").await.refused(404, "not_found");
    let root = scene.root.clone().at(&scene.world);
    let shown = root.get("/v1/policy/shadow").await.done();
    assert_eq!(shown["changes"], json!([{ "from": "ask", "to": "failed", "count": 2 }]));
    assert_eq!(shown["recent"][0].get("drafted"), None);
}

/// While approvals are paused, nobody is asked, and the shadow policy is compared on that basis.
#[tokio::test]
async fn shadow_policy_is_compared_with_a_disabled_policy() {
    let scene = scene_with_long_draft_time().await;
    set_shadow_policy(&scene, NEVER).await;
    scene.root.put("/v1/policy/enabled", json!({ "enabled": false, "reason": "a rehearsal" })).await.done();
    assert_eq!(scene.proposes(call("c1", "launch", json!({}))).await.shown["state"], "allowed");
    assert_eq!(scene.proposes(writing("c2")).await.shown["state"], "allowed");
    scene.world.engine.wait_for_drafts().await;
    let shown = scene.root.get("/v1/policy/shadow").await.done();
    assert_eq!(shown["changes"], json!([{ "from": "allow", "to": "deny", "count": 1 }]));
    assert_eq!(scene.root.get("/v1/policy").await.done()["reason"], "a rehearsal");
}

/// Agents may not try drafts, but may ask how their own call would be ruled.
#[tokio::test]
async fn agents_cannot_simulate_or_explain_drafts() {
    let scene = Scene::new().await;
    simulates(&scene.agent, "", json!({})).await.refused(403, "role_forbids");
    let call = json!({ "tool": "write_file", "arguments": {} });
    let mut drafted = call.clone();
    drafted["text"] = json!("version = 1\n");
    scene.agent.post("/v1/policy/explain", drafted.clone()).await.refused(403, "role_forbids");
    scene.agent.post("/v1/policy/explain", call).await.done();
    scene.alice.post("/v1/policy/explain", drafted).await.done();
}
