//! Tests grants ("always allow"): limited in scope, time and number of uses, given by those who may, listed,
//! revoked.

use domain::Role;
use serde_json::{Value, json};

use server_testkit::actions::{Scene, call};
use server_testkit::client::{ids, text};

fn remember(scope: &str, arguments: &Value) -> Value {
    json!({ "remember": { "scope": scope, "arguments": arguments } })
}

fn write(name: &str, path: &str) -> Value {
    call(name, "write_file", json!({ "path": path, "mode": 6 }))
}

/// Approves one write with a grant, and returns the id of the grant.
async fn approve_with_grant(scene: &Scene, name: &str, more: Value) -> String {
    let action = scene.proposes(write(name, "/srv/a")).await;
    scene.approved_with(&action, more).await;
    text(&scene.root.grants().await[0]["id"])
}

/// Proposes a call and checks the state of its action.
async fn assert_proposed_state(scene: &Scene, body: Value, state: &str) {
    let proposed = scene.proposes(body).await;
    assert_eq!(proposed.shown["state"], state, "{}", proposed.shown);
}

/// A call with exactly the granted arguments in the session runs without a question and names its grant.
#[tokio::test]
async fn call_with_granted_arguments_runs_without_a_question() {
    let scene = Scene::new().await;
    let grant = approve_with_grant(&scene, "c1", remember("session", &json!("exact"))).await;
    let allowed = scene.proposes(write("c2", "/srv/a")).await;
    assert_eq!((&allowed.shown["state"], &allowed.shown["grant"]), (&json!("allowed"), &json!(grant)));
    assert_eq!(allowed.shown["ruling"]["verdict"], "ask");
    scene.agent.starts(&allowed).await.done();
    let shown = &scene.root.grants().await[0];
    assert_eq!((&shown["uses"], &shown["covers"], &shown["in_force"]), (&json!(1), &json!("exact"), &json!(true)));
    assert_eq!((&shown["given_by"]["name"], &shown["rule"]), (&json!("alice"), &json!("ask-before-changing")));
    assert_eq!((&shown["session"], &shown["agent"]), (&json!(scene.session), &json!("bot")));
    assert_proposed_state(&scene, write("c3", "/srv/b"), "waiting").await;
    assert_proposed_state(&scene, call("c4", "delete_file", json!({ "path": "/srv/a", "mode": 6 })), "waiting").await;
    let elsewhere = scene.agent.opens(json!({ "agent": "helper" })).await;
    let there = scene.agent.proposes(&elsewhere, write("c1", "/srv/a")).await;
    assert_eq!(there.shown["state"], "waiting", "another session");
    assert!(scene.agent.events(&scene.session).await.contains(&"grant.given".to_owned()));
}

/// A grant for the project holds in its other sessions, for its agent and its rule only.
#[tokio::test]
async fn grant_for_the_project_covers_its_agent_and_rule_only() {
    let scene = Scene::new().await;
    approve_with_grant(&scene, "c1", remember("project", &json!("any"))).await;
    let elsewhere = scene.agent.opens(json!({ "agent": "helper" })).await;
    let there = scene.agent.proposes(&elsewhere, write("c1", "/etc/b")).await;
    assert_eq!(there.shown["state"], "allowed");
    let other = scene.world.someone("default", Role::Agent, "other-bot", &[]).await;
    for agent in [json!({ "agent": "bot" }), json!({ "agent": "helper" }), json!({})] {
        let session = other.opens(agent).await;
        let proposed = other.proposes(&session, write("c1", "/srv/a")).await;
        assert_eq!(
            proposed.shown["state"], "waiting",
            "the key of another agent, although its session names this agent"
        );
    }
    let body = json!({ "call_id": "c9", "tool": "write_file", "arguments": { "path": "/srv/a" } });
    let path = format!("/v1/sessions/{}/actions", scene.session);
    other.post(&path, body).await.refused(404, "not_found");
    let renamed = "[[rule]]\nname = \"stricter\"\ntools = [\"write_file\"]\nverdict = \"ask\"\n";
    scene.root.rules_by(renamed).await;
    assert_proposed_state(&scene, write("c2", "/srv/a"), "waiting").await;
    let stranger = scene.world.stranger().await;
    assert_eq!(stranger.grants().await, Vec::<Value>::new());
}

