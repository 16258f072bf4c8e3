//! Tests the policy of a project: reading, checking, explaining, changing it, and switching it off with a reason.

use domain::Role;
use serde_json::{Value, json};

use server_testkit::actions::{Scene, call, policy, writing};
use server_testkit::client::{reply, text};
use server_testkit::world::World;

const OPEN: &str = "[[rule]]\nname = \"open\"\ntools = [\"write_file\"]\nverdict = \"allow\"\nreason = \"Go on.\"\n";
const NEVER: &str = "[[rule]]\nname = \"never\"\ntools = [\"delete_file\"]\nverdict = \"deny\"\n";

/// The built-in policy is in force at first, and every member of the project may read it.
#[tokio::test]
async fn the_policy_in_force_is_shown() {
    let scene = Scene::new().await;
    let shown = scene.agent.get("/v1/policy").await.done();
    assert_eq!(
        (&shown["source"], &shown["enabled"], &shown["warnings"]),
        (&json!("builtin"), &json!(true), &json!([]))
    );
    assert!(text(&shown["text"]).contains("read-freely"));
    assert_eq!(shown.get("refused_file"), None);
    let own = scene.root.rules_by(OPEN).await;
    assert_eq!(
        (&own["source"], &own["changed_by"]["name"], &own["reason"]),
        (&json!("project"), &json!("root"), &json!("a test"))
    );
    assert_eq!(own["text"], policy(OPEN));
    assert_eq!(scene.agent.get("/v1/policy").await.done(), own);
    assert_eq!(scene.proposes(writing("c1")).await.shown["ruling"]["policy"], own["version"]);
    let reset = scene.root.delete("/v1/policy").await.done();
    assert_eq!((&reset["version"], &reset["source"]), (&shown["version"], &json!("builtin")));
    scene.writes("c2").await;
}

