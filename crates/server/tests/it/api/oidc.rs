//! Tests sign-in through an identity provider: the redirects in both directions, and each token that must be refused.

use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::{Value, json};
use server::{Front, Oidc, OidcSettings};
use tokio_util::task::TaskTracker;

use crate::api::provider::{CLIENT, Provider, Request, SECRET, Signer};
use server_testkit::client::reply;
use server_testkit::world::{Setup, World};

/// A server that trusts a test provider.
struct ProviderScene {
    world: World,
    provider: Provider,
    client: Client,
}

/// A browser that was redirected to the provider.
struct RedirectedBrowser {
    cookie: String,
    request: Request,
}

impl ProviderScene {
    async fn start() -> Self {
        Self::start_with_name_claim(Some("preferred_username")).await
    }

    /// Starts a server whose operator chose this claim, or no claim, for the names of people.
    async fn start_with_name_claim(claim: Option<&str>) -> Self {
        let provider = Provider::start(&TaskTracker::new()).await;
        let settings = OidcSettings {
            issuer: provider.issuer(),
            client_id: CLIENT.into(),
            client_secret: Some(SECRET.into()),
            role_claim: "roles".into(),
            name_claim: claim.map(str::to_owned),
            project: ("default".into(), "default".into()),
        };
        let front = Front { oidc: Some(Oidc::new(settings).unwrap()), ..Front::default() };
        let world = World::with(Setup { front, ..Setup::default() }).await;
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        Self { world, provider, client }
    }

    async fn gets(&self, path: &str, cookie: &str) -> Response {
        let url = format!("http://{}{path}", self.world.http.address);
        self.client.get(url).header("cookie", cookie).send().await.unwrap()
    }

    async fn start_sign_in(&self) -> RedirectedBrowser {
        let response = self.gets("/sign-in/oidc/start", "").await;
        assert_eq!(response.status(), 303);
        let set = response.headers()["set-cookie"].to_str().unwrap();
        let (cookie, attributes) = set.split_once("; ").unwrap();
        assert!(cookie.starts_with("holdpoint_oidc="), "{set}");
        assert_eq!(attributes, "HttpOnly; SameSite=Lax; Path=/sign-in/oidc; Max-Age=600");
        let request = Request::read(&self.provider, location(&response));
        RedirectedBrowser { cookie: cookie.to_owned(), request }
    }

    /// Returns from the provider with a token of these claims; returns the redirect target and the session cookie.
    async fn sign_in_with(&self, signer: Signer, change: impl FnOnce(&mut Value)) -> (String, Option<String>) {
        let journey = self.start_sign_in().await;
        let mut claims = self.provider.claims(&journey.request, self.world.engine.now().as_second());
        change(&mut claims);
        let answer = self.provider.grants(&journey.request, claims, signer);
        self.request_callback(&answer, &journey.cookie).await
    }

    async fn request_callback(&self, query: &str, cookie: &str) -> (String, Option<String>) {
        let response = self.gets(&format!("/sign-in/oidc/callback?{query}"), cookie).await;
        assert_eq!(response.status(), 303);
        let set: Vec<&str> = response.headers().get_all("set-cookie").iter().map(|set| set.to_str().unwrap()).collect();
        assert!(set.iter().any(|set| set.starts_with("holdpoint_oidc=;") && set.ends_with("Max-Age=0")), "{set:?}");
        let visit = set.iter().find_map(|set| set.strip_prefix("holdpoint_session="));
        let visit = visit.map(|set| format!("holdpoint_session={}", set.split(';').next().unwrap()));
        (location(&response).to_owned(), visit)
    }

    async fn me(&self, cookie: &str) -> Value {
        self.gets("/v1/me", cookie).await.json().await.unwrap()
    }
}

fn location(response: &Response) -> &str {
    response.headers()["location"].to_str().unwrap()
}

const FAILED: &str = "/sign-in?error=sign_in_failed";

