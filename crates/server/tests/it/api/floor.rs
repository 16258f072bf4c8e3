//! Tests the floor policy of the server from the view of a project.

use domain::Role;
use serde_json::{Value, json};

use server_testkit::actions::{Scene, call, policy};
use server_testkit::world::World;

const FLOOR: &str = r#"version = 1
[[rule]]
name = "never"
tools = ["execute_command"]
verdict = "deny"
reason = "no program is run here"

[[rule]]
name = "two"
tools = ["deploy"]
verdict = "ask"
reason = "security decides"
[rule.ask]
audience = { groups = ["security"] }
"#;
const EVERYTHING: &str = "[[rule]]\nname = \"all\"\ntools = [\"*\"]\nverdict = \"allow\"\n";

async fn world_with_floor() -> World {
    let world = World::new().await;
    world.engine.floor_load("floor.toml".into(), FLOOR.into()).await.unwrap();
    world
}

/// A tenant whose own policy allows everything, or whose approvals are paused, cannot override the floor.
#[tokio::test]
async fn policy_that_allows_everything_does_not_override_the_floor() {
    let world = world_with_floor().await;
    let mallory = world.stranger().await;
    let agent = world.someone("elsewhere", Role::Agent, "bot", &[]).await;
    mallory.rules_by(EVERYTHING).await;
    let session = agent.opens(json!({ "agent": "ops" })).await;
    let command = json!({ "command": "holdpoint keys create --role admin --tenant acme" });
    for switched in [true, false] {
        if !switched {
            let off = json!({ "enabled": false, "reason": "I would rather not ask" });
            mallory.put("/v1/policy/enabled", off).await.done();
        }
        let name = format!("run-{switched}");
        let run = agent.proposes(&session, call(&name, "execute_command", command.clone())).await.shown;
        assert_eq!((&run["state"], &run["ruling"]["rule"]), (&json!("denied"), &json!("never")));
        assert_eq!(run["ruling"]["floor"]["verdict"], "deny");
        let name = format!("deploy-{switched}");
        let deploy = agent.proposes(&session, call(&name, "deploy", json!({}))).await;
        assert_eq!((&deploy.shown["state"], &deploy.shown["ruling"]["rule"]), (&json!("waiting"), &json!("two")));
        mallory.decides(&deploy, json!({ "option": "approve" })).await.refused(403, "not_in_audience");
        let auto = json!({ "source": "system", "option": "approve" });
        let path = deploy.question().path("/auto");
        mallory.post(&path, auto).await.refused(422, "answer_invalid");
    }
    let read = agent.proposes(&session, call("read", "read_file", json!({ "path": "a" }))).await.shown;
    assert_eq!((&read["state"], &read["ruling"]["rule"]), (&json!("allowed"), &json!("all")));
    assert_eq!(
        (&read["ruling"]["floor"]["verdict"], &read["ruling"]["floor"]["rule"]),
        (&json!("allow"), &Value::Null)
    );
}

/// Everyone who may read the policy can read the floor, and a ruling shows the part that the floor decided.
#[tokio::test]
async fn floor_is_shown_with_the_policy_and_in_explanations() {
    let scene = Scene::in_world(world_with_floor().await).await;
    scene.root.rules_by(EVERYTHING).await;
    let shown = scene.root.get("/v1/policy").await.done();
    assert_eq!((&shown["floor"]["text"], &shown["floor"]["warnings"]), (&json!(FLOOR), &json!([])));
    assert!(shown.get("differs").is_none(), "{shown}");
    let version = &shown["floor"]["version"];
    for draft in [None, Some(policy(EVERYTHING))] {
        let body = json!({ "tool": "execute_command", "arguments": { "command": "ls" }, "text": draft });
        let explained = scene.root.post("/v1/policy/explain", body).await.done();
        assert_eq!(
            (&explained["ruling"]["verdict"], &explained["ruling"]["floor"]["version"]),
            (&json!("deny"), version)
        );
        assert_eq!(explained["floor"]["ruling"]["rule"], "never");
        assert_eq!(explained["floor"]["considered"][0]["outcome"], "matches");
        assert_eq!(explained["considered"][0]["rule"], "all");
    }
    scene.world.engine.floor_load("/srv/private/floor.toml".into(), "version = 9".into()).await.unwrap_err();
    let shown = scene.agent.get("/v1/policy").await.done();
    assert_eq!(
        shown["floor"]["refused_file"]["findings"][0]["file"], "floor.toml",
        "the directory of the operator is hidden"
    );
    assert_eq!((&shown["floor"]["version"], &shown["floor"]["refused_file"]["retried"]), (version, &json!(false)));
    let trail = scene.root.get("/v1/audit?type=policy.floor_changed").await.done()["entries"].clone();
    assert_eq!(trail, json!([]), "the project was created after the floor");
    scene.world.engine.floor_remove().await.unwrap();
    assert!(scene.root.get("/v1/policy").await.done().get("floor").is_none());
    let trail = scene.root.get("/v1/audit?type=policy.floor_changed").await.done()["entries"].clone();
    assert_eq!(trail[0]["data"]["before"], *version);
}
