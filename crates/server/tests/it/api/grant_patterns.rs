//! Tests patterns of grants against arguments that mean more than their text.

use serde_json::{Value, json};

use server_testkit::actions::{Scene, call};

/// Approves a call with a grant of this pattern, and checks the state of further calls of the tool.
async fn check(tool: &str, approved: Value, pattern: Value, then: &[(Value, &str)]) {
    let scene = Scene::ruled_by("[[rule]]\nname = \"all\"\ntools = [\"*\"]\nverdict = \"ask\"\n").await;
    let action = scene.proposes(call("first", tool, approved)).await;
    scene.approved_with(&action, json!({ "remember": { "scope": "session", "arguments": pattern } })).await;
    for (number, (arguments, state)) in then.iter().enumerate() {
        let proposed = scene.proposes(call(&format!("c{number}"), tool, arguments.clone())).await;
        assert_eq!(proposed.shown["state"], *state, "{tool} {arguments}");
    }
}

/// A path is normalised before it is compared: `..` leaves the pattern, `.` and doubled slashes do not.
#[tokio::test]
async fn path_is_normalised_before_it_is_matched_with_a_grant_pattern() {
    let to = |path: &str| json!({ "path": path, "mode": 6 });
    let then = [
        (to("/srv/notes/b"), "allowed"),
        (to("/srv/notes/deep/c"), "allowed"),
        (to("/srv//notes/./b"), "allowed"),
        (to("/srv/notes/x/../b"), "allowed"),
        (to("/srv/notes/../secret"), "waiting"),
        (to("/srv/notes/x/../../../etc/passwd"), "waiting"),
        (to("/srv/notes"), "waiting"),
        (to("/srv/notes2/b"), "waiting"),
        (to("srv/notes/b"), "waiting"),
        (to("~/notes/b"), "waiting"),
        (to("/srv/notes/.git/hooks/pre-commit"), "waiting"),
        (to("/srv/notes/.envrc"), "waiting"),
    ];
    check("write_file", to("/srv/notes/a"), json!({ "path": "/srv/notes/*" }), &then).await;
    let files_that_steer = [(to("/srv/notes/b"), "allowed"), (to("/srv/notes/.git/config"), "waiting")];
    check("write_file", to("/srv/notes/a"), json!("any"), &files_that_steer).await;
}

/// No pattern is accepted for commands, addresses, SQL and their companion arguments, because a pattern cannot see
/// their meaning. A pattern that does not match the approved arguments is refused too.
#[tokio::test]
async fn pattern_for_commands_addresses_or_sql_is_refused() {
    let scene = Scene::ruled_by("[[rule]]\nname = \"all\"\ntools = [\"*\"]\nverdict = \"ask\"\n").await;
    for (number, (tool, approved, pattern, place)) in [
        ("execute_command", json!({ "command": "git status" }), json!({ "command": "git *" }), "command"),
        ("execute_command", json!({ "command": "git", "args": "status" }), json!({ "args": "*" }), "args"),
        ("fetch", json!({ "url": "https://a.example/x" }), json!({ "url": "https://a.example/*" }), "url"),
        ("database", json!({ "sql": "select 1" }), json!({ "sql": "select *" }), "sql"),
        ("write_file", json!({ "path": "/srv/a" }), json!({ "path": "/etc/*" }), "path"),
        ("write_file", json!({ "path": "/srv/a/../b" }), json!({ "path": "/srv/a/*" }), "path"),
        ("write_file", json!({ "path": "~/a" }), json!({ "path": "*" }), "path"),
        ("note", json!({ "text": "one", "a/b": "x" }), json!({ "a/b": "y*", "text": "*" }), "a~1b"),
    ]
    .into_iter()
    .enumerate()
    {
        let action = scene.proposes(call(&format!("c{number}"), tool, approved)).await;
        let body = json!({ "option": "approve", "remember": { "scope": "session", "arguments": pattern } });
        let place = format!("/remember/arguments/{place}");
        scene.alice.decides(&action, body).await.refused_at(422, "answer_invalid", &[place.as_str()]);
        assert_eq!(scene.agent.state(&action).await, "waiting");
    }
    assert_eq!(scene.root.grants().await, Vec::<Value>::new());
}

/// Plain text arguments beside a command can have a pattern.
#[tokio::test]
async fn text_argument_beside_a_command_can_have_a_pattern() {
    let run = |command: &str, note: &str| json!({ "command": command, "note": note });
    let then = [(run("git status", "two"), "allowed"), (run("git push", "two"), "waiting")];
    check("execute_command", run("git status", "one"), json!({ "note": "*" }), &then).await;
}
