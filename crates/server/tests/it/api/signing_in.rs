//! Tests sign-in with a browser: the cookie and its protection against other sites, passwords, links, and people of a
//! project.

use domain::Role;
use engine::NewUser;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use server::Front;

use server_testkit::client::{ApiClient, HttpClient, Reply, confirmation, reply, text};
use server_testkit::sse::Frames;
use server_testkit::world::{Setup, World};

const SECRET: &str = "correct horse battery";

/// A browser with its cookie.
#[derive(Clone)]
struct Browser {
    http: HttpClient,
    cookie: String,
}

impl Browser {
    /// Builds a request as any site could make this browser send it.
    fn request_without_page_header(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, path).header("cookie", format!("other=1; {}; more=2", self.cookie))
    }

    /// Sends a request as the server's own page does.
    async fn sends(&self, method: Method, path: &str, body: Value) -> Reply {
        reply(self.request_without_page_header(method, path).header("x-holdpoint-page", "1").json(&body)).await
    }

    async fn gets(&self, path: &str) -> Reply {
        reply(self.request_without_page_header(Method::GET, path)).await
    }

    /// Replaces the cookie by the one that a reply has set.
    fn with_cookie_of(self, reply: &Reply) -> Self {
        let set = reply.headers["set-cookie"].to_str().unwrap();
        Self { cookie: set.split(';').next().unwrap().to_owned(), ..self }
    }
}

fn browser(world: &World) -> Browser {
    Browser { http: world.http.clone(), cookie: "none=0".into() }
}

async fn post_without_cookie(world: &World, path: &str, body: Value) -> Reply {
    reply(world.http.request(Method::POST, path).json(&body)).await
}

async fn link(by: &ApiClient, name: &str) -> String {
    let made = by.post(&format!("/v1/users/{name}/link"), json!({})).await.done();
    text(&made["url"]).split("#token=").nth(1).unwrap().to_owned()
}

/// Signs a person in and returns the cookie of the browser.
pub(crate) async fn signed_in(world: &World, name: &str) -> String {
    sign_up_and_in(world, name, Role::Operator).await.cookie
}

/// Creates an account and signs the person in with a link.
async fn sign_up_and_in(world: &World, name: &str, role: Role) -> Browser {
    world.signs_up(name, role).await;
    let token = link(&world.admin().await, name).await;
    let reply = post_without_cookie(world, "/v1/sign-in/link", json!({ "token": token })).await;
    assert_eq!(reply.status, 204, "{}", reply.body);
    browser(world).with_cookie_of(&reply)
}

