//! Tests the page: it is served on every path that is not an operation, with strict security headers.

use reqwest::{Method, Response};
use rust_embed::RustEmbed;
use server::{Front, PageFiles};

use server_testkit::client::reply;
use server_testkit::world::{Setup, World};

#[derive(RustEmbed)]
#[folder = "tests/page"]
struct Small;

async fn world() -> World {
    let front = Front { page: PageFiles::of::<Small>(), ..Front::default() };
    World::with(Setup { front, ..Setup::default() }).await
}

async fn browses(world: &World, path: &str, headers: &[(&str, &str)]) -> Response {
    let request = world.http.request(Method::GET, path);
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send().await.unwrap()
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn every_page_path_serves_the_page_with_a_new_nonce() {
    let world = world().await;
    let mut nonces = Vec::new();
    for path in ["/", "/sign-in", "/inbox?status=pending", "/interactions/int_1", "/index.html", "/sessions"] {
        let response = browses(&world, path, &[]).await;
        assert_eq!(
            (response.status().as_u16(), header(&response, "content-type")),
            (200, "text/html; charset=utf-8"),
            "{path}"
        );
        assert_eq!(header(&response, "cache-control"), "no-store");
        assert_eq!(
            (header(&response, "referrer-policy"), header(&response, "x-frame-options")),
            ("no-referrer", "DENY")
        );
        let policy = header(&response, "content-security-policy").to_owned();
        let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap().to_owned();
        assert_eq!(
            policy,
            format!(
                "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; \
                 font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; \
                 frame-ancestors 'none'"
            )
        );
        let text = response.text().await.unwrap();
        assert!(text.contains(&format!("<meta name=\"csp-nonce\" content=\"{nonce}\">")), "{text}");
        nonces.push(nonce);
    }
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), 6, "each reply has its own nonce");
}

#[tokio::test]
async fn api_and_asset_paths_do_not_serve_the_page() {
    let world = world().await;
    for path in ["/v1/nothing", "/v1", "/v2/sessions", "/api/nothing", "/assets/gone-1.js", "/metrics/x"] {
        reply(world.http.request(Method::GET, path)).await.refused(404, "route_not_found");
    }
    reply(world.http.request(Method::POST, "/inbox")).await.refused(404, "route_not_found");
    assert_eq!(browses(&world, "/healthz", &[]).await.text().await.unwrap(), "ok\n");
    let docs = browses(&world, "/docs/", &[]).await.text().await.unwrap();
    assert!(docs.contains("swagger-ui"));
    assert_eq!(world.http.request(Method::HEAD, "/inbox").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn hashed_assets_are_immutable_and_other_files_are_revalidated() {
    let world = world().await;
    let asset = browses(&world, "/assets/app-0a1b2c3d.js", &[]).await;
    assert_eq!(header(&asset, "cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(
        (header(&asset, "content-type"), header(&asset, "x-content-type-options")),
        ("text/javascript", "nosniff")
    );
    let icon = browses(&world, "/icon.svg", &[]).await;
    assert_eq!((header(&icon, "cache-control"), header(&icon, "content-type")), ("no-cache", "image/svg+xml"));
    let tag = header(&icon, "etag").to_owned();
    let same = browses(&world, "/icon.svg", &[("if-none-match", &format!("\"other\", {tag}"))]).await;
    assert_eq!((same.status().as_u16(), header(&same, "etag")), (304, tag.as_str()));
    assert_eq!(same.text().await.unwrap(), "");
    assert_eq!(browses(&world, "/icon.svg", &[("if-none-match", "\"other\"")]).await.status(), 200);
}

#[tokio::test]
async fn files_are_compressed_as_the_client_accepts() {
    let world = world().await;
    for (accepted, encoding) in [("gzip", "gzip"), ("gzip, br", "br"), ("identity", "")] {
        let response = browses(&world, "/assets/app-0a1b2c3d.js", &[("accept-encoding", accepted)]).await;
        assert_eq!(header(&response, "content-encoding"), encoding, "{accepted}");
    }
}
