//! An endpoint on this machine that records the messages it receives.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Way in which the endpoint replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Takes,
    Accepts,
    Fails,
    Hangs,
}

/// A message that the endpoint received.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) raw: Bytes,
    pub(crate) body: Value,
}

impl Message {
    pub(crate) fn id(&self) -> String {
        self.headers["webhook-id"].to_str().unwrap().to_owned()
    }
}

#[derive(Clone)]
struct EndpointState {
    how: Arc<Mutex<How>>,
    got: Arc<Mutex<Vec<Message>>>,
}

/// HTTP server that listens until it is dropped.
pub(crate) struct Endpoint {
    told: EndpointState,
    port: u16,
    _serving: AbortOnDropHandle<()>,
}

impl Endpoint {
    pub(crate) async fn open() -> Self {
        let told = EndpointState { how: Arc::new(Mutex::new(How::Takes)), got: Arc::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let router = Router::new().fallback(take).with_state(told.clone());
        let tasks = TaskTracker::new();
        let serving = tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { told, port, _serving: AbortOnDropHandle::new(serving) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Sets how the endpoint replies from now on.
    pub(crate) fn becomes(&self, how: How) {
        *self.told.how.lock() = how;
    }

    pub(crate) fn got(&self) -> Vec<Message> {
        self.told.got.lock().clone()
    }

    pub(crate) fn forget(&self) {
        self.told.got.lock().clear();
    }

    /// Waits until the endpoint has received this many messages.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Message> {
        loop {
            let got = self.got();
            if got.len() >= count {
                return got;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn take(State(told): State<EndpointState>, uri: Uri, headers: HeaderMap, raw: Bytes) -> StatusCode {
    let body = serde_json::from_slice(&raw).unwrap();
    let how = *told.how.lock();
    told.got.lock().push(Message { path: uri.path().to_owned(), headers, raw, body });
    match how {
        How::Takes => StatusCode::OK,
        How::Accepts => StatusCode::ACCEPTED,
        How::Fails => StatusCode::SERVICE_UNAVAILABLE,
        How::Hangs => std::future::pending().await,
    }
}