#[tokio::test]
async fn person_signs_in_by_link_and_later_by_password() {
    let world = World::new().await;
    let root = world.admin().await;
    assert_eq!(
        reply(world.http.request(Method::GET, "/v1/sign-in")).await.done(),
        json!({ "password": true, "oidc": null })
    );
    let body = json!({ "name": "alice", "display": "Alice Moreau", "role": "operator", "groups": ["ops"] });
    let made = root.post("/v1/users", body).await;
    assert_eq!(made.status, 201);
    assert_eq!(
        made.body,
        json!({ "name": "alice", "display": "Alice Moreau", "role": "operator", "groups": ["ops"], "external": false,
                "created_at": "2026-01-01T00:00:00Z" })
    );
    let link = root.post("/v1/users/alice/link", json!({})).await.done();
    assert_eq!(link["expires_at"], "2026-01-01T00:15:00Z");
    let begin = format!("http://{}/sign-in#token=hpl_", world.http.address);
    assert!(text(&link["url"]).starts_with(&begin), "{link}");

    let token = json!({ "token": text(&link["url"]).split("#token=").nth(1).unwrap() });
    let signed_in = post_without_cookie(&world, "/v1/sign-in/link", token.clone()).await;
    assert_eq!((signed_in.status, signed_in.body.clone()), (204, json!("")));
    let set = signed_in.headers["set-cookie"].to_str().unwrap();
    let (cookie, attributes) = set.split_once("; ").unwrap();
    assert!(cookie.starts_with("holdpoint_session=hpv_"), "{set}");
    assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/; Max-Age=604800");
    post_without_cookie(&world, "/v1/sign-in/link", token).await.refused(401, "sign_in_failed");

    let alice = browser(&world).with_cookie_of(&signed_in);
    let mut me = alice.gets("/v1/me").await.done();
    assert_eq!(me["password"], "settable");
    let project = me["project"].take();
    let expected = json!({
        "name": "alice", "display": "Alice Moreau", "role": "operator", "groups": ["ops"], "tenant": "default",
        "project": null,
        "projects": [{ "project": project, "name": "default", "role": "operator" }], "via": "cookie",
        "password": "settable"
    });
    assert_eq!(me, expected);
    assert_eq!(alice.sends(Method::PUT, "/v1/me/password", json!({ "new": SECRET })).await.status, 204);
    assert_eq!(alice.gets("/v1/me").await.done()["password"], "known");
    let short = alice.sends(Method::PUT, "/v1/me/password", json!({ "old": SECRET, "new": "short" })).await;
    short.refused_at(422, "body_invalid", &["/new"]);
    let wrong =
        alice.sends(Method::PUT, "/v1/me/password", json!({ "old": "wrong", "new": "staple correct horse" })).await;
    wrong.refused(403, "password_wrong");

    let out = alice.sends(Method::POST, "/v1/sign-out", json!({})).await;
    assert_eq!(out.status, 204);
    let forgotten = "holdpoint_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0";
    assert_eq!(out.headers["set-cookie"], forgotten);
    alice.gets("/v1/me").await.refused(401, "unauthenticated");
    let again =
        post_without_cookie(&world, "/v1/sign-in/password", json!({ "user": "alice", "password": SECRET })).await;
    assert_eq!(again.status, 204);
    assert_eq!(browser(&world).with_cookie_of(&again).gets("/v1/me").await.done()["name"], "alice");
}

/// An unknown user and a wrong password get identical replies; after ten attempts further ones are refused for a while.
#[tokio::test]
async fn failed_sign_ins_are_indistinguishable_and_rate_limited() {
    let world = World::new().await;
    world.signs_up("alice", Role::Viewer).await;
    let attempt =
        |user: &str| post_without_cookie(&world, "/v1/sign-in/password", json!({ "user": user, "password": "guess" }));
    let (known, unknown) = (attempt("alice").await, attempt("nobody").await);
    assert_eq!(known.refused(401, "sign_in_failed"), unknown.refused(401, "sign_in_failed"));
    for _ in 0..9 {
        attempt("alice").await.refused(401, "sign_in_failed");
    }
    let paused = attempt("alice").await;
    assert!(paused.headers.contains_key("retry-after"));
    assert_eq!((&paused.body["limit"], &paused.body["max"]), (&json!("sign_ins"), &json!(10)));
    paused.refused(429, "rate_limited");
    attempt("bob").await.refused(401, "sign_in_failed");
    let elsewhere = json!({ "user": "alice", "password": "guess", "tenant": "elsewhere" });
    post_without_cookie(&world, "/v1/sign-in/password", elsewhere).await.refused(401, "sign_in_failed");
    post_without_cookie(&world, "/v1/sign-in/link", json!({ "token": "hpl_x" })).await.refused(401, "sign_in_failed");
}

