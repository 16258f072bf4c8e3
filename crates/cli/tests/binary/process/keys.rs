//! Tests `holdpoint keys` beside a running server and without one.

use serde_json::json;

use crate::common::{Deployment, until};

#[tokio::test]
async fn keys_create_prints_only_the_key_with_or_without_a_server() {
    let deployment = Deployment::sqlite();
    let before = deployment.run(&["keys", "create", "--role", "agent", "--user", "early"]);
    let server = deployment.launch().start().await;
    let beside = deployment.run(&["keys", "create", "--role", "operator", "--user", "late", "--group", "night"]);
    for (output, said) in [(before, "holdpoint.db"), (beside, "")] {
        assert!(output.status.success());
        let aside = String::from_utf8(output.stderr).unwrap();
        assert!(aside.trim_end().ends_with(said) && aside.is_empty() == said.is_empty(), "{aside}");
        let text = String::from_utf8(output.stdout).unwrap();
        let key = text.strip_suffix('\n').unwrap();
        assert!(key.starts_with("hp_") && key.bytes().all(|byte| byte.is_ascii_graphic()), "{text:?}");
        server.client(key).get("/v1/sessions").await.done(200);
    }
}

#[tokio::test]
async fn keys_list_shows_user_and_last_use_but_no_secret() {
    let deployment = Deployment::sqlite();
    let (used, unused) = (deployment.key("agent", "busy"), deployment.key("viewer", "idle"));
    let server = deployment.launch().start().await;
    server.client(&used).get("/v1/sessions").await.done(200);
    // The server stores the last use of keys every half minute and when it stops.
    assert!(server.stop().success());

    let output = deployment.run(&["keys", "list"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |words: &str| text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{text}"));
    assert!(line("user=busy").contains(" agent ") && line("user=busy").contains("last_used=20"), "{text}");
    assert!(line("user=idle").contains(" viewer ") && line("user=idle").contains("last_used=-"), "{text}");
    for key in [used, unused] {
        let secret = key.rsplit_once('_').unwrap().1;
        assert!(!text.contains(secret));
    }
}

#[tokio::test]
async fn keys_revoke_ends_access_before_it_returns() {
    let deployment = Deployment::sqlite();
    let (doomed, other) = (deployment.key("agent", "doomed"), deployment.key("agent", "other"));
    let server = deployment.launch().start().await;
    let (doomed, other) = (server.client(&doomed), server.client(&other));
    doomed.get("/v1/sessions").await.done(200);

    let listed = String::from_utf8(deployment.run(&["keys", "list"]).stdout).unwrap();
    let line = listed.lines().find(|line| line.contains("user=doomed")).unwrap();
    let id = line.split_whitespace().next().unwrap();
    let revoked = deployment.run(&["keys", "revoke", id]);
    assert!(revoked.status.success(), "{revoked:?}");

    doomed.get("/v1/sessions").await.problem(401, "unauthenticated");
    other.get("/v1/sessions").await.done(200);
    let listed = String::from_utf8(deployment.run(&["keys", "list"]).stdout).unwrap();
    assert!(listed.lines().any(|line| line.contains("user=doomed") && line.contains(" revoked ")), "{listed}");
}

#[test]
fn only_commands_that_create_keys_or_accounts_create_a_database() {
    for arguments in [
        &["keys", "list"][..],
        &["keys", "revoke", "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01"],
        &["users", "link", "alice"],
        &["audit", "export"],
        &["archive", "export"],
    ] {
        let deployment = Deployment::sqlite();
        check(&deployment, arguments, 1, "holdpoint.db");
        assert!(!deployment.data().join("holdpoint.db").exists(), "{arguments:?}");
    }
}

#[tokio::test]
async fn an_expired_key_is_refused() {
    let deployment = Deployment::sqlite();
    let server = deployment.launch().start().await;
    let admin = server.client(&deployment.key("admin", "root"));
    let body = json!({ "role": "viewer", "user": "visitor", "expires_in_seconds": 1 });
    let short_lived = admin.with_key(&admin.post("/v1/keys", body).await.done(201).text("/secret"));
    short_lived.get("/v1/sessions").await.done(200);
    let refused =
        until("the key's end", async || Some(short_lived.get("/v1/sessions").await).filter(|r| r.status != 200));
    refused.await.problem(401, "unauthenticated");

    let output = deployment.run(&["keys", "create", "--role", "viewer", "--expires-days", "0"]);
    assert_eq!(output.status.code(), Some(1), "a key without a valid time: {output:?}");
    assert!(output.stdout.is_empty());
}

#[test]
fn invalid_keys_commands_fail_with_a_reason() {
    let deployment = Deployment::sqlite();
    deployment.key("agent", "bot");
    check(&deployment, &["keys", "revoke", "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01"], 1, "key");
    check(&deployment, &["keys", "revoke", "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01"], 2, "key_");
    check(&deployment, &["keys", "create", "--role", "king"], 2, "must be admin, operator, viewer or agent");
    check(&deployment, &["keys", "create", "--role", "agent", "--user", "two words"], 1, "/user must be");
    check(&deployment, &["keys", "create", "--role", "agent", "--tenant", ""], 1, "/tenant must be");
    check(
        &deployment,
        &["keys", "create", "--role", "agent", "--user", "bto", "--join-account"],
        1,
        "no account has the name",
    );
    check(&deployment, &["keys", "create", "--role", "agent", "--join-account"], 2, "--user");
}

fn check(deployment: &Deployment, arguments: &[&str], code: i32, reason: &str) {
    let output = deployment.run(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(output.stdout.is_empty());
    assert!(!said.is_empty() && said.contains(reason), "{said}");
}
