//! The WebSocket handshake (RFC 6455, section 4.2).

use axum::body::Body;
use axum::response::Response;
use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use hyper::upgrade::OnUpgrade;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// A request that can become a WebSocket.
pub(crate) struct Handshake {
    /// The `101 Switching Protocols` response.
    pub(crate) accept: Response,
    /// The upgraded connection, available after the response was sent.
    pub(crate) upgrading: OnUpgrade,
}

impl Handshake {
    /// Takes the connection out of a handshake request; `None` if the request is not a handshake.
    pub(crate) fn of(parts: &mut Parts) -> Option<Self> {
        let asks = parts.method == Method::GET
            && has_word(parts, CONNECTION, "upgrade")
            && has_word(parts, UPGRADE, "websocket")
            && parts.headers.get(SEC_WEBSOCKET_VERSION)?.as_bytes() == b"13";
        if !asks {
            return None;
        }
        let key = derive_accept_key(parts.headers.get(SEC_WEBSOCKET_KEY)?.as_bytes());
        let upgrading = parts.extensions.remove::<OnUpgrade>()?;
        let mut accept = Response::new(Body::empty());
        *accept.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = accept.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::try_from(key).ok()?);
        Some(Self { accept, upgrading })
    }
}

/// Whether a comma-separated header contains a word, ignoring case.
fn has_word(parts: &Parts, name: HeaderName, word: &str) -> bool {
    let values = parts.headers.get_all(name);
    values
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|value| value.trim().eq_ignore_ascii_case(word))
}