/// An invalid policy text is refused with line numbers and changes nothing.
#[tokio::test]
async fn a_bad_policy_changes_nothing() {
    let scene = Scene::ruled_by(OPEN).await;
    let before = scene.root.get("/v1/policy").await.done();
    let unknown = policy("[[rule]]\nname = \"x\"\ntool = [\"a\"]\nverdict = \"allow\"\n");
    let refused = scene.root.put("/v1/policy", json!({ "text": unknown })).await;
    let refused = refused.refused_at(422, "policy_invalid", &["/text", "/text"]);
    assert!(text(&refused["errors"][1]["message"]).contains("policy.toml:5"), "{refused}");
    let wrong_example =
        policy(&format!("{OPEN}[[rule.example]]\ntool = \"write_file\"\narguments = {{}}\nverdict = \"deny\"\n"));
    for text in ["", "version = 2", "not toml", "version = 1\ndefault = \"allow\"\n", &wrong_example] {
        scene.root.put("/v1/policy", json!({ "text": text })).await.refused(422, "policy_invalid");
    }
    let schema = policy("[[tool]]\nname = \"t\"\nschema = { type = \"nonsense\" }\n");
    scene.root.put("/v1/policy", json!({ "text": schema })).await.refused(422, "policy_invalid");
    scene.root.put("/v1/policy", json!({ "text": policy(""), "reason": " " })).await.refused_at(
        422,
        "body_invalid",
        &["/reason"],
    );
    assert_eq!(scene.root.get("/v1/policy").await.done(), before);
    let checked = scene.agent.post("/v1/policy/check", json!({ "text": unknown })).await.done();
    assert_eq!(checked["good"], false);
    let places: Vec<(u64, String)> = checked["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["line"].as_u64().unwrap(), text(&finding["code"])))
        .collect();
    assert_eq!(places, [(3, "missing_key".to_owned()), (5, "unknown_key".to_owned())]);
    let good = scene.agent.post("/v1/policy/check", json!({ "text": policy(NEVER) })).await.done();
    assert_eq!(good, json!({ "good": true, "findings": [] }));
    assert_eq!(scene.root.get("/v1/policy").await.done(), before);
}

/// A change that is based on an outdated version is refused.
#[tokio::test]
async fn change_based_on_an_outdated_policy_version_is_refused() {
    let scene = Scene::new().await;
    let base = scene.root.get("/v1/policy").await.done()["version"].clone();
    let change = |rules: &str, base: &Value| json!({ "text": policy(rules), "base": base });
    let first = scene.root.put("/v1/policy", change(OPEN, &base)).await.done();
    scene.root.put("/v1/policy", change(NEVER, &base)).await.refused(409, "policy_moved");
    assert_eq!(scene.root.get("/v1/policy").await.done()["version"], first["version"]);
    scene.root.put("/v1/policy", change(NEVER, &first["version"])).await.done();
}

/// Only an admin may change the policy, and only the policy of their own project.
#[tokio::test]
async fn only_admins_change_the_policy_of_their_own_project() {
    let scene = Scene::new().await;
    let viewer = scene.world.someone("default", Role::Viewer, "vera", &[]).await;
    let before = scene.root.get("/v1/policy").await.done();
    for caller in [&scene.alice, &viewer, &scene.agent] {
        caller.put("/v1/policy", json!({ "text": policy(OPEN) })).await.refused(403, "role_forbids");
        caller.delete("/v1/policy").await.refused(403, "role_forbids");
        let off = json!({ "enabled": false, "reason": "why not" });
        caller.put("/v1/policy/enabled", off).await.refused(403, "role_forbids");
    }
    let stranger = scene.world.stranger().await;
    stranger.rules_by(OPEN).await;
    stranger.put("/v1/policy/enabled", json!({ "enabled": false, "reason": "theirs" })).await.done();
    assert_eq!(scene.root.get("/v1/policy").await.done(), before);
    assert_eq!(scene.root.get("/v1/policy/versions").await.done()["versions"], json!([]));
    scene.writes("c1").await;
}

/// While approvals are paused, nobody is asked, and denied calls stay denied. The person and the reason are
/// visible.
#[tokio::test]
async fn approvals_are_paused_with_a_reason() {
    let scene = Scene::ruled_by(NEVER).await;
    let waiting = scene.writes("c0").await;
    for bad in [json!({ "enabled": false }), json!({ "enabled": false, "reason": "  " }), json!({ "reason": "x" })] {
        scene.root.put("/v1/policy/enabled", bad).await.refused(422, "body_invalid");
    }
    let off = json!({ "enabled": false, "reason": "a rehearsal" });
    let shown = scene.root.put("/v1/policy/enabled", off.clone()).await.done();
    assert_eq!((&shown["enabled"], &shown["reason"]), (&json!(false), &json!("a rehearsal")));
    assert_eq!(scene.agent.get("/v1/policy").await.done(), shown);
    let allowed = scene.proposes(writing("c1")).await.shown;
    assert_eq!((&allowed["state"], &allowed["ruling"]["verdict"]), (&json!("allowed"), &json!("allow")));
    assert_eq!(allowed["ruling"]["reason"], "approvals are paused by root: a rehearsal");
    let explained = json!({ "tool": "write_file", "arguments": {} });
    assert_eq!(scene.agent.post("/v1/policy/explain", explained).await.done()["ruling"]["verdict"], "allow");
    assert_eq!(scene.proposes(call("c2", "delete_file", json!({}))).await.shown["state"], "denied");
    assert_eq!(scene.agent.state(&waiting).await, "waiting", "an open question stays open");
    scene.root.put("/v1/policy/enabled", off).await.done();
    let on = scene.root.put("/v1/policy/enabled", json!({ "enabled": true, "reason": "over" })).await.done();
    assert_eq!((&on["enabled"], &on["reason"]), (&json!(true), &json!("over")));
    scene.writes("c3").await;
    scene.alice.decides(&waiting, json!({ "option": "approve" })).await.done();
}

/// A question and a ruling keep the policy version and the rule that produced them; a later policy does not change
/// them.
#[tokio::test]
async fn later_policy_does_not_change_earlier_rulings() {
    let scene = Scene::new().await;
    let waiting = scene.writes("c1").await;
    let asked = scene.alice.reads(&waiting.question()).await;
    scene.root.rules_by("[[rule]]\nname = \"never\"\ntools = [\"*\"]\nverdict = \"deny\"\n").await;
    assert_eq!(scene.alice.reads(&waiting.question()).await, asked);
    assert_eq!(scene.agent.sees(&waiting).await.shown, waiting.shown);
    assert_eq!(scene.proposes(writing("c2")).await.shown["state"], "denied");
    scene.root.rules_by("[[rule]]\nname = \"other\"\ntools = [\"*\"]\nverdict = \"ask\"\n").await;
    let allowed = scene.approved(&waiting).await;
    assert_eq!(allowed.shown["ruling"], waiting.shown["ruling"]);
}

/// A permit is checked against the policy of today: an action that is denied now does not start, and neither does an
/// auto-approved action that would be asked about now.
#[tokio::test]
async fn permit_is_void_if_the_current_policy_would_deny_or_ask() {
    let scene = Scene::ruled_by(OPEN).await;
    let allowed = scene.proposes(writing("c1")).await;
    assert_eq!(allowed.shown["state"], "allowed");
    scene.root.rules_by("[[rule]]\nname = \"asking\"\ntools = [\"*\"]\nverdict = \"ask\"\n").await;
    scene.agent.starts(&allowed).await.refused(409, "permit_void");
    let approved = scene.approved(&scene.writes("c2").await).await;
    scene.root.rules_by("[[rule]]\nname = \"never\"\ntools = [\"*\"]\nverdict = \"deny\"\n").await;
    scene.agent.starts(&allowed).await.refused(403, "action_denied");
    scene.agent.starts(&approved).await.refused(403, "action_denied");
    scene.root.rules_by(OPEN).await;
    scene.agent.starts(&allowed).await.done();
    scene.agent.starts(&approved).await.done();
}

/// Each change of the policy is stored with its author, time and reason, also a return to an earlier text.
#[tokio::test]
async fn every_policy_change_is_recorded_even_a_return_to_an_earlier_text() {
    let scene = Scene::new().await;
    let builtin = scene.writes("c1").await.shown["ruling"]["policy"].clone();
    let first = scene.root.rules_by(OPEN).await["version"].clone();
    let second = scene.root.rules_by(NEVER).await["version"].clone();
    let back = json!({ "text": policy(OPEN), "reason": "it was better before" });
    let again = scene.root.put("/v1/policy", back).await.done();
    let versions = scene.alice.get("/v1/policy/versions").await.done()["versions"].as_array().cloned().unwrap();
    let found: Vec<[&Value; 5]> = versions
        .iter()
        .map(|one| [&one["version"], &one["source"], &one["by"]["name"], &one["before"], &one["reason"]])
        .collect();
    let (project, root, test) = (json!("project"), json!("root"), json!("a test"));
    let wanted = [
        [&first, &project, &root, &second, &json!("it was better before")],
        [&second, &project, &root, &first, &test],
        [&first, &project, &root, &builtin, &test],
        [&builtin, &json!("builtin"), &json!("holdpoint"), &Value::Null, &Value::Null],
    ];
    assert_eq!(found, wanted);
    assert_eq!((&versions[0]["version"], &versions[0]["at"]), (&again["version"], &again["changed_at"]));
    assert_eq!((&versions[0]["text"], &versions[1]["text"]), (&json!(policy(OPEN)), &json!(policy(NEVER))));
    scene.root.delete("/v1/policy").await.done();
    let newest = scene.alice.get("/v1/policy/versions?limit=1").await.done()["versions"][0].clone();
    assert_eq!((&newest["version"], &newest["by"]["name"], &newest["before"]), (&builtin, &root, &first));
}

/// The history is read page by page to its end, and a text is found by the version that a ruling names.
#[tokio::test]
async fn the_history_is_read_in_pages() {
    let scene = Scene::new().await;
    for number in 0..5 {
        scene.root.rules_by(&format!("# {}\n{OPEN}", number % 4)).await;
    }
    let whole = scene.alice.get("/v1/policy/versions").await.done();
    assert_eq!((whole["versions"].as_array().unwrap().len(), whole.get("next")), (6, None));
    let (mut read, mut path) = (Vec::new(), "/v1/policy/versions?limit=4".to_owned());
    loop {
        let page = scene.alice.get(&path).await.done();
        read.extend(page["versions"].as_array().cloned().unwrap());
        let Some(next) = page.get("next") else { break };
        assert_eq!(read.len() % 4, 0);
        path = format!("/v1/policy/versions?limit=4&cursor={}", text(next));
    }
    assert_eq!(json!(read), whole["versions"]);
    let ruled = scene.proposes(writing("c1")).await.shown["ruling"]["policy"].clone();
    let named = scene.alice.get(&format!("/v1/policy/versions?version={}", text(&ruled))).await.done();
    assert_eq!(
        named["versions"],
        json!([whole["versions"][0], whole["versions"][4]]),
        "the text was put in force twice"
    );
    let stranger = scene.world.stranger().await;
    let theirs = stranger.get(&format!("/v1/policy/versions?version={}", text(&ruled))).await.done();
    assert_eq!(theirs["versions"], json!([]));
    for bad in ["cursor=x", "cursor=-1", "cursor=18446744073709551615", "limit=0"] {
        scene.alice.get(&format!("/v1/policy/versions?{bad}")).await.refused(400, "query_invalid");
    }
}

/// `explain` gives the reasons of a ruling, also under a draft.
#[tokio::test]
async fn a_ruling_is_explained() {
    let scene = Scene::ruled_by(&format!("{OPEN}{NEVER}")).await;
    let explained =
        scene.agent.post("/v1/policy/explain", json!({ "tool": "delete_file", "arguments": {} })).await.done();
    assert_eq!((&explained["ruling"]["verdict"], &explained["ruling"]["rule"]), (&json!("deny"), &json!("never")));
    assert_eq!(explained["considered"].as_array().unwrap().last().unwrap()["rule"], "never");
    let draft = json!({ "tool": "delete_file", "arguments": {}, "text": policy(OPEN) });
    assert_eq!(scene.root.post("/v1/policy/explain", draft.clone()).await.done()["ruling"]["verdict"], "ask");
    scene.agent.post("/v1/policy/explain", draft).await.refused(403, "role_forbids");
    let bad = json!({ "tool": "delete_file", "arguments": {}, "text": "x" });
    scene.root.post("/v1/policy/explain", bad).await.refused(422, "policy_invalid");
    let list = json!({ "tool": "delete_file", "arguments": [] });
    scene.agent.post("/v1/policy/explain", list).await.refused_at(422, "body_invalid", &["/arguments"]);
    assert_eq!(scene.root.get(&format!("/v1/sessions/{}/actions", scene.session)).await.done()["actions"], json!([]));
}

/// A change of the policy that is repeated under its idempotency key is made once.
#[tokio::test]
async fn change_repeated_with_its_idempotency_key_is_made_once() {
    let scene = Scene::new().await;
    let put = |body: Value| {
        let request = scene.root.request(reqwest::Method::PUT, "/v1/policy").header("idempotency-key", "k");
        reply(request.json(&body))
    };
    let first = put(json!({ "text": policy(OPEN) })).await.done();
    assert_eq!(put(json!({ "text": policy(OPEN) })).await.done(), first);
    put(json!({ "text": policy(NEVER) })).await.refused(409, "idempotency_conflict");
}

/// The policy file of the server applies to projects without their own policy. An invalid file is reported and leaves
/// the previous policy in force.
#[tokio::test]
async fn server_policy_file_applies_to_projects_without_their_own_policy() {
    let world = World::new().await;
    world.engine.policy_load("policy.toml".into(), policy(OPEN)).await.unwrap();
    let scene = Scene::in_world(world).await;
    assert_eq!(scene.root.get("/v1/policy").await.done()["source"], "file");
    assert_eq!(scene.proposes(writing("c1")).await.shown["state"], "allowed");
    let told =
        scene.world.engine.policy_load("/srv/private/policy.toml".into(), "version = 9".into()).await.unwrap_err();
    assert_eq!(told.findings()[0].file, "/srv/private/policy.toml", "the operator's log has the path");
    let shown = scene.agent.get("/v1/policy").await.done();
    let finding = &shown["refused_file"]["findings"][0];
    assert_eq!(
        (&finding["file"], &finding["line"]),
        (&json!("policy.toml"), &json!(1)),
        "the directory of the operator is hidden"
    );
    assert_eq!(scene.proposes(writing("c2")).await.shown["state"], "allowed");
    scene.root.rules_by(NEVER).await;
    scene.writes("c3").await;
    scene.root.delete("/v1/policy").await.done();
    assert_eq!(scene.proposes(writing("c4")).await.shown["state"], "allowed");
}

/// A changed file is recorded as a change of the project's policy by the system, with its time and its predecessor.
#[tokio::test]
async fn changed_policy_file_is_recorded_with_its_time_and_predecessor() {
    let world = World::new().await;
    world.engine.policy_record().await.unwrap();
    let scene = Scene::in_world(world).await;
    let builtin = scene.root.get("/v1/policy").await.done();
    scene.world.passes(10).await;
    assert_eq!(scene.root.get("/v1/policy").await.done(), builtin, "an unchanged file keeps its time");
    let mut before = builtin;
    for rules in [OPEN, NEVER] {
        scene.world.engine.policy_load("policy.toml".into(), policy(rules)).await.unwrap();
        let shown = scene.root.get("/v1/policy").await.done();
        assert_eq!((&shown["source"], &shown["changed_by"]["kind"]), (&json!("file"), &json!("system")));
        assert!(text(&shown["changed_at"]) > text(&before["changed_at"]), "{shown}\n{before}");
        let versions = scene.root.get("/v1/policy/versions").await.done()["versions"].clone();
        assert_eq!((&versions[0]["version"], &versions[0]["before"]), (&shown["version"], &before["version"]));
        assert_eq!((&versions[1]["version"], &versions[0]["at"]), (&before["version"], &shown["changed_at"]));
        scene.world.passes(10).await;
        before = shown;
    }
    let off = json!({ "enabled": false, "reason": "a rehearsal" });
    scene.root.put("/v1/policy/enabled", off).await.done();
    scene.world.passes(10).await;
    scene.world.engine.policy_load("policy.toml".into(), policy(OPEN)).await.unwrap();
    let shown = scene.root.get("/v1/policy").await.done();
    assert_eq!((&shown["changed_by"]["name"], &shown["reason"]), (&json!("root"), &json!("a rehearsal")));
}

/// The first policy of a project names the server's policy as its predecessor, and a reset is recorded with its reason.
#[tokio::test]
async fn first_policy_of_a_project_names_the_servers_policy_as_predecessor() {
    let scene = Scene::new().await;
    let builtin = scene.root.get("/v1/policy").await.done();
    scene.world.passes(1).await;
    let own = scene.root.rules_by(OPEN).await;
    let versions = scene.root.get("/v1/policy/versions").await.done()["versions"].clone();
    let own_version = versions.as_array().unwrap().iter().find(|one| one["version"] == own["version"]).unwrap();
    assert_eq!(own_version["before"], builtin["version"]);
    scene.world.passes(1).await;
    scene.world.engine.policy_load("policy.toml".into(), policy(NEVER)).await.unwrap();
    assert_eq!(scene.root.get("/v1/policy").await.done(), own, "the policy of the project is unchanged");
    scene.world.passes(1).await;
    let give_up = |body: Value| reply(scene.root.request(reqwest::Method::DELETE, "/v1/policy").json(&body));
    give_up(json!({ "reason": " " })).await.refused_at(422, "body_invalid", &["/reason"]);
    give_up(json!({ "why": "x" })).await.refused(422, "body_invalid");
    let reset = give_up(json!({ "reason": "the file will do" })).await.done();
    assert_eq!((&reset["source"], &reset["reason"]), (&json!("file"), &json!("the file will do")));
    assert_eq!(scene.root.get("/v1/policy").await.done(), reset);
    let versions = scene.root.get("/v1/policy/versions").await.done()["versions"].clone();
    assert_eq!((&versions[0]["version"], &versions[0]["before"]), (&reset["version"], &own["version"]));
    let trail = scene.root.get("/v1/audit?type=policy.changed").await.done()["entries"].clone();
    let told: Vec<[&Value; 3]> = trail
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["by"]["name"] == "root")
        .map(|entry| [&entry["data"]["version"], &entry["data"]["before"], &entry["data"]["reason"]])
        .collect();
    let wanted = [
        [&own["version"], &builtin["version"], &own["reason"]],
        [&reset["version"], &own["version"], &reset["reason"]],
    ];
    assert_eq!(told, wanted);
}
