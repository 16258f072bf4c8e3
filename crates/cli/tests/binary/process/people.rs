//! Tests sign-in links: the first start prints one for the first admin, and `holdpoint users` makes others.

use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::{Value, json};

use crate::common::{Deployment, on_postgres};

/// Signs in with a link. Returns the cookie, or the status of the refusal.
async fn signed_in(base: &str, link: &str) -> Result<String, u16> {
    let token = link.trim().split_once("/sign-in#token=").unwrap().1;
    let request = reqwest::Client::new().post(format!("{base}/v1/sign-in/link"));
    let reply = request.json(&json!({ "token": token })).send().await.unwrap();
    match reply.headers().get(SET_COOKIE) {
        Some(cookie) => Ok(cookie.to_str().unwrap().split(';').next().unwrap().to_owned()),
        None => Err(reply.status().as_u16()),
    }
}

async fn me(base: &str, cookie: &str) -> Value {
    let request = reqwest::Client::new().get(format!("{base}/v1/me")).header(COOKIE, cookie);
    request.send().await.unwrap().json().await.unwrap()
}

async fn check_first_sign_in(deployment: &Deployment) {
    let launch = deployment.launch();
    let base = format!("http://{}", launch.address());
    launch.start().await.kill();
    let server = launch.start().await;
    let said = launch.said();
    let links: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("Sign in as the first admin, once and within an hour: "))
        .collect();
    assert_eq!(links.len(), 2, "{said}");
    assert!(links[1].starts_with(&format!("{base}/sign-in#token=hpl_")), "{said}");
    assert_eq!(signed_in(&base, links[0]).await, Err(401), "a later start replaces the link");
    let admin = signed_in(&base, links[1]).await.unwrap();
    let found = me(&base, &admin).await;
    assert_eq!((&found["name"], &found["role"], &found["via"]), (&json!("admin"), &json!("admin"), &json!("cookie")));

    let created = deployment.run(&["users", "create", "alice", "--role", "operator", "--display", "Alice"]);
    assert_eq!(String::from_utf8(created.stdout).unwrap(), "alice is in default\n");
    let twice = deployment.run(&["users", "create", "alice", "--role", "viewer"]);
    assert!(!twice.status.success() && String::from_utf8(twice.stderr).unwrap().contains("already in this project"));
    let shouted = deployment.run(&["users", "create", "ALICE", "--role", "viewer"]);
    assert!(
        !shouted.status.success() && String::from_utf8(shouted.stderr).unwrap().contains("already in this project")
    );
    let reserved = deployment.run(&["keys", "create", "--role", "viewer", "--user", "System"]);
    assert!(!reserved.status.success());
    assert!(deployment.run(&["keys", "create", "--role", "operator", "--user", "bob"]).status.success());
    let taken = deployment.run(&["users", "create", "bob", "--role", "operator"]);
    assert!(!taken.status.success() && String::from_utf8(taken.stderr).unwrap().contains("is taken"));
    assert!(deployment.run(&["users", "create", "bob", "--role", "operator", "--join-keys"]).status.success());
    let new_key = ["keys", "create", "--role", "operator", "--user", "ALICE"];
    let unsaid = deployment.run(&new_key);
    assert!(!unsaid.status.success() && String::from_utf8(unsaid.stderr).unwrap().contains("--join-account"));
    let key = deployment.run(&[&new_key[..], &["--join-account"]].concat());
    assert!(key.status.success() && key.stdout.starts_with(b"hp_"), "{key:?}");
    let listed = String::from_utf8(deployment.run(&["keys", "list"]).stdout).unwrap();
    assert_eq!(listed.matches("user=ALICE").count(), 1, "{listed}");
    let link = deployment.run(&["users", "link", "alice", "--public-url", "https://hp.example.org"]);
    let link = String::from_utf8(link.stdout).unwrap();
    assert!(link.starts_with("https://hp.example.org/sign-in#token="), "{link}");
    let alice = signed_in(&base, &link).await.unwrap();
    assert_eq!(me(&base, &alice).await["display"], "Alice");

    server.kill();
    let server = launch.start().await;
    assert_eq!(launch.said().matches("Sign in as").count(), 2, "no link is printed after a sign-in");
    assert_eq!(me(&base, &alice).await["name"], "alice", "the cookie is still valid");
    let further = deployment.run(&["users", "create", "alice", "--role", "viewer", "--project", "web"]);
    let said = String::from_utf8(further.stdout).unwrap();
    assert!(said.starts_with("alice is in web\n") && said.contains("existed before"), "{said}");
    assert_eq!(me(&base, &alice).await["code"], "unauthenticated", "the earlier cookie is no longer valid");
    assert!(server.stop().success());
}

#[tokio::test]
async fn first_admin_signs_in_with_the_printed_link_on_sqlite() {
    check_first_sign_in(&Deployment::sqlite()).await;
}

#[test]
fn first_admin_signs_in_with_the_printed_link_on_postgres() {
    on_postgres(check_first_sign_in);
}

#[tokio::test]
async fn malformed_public_url_is_refused() {
    for wrong in ["hp.example.org", "ftp://hp.example.org", "https://hp.example.org/x", "https://user@hp.example.org"] {
        let output = Deployment::sqlite().run(&["users", "link", "alice", "--public-url", wrong]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("--public-url"), "{said}");
    }
}
