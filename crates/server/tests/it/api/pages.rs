//! Tests that pages are bounded by bytes in every API, and that their cursors lead to the end.

use serde_json::{Value, json};

use server_testkit::actions::{Scene, call};
use server_testkit::client::{ApiClient, Question, reply, text};
use server_testkit::world::{Setup, World};

/// Size of each question in bytes; twenty of them exceed one page.
const LARGE: usize = 240_000;
const MANY: usize = 20;
/// Maximum size of a page in bytes: 4 MiB of rows, and the additions of the API.
const MOST: usize = 10 << 20;

/// Follows a list to its end and returns the number of items on each page.
async fn page_sizes(who: &ApiClient, path: &str, items: &str, (next, cursor): (&str, &str)) -> Vec<usize> {
    let (mut sizes, mut after) = (Vec::new(), None::<String>);
    loop {
        let from = after.map_or_else(String::new, |after| format!("&{cursor}={after}"));
        let page: Value = who.get(&format!("{path}{from}")).await.done();
        assert!(page.to_string().len() < MOST, "{path}: a page of {} bytes", page.to_string().len());
        sizes.push(page[items].as_array().unwrap().len());
        match page[next].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => return sizes,
        }
    }
}

fn large(kind: &str) -> Value {
    json!({ "kind": kind, "title": "May I?", "context": { "padding": "x".repeat(LARGE) } })
}

/// Creates a world with many large questions of one agent.
async fn world() -> (World, ApiClient, String, Vec<Question>) {
    let world = World::with(Setup::default()).await;
    let agent = world.agent().await;
    let session = agent.opens(json!({ "channel": "wide" })).await;
    let mut asked = Vec::new();
    for _ in 0..MANY {
        asked.push(agent.asks_in(&session, large("confirmation")).await);
    }
    (world, agent, session, asked)
}

#[tokio::test]
async fn pages_of_open_questions_are_limited_in_bytes_in_every_dialect() {
    let (_world, agent, session, _) = world().await;
    let ours = ("next", "cursor");
    let lists = [
        ("/v1/interactions?limit=200".to_owned(), "interactions", ours),
        ("/v1/interactions?limit=200&sort=newest".to_owned(), "interactions", ours),
        ("/hitl/conversations/wide/pending?limit=200".to_owned(), "requests", ours),
        (format!("/hitl/conversations/{session}/pending?limit=200"), "requests", ours),
        ("/hitl/projects/default/pending?limit=200".to_owned(), "requests", ours),
        ("/sessions/wide/pending-approvals?limit=200".to_owned(), "pending_approvals", ours),
        (format!("/sessions/{session}/pending-approvals?limit=200"), "pending_approvals", ours),
        (format!("/api/flows/{session}/interactions?limit=200"), "active", ("nextActiveCursor", "activeCursor")),
    ];
    for (path, items, cursor) in lists {
        let sizes = page_sizes(&agent, &path, items, cursor).await;
        assert_eq!(sizes.iter().sum::<usize>(), MANY, "{path}: {sizes:?}");
        assert!(sizes.len() > 1, "{path}: {sizes:?}");
    }
}

#[tokio::test]
async fn pages_of_answerable_questions_are_limited_in_bytes() {
    let (world, ..) = world().await;
    let alice = world.person("alice").await;
    let sizes = page_sizes(&alice, "/v1/interactions?mine=true&limit=200", "interactions", ("next", "cursor")).await;
    assert_eq!(sizes.iter().sum::<usize>(), MANY, "{sizes:?}");
}

