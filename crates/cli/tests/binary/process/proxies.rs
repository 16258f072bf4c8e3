//! Tests that proxy variables of the environment are ignored.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::json;

use crate::common::{Deployment, PATIENCE};
use crate::telemetry::Collector;

/// Starts a server that forwards the first bytes of every connection to a channel and replies 404.
fn listener() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sent, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut first) = (stream.unwrap(), [0; 1024]);
            let read = stream.read(&mut first).unwrap_or(0);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            if sent.send(String::from_utf8_lossy(&first[..read]).into_owned()).is_err() {
                break;
            }
        }
    });
    (address, received)
}

#[tokio::test]
async fn proxy_variables_of_the_environment_are_ignored() {
    let (deployment, collector) = (Deployment::sqlite(), Collector::start());
    let ((proxy, through_proxy), (issuer, asked)) = (listener(), listener());
    let launch = deployment.launch();
    let (listen, data) = (launch.address(), deployment.data().display().to_string());
    let launch = launch.by_environment(&[
        ("HOLDPOINT_LISTEN", &listen),
        ("HOLDPOINT_DATA", &data),
        ("HOLDPOINT_OIDC_ISSUER", &issuer),
        ("HOLDPOINT_OIDC_CLIENT_ID", "holdpoint"),
        ("HOLDPOINT_OTLP_ENDPOINT", &collector.endpoint()),
        ("http_proxy", &proxy),
        ("HTTP_PROXY", &proxy),
        ("https_proxy", &proxy),
        ("ALL_PROXY", &proxy),
    ]);
    let server = launch.start().await;
    let bot = server.client(&deployment.key("agent", "bot"));
    bot.post("/v1/sessions", json!({})).await.done(201);
    let sent = bot.attempt(bot.request("GET", "/sign-in/oidc/start")).await;
    assert!(sent.is_ok());
    let request = asked.recv_timeout(PATIENCE).unwrap();
    assert!(request.starts_with("GET /.well-known/openid-configuration HTTP/1.1\r\n"), "{request}");
    // The server sends its buffered traces when it stops.
    assert!(server.stop().success());
    assert!(collector.has(b"holdpoint"));
    assert_eq!(through_proxy.try_recv().ok(), None);
}
