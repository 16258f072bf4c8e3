//! Patterns of grants against arguments that mean more than their text.

use serde_json::{Value, json};

use crate::acting::{Scene, call};

/// An approval that is remembered by this pattern, and then what comes of the same tool with other arguments.
async fn check(tool: &str, approved: Value, pattern: Value, then: &[(Value, &str)]) {
    let scene = Scene::ruled_by("[[rule]]\nname = \"all\"\ntools = [\"*\"]\nverdict = \"ask\"\n").await;
    let action = scene.proposes(call("first", tool, approved)).await;
    scene.approved_with(&action, json!({ "remember": { "scope": "session", "arguments": pattern } })).await;
    for (number, (arguments, state)) in then.iter().enumerate() {
        let proposed = scene.proposes(call(&format!("c{number}"), tool, arguments.clone())).await;
        assert_eq!(proposed.shown["state"], *state, "{tool} {arguments}");
    }
}

/// A path is compared as what it leads to: `..` leads out of the pattern, `.` and doubled slashes do not.
#[tokio::test]
async fn a_path_cannot_leave_its_pattern() {
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
    ];
    check("write_file", to("/srv/notes/a"), json!({ "path": "/srv/notes/*" }), &then).await;
}

/// A command, an address and SQL have more meanings than a pattern can see: it covers none of them, nor what stands beside them.
#[tokio::test]
async fn what_has_a_meaning_of_its_own_fits_no_pattern() {
    let run = |command: &str| json!({ "command": command });
    let then = [(run("git status"), "waiting"), (run("git push"), "waiting"), (run("git status; rm -r ."), "waiting")];
    check("execute_command", run("git status"), json!({ "command": "git *" }), &then).await;
    let words = |args: Value| json!({ "command": "git", "args": args });
    let then = [(words(json!("status")), "waiting"), (words(json!("push --force")), "waiting")];
    check("execute_command", words(json!("status")), json!({ "args": "*" }), &then).await;
    let get = |url: &str| json!({ "url": url });
    let then = [(get("https://a.example/x"), "waiting"), (get("https://a.example@b.example/"), "waiting")];
    check("fetch", get("https://a.example/x"), json!({ "url": "https://a.example/*" }), &then).await;
    let sql = |text: &str| json!({ "sql": text });
    let then = [(sql("select 1"), "waiting"), (sql("select 1; drop table users"), "waiting")];
    check("database", sql("select 1"), json!({ "sql": "select *" }), &then).await;
}

/// Beside them, what is only text is covered.
#[tokio::test]
async fn plain_text_beside_a_command_is_covered() {
    let run = |command: &str, note: &str| json!({ "command": command, "note": note });
    let then = [(run("git status", "two"), "allowed"), (run("git push", "two"), "waiting")];
    check("execute_command", run("git status", "one"), json!({ "note": "*" }), &then).await;
}