#[tokio::test]
async fn person_signs_in_through_the_provider() {
    let scene = ProviderScene::start().await;
    let offered = reply(scene.world.http.request(reqwest::Method::GET, "/v1/sign-in")).await.done();
    assert_eq!(offered, json!({ "password": true, "oidc": { "label": "127.0.0.1", "url": "/sign-in/oidc/start" } }));
    for (signer, role) in [(Signer::Rsa, "operator"), (Signer::Ec, "admin")] {
        let (to, cookie) = scene.sign_in_with(signer, |claims| claims["roles"] = json!([role])).await;
        assert_eq!(to, "/");
        let me = scene.me(&cookie.unwrap()).await;
        assert_eq!(
            (&me["name"], &me["display"], &me["role"], &me["via"], &me["password"]),
            (&json!("olga"), &json!("Olga Ivanova"), &json!(role), &json!("cookie"), &json!("none"))
        );
    }
    let users = scene.world.admin().await.get("/v1/users").await.done();
    assert_eq!((&users["users"][0]["name"], &users["users"][0]["external"]), (&json!("olga"), &json!(true)));
}

/// A forged, expired or misdirected token signs nobody in.
#[tokio::test]
async fn forged_expired_or_misdirected_token_is_refused() {
    let scene = ProviderScene::start().await;
    let now = scene.world.engine.now().as_second();
    let refused = async |what: &str, signer: Signer, change: &dyn Fn(&mut Value)| {
        let (to, cookie) = scene.sign_in_with(signer, change).await;
        assert_eq!((to.as_str(), cookie), (FAILED, None), "{what}");
    };
    refused("a bad signature", Signer::Forged, &|_| {}).await;
    refused("an unknown key", Signer::Hidden, &|_| {}).await;
    refused("the shared secret in place of a key", Signer::Shared, &|_| {}).await;
    refused("no signature", Signer::Unsigned, &|_| {}).await;
    refused("another audience", Signer::Rsa, &|claims| claims["aud"] = json!("another")).await;
    refused("one more audience", Signer::Rsa, &|claims| claims["aud"] = json!([CLIENT, "another"])).await;
    refused("another issuer", Signer::Rsa, &|claims| claims["iss"] = json!("https://evil.example")).await;
    refused("expired", Signer::Rsa, &|claims| claims["exp"] = json!(now - 1)).await;
    refused("another nonce", Signer::Ec, &|claims| claims["nonce"] = json!("another")).await;
    refused("no nonce", Signer::Ec, &|claims| drop(claims.as_object_mut().unwrap().remove("nonce"))).await;
    let (to, cookie) = scene.sign_in_with(Signer::Rsa, |claims| claims["roles"] = json!(["agent", "guest"])).await;
    assert_eq!((to.as_str(), cookie), ("/sign-in?error=no_role", None));
    let users = scene.world.admin().await.get("/v1/users").await.done();
    assert_eq!(users, json!({ "users": [] }), "no user was created");
}

/// An answer of the provider is valid once, and only for the browser that was redirected.
#[tokio::test]
async fn response_of_the_provider_is_valid_once_and_in_its_browser_only() {
    let scene = ProviderScene::start().await;
    let now = scene.world.engine.now().as_second();
    let (mine, theirs) = (scene.start_sign_in().await, scene.start_sign_in().await);
    let claims = scene.provider.claims(&theirs.request, now);
    let answer = scene.provider.grants(&theirs.request, claims, Signer::Rsa);
    assert_eq!(scene.request_callback(&answer, &mine.cookie).await, (FAILED.into(), None), "another browser's");
    assert_eq!(scene.request_callback(&answer, "").await, (FAILED.into(), None), "a browser that started no sign-in");
    let (to, cookie) = scene.request_callback(&answer, &theirs.cookie).await;
    assert!(to == "/" && cookie.is_some());
    assert_eq!(scene.request_callback(&answer, &theirs.cookie).await, (FAILED.into(), None), "a code is used once");
    for query in ["", "error=access_denied", "code=x", "state=y", "code=unknown&state=z", "code=a&code=b&state=c"] {
        assert_eq!(scene.request_callback(query, &mine.cookie).await, (FAILED.into(), None), "{query}");
    }
    let claims = scene.provider.claims(&mine.request, now);
    let answer = scene.provider.grants(&mine.request, claims, Signer::Rsa);
    let mixed =
        mine.cookie.rsplit_once('.').unwrap().0.to_owned() + ".another-verifier-that-is-long-enough-for-pkce-00000";
    assert_eq!(scene.request_callback(&answer, &mixed).await, (FAILED.into(), None), "another verifier");
}

/// A new signing key of the provider is fetched when a token names it.
#[tokio::test]
async fn new_signing_key_of_the_provider_is_fetched() {
    let scene = ProviderScene::start().await;
    assert_eq!(scene.sign_in_with(Signer::Rsa, |_| {}).await.0, "/");
    scene.provider.rotates();
    assert_eq!(scene.sign_in_with(Signer::Hidden, |_| {}).await.0, "/");
}