#[tokio::test]
async fn pages_of_deliveries_and_closed_questions_are_limited_in_bytes() {
    let (world, agent, session, asked) = world().await;
    let alice = world.person("alice").await;
    for question in &asked {
        alice.answers(question, json!({ "option": "confirm" })).await.done();
    }
    let lists = [
        ("/v1/deliveries?limit=200".to_owned(), "deliveries", ("next", "cursor")),
        (format!("/api/flows/{session}/interactions?limit=200"), "history", ("nextCursor", "cursor")),
        ("/v1/interactions?limit=200&status=answered".to_owned(), "interactions", ("next", "cursor")),
    ];
    for (path, items, cursor) in lists {
        let sizes = page_sizes(&agent, &path, items, cursor).await;
        assert_eq!(sizes.iter().sum::<usize>(), MANY, "{path}: {sizes:?}");
        assert!(sizes.len() > 1, "{path}: {sizes:?}");
    }
}

#[tokio::test]
async fn pages_of_actions_are_limited_in_bytes() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    for number in 0..MANY {
        let body = json!({ "call_id": format!("call-{number:02}"), "tool": "deploy",
                           "arguments": { "padding": "x".repeat(LARGE) } });
        agent.post(&format!("/v1/sessions/{session}/actions"), body).await;
    }
    let path = format!("/v1/sessions/{session}/actions?limit=200");
    let sizes = page_sizes(&agent, &path, "actions", ("next", "cursor")).await;
    assert_eq!(sizes.iter().sum::<usize>(), MANY, "{sizes:?}");
    assert!(sizes.len() > 1, "{sizes:?}");
}

/// Follows a list to its end by its cursor and returns the names of its items. Asserts that there are several pages.
async fn item_names_of_all_pages(
    who: &ApiClient,
    path: &str,
    items: &str,
    name: impl Fn(&Value) -> String,
) -> Vec<String> {
    let (mut names, mut pages, mut after) = (Vec::new(), 0, String::new());
    loop {
        let page = who.get(&format!("{path}?limit=200{after}")).await.done();
        pages += 1;
        names.extend(page[items].as_array().unwrap().iter().map(&name));
        match page["next"].as_str() {
            Some(next) => after = format!("&cursor={next}"),
            None => break,
        }
    }
    assert!(pages > 1, "{path}: all items came on one page");
    names
}

/// Sessions with long reasons, each a row of 80 KB, come in several pages.
#[tokio::test]
async fn pages_of_sessions_are_limited_in_bytes() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let mut opened = Vec::new();
    for _ in 0..60 {
        let session = agent.opens(json!({})).await;
        let pause = json!({ "command": "pause", "reason": "𝄞".repeat(20_000) });
        alice.post(&format!("/v1/sessions/{session}/control"), pause).await.done();
        opened.insert(0, session);
    }
    for reader in [&agent, &alice] {
        assert_eq!(
            item_names_of_all_pages(reader, "/v1/sessions", "sessions", |session| text(&session["id"])).await,
            opened
        );
    }
}

/// Versions with long instructions and policies with long comments come in several pages.
#[tokio::test]
async fn pages_of_definitions_and_policies_are_limited_in_bytes() {
    let world = World::new().await;
    let root = world.admin().await;
    let (mut versions, mut policies) = (Vec::new(), Vec::new());
    for number in 10..10 + MANY {
        let body = json!({ "name": "guide", "version": number.to_string(), "model": { "provider": "scripted", "script": { "turns": [{ "say": "Done." }] } },
                           "instructions": "𝄞".repeat(LARGE / 4) });
        root.post("/v1/agents", body).await.done();
        versions.push(number.to_string());
        let text_of = format!("version = 1\n# {number} {}\n", "x".repeat(LARGE));
        let put = root.request(reqwest::Method::PUT, "/v1/policy").json(&json!({ "text": text_of }));
        policies.insert(0, text(&reply(put).await.done()["version"]));
    }
    assert_eq!(item_names_of_all_pages(&root, "/v1/agents", "agents", |agent| text(&agent["version"])).await, versions);
    assert_eq!(
        item_names_of_all_pages(&root, "/v1/policy/versions", "versions", |change| text(&change["version"])).await
            [..MANY],
        policies
    );
}