/// Named arguments are matched by pattern over their whole text; the others must be equal.
#[tokio::test]
async fn pattern_matches_the_named_arguments_and_others_must_be_equal() {
    let scene = Scene::new().await;
    let titled = |name: &str, title: &str, mode: u32| call(name, "rename", json!({ "title": title, "mode": mode }));
    let action = scene.proposes(titled("c1", "notes-1", 6)).await;
    scene.approved_with(&action, remember("session", &json!({ "title": "notes-*" }))).await;
    assert_proposed_state(&scene, titled("c2", "notes-22", 6), "allowed").await;
    assert_proposed_state(&scene, titled("c3", "my-notes-2", 6), "waiting").await;
    assert_proposed_state(&scene, titled("c4", "Notes-2", 6), "waiting").await;
    assert_proposed_state(&scene, titled("c5", "notes-2", 7), "waiting").await;
    assert_proposed_state(&scene, call("c6", "rename", json!({ "title": "notes-2" })), "waiting").await;
    assert_proposed_state(
        &scene,
        call("c7", "rename", json!({ "title": "notes-2", "mode": 6, "force": true })),
        "waiting",
    )
    .await;
    assert_proposed_state(&scene, call("c8", "rename", json!({ "title": ["notes-2"], "mode": 6 })), "waiting").await;
}

/// A grant ends at its time and after its uses, which are counted exactly under concurrency.
#[tokio::test]
async fn grant_ends_after_its_time_or_its_uses() {
    let scene = Scene::new().await;
    let limited = json!({ "remember": { "scope": "session", "arguments": "any", "seconds": 60, "uses": 5 } });
    approve_with_grant(&scene, "c", limited).await;
    let all = (0..12).map(|number| scene.proposes(write(&format!("n{number}"), "/srv/a")));
    let states: Vec<String> =
        futures::future::join_all(all).await.iter().map(|proposed| text(&proposed.shown["state"])).collect();
    assert_eq!(states.iter().filter(|state| *state == "allowed").count(), 5);
    assert_eq!(states.iter().filter(|state| *state == "waiting").count(), 7);
    let used_up = &scene.root.grants().await[0];
    assert_eq!((&used_up["uses"], &used_up["most_uses"], &used_up["in_force"]), (&json!(5), &json!(5), &json!(false)));

    let timed = json!({ "remember": { "scope": "session", "arguments": "any", "seconds": 60 } });
    approve_with_grant(&scene, "t", timed).await;
    assert_eq!(scene.root.grants().await[0]["until"], "2026-01-01T00:01:00Z");
    scene.world.passes(59).await;
    assert_proposed_state(&scene, write("t1", "/srv/a"), "allowed").await;
    scene.world.passes(1).await;
    assert_proposed_state(&scene, write("t2", "/srv/a"), "waiting").await;
    assert_eq!(scene.root.get("/v1/grants").await.done()["grants"], json!([]));
}

/// A call uses a grant once, however often it is proposed.
#[tokio::test]
async fn call_proposed_again_uses_a_grant_once() {
    let scene = Scene::new().await;
    approve_with_grant(&scene, "c", json!({ "remember": { "scope": "session", "arguments": "any", "uses": 2 } })).await;
    for _ in 0..3 {
        assert_proposed_state(&scene, write("c1", "/srv/a"), "allowed").await;
    }
    assert_eq!(scene.root.grants().await[0]["uses"], 1);
}

/// After a revocation the tool is asked about again, and earlier permits of the grant are void.
#[tokio::test]
async fn revoked_grant_voids_its_earlier_permits() {
    let scene = Scene::new().await;
    let grant = approve_with_grant(&scene, "c", remember("session", &json!("any"))).await;
    let before = scene.proposes(write("c1", "/srv/a")).await;
    let path = format!("/v1/grants/{grant}");
    scene.agent.delete(&path).await.refused(403, "role_forbids");
    let viewer = scene.world.someone("default", Role::Viewer, "vera", &[]).await;
    viewer.delete(&path).await.refused(403, "role_forbids");
    scene.world.stranger().await.delete(&path).await.refused(404, "not_found");
    let revoked = scene.alice.delete(&path).await.done();
    assert_eq!((&revoked["in_force"], &revoked["revoked_by"]["name"]), (&json!(false), &json!("alice")));
    scene.alice.delete(&path).await.refused(409, "grant_revoked");
    assert_proposed_state(&scene, write("c2", "/srv/a"), "waiting").await;
    scene.agent.starts(&before).await.refused(409, "permit_void");
    assert_eq!(scene.agent.state(&before).await, "rejected", "the action was not started, and its permit is void");
    let again = scene.proposes(write("c1", "/srv/a")).await.shown;
    assert_eq!((&again["state"], &again["permit"]), (&json!("rejected"), &json!(null)));
    assert_eq!(again["feedback"], "the permit ran out at 2026-01-01T00:00:00Z");
    scene.alice.delete("/v1/grants/gra_00000000-0000-7000-8000-000000000000").await.refused(404, "not_found");
}