/// The provider cannot give a person the name of another one, and cannot re-enable a person whom an admin has disabled.
#[tokio::test]
async fn provider_cannot_take_a_name_or_enable_a_disabled_person() {
    let scene = ProviderScene::start().await;
    scene.world.signs_up("alice", domain::Role::Viewer).await;
    let (to, cookie) = scene.sign_in_with(Signer::Rsa, |claims| claims["preferred_username"] = json!("alice")).await;
    assert_eq!((to.as_str(), cookie), ("/sign-in?error=name_taken", None));
    let named = |claims: &mut Value| claims["preferred_username"] = json!("two words");
    let (_, cookie) = scene.sign_in_with(Signer::Rsa, named).await;
    assert_eq!(scene.me(&cookie.unwrap()).await["name"], "42", "the subject is used if the claim cannot be a name");
    let root = scene.world.admin().await;
    assert_eq!(reply(root.request(reqwest::Method::DELETE, "/v1/users/42")).await.status, 204);
    assert_eq!(scene.sign_in_with(Signer::Rsa, named).await, (FAILED.into(), None));
    let trail = root.get("/v1/audit?limit=200").await.done();
    let failed = |entry: &&Value| entry["type"] == "user.sign_in_failed" && entry["data"]["way"] == "oidc";
    assert_eq!(trail["entries"].as_array().unwrap().iter().filter(failed).count(), 1, "{trail}");
}

/// The operator chooses the claim that names people. By default neither a self-chosen name nor an unverified address is
/// used.
#[tokio::test]
async fn name_of_a_person_comes_from_the_configured_claim() {
    let check = async |claim: Option<&str>, said: Value, expected: &str| {
        let scene = ProviderScene::start_with_name_claim(claim).await;
        let change = |claims: &mut Value| claims.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        let (_, cookie) = scene.sign_in_with(Signer::Ec, change).await;
        assert_eq!(scene.me(&cookie.unwrap()).await["name"], expected, "{claim:?} {said}");
    };
    let verified = json!({ "email": "olga@example.org", "email_verified": true });
    let unverified = json!({ "email": "olga@example.org" });
    check(None, json!({ "preferred_username": "alice" }), "42").await;
    check(None, verified.clone(), "olga@example.org").await;
    check(None, unverified.clone(), "42").await;
    check(Some("email"), unverified, "42").await;
    check(Some("sub"), verified, "42").await;
    check(Some("preferred_username"), json!({}), "olga").await;
    check(Some("employee.id"), json!({ "employee": { "id": "e-7" } }), "e-7").await;
    check(Some("employee.id"), json!({ "employee": { "id": "System" } }), "42").await;
    check(Some("employee.id"), json!({ "employee": { "id": 7 } }), "42").await;
}

/// The provider cannot give a person the name of a key of the tenant, in any letter case.
#[tokio::test]
async fn provider_cannot_give_a_person_the_name_of_a_key() {
    let scene = ProviderScene::start().await;
    let alice = scene.world.person("alice").await;
    let question = scene
        .world
        .asks(json!({ "kind": "confirmation", "title": "May I?", "audience": { "users": ["alice"] } }))
        .await;
    for name in ["alice", "ALICE"] {
        let (to, cookie) = scene.sign_in_with(Signer::Rsa, |claims| claims["preferred_username"] = json!(name)).await;
        assert_eq!((to.as_str(), cookie), ("/sign-in?error=name_taken", None), "{name}");
    }
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
}

/// A lower role at the provider takes effect everywhere: open sockets, other browsers, and keys of the person.
#[tokio::test]
async fn lowered_role_at_the_provider_ends_sockets_browsers_and_keys() {
    let scene = ProviderScene::start().await;
    let cookie = scene.sign_in_with(Signer::Rsa, |_| {}).await.1.unwrap();
    let key = scene.world.member(domain::Role::Operator, "olga", &[]).await;
    let mut request = scene.world.http.handshake("/v1/ws");
    let origin = format!("http://{}", scene.world.http.address);
    request.headers_mut().insert("cookie", cookie.parse().unwrap());
    request.headers_mut().insert("origin", origin.parse().unwrap());
    let Ok(mut socket) = scene.world.http.joins(request).await else { panic!("the handshake was refused") };
    let question = scene.world.asks(json!({ "kind": "confirmation", "title": "May I?" })).await;
    let (_, fallen) = scene.sign_in_with(Signer::Rsa, |claims| claims["roles"] = json!(["viewer"])).await;
    assert_eq!(scene.me(&fallen.unwrap()).await["role"], "viewer");
    key.answers(&question, json!({ "option": "confirm" })).await.refused(401, "unauthenticated");
    socket.says(json!({ "type": "answer", "id": "q", "interaction": question.id, "option": "confirm" })).await;
    let (code, said) = socket.closed().await;
    assert_eq!((code, &said[0]["reason"]), (1008, &json!("unauthenticated")), "{said:?}");
    assert_eq!(scene.gets("/v1/me", &cookie).await.status(), 401);
}

