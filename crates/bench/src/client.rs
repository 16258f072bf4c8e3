//! A simple HTTP client with little cost: one kept-alive HTTP/1.1 connection, raw bodies, and identifiers found without
//! parsing JSON.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Fallible;

/// A connection with the key of one caller. Dropping it closes the connection.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: HeaderValue,
    authorization: HeaderValue,
    #[expect(dead_code, reason = "dropping it ends the task that moves the bytes")]
    driver: JoinSet<()>,
}

/// Status and body of a response.
pub(crate) type Response = (StatusCode, Bytes);

impl Connection {
    /// Connects to a server and sends this key with every request.
    pub(crate) async fn open(address: SocketAddr, key: &str) -> Fallible<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            // A caller that waits for a response gets the error from hyper.
            let _ = connection.await;
        });
        let host = HeaderValue::from_str(&address.to_string())?;
        Ok(Self { sender, host, authorization: HeaderValue::from_str(&format!("Bearer {key}"))?, driver })
    }

    /// Waits until the next request can be sent at once.
    pub(crate) async fn ready(&mut self) -> Fallible<()> {
        Ok(self.sender.ready().await?)
    }

    pub(crate) async fn get(&mut self, path: &str) -> Fallible<Response> {
        self.send(Method::GET, path, Bytes::new()).await
    }

    /// Sends a POST request that must succeed and returns its body.
    pub(crate) async fn post(&mut self, path: &str, body: impl Into<Bytes>) -> Fallible<Bytes> {
        succeeded(path, self.send(Method::POST, path, body.into()).await?)
    }

    /// Sends a GET request that must succeed and returns its body.
    pub(crate) async fn read(&mut self, path: &str) -> Fallible<Bytes> {
        succeeded(path, self.get(path).await?)
    }

    /// Opens a stream and returns its body.
    pub(crate) async fn stream(&mut self, path: &str) -> Fallible<Incoming> {
        let response = self.begin(Method::GET, path, Bytes::new()).await?;
        match response.status() {
            StatusCode::OK => Ok(response.into_body()),
            status => Err(format!("{path}: {status}").into()),
        }
    }

    async fn send(&mut self, method: Method, path: &str, body: Bytes) -> Fallible<Response> {
        let response = self.begin(method, path, body).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }

    async fn begin(&mut self, method: Method, path: &str, body: Bytes) -> Fallible<http::Response<Incoming>> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.host.clone())
            .header(AUTHORIZATION, self.authorization.clone());
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let request = request.body(Full::new(body))?;
        self.sender.ready().await?;
        Ok(self.sender.send_request(request).await?)
    }
}

fn succeeded(path: &str, (status, body): Response) -> Fallible<Bytes> {
    if status.is_success() {
        Ok(body)
    } else {
        Err(format!("{path}: {status} {}", String::from_utf8_lossy(&body)).into())
    }
}

/// First identifier with this prefix in a body.
pub(crate) fn id_in<'a>(body: &'a Bytes, prefix: &str) -> Fallible<&'a str> {
    let quoted = [b"\"", prefix.as_bytes()].concat();
    let start =
        body.windows(quoted.len()).position(|part| part == quoted.as_slice()).ok_or("no id in the response")? + 1;
    let id = body.get(start..start + prefix.len() + 36).ok_or("the id is cut off")?;
    Ok(std::str::from_utf8(id)?)
}

/// Whether a body contains these bytes.
pub(crate) fn holds(body: &[u8], wanted: &[u8]) -> bool {
    body.windows(wanted.len()).any(|part| part == wanted)
}