/// Grants are listed newest first and page by page; ended grants only with `over=true`.
#[tokio::test]
async fn grants_are_listed() {
    let scene = Scene::new().await;
    for number in 0..5 {
        let action = scene.proposes(write(&format!("c{number}"), &format!("/srv/{number}"))).await;
        scene.approved_with(&action, remember("session", &json!("exact"))).await;
    }
    let all: Vec<String> = scene.root.grants().await.iter().map(|grant| text(&grant["id"])).collect();
    assert_eq!(all.len(), 5);
    scene.alice.delete(&format!("/v1/grants/{}", all[1])).await.done();
    let viewer = scene.world.someone("default", Role::Viewer, "vera", &[]).await;
    let first = viewer.get("/v1/grants?limit=2").await.done();
    assert_eq!(ids(&first["grants"]), [all[0].clone(), all[2].clone()]);
    let rest = viewer.get(&format!("/v1/grants?limit=2&cursor={}", text(&first["next"]))).await.done();
    assert_eq!(ids(&rest["grants"]), [all[3].clone(), all[4].clone()]);
    assert_eq!(ids(&viewer.get("/v1/grants?over=true").await.done()["grants"]), all);
    viewer.get("/v1/grants?cursor=first").await.refused(400, "query_invalid");
    viewer.get("/v1/grants?limit=0").await.refused(400, "query_invalid");
}

/// Callers who may not grant, and requests that cannot be granted, are refused, and nothing is approved.
#[tokio::test]
async fn answer_with_an_invalid_grant_is_refused_and_approves_nothing() {
    let rules = r#"
[[rule]]
name = "named"
tools = ["named"]
verdict = "ask"
ask = { audience = { users = ["vera", "alice"] } }
[[rule]]
name = "two"
tools = ["two"]
verdict = "ask"
ask = { audience = { quorum = 2 } }
"#;
    let scene = Scene::ruled_by(rules).await;
    let vera = scene.world.someone("default", Role::Viewer, "vera", &[]).await;
    let action = scene.proposes(call("c1", "named", json!({ "a": "b", "n": 1 }))).await;
    let body = |option: &str, remember: Value| json!({ "option": option, "remember": remember, "feedback": "because" });
    let plain = json!({ "scope": "session", "arguments": "exact" });
    vera.decides(&action, body("approve", plain.clone())).await.refused(403, "role_forbids");
    scene.agent.decides(&action, body("approve", plain.clone())).await.refused(403, "role_forbids");
    for option in ["reject", "retry", "terminate"] {
        let refused = scene.alice.decides(&action, body(option, plain.clone())).await;
        refused.refused_at(422, "answer_invalid", &["/remember"]);
    }
    for (wrong, place) in [
        (json!({ "scope": "session", "arguments": "exact", "seconds": 0 }), "/remember/seconds"),
        (json!({ "scope": "session", "arguments": "exact", "seconds": 40_000_000 }), "/remember/seconds"),
        (json!({ "scope": "session", "arguments": "exact", "uses": 0 }), "/remember/uses"),
        (json!({ "scope": "session", "arguments": {} }), "/remember/arguments"),
        (json!({ "scope": "session", "arguments": { "x": "*" } }), "/remember/arguments/x"),
        (json!({ "scope": "session", "arguments": { "n": "*" } }), "/remember/arguments/n"),
    ] {
        let refused = scene.alice.decides(&action, body("approve", wrong)).await;
        refused.refused_at(422, "answer_invalid", &[place]);
    }
    for wrong in [json!({ "scope": "tenant", "arguments": "exact" }), json!({ "scope": "session" }), json!("always")] {
        scene.alice.decides(&action, body("approve", wrong)).await.refused(422, "body_invalid");
    }
    let two = scene.proposes(call("c2", "two", json!({}))).await;
    scene.alice.decides(&two, body("approve", plain)).await.refused_at(422, "answer_invalid", &["/remember"]);
    assert_eq!(scene.agent.state(&action).await, "waiting");
    assert_eq!(scene.root.grants().await, Vec::<Value>::new());
    vera.decides(&action, json!({ "option": "approve" })).await.done();
}

