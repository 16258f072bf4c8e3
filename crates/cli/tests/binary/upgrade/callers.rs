//! Tests idempotent commands, people and keys of the archive.

use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use serde_json::{Value, json};

use super::fixture::UpgradedServer;
use super::reads::assert_shows;
use crate::common::Client;

pub(super) async fn commands_are_replayed_and_people_are_known(upgraded: &UpgradedServer) {
    commands_are_replayed(upgraded).await;
    people_are_known(upgraded).await;
    Client::new(&upgraded.base, &upgraded.text("/revoked_key")).get("/v1/me").await.problem(401, "unauthenticated");
}

/// Commands with equal bytes and idempotency key return the result of the first command, including a secret that is
/// shown once.
async fn commands_are_replayed(upgraded: &UpgradedServer) {
    for record in upgraded.manifest["idempotent"].as_array().unwrap() {
        let text = |name: &str| record[name].as_str().unwrap().to_owned();
        let client = upgraded.client(&text("as"));
        let send = async |body: String| {
            let request = client.request("POST", &text("path")).header("Idempotency-Key", text("key"));
            client.attempt(request.header(CONTENT_TYPE, "application/json").body(body)).await.unwrap()
        };
        let again = send(text("raw")).await;
        assert!(again.status < 300, "{again:?}");
        assert_shows(&record["reply"], &again.body, &text("path"));
        send(text("raw").replace('}', " }")).await.problem(409, "idempotency_conflict");
    }
    let key = upgraded.manifest["idempotent"][1]["reply"]["secret"].as_str().unwrap();
    assert_eq!(Client::new(&upgraded.base, key).get("/v1/me").await.done(200).text("/name"), "once");
}

/// The browser cookie of a person is still valid, and the password and an unused link still sign the person in.
async fn people_are_known(upgraded: &UpgradedServer) {
    let person = |name: &str| upgraded.text(&format!("/person/{name}"));
    let http = reqwest::Client::new();
    let me = async |cookie: &str| {
        let request = http.get(format!("{}/v1/me", upgraded.base)).header(COOKIE, cookie);
        let shown: Value = request.send().await.unwrap().json().await.unwrap();
        shown["name"].as_str().map(str::to_owned)
    };
    assert_eq!(me(&person("cookie")).await, Some(person("name")));
    let password = json!({ "user": person("name"), "password": person("password") });
    for (path, body) in [("/v1/sign-in/password", password), ("/v1/sign-in/link", json!({ "token": person("link") }))] {
        let reply = http.post(format!("{}{path}", upgraded.base)).json(&body).send().await.unwrap();
        assert_eq!(reply.status(), 204, "{path}");
        let cookie = reply.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        assert_eq!(me(&cookie).await, Some(person("name")));
    }
}
