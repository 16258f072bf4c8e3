//! A WebSocket client that tests the sockets of the server.

use futures::{SinkExt, StreamExt};
use http::HeaderValue;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::client::{ApiClient, HttpClient, text};
use crate::world::PATIENCE;

/// An open WebSocket of a test.
pub struct Socket(WebSocketStream<TcpStream>);

/// Refusal of a handshake.
pub struct RefusedHandshake {
    pub status: u16,
    pub body: Value,
}

impl HttpClient {
    /// Builds a handshake request without a credential.
    pub fn handshake(&self, path: &str) -> Request {
        format!("ws://{}{path}", self.address).into_client_request().unwrap()
    }

    /// Opens a socket, or returns the refusal of the handshake.
    pub async fn joins(&self, request: Request) -> Result<Socket, RefusedHandshake> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let opening = tokio_tungstenite::client_async(request, stream);
        match tokio::time::timeout(PATIENCE, opening).await.unwrap() {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(Error::Http(response)) => {
                let body = response.body().clone().unwrap_or_default();
                Err(RefusedHandshake {
                    status: response.status().as_u16(),
                    body: serde_json::from_slice(&body).unwrap_or_default(),
                })
            }
            Err(error) => panic!("{error}"),
        }
    }
}

impl ApiClient {
    /// Builds a handshake request with this key.
    pub fn handshake(&self, path: &str) -> Request {
        let mut request = self.http.handshake(path);
        let value = HeaderValue::from_str(&format!("Bearer {}", self.key)).unwrap();
        request.headers_mut().insert("authorization", value);
        request
    }

    /// Opens a socket; the handshake must succeed.
    pub async fn joins(&self, path: &str) -> Socket {
        match self.http.joins(self.handshake(path)).await {
            Ok(socket) => socket,
            Err(shut) => panic!("{} {}", shut.status, shut.body),
        }
    }

    /// Opens a socket that must be refused, and returns the refusal.
    pub async fn is_refused_at_handshake(&self, path: &str) -> RefusedHandshake {
        self.http.joins(self.handshake(path)).await.err().unwrap()
    }
}

impl RefusedHandshake {
    pub fn refused(self, status: u16, code: &str) {
        assert_eq!((self.status, &self.body["code"]), (status, &json!(code)), "{}", self.body);
    }
}

impl Socket {
    pub async fn sends(&mut self, message: Message) {
        tokio::time::timeout(PATIENCE, self.0.send(message)).await.unwrap().unwrap();
    }

    pub async fn says(&mut self, message: Value) {
        self.sends(Message::Text(message.to_string().into())).await;
    }

    async fn next(&mut self) -> Option<Result<Message, Error>> {
        tokio::time::timeout(PATIENCE, self.0.next()).await.unwrap()
    }

    /// The next message. Pings do not extend the time limit.
    pub async fn hears(&mut self) -> Value {
        let heard = async {
            loop {
                match self.next().await.unwrap().unwrap() {
                    Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                    Message::Ping(_) | Message::Pong(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        tokio::time::timeout(PATIENCE, heard).await.unwrap()
    }

    /// Answers this number of pings.
    pub async fn answers_pings(&mut self, count: usize) {
        let mut answered = 0;
        while answered < count {
            let frame = self.next().await.unwrap().unwrap();
            assert!(!frame.is_close(), "{frame:?}");
            answered += usize::from(frame.is_ping());
        }
    }

    /// The next message of this type; messages of other types are skipped.
    pub async fn hears_of(&mut self, name: &str) -> Value {
        loop {
            let message = self.hears().await;
            if message["type"] == name {
                return message;
            }
        }
    }

    /// Sends a message that must be refused with this code, and returns the error message.
    pub async fn is_refused(&mut self, message: Value, code: &str) -> Value {
        self.says(message.clone()).await;
        let error = self.hears_of("error").await;
        assert_eq!(error["code"], code, "{message} got {error}");
        assert!(server::CODES.contains(&text(&error["code"]).as_str()), "{error}");
        error
    }

    /// Sends a request of `/v1` and waits for its result.
    pub async fn asks(&mut self, mut message: Value) -> Value {
        message["id"] = json!("q");
        self.says(message).await;
        loop {
            let reply = self.hears().await;
            if reply["type"] != "event" {
                assert_eq!(reply["id"], "q", "{reply}");
                return reply;
            }
        }
    }

    /// The next event of a subscription: its cursor and its name.
    pub async fn event(&mut self, subscription: &str) -> (String, String) {
        let message = self.hears().await;
        assert_eq!((&message["type"], &message["subscription"]), (&json!("event"), &json!(subscription)), "{message}");
        (text(&message["cursor"]), text(&message["event"]["type"]))
    }

    /// Name of the next event of any subscription.
    pub async fn event_after_pings(&mut self) -> String {
        text(&self.hears_of("event").await["event"]["type"])
    }

    /// Waits for the close frame. Returns its code and the messages before it.
    pub async fn closed(mut self) -> (u16, Vec<Value>) {
        let mut said = Vec::new();
        loop {
            match self.next().await {
                Some(Ok(Message::Close(Some(frame)))) => return (frame.code.into(), said),
                Some(Ok(Message::Text(text))) => said.push(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("{other:?} after {said:?}"),
            }
        }
    }

    /// Sends a message although the server may close the connection meanwhile.
    pub async fn sends_anyhow(&mut self, message: Message) {
        let _ = tokio::time::timeout(PATIENCE, self.0.send(message)).await.unwrap();
    }

    /// Sends a ping and waits for its pong, which shows that the server has read everything sent before.
    pub async fn hears_pong(&mut self) {
        assert!(self.hears_pong_or_ends().await, "the socket was closed");
    }

    /// Sends a ping and waits for its pong; `false` if the socket is closed.
    pub async fn hears_pong_or_ends(&mut self) -> bool {
        loop {
            match self.next().await {
                Some(Ok(Message::Pong(_))) => return true,
                Some(Ok(Message::Ping(_) | Message::Text(_))) => {}
                _ => return false,
            }
        }
    }

    /// Waits until the connection has ended in any way.
    pub async fn ends(mut self) {
        while let Some(Ok(frame)) = self.next().await {
            if frame.is_close() {
                return;
            }
        }
    }

    /// Closes the socket with a closing handshake.
    pub async fn leaves(mut self) {
        self.0.close(None).await.unwrap();
        while self.next().await.is_some_and(|frame| frame.is_ok()) {}
    }
}