/// A question without a proposed action cannot be remembered.
#[tokio::test]
async fn question_without_a_proposed_action_cannot_be_remembered() {
    let scene = Scene::new().await;
    let asked = json!({ "kind": "approval", "title": "Deploy?", "action": { "tool": "deploy", "arguments": {} } });
    let question = scene.agent.asks_in(&scene.session, asked).await;
    let body = json!({ "option": "approve", "remember": { "scope": "session", "arguments": "any" } });
    scene.alice.answers(&question, body).await.refused_at(422, "answer_invalid", &["/remember"]);
}

/// A grant overrides neither a deny, nor four eyes, a quorum or the audience of the rule in force today. Earlier
/// permits of the grant do not either.
#[tokio::test]
async fn grant_overrides_neither_a_deny_nor_the_audience_of_the_rule() {
    let scene = Scene::new().await;
    let rule = |more: &str| format!("[[rule]]\nname = \"ask-before-changing\"\ntools = [\"write_file\"]\n{more}\n");
    approve_with_grant(&scene, "c", remember("project", &json!("any"))).await;
    assert_proposed_state(&scene, write("c1", "/srv/a"), "allowed").await;
    let earlier = scene.proposes(write("earlier", "/srv/a")).await;
    scene.root.rules_by(&rule("verdict = \"deny\"")).await;
    assert_proposed_state(&scene, write("c2", "/srv/a"), "denied").await;
    scene.agent.starts(&earlier).await.refused(403, "action_denied");
    scene.root.rules_by(&rule("verdict = \"ask\"\nask = { audience = { quorum = 2 } }")).await;
    assert_proposed_state(&scene, write("c3", "/srv/a"), "waiting").await;
    scene.agent.starts(&earlier).await.refused(409, "permit_void");
    scene.root.rules_by(&rule("verdict = \"ask\"\nask = { audience = { groups = [\"security\"] } }")).await;
    assert_proposed_state(&scene, write("c4", "/srv/a"), "waiting").await;
    scene.agent.starts(&earlier).await.refused(409, "permit_void");
    let other = "[[rule]]\nname = \"another\"\ntools = [\"write_file\"]\nverdict = \"ask\"\n";
    scene.root.rules_by(other).await;
    scene.agent.starts(&earlier).await.refused(409, "permit_void");
    scene.root.rules_by(&rule("verdict = \"ask\"\nask = { audience = { users = [\"alice\"] } }")).await;
    assert_proposed_state(&scene, write("c5", "/srv/a"), "allowed").await;
    scene.agent.starts(&earlier).await.done();
    scene.root.rules_by(&rule("verdict = \"ask\"\nask = { audience = { four_eyes = true } }")).await;
    assert_proposed_state(&scene, write("c6", "/srv/a"), "allowed").await;
    let hers = scene.alice.opens(json!({ "agent": "bot" })).await;
    let own = scene.agent.proposes(&hers, write("c1", "/srv/a")).await;
    assert_eq!(own.shown["state"], "waiting", "alice started the session and gave the grant");
}

/// A grant on an edit covers the approved arguments, not the proposed ones.
#[tokio::test]
async fn grant_on_an_edit_covers_the_approved_arguments() {
    let scene = Scene::new().await;
    let action = scene.proposes(write("c1", "/srv/a")).await;
    let body = json!({
        "option": "edit", "arguments": { "path": "/srv/b" }, "remember": { "scope": "session", "arguments": "exact" }
    });
    scene.alice.decides(&action, body).await.done();
    assert_proposed_state(&scene, write("c2", "/srv/a"), "waiting").await;
    assert_proposed_state(&scene, call("c3", "write_file", json!({ "path": "/srv/b" })), "allowed").await;
}

