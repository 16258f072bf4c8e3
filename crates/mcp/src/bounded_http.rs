//! An HTTP client for rmcp with a limit on the size of answers.
//!
//! The client of rmcp itself reads a JSON answer of any size. This client ends JSON answers and events at [`LONGEST`].

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use crate::child::LONGEST;

type HttpError = StreamableHttpError<reqwest::Error>;

/// HTTP client with bounded answers.
#[derive(Debug, Clone)]
pub(crate) struct BoundedHttpClient(pub(crate) reqwest::Client);

impl StreamableHttpClient for BoundedHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let both = format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}");
        let mut request = self.0.post(&*uri).header(ACCEPT, both).headers(custom_headers.into_iter().collect());
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        if let Some(session) = &session_id {
            request = request.header(HEADER_SESSION_ID, &**session);
        }
        let response = request.json(&message).send().await.map_err(StreamableHttpError::Client)?;
        if response.status() == StatusCode::NOT_FOUND && session_id.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let request = match message {
            JsonRpcMessage::Request(request) => Some(request.id),
            _ => None,
        };
        read(response, request).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let (client, most) = (&self.0, LONGEST);
        client
            .get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, most)
            .await
    }
}

/// Reads the answer to a message; only a request has one.
async fn read(response: Response, request: Option<RequestId>) -> Result<StreamableHttpPostResponse, HttpError> {
    let status = response.status();
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) || (status.is_success() && request.is_none()) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    let header =
        |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok()).map(str::to_owned);
    match (status, header(WWW_AUTHENTICATE)) {
        (StatusCode::UNAUTHORIZED, Some(challenge)) => {
            return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
        }
        (StatusCode::FORBIDDEN, Some(challenge)) => {
            return Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)));
        }
        _ => {}
    }
    let session = header(HeaderName::from_static("mcp-session-id"));
    let kind = header(CONTENT_TYPE).unwrap_or_default();
    if let Some(request) = request.clone().filter(|_| status.is_success() && kind.starts_with(EVENT_STREAM_MIME_TYPE)) {
        return Ok(StreamableHttpPostResponse::Sse(events(response, request), session));
    }
    let refused = || HttpError::from(HttpStatusError::new(status.as_u16(), None));
    let refuses = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS);
    if !kind.starts_with(JSON_MIME_TYPE) || refuses {
        return Err(if status.is_success() {
            StreamableHttpError::UnexpectedContentType(Some(kind))
        } else {
            refused()
        });
    }
    let message = match (whole(response).await?, request) {
        (Some(body), _) => serde_json::from_slice(&body),
        (None, Some(request)) => Ok(too_large(request)),
        (None, None) => return Err(refused()),
    };
    match message {
        Ok(message) if status.is_success() || matches!(message, JsonRpcMessage::Error(_)) => {
            Ok(StreamableHttpPostResponse::Json(message, session))
        }
        Err(error) if status.is_success() => Err(error.into()),
        _ => Err(refused()),
    }
}

/// Reads a whole body; `None` if it is too large.
async fn whole(mut response: Response) -> Result<Option<Vec<u8>>, HttpError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(StreamableHttpError::Client)? {
        if body.len() + piece.len() > LONGEST {
            return Ok(None);
        }
        body.extend_from_slice(&piece);
    }
    Ok(Some(body))
}

/// Reads a body as events. An event that is too large is replaced by an error answer to the request, so that no caller
/// waits for it or fetches it again.
fn events(response: Response, request: RequestId) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut size = EventSize::default();
    let bytes = response.bytes_stream().map(move |piece| {
        let piece = piece.map_err(io::Error::other)?;
        if size.take(&piece) > LONGEST { Err(io::Error::other(TooLarge)) } else { Ok(piece) }
    });
    let events = SseStream::from_bytes_stream(bytes).scan(false, move |over, event| {
        let last = std::mem::replace(over, matches!(&event, Err(SseError::Body(error)) if is_too_large(&**error)));
        let event =
            if *over { serde_json::to_string(&too_large(request.clone())).map(answer).or(event) } else { event };
        std::future::ready((!last).then_some(event))
    });
    events.boxed()
}

fn answer(message: String) -> Sse {
    Sse::default().data(message)
}

#[derive(Debug, thiserror::Error)]
#[error("the event is too large")]
struct TooLarge;

fn is_too_large(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
        .is_some_and(<dyn Error + Send + Sync>::is::<TooLarge>)
}

/// Builds the error answer to a request whose real answer is too large.
fn too_large(request: RequestId) -> ServerJsonRpcMessage {
    let error = ErrorData::internal_error("it ran, but the server's answer is larger than 8 MiB", None);
    ServerJsonRpcMessage::error(error, Some(request))
}

/// Size of the event that is being read.
#[derive(Debug, Default)]
struct EventSize {
    event: usize,
    line: usize,
}

impl EventSize {
    /// Counts more bytes of the stream and returns the size of the largest event in them.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let mut largest = 0;
        for byte in bytes {
            self.event += 1;
            largest = largest.max(self.event);
            match byte {
                // An empty line ends an event.
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                b'\r' => {}
                _ => self.line += 1,
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_size_restarts_after_an_empty_line() {
        let mut size = EventSize::default();
        assert_eq!(size.take(b"data: 1\ndata: 2\n\n"), 17);
        assert_eq!(size.take(b"a\r\n\r\nbc"), 5);
        assert_eq!(size.take(b"d"), 3);
    }
}