/// Another site can make a browser send its cookie, but it can neither send the page header nor hide its origin.
#[tokio::test]
async fn cross_site_request_with_the_cookie_is_refused() {
    let world = World::new().await;
    let alice = sign_up_and_in(&world, "alice", Role::Admin).await;
    let question = world.asks(confirmation()).await;
    let before = world.everything().await;
    let answer = question.path("/answer");
    let yes = json!({ "option": "confirm" });
    for (method, path) in
        [(Method::POST, answer.as_str()), (Method::PUT, "/v1/policy/enabled"), (Method::DELETE, "/v1/users/alice")]
    {
        reply(alice.request_without_page_header(method.clone(), path).json(&yes)).await.refused(403, "cross_site");
        for (name, value) in [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
        {
            let request = alice
                .request_without_page_header(method.clone(), path)
                .header("x-holdpoint-page", "1")
                .header(name, value);
            reply(request.json(&yes)).await.refused(403, "cross_site");
        }
    }
    let evil = world.http.request(Method::POST, "/v1/sign-in/link").header("origin", "https://evil.example");
    reply(evil.json(&json!({ "token": "hpl_x" }))).await.refused(403, "cross_site");
    assert_eq!(world.everything().await, before);
    let ours = alice.request_without_page_header(Method::POST, &answer).header("x-holdpoint-page", "1");
    let ours = ours.header("origin", format!("http://{}", world.http.address));
    assert_eq!(reply(ours.json(&yes)).await.done()["status"], "answered");
}

/// A person answers with the cookie, and the audit trail names the browser session.
#[tokio::test]
async fn person_answers_and_follows_streams_with_the_cookie() {
    let world = World::new().await;
    let alice = sign_up_and_in(&world, "alice", Role::Operator).await;
    let mut stream =
        Frames::of(alice.request_without_page_header(Method::GET, "/v1/events/stream").send().await.unwrap());
    let question = world.asks(confirmation()).await;
    let answered = alice.sends(Method::POST, &question.path("/answer"), json!({ "option": "confirm" })).await.done();
    assert_eq!(answered["resolution"]["by"], json!({ "kind": "user", "name": "alice" }));
    assert_eq!(stream.event().await.1["session"], json!(question.session));
    let trail = world.admin().await.get(&format!("/v1/audit?session={}", question.session)).await.done();
    let entries = trail["entries"].as_array().cloned().unwrap();
    let answer = entries.iter().find(|entry| entry["type"] == "interaction.answered").unwrap();
    let how = &answer["how"];
    assert!(text(&how["visit"]).starts_with("vis_") && how.get("key").is_none(), "{how}");
    alice.sends(Method::POST, "/v1/keys", json!({ "role": "admin" })).await.refused(403, "role_forbids");
}

/// Disabling a person ends their sign-ins and streams at once.
#[tokio::test]
async fn disabled_person_loses_browser_sessions_and_streams_at_once() {
    let world = World::new().await;
    let (alice, root) = (sign_up_and_in(&world, "alice", Role::Operator).await, world.admin().await);
    let mut stream =
        Frames::of(alice.request_without_page_header(Method::GET, "/v1/events/stream").send().await.unwrap());
    assert_eq!(reply(root.request(Method::DELETE, "/v1/users/alice")).await.status, 204);
    alice.gets("/v1/me").await.refused(401, "unauthenticated");
    root.opens(json!({})).await;
    assert_eq!(stream.next().await.unwrap().name.as_deref(), Some("unauthenticated"));
    let listed = root.get("/v1/users").await.done();
    assert_eq!(listed["users"][0]["disabled_at"], "2026-01-01T00:00:00Z");
    root.post("/v1/users/alice/link", json!({})).await.refused(404, "not_found");
    root.post("/v1/users", json!({ "name": "alice", "role": "viewer" })).await.done();
    root.post("/v1/users", json!({ "name": "alice", "role": "viewer" })).await.refused(409, "user_exists");
}

/// A new role applies from the next request on. A person whose role is lowered must sign in again, and a disabled
/// person can be enabled again.
#[tokio::test]
async fn changed_role_of_a_person_applies_to_the_next_request() {
    let world = World::new().await;
    let (alice, root) = (sign_up_and_in(&world, "alice", Role::Operator).await, world.admin().await);
    let change = |body: Value| reply(root.request(Method::PATCH, "/v1/users/alice").json(&body));
    let raised = change(json!({ "role": "admin", "groups": ["ops", "security"] })).await.done();
    assert_eq!((&raised["role"], &raised["groups"]), (&json!("admin"), &json!(["ops", "security"])));
    let me = alice.gets("/v1/me").await.done();
    assert_eq!((&me["role"], &me["groups"]), (&json!("admin"), &json!(["ops", "security"])), "at once");

    for body in
        [json!({ "role": "viewer" }), json!({ "disabled": true }), json!({ "role": "viewer", "disabled": true })]
    {
        alice.sends(Method::PATCH, "/v1/users/alice", body.clone()).await.refused(409, "last_admin");
        change(body).await.refused(409, "last_admin");
    }
    reply(root.request(Method::DELETE, "/v1/users/alice")).await.refused(409, "last_admin");
    change(json!({ "role": "agent" })).await.refused_at(422, "body_invalid", &["/role"]);
    change(json!({ "groups": ["two words"] })).await.refused_at(422, "body_invalid", &["/groups/0"]);
    change(json!({ "rank": 1 })).await.refused(422, "body_invalid");
    change(json!({})).await.refused_at(422, "body_invalid", &[""]);
    let nobody = root.request(Method::PATCH, "/v1/users/nobody").json(&json!({ "disabled": true }));
    reply(nobody).await.refused(404, "not_found");
    assert_eq!(alice.gets("/v1/me").await.done()["role"], "admin", "the role was not changed");

    let bob = sign_up_and_in(&world, "bob", Role::Admin).await;
    let strong = world.member(Role::Operator, "alice", &[]).await;
    let weak = world.member(Role::Viewer, "alice", &[]).await;
    let mut stream =
        Frames::of(alice.request_without_page_header(Method::GET, "/v1/events/stream").send().await.unwrap());
    let fallen = bob.sends(Method::PATCH, "/v1/users/alice", json!({ "role": "viewer" })).await.done();
    assert_eq!((&fallen["role"], &fallen["groups"]), (&json!("viewer"), &json!(["ops", "security"])));
    alice.gets("/v1/me").await.refused(401, "unauthenticated");
    strong.get("/v1/me").await.refused(401, "unauthenticated");
    weak.get("/v1/me").await.done();
    root.opens(json!({})).await;
    assert_eq!(stream.next().await.unwrap().name.as_deref(), Some("unauthenticated"));

    let out = change(json!({ "disabled": true })).await.done();
    assert_eq!(out["disabled_at"], "2026-01-01T00:00:00Z");
    weak.get("/v1/me").await.refused(401, "unauthenticated");
    root.post("/v1/users/alice/link", json!({})).await.refused(404, "not_found");
    let back = change(json!({ "disabled": false })).await.done();
    assert_eq!((back.get("disabled_at"), &back["role"]), (None, &json!("viewer")));
    let token = link(&root, "alice").await;
    assert_eq!(post_without_cookie(&world, "/v1/sign-in/link", json!({ "token": token })).await.status, 204);

    let trail = root.get("/v1/audit?limit=200").await.done();
    let entries = trail["entries"].as_array().cloned().unwrap();
    let changes: Vec<_> = entries.iter().filter(|entry| entry["type"] == "user.changed").collect();
    assert_eq!(changes.len(), 2);
    let told = json!({ "user": "alice", "role": "viewer", "groups": ["ops", "security"],
                       "was": { "role": "admin", "groups": ["ops", "security"] } });
    assert_eq!((&changes[1]["by"]["name"], &changes[1]["data"]), (&json!("bob"), &told));
    assert_eq!(entries.iter().filter(|entry| entry["type"] == "user.enabled").count(), 1);
}

/// A browser session belongs to one project, and can move to another project of the person.
#[tokio::test]
async fn a_browser_moves_to_another_project_of_the_person() {
    let world = World::new().await;
    sign_up_and_in(&world, "alice", Role::Operator).await;
    let new = NewUser { name: "alice".into(), display: None, role: Role::Viewer, groups: Vec::new(), join_keys: false };
    world.engine.user_install("default", "web", new).await.unwrap();
    // Only the operator of the server, or an admin of both projects, can create a new link for her.
    let token = world.engine.user_link_install("default", "default", "alice").await.unwrap();
    let alice = browser(&world)
        .with_cookie_of(&post_without_cookie(&world, "/v1/sign-in/link", json!({ "token": token })).await);
    let question = world.asks(confirmation()).await;
    let projects = alice.gets("/v1/me").await.done()["projects"].as_array().cloned().unwrap();
    let web = projects.iter().find(|place| place["name"] == "web").unwrap();
    let unknown = json!({ "project": "prj_00000000-0000-7000-8000-000000000000" });
    alice.sends(Method::PUT, "/v1/me/project", unknown).await.refused(404, "not_found");
    let moved = alice.sends(Method::PUT, "/v1/me/project", json!({ "project": web["project"] })).await;
    assert_eq!(moved.status, 204);
    let me = alice.gets("/v1/me").await.done();
    assert_eq!((&me["project"], &me["role"]), (&web["project"], &json!("viewer")));
    alice.gets(&question.path("")).await.refused(404, "not_found");
    world.admin().await.post("/v1/users/alice/link", json!({})).await.refused(403, "user_elsewhere");
}

/// A key has no password, no browser session and only one project.
#[tokio::test]
async fn key_has_no_password_and_no_browser_session() {
    let world = World::new().await;
    let (root, alice) = (world.admin().await, sign_up_and_in(&world, "alice", Role::Viewer).await);
    let me = root.get("/v1/me").await.done();
    assert_eq!((&me["name"], &me["via"], me.get("password")), (&json!("root"), &json!("key"), None));
    root.post("/v1/sign-out", json!({})).await.refused(403, "needs_sign_in");
    let body = json!({ "new": SECRET });
    reply(root.request(Method::PUT, "/v1/me/password").json(&body)).await.refused(403, "needs_sign_in");
    let both = alice.request_without_page_header(Method::GET, "/v1/me").bearer_auth(&root.key);
    assert_eq!(reply(both).await.done()["name"], "root", "a key takes precedence over a cookie");
    let wrong = alice.request_without_page_header(Method::GET, "/v1/me").bearer_auth("hp_wrong");
    reply(wrong).await.refused(401, "unauthenticated");
    let as_key = world.http.request(Method::GET, "/v1/me").bearer_auth(alice.cookie.split('=').nth(1).unwrap());
    reply(as_key).await.refused(401, "unauthenticated");
}

/// With a public TLS address, the cookie is secure, links use that address, and only that origin is accepted.
#[tokio::test]
async fn cookie_is_secure_behind_tls() {
    let front = Front { public: Some("https://hp.example.org/".parse().unwrap()), ..Front::default() };
    let world = World::with(Setup { front, ..Setup::default() }).await;
    let root = world.admin().await;
    world.signs_up("alice", Role::Viewer).await;
    let url = text(&root.post("/v1/users/alice/link", json!({})).await.done()["url"]);
    let token = url.strip_prefix("https://hp.example.org/sign-in#token=").unwrap();
    let signed_in = post_without_cookie(&world, "/v1/sign-in/link", json!({ "token": token })).await;
    let set = signed_in.headers["set-cookie"].to_str().unwrap();
    assert!(set.ends_with("; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=604800"), "{set}");
    let alice = browser(&world).with_cookie_of(&signed_in);
    for (origin, status) in [("http://hp.example.org", 403), ("https://hp.example.org", 204)] {
        let request = alice
            .request_without_page_header(Method::POST, "/v1/sign-out")
            .header("x-holdpoint-page", "1")
            .header("origin", origin);
        assert_eq!(reply(request).await.status, status, "{origin}");
    }
}
