//! Tests of the sender with real endpoints: one verifies messages; others fail, redirect, hang, send too much, or have forbidden addresses.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use domain::webhook::address::Networks;
use domain::{SignedDuration, Timestamp, WebhookDeliveryId, WebhookId};
use engine::{Content, Courier, Parcel, Receipt};
use futures::future::BoxFuture;
use holdpoint_webhooks::{Addresses, Resolver, SystemResolver, WebhookSender};
use http::{HeaderMap, StatusCode, header};
use parking_lot::Mutex;
use store::{Clock, SystemClock};
use tokio::net::TcpListener;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use uuid::Uuid;
use zeroize::Zeroizing;

const SECRET: [u8; 32] = [42; 32];

/// Requests that the endpoints received: path, headers and body.
type ReceivedRequests = Arc<Mutex<Vec<(String, HeaderMap, Bytes)>>>;

/// A server with an endpoint of each kind.
struct Endpoints {
    address: SocketAddr,
    got: ReceivedRequests,
    _serving: AbortOnDropHandle<()>,
}

impl Endpoints {
    async fn at(address: &str) -> Self {
        let got = ReceivedRequests::default();
        let router = Router::new()
            .route("/fine", post(fine))
            .route(
                "/fails",
                post(|| async { (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "120")], "later") }),
            )
            .route("/redirects", post(|| async { (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/fine")]) }))
            .route("/hangs", post(std::future::pending::<StatusCode>))
            .route("/endless", post(|| async { Response::new(Body::from_stream(endless())) }))
            .route("/dawdles", post(|| async { Response::new(Body::from_stream(dawdling())) }))
            .with_state(Arc::clone(&got));
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let tasks = TaskTracker::new();
        let serving = tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, got, _serving: AbortOnDropHandle::new(serving) }
    }

    fn got(&self) -> usize {
        self.got.lock().len()
    }
}

async fn fine(State(got): State<ReceivedRequests>, headers: HeaderMap, body: Bytes) -> Response {
    got.lock().push(("/fine".into(), headers, body));
    ([(header::CONNECTION, "close")], "thanks").into_response()
}

fn endless() -> impl futures::Stream<Item = Result<Bytes, std::convert::Infallible>> {
    futures::stream::repeat_with(|| Ok(Bytes::from(vec![b'x'; 64 * 1024])))
}

fn dawdling() -> impl futures::Stream<Item = Result<Bytes, std::convert::Infallible>> {
    futures::stream::pending()
}

fn parcel(url: &str, patience: Duration) -> Parcel {
    Parcel {
        url: url.into(),
        id: WebhookDeliveryId::from_uuid(Uuid::from_u128(7)),
        at: SystemClock.now(),
        name: "webhook.test".into(),
        happened_at: Timestamp::UNIX_EPOCH,
        content: Content::Test(WebhookId::from_uuid(Uuid::from_u128(8))),
        secrets: vec![Zeroizing::new(SECRET.to_vec())],
        patience,
    }
}

fn sender(networks: Networks) -> WebhookSender {
    WebhookSender::new(networks, Arc::new(SystemResolver)).unwrap()
}

fn open() -> WebhookSender {
    sender(Networks { private: true, ..Networks::default() })
}

async fn posted(sender: &WebhookSender, url: &str) -> Receipt {
    sender.post(&parcel(url, Duration::from_secs(20))).await
}

#[tokio::test]
async fn message_can_be_verified_only_with_the_secret() {
    let endpoints = Endpoints::at("127.0.0.1:0").await;
    let receipt = posted(&open(), &format!("http://{}/fine", endpoints.address)).await;
    assert_eq!((receipt.status, receipt.note.as_str(), receipt.wait), (Some(200), "thanks", None));
    let (_, headers, body) = endpoints.got.lock().pop().unwrap();
    let verifier = |secret: &[u8]| standardwebhooks::Webhook::from_bytes(secret.to_vec()).unwrap();
    verifier(&SECRET).verify(&body, &headers).unwrap();
    assert!(verifier(&[0; 32]).verify(&body, &headers).is_err());
    let changed = String::from_utf8(body.to_vec()).unwrap().replace("webhook.test", "webhook.tess");
    assert!(verifier(&SECRET).verify(changed.as_bytes(), &headers).is_err());
    let mut moved = headers.clone();
    moved.insert("webhook-id", "whd_other".parse().unwrap());
    assert!(verifier(&SECRET).verify(&body, &moved).is_err());
    assert_eq!(headers["webhook-id"], format!("whd_{}", Uuid::from_u128(7)).as_str());
    assert_eq!(headers["content-type"], "application/json");
    assert!(headers.get("authorization").is_none() && headers.get("cookie").is_none());
}

#[tokio::test]
async fn failures_are_reported_and_redirects_are_not_followed() {
    let endpoints = Endpoints::at("127.0.0.1:0").await;
    let at = |path: &str| format!("http://{}{path}", endpoints.address);
    let failed = posted(&open(), &at("/fails")).await;
    let wait = Some(SignedDuration::from_secs(120));
    assert_eq!((failed.status, failed.note.as_str(), failed.wait), (Some(503), "later", wait));
    assert_eq!(posted(&open(), &at("/redirects")).await.status, Some(307));
    assert_eq!(endpoints.got(), 0);
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refused = posted(&open(), &format!("http://{nobody}/")).await;
    assert_eq!(refused.status, None);
    assert!(refused.note.starts_with("no connection"), "{}", refused.note);
    assert!(!refused.note.contains(&nobody.to_string()));
}

#[tokio::test]
async fn hanging_and_endless_responses_are_cut_off() {
    let endpoints = Endpoints::at("127.0.0.1:0").await;
    let at = |path: &str| format!("http://{}{path}", endpoints.address);
    let hung = open().post(&parcel(&at("/hangs"), Duration::from_millis(200))).await;
    assert_eq!((hung.status, hung.note.as_str()), (None, "no reply in time"));
    let endless = posted(&open(), &at("/endless")).await;
    assert_eq!((endless.status, endless.note), (Some(200), "x".repeat(200)));
    let dawdled = open().post(&parcel(&at("/dawdles"), Duration::from_millis(400))).await;
    assert_eq!((dawdled.status, dawdled.note.as_str()), (Some(200), ""), "the status decides");
}

/// Listens at an address and counts the connections.
async fn counted(address: &str) -> (SocketAddr, Arc<Mutex<usize>>, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(0)));
    let (tasks, counting) = (TaskTracker::new(), Arc::clone(&count));
    let accepting = tasks.spawn(async move {
        let mut open = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            open.push(socket);
            *counting.lock() += 1;
        }
    });
    (address, count, AbortOnDropHandle::new(accepting))
}

