//! Tests the audit trail: lists, filters, exports, and the isolation of projects.

use domain::Role;
use domain::audit::verify::{Demands, Report, verify};
use engine::NewKey;
use reqwest::Method;
use serde_json::{Value, json};
use server::ServerLimits;

use server_testkit::client::{ApiClient, confirmation, reply, text};
use server_testkit::world::{Setup, World};

fn names(page: &Value) -> Vec<String> {
    page["entries"].as_array().unwrap().iter().map(|entry| text(&entry["type"])).collect()
}

async fn exported(by: &ApiClient, query: &str) -> String {
    let response = by.request(Method::GET, &format!("/v1/audit/export{query}")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/x-ndjson");
    response.text().await.unwrap()
}

fn verified(export: &str) -> Report {
    let partial = Demands { partial: true, ..Demands::default() };
    verify(export.split_inclusive('\n').map(|line| line.as_bytes().to_vec()), &partial).unwrap()
}

/// The entry of an edited approval holds the caller, the entry point, the address, the proposed arguments and the
/// approved ones. Regression test: edited arguments were not stored.
#[tokio::test]
async fn entry_of_an_edited_approval_has_proposed_and_approved_arguments() {
    let world = World::new().await;
    let (root, alice) = (world.admin().await, world.person("alice").await);
    let action = json!({ "tool": "deploy", "arguments": { "version": "1.4" } });
    let question = world.asks(json!({ "kind": "approval", "title": "Deploy?", "action": action })).await;
    let edit = json!({ "effect": "edit", "arguments": { "version": "1.5" }, "feedback": "1.4 is broken" });
    alice.answers(&question, edit).await.done();
    let page = root.get(&format!("/v1/audit?interaction={}&type=interaction.answered", question.id)).await.done();
    let entry = &page["entries"][0];
    assert_eq!(names(&page).len(), 1);
    assert_eq!(entry["by"], json!({ "kind": "user", "name": "alice" }));
    assert_eq!(entry["how"], json!({ "wire": "http", "key": alice.key_id, "from": "127.0.0.1" }));
    assert_eq!(entry["data"]["action"], action);
    assert_eq!(entry["data"]["answer"]["arguments"], json!({ "version": "1.5" }));
    assert_eq!(entry["data"]["answer"]["feedback"], "1.4 is broken");
    assert_eq!((&entry["session"], &entry["event"]), (&json!(question.session), &json!(3)));
}

#[tokio::test]
async fn the_list_is_filtered_and_paged() {
    let world = World::new().await;
    let root = world.admin().await;
    let question = world.asks(confirmation()).await;
    world.passes(60).await;
    world.person("alice").await.answers(&question, json!({ "option": "confirm" })).await.done();
    let rows = [
        (
            "",
            vec![
                "key.created",
                "key.created",
                "session.started",
                "interaction.asked",
                "key.created",
                "interaction.answered",
            ],
        ),
        ("?type=key.created&limit=200", vec!["key.created"; 3]),
        ("?by=bot", vec!["session.started", "interaction.asked"]),
        (&*format!("?session={}&by=alice", question.session), vec!["interaction.answered"]),
        (&*format!("?interaction={}", question.id), vec!["interaction.asked", "interaction.answered"]),
        ("?interaction=int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", vec![]),
        ("?by=nobody", vec![]),
    ];
    for (query, expected) in rows {
        assert_eq!(names(&root.get(&format!("/v1/audit{query}")).await.done()), expected, "{query}");
    }
    let all = root.get("/v1/audit").await.done();
    let late = text(&all["entries"][5]["at"]);
    assert_eq!(names(&root.get(&format!("/v1/audit?since={late}")).await.done()).len(), 2);
    assert_eq!(names(&root.get(&format!("/v1/audit?until={late}")).await.done()).len(), 4);
    let (mut cursor, mut seen) = (String::new(), Vec::new());
    loop {
        let page = root.get(&format!("/v1/audit?limit=4{cursor}")).await.done();
        seen.extend(page["entries"].as_array().cloned().unwrap());
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(json!(seen), all["entries"]);
    for wrong in
        ["since=yesterday", "session=int_1", "limit=0", "cursor=x", "cursor=18446744073709551615", "colour=blue"]
    {
        root.get(&format!("/v1/audit?{wrong}")).await.refused(400, "query_invalid");
    }
    root.get("/v1/audit/export?after=18446744073709551615").await.refused(400, "query_invalid");
    root.get("/v1/audit/export?after=7").await.refused(404, "not_found");
}

/// The hash chain belongs to the tenant, the entries to the project: another project of the tenant sees digests only,
/// and another tenant sees nothing.
#[tokio::test]
async fn exports_verify_and_show_only_digests_of_other_projects() {
    let world = World::new().await;
    let (root, stranger) = (world.admin().await, world.stranger().await);
    let question = world.asks(confirmation()).await;
    let new = NewKey::named(Role::Admin, "next-door");
    let (key, secret) = world.engine.key_install("default", "another", new).await.unwrap();
    let neighbour = ApiClient { http: world.http.clone(), key: secret, key_id: key.id.to_string() };

    let ours = exported(&root, "").await;
    assert_eq!((verified(&ours).entries, verified(&ours).digests_only), (5, 1));
    assert!(ours.contains(&question.id) && !ours.contains("next-door"));
    let theirs = exported(&neighbour, "").await;
    assert_eq!((verified(&theirs).entries, verified(&theirs).digests_only), (5, 4));
    assert!(theirs.contains("next-door") && !theirs.contains(&question.id) && !theirs.contains("Delete the file"));
    assert_eq!(names(&neighbour.get("/v1/audit").await.done()), ["key.created"]);
    let foreign = exported(&stranger, "").await;
    assert_eq!(verified(&foreign).entries, 1);
    assert!(!foreign.contains(&question.session));
    let key = root.get("/v1/audit/key").await.done();
    assert_eq!(key["public_key"], verified(&ours).public_key);
    assert_ne!(stranger.get("/v1/audit/key").await.done(), key);
    let part = verified(&exported(&root, "?after=4").await);
    assert_eq!((part.first, part.entries), (5, 1));
    assert_eq!(verified(&exported(&root, "?since=2100-01-01T00:00:00Z").await).digests_only, 5);
}

/// `X-Forwarded-For` counts only behind a proxy, and then only the last address, which the proxy itself has added.
#[tokio::test]
async fn x_forwarded_for_is_used_only_behind_a_proxy() {
    for (behind_proxy, expected) in [(false, "127.0.0.1"), (true, "203.0.113.9")] {
        let limits = ServerLimits { behind_proxy, ..ServerLimits::default() };
        let world = World::with(Setup { limits, ..Setup::default() }).await;
        let (root, agent) = (world.admin().await, world.agent().await);
        let request = agent.request(Method::POST, "/v1/sessions").header("x-forwarded-for", "6.6.6.6, 203.0.113.9");
        reply(request.json(&json!({}))).await.done();
        let page = root.get("/v1/audit?type=session.started").await.done();
        assert_eq!(page["entries"][0]["how"]["from"], expected);
        let rubbish = agent.request(Method::POST, "/v1/sessions").header("x-forwarded-for", "6.6.6.6, rubbish");
        reply(rubbish.json(&json!({}))).await.done();
        let page = root.get("/v1/audit?type=session.started").await.done();
        assert_eq!(page["entries"][1]["how"]["from"], "127.0.0.1");
    }
}

#[tokio::test]
async fn an_export_can_be_compressed() {
    let world = World::new().await;
    let admin = world.admin().await;
    let request = admin.request(Method::GET, "/v1/audit/export").header("Accept-Encoding", "gzip");
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(!response.bytes().await.unwrap().is_empty());
}