/// Standing grants with long arguments come in several pages, and are found when a call needs one.
#[tokio::test]
async fn pages_of_grants_are_limited_in_bytes() {
    let scene = Scene::new().await;
    let written = |number: usize, path: &str| {
        let arguments = json!({ "path": path, "padding": format!("{number}{}", "x".repeat(LARGE)) });
        call(&format!("{number}{}", path.replace('/', "-")), "write_file", arguments)
    };
    let remember = json!({ "remember": { "scope": "project", "arguments": { "path": "/srv/*" } } });
    for number in 0..MANY {
        let action = scene.proposes(written(number, "/srv/a")).await;
        scene.approved_with(&action, remember.clone()).await;
    }
    let all: Vec<String> =
        item_names_of_all_pages(&scene.root, "/v1/grants", "grants", |grant| text(&grant["id"])).await;
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), MANY);
    assert_eq!(all.len(), MANY);
    assert_eq!(item_names_of_all_pages(&scene.agent, "/v1/grants", "grants", |grant| text(&grant["id"])).await, all);
    // The newest grant lies behind more bytes than one batch reads.
    let covered = scene.proposes(written(MANY - 1, "/srv/b")).await;
    assert_eq!((&covered.shown["state"], &covered.shown["grant"]), (&json!("allowed"), &json!(all[0])));
}

/// Unread replies are counted per key: the next large reply is refused; small replies and other keys are not affected.
#[tokio::test]
async fn large_reply_is_refused_while_earlier_replies_are_unread() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let mut setup = Setup::default();
    setup.limits.key_reply_bytes = 1 << 20;
    let world = World::with(setup).await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    for _ in 0..MANY {
        agent.asks_in(&session, large("confirmation")).await;
    }
    // The reply exceeds the buffers of a connection whose client reads nothing.
    let silent = tokio::net::TcpSocket::new_v4().unwrap();
    silent.set_recv_buffer_size(4096).unwrap();
    let mut silent = silent.connect(world.http.address).await.unwrap();
    let head =
        format!("GET /v1/interactions?limit=200 HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {}\r\n\r\n", agent.key);
    silent.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 64];
    silent.read_exact(&mut first).await.unwrap();
    let refused = agent.get("/v1/interactions?limit=200").await;
    refused.refused(429, "limit_reached");
    agent.get("/v1/me").await.done();
    let other = world.someone("default", domain::Role::Agent, "other", &[]).await;
    other.get("/v1/interactions?limit=200").await.done();
    drop(silent);
    let again = async {
        while agent.get("/v1/interactions?limit=200").await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(server_testkit::world::PATIENCE, again).await.expect("a closed connection releases its bytes");
}

/// The lists of keys and people come in pages; the pages contain each item once, in the order of the whole list.
#[tokio::test]
async fn keys_and_people_are_paged() {
    let world = World::new().await;
    let root = world.admin().await;
    for name in ["ann", "ben", "cleo", "dora", "emil"] {
        root.post("/v1/users", json!({ "name": name, "role": "viewer" })).await.done();
        root.post("/v1/keys", json!({ "role": "agent", "user": format!("bot-{name}") })).await.done();
    }
    for (list, field) in [("keys", "id"), ("users", "name")] {
        let whole = root.get(&format!("/v1/{list}")).await.done();
        assert_eq!(whole.get("next"), None, "{whole}");
        let (mut seen, mut path) = (Vec::new(), format!("/v1/{list}?limit=2"));
        loop {
            let page = root.get(&path).await.done();
            let items = page[list].as_array().unwrap();
            assert!(items.len() <= 2, "{page}");
            seen.extend(items.iter().map(|item| item[field].clone()));
            let Some(next) = page["next"].as_str() else { break };
            path = format!("/v1/{list}?limit=2&cursor={next}");
        }
        let all: Vec<Value> = whole[list].as_array().unwrap().iter().map(|item| item[field].clone()).collect();
        assert_eq!(seen, all);
        for bad in ["limit=0", "limit=201", "cursor=%20", "cursor=", "page=2"] {
            root.get(&format!("/v1/{list}?{bad}")).await.refused(400, "query_invalid");
        }
    }
}