#[tokio::test]
async fn private_addresses_are_refused_in_every_spelling() {
    let (address, count, _accepting) = counted("0.0.0.0:0").await;
    let port = address.port();
    let closed = sender(Networks::default());
    for host in [
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "LOCALHOST",
        "localhost.",
    ] {
        let receipt = posted(&closed, &format!("http://{host}:{port}/")).await;
        assert_eq!(receipt.status, None, "{host}: {receipt:?}");
        assert!(receipt.note.contains("is not an address that this server sends to"), "{host}: {receipt:?}");
    }
    assert_eq!(*count.lock(), 0);
    let allowed = sender(Networks { private: false, allowed: vec!["127.0.0.0/8".parse().unwrap()] });
    let reached = allowed.post(&parcel(&format!("http://127.0.0.1:{port}/"), Duration::from_millis(300))).await;
    assert_eq!((reached.note.as_str(), *count.lock()), ("no reply in time", 1));
}

/// A resolver that knows one name.
struct OneNameResolver(&'static str, &'static str);

impl Resolver for OneNameResolver {
    fn resolve_name(&self, name: String) -> BoxFuture<'static, Addresses> {
        let found = if name == self.0 {
            Ok(vec![SocketAddr::new(self.1.parse().unwrap(), 0)])
        } else {
            Err(std::io::Error::other("failed to lookup address information: Name or service not known"))
        };
        Box::pin(async move { found })
    }
}

/// The owner of a webhook cannot find out which names exist in the operator's network.
#[tokio::test]
async fn unknown_name_gives_the_error_of_a_forbidden_address() {
    let sender =
        WebhookSender::new(Networks::default(), Arc::new(OneNameResolver("there.internal", "10.0.0.1"))).unwrap();
    let told = async |name: &str| posted(&sender, &format!("http://{name}/")).await.note.replace(name, "NAME");
    let (there, nowhere) = (told("there.internal").await, told("nowhere.internal").await);
    assert_eq!(there, nowhere);
    assert!(there.contains("is not an address that this server sends to"), "{there}");
}

/// A resolver that gives another answer each time.
struct ChangingResolver {
    answers: Mutex<VecDeque<Vec<&'static str>>>,
    asked: Arc<Mutex<usize>>,
}

impl Resolver for ChangingResolver {
    fn resolve_name(&self, _name: String) -> BoxFuture<'static, Addresses> {
        *self.asked.lock() += 1;
        let answer = self.answers.lock().pop_front().unwrap_or_default();
        let found = answer.into_iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)).collect();
        Box::pin(async move { Ok(found) })
    }
}

/// The sender connects to the address that was checked; a name that resolves to another address the next time is checked again.
#[tokio::test]
async fn changed_name_resolution_never_reaches_a_forbidden_address() {
    let allowed = Endpoints::at("127.0.0.2:0").await;
    let port = allowed.address.port();
    let (_, forbidden, _accepting) = counted(&format!("127.0.0.1:{port}")).await;
    let answers = [
        vec!["127.0.0.2"],
        vec!["127.0.0.1"],
        vec!["127.0.0.1", "127.0.0.2"],
        vec!["169.254.169.254", "::1", "::ffff:127.0.0.1"],
        vec![],
        vec!["127.0.0.2"],
    ];
    let asked = Arc::new(Mutex::new(0));
    let fickle = ChangingResolver { answers: Mutex::new(answers.into()), asked: Arc::clone(&asked) };
    let networks = Networks { private: false, allowed: vec!["127.0.0.2".parse().unwrap()] };
    let sender = WebhookSender::new(networks, Arc::new(fickle)).unwrap();
    let mut statuses = Vec::new();
    for _ in 0..6 {
        statuses.push(posted(&sender, &format!("http://hooks.example.com:{port}/fine")).await.status);
    }
    assert_eq!(statuses, [Some(200), None, Some(200), None, None, Some(200)]);
    assert_eq!((*asked.lock(), *forbidden.lock(), allowed.got()), (6, 0, 3));
}