/// A person who loses all roles at the provider is refused, and their browsers, sockets and keys end. A new role lets
/// them in again.
#[tokio::test]
async fn loss_of_all_roles_at_the_provider_ends_sockets_browsers_and_keys() {
    let scene = ProviderScene::start().await;
    let cookie = scene.sign_in_with(Signer::Rsa, |_| {}).await.1.unwrap();
    let key = scene.world.member(domain::Role::Operator, "olga", &[]).await;
    let other = scene.world.person("alice").await;
    let mut request = scene.world.http.handshake("/v1/ws");
    let origin = format!("http://{}", scene.world.http.address);
    request.headers_mut().insert("cookie", cookie.parse().unwrap());
    request.headers_mut().insert("origin", origin.parse().unwrap());
    let Ok(mut socket) = scene.world.http.joins(request).await else { panic!("the handshake was refused") };
    let question = scene.world.asks(json!({ "kind": "confirmation", "title": "May I?" })).await;
    let (to, none) = scene.sign_in_with(Signer::Rsa, |claims| claims["roles"] = json!([])).await;
    assert_eq!((to.as_str(), none), ("/sign-in?error=no_role", None));
    assert_eq!(scene.gets("/v1/me", &cookie).await.status(), 401);
    key.get("/v1/me").await.refused(401, "unauthenticated");
    socket.says(json!({ "type": "answer", "id": "q", "interaction": question.id, "option": "confirm" })).await;
    let (code, said) = socket.closed().await;
    assert_eq!((code, &said[0]["reason"]), (1008, &json!("unauthenticated")), "{said:?}");
    other.get("/v1/me").await.done();
    let trail = scene.world.admin().await.get("/v1/audit?limit=200").await.done();
    let entries = trail["entries"].as_array().unwrap();
    let count = |of: &dyn Fn(&Value) -> bool| entries.iter().filter(|entry| of(entry)).count();
    assert_eq!(count(&|entry| entry["type"] == "user.role_lost" && entry["data"]["user"] == "olga"), 1, "{trail}");
    assert_eq!(count(&|entry| entry["type"] == "key.revoked"), 1, "{trail}");
    assert_eq!(count(&|entry| entry["type"] == "user.sign_in_failed" && entry["data"]["user"] == "olga"), 1, "{trail}");
    let (to, again) = scene.sign_in_with(Signer::Rsa, |_| {}).await;
    assert_eq!((to.as_str(), &scene.me(&again.unwrap()).await["role"]), ("/", &json!("operator")));
}

/// Without a configured provider its routes do not exist; an unreachable provider is reported.
#[tokio::test]
async fn absent_or_unreachable_provider_is_reported() {
    let world = World::new().await;
    for path in ["/sign-in/oidc/start", "/sign-in/oidc/callback?code=a&state=b"] {
        reply(world.http.request(reqwest::Method::GET, path)).await.refused(404, "route_not_found");
    }
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = OidcSettings {
        issuer: format!("http://{gone}").parse().unwrap(),
        client_id: CLIENT.into(),
        client_secret: None,
        role_claim: "roles".into(),
        name_claim: None,
        project: ("default".into(), "default".into()),
    };
    let front = Front { oidc: Some(Oidc::new(settings).unwrap()), ..Front::default() };
    let world = World::with(Setup { front, ..Setup::default() }).await;
    let client = Client::builder().redirect(Policy::none()).build().unwrap();
    let url = format!("http://{}/sign-in/oidc/start", world.http.address);
    let response = client.get(url).send().await.unwrap();
    assert_eq!((response.status().as_u16(), location(&response)), (303, "/sign-in?error=provider_unavailable"));
}