/// A grant for a whole tool does not cover arguments that could not be parsed, because a rule might deny them. A grant
/// for exact arguments does.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn grant_for_a_tool_does_not_cover_unparsable_arguments() {
    let rules = r#"
[[rule]]
name = "never-push"
tools = ["execute_command"]
when = 'shell.commands.exists(c, c.name == "git" && c.subcommand == "push")'
verdict = "deny"
[[rule]]
name = "never-much"
tools = ["pay"]
when = 'args.amount > 100'
verdict = "deny"
[[rule]]
name = "all"
tools = ["*"]
verdict = "ask"
"#;
    let scene = Scene::ruled_by(rules).await;
    for (tool, plain, then) in [
        (
            "execute_command",
            json!({ "command": "ls" }),
            [
                (json!({ "command": "git status" }), "allowed"),
                (json!({ "command": "git push" }), "denied"),
                (json!({ "command": "git $X" }), "waiting"),
                (json!({ "command": "cat \"" }), "waiting"),
            ],
        ),
        (
            "database",
            json!({ "sql": "select 1" }),
            [
                (json!({ "sql": "select 2" }), "allowed"),
                (json!({ "sql": "zzz" }), "waiting"),
                (json!({ "sql": "select a from orders end; drop table orders" }), "waiting"),
                (json!({ "sql": "select 2 -- note" }), "waiting"),
            ],
        ),
        (
            "fetch",
            json!({ "url": "https://a.example/" }),
            [
                (json!({ "url": "https://b.example/" }), "allowed"),
                (json!({ "url": "http:///x" }), "waiting"),
                (json!({ "url": "https://a.example/", "path": "~/x" }), "waiting"),
                (json!({ "url": "https://a.example/", "headers": ["X-Method-Override: PUT"] }), "waiting"),
            ],
        ),
        (
            "pay",
            json!({ "amount": 1 }),
            [
                (json!({ "amount": 2 }), "allowed"),
                (json!({ "amount": 200 }), "denied"),
                (json!({ "amount": "200" }), "waiting"),
                (json!({}), "waiting"),
            ],
        ),
    ] {
        let action = scene.proposes(call(tool, tool, plain)).await;
        scene.approved_with(&action, remember("session", &json!("any"))).await;
        for (number, (arguments, state)) in then.iter().enumerate() {
            assert_proposed_state(&scene, call(&format!("{tool}{number}"), tool, arguments.clone()), state).await;
        }
    }
    let dark = json!({ "command": "git $Y" });
    let action = scene.proposes(call("dark", "execute_command", dark.clone())).await;
    scene.approved_with(&action, remember("session", &json!("exact"))).await;
    assert_proposed_state(&scene, call("dark-again", "execute_command", dark), "allowed").await;
}

/// A permit ends with the time of its grant; a grant whose uses are spent leaves its permits valid.
#[tokio::test]
async fn permit_ends_with_the_time_of_its_grant() {
    let scene = Scene::new().await;
    let mut limited = remember("session", &json!("any"));
    limited["remember"]["uses"] = json!(1);
    approve_with_grant(&scene, "c", limited).await;
    let last = scene.proposes(write("c1", "/srv/a")).await;
    assert_proposed_state(&scene, write("c2", "/srv/a"), "waiting").await;
    scene.agent.starts(&last).await.done();
    let timed = json!({ "remember": { "scope": "session", "arguments": "any", "seconds": 60 } });
    approve_with_grant(&scene, "t", timed).await;
    let (soon, late) = (scene.proposes(write("t1", "/srv/a")).await, scene.proposes(write("t2", "/srv/a")).await);
    assert_eq!(late.shown["permit_expires_at"], "2026-01-01T00:01:00Z", "the grant ends before the permit would");
    scene.world.passes(59).await;
    assert_proposed_state(&scene, write("t2", "/srv/a"), "allowed").await;
    scene.agent.starts(&soon).await.done();
    scene.world.passes(1).await;
    scene.agent.starts(&late).await.refused(409, "permit_void");
    assert_proposed_state(&scene, write("t2", "/srv/a"), "rejected").await;
    assert_eq!(scene.agent.state(&late).await, "rejected");
    assert_eq!(scene.agent.state(&soon).await, "started");
}
