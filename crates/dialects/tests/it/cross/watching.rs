//! Reads a session through the streams of all APIs that have one, and through the lists of the others.

use serde_json::{Value, json};

use crate::cross::asking::AskedQuestion;
use crate::cross::table::SECRET;
use server_testkit::client::ApiClient;
use server_testkit::sse::Frames;
use server_testkit::websocket;

/// Whether an event or audit entry of this name is the end of a question.
pub(crate) fn ends(name: &str) -> bool {
    ["interaction.answered", "interaction.auto_resolved", "interaction.expired", "interaction.cancelled"]
        .contains(&name)
}

/// Connection of a reader.
enum Stream {
    /// Event streams: of the session, of the project, of `flows` and of `react`.
    Frames(Frames),
    Socket(websocket::Socket),
}

/// A reader, and everything that it received.
struct Reader {
    name: &'static str,
    stream: Stream,
    told: String,
}

/// Meaning of a message for the question in it.
enum Note {
    Asked(String),
    Moved(String),
    Ended(String),
    Other,
}

/// All readers of one session.
pub(crate) struct Watchers {
    by: ApiClient,
    readers: Vec<Reader>,
}

impl Watchers {
    /// Connects readers by the id of the session and by its channel.
    pub(crate) async fn of(by: &ApiClient, session: &str, channel: &str) -> Self {
        let frames = async |name: &'static str, path: String| Reader {
            name,
            stream: Stream::Frames(by.follows(&path, None).await),
            told: String::new(),
        };
        let socket =
            |name: &'static str, connection| Reader { name, stream: Stream::Socket(connection), told: String::new() };
        let mut plain = by.joins("/v1/ws").await;
        assert_eq!(plain.asks(json!({ "type": "subscribe", "session": session })).await["status"], 200);
        let readers = vec![
            frames("session", format!("/v1/sessions/{session}/events/stream")).await,
            frames("project", "/v1/events/stream?after=0-0".to_owned()).await,
            frames("flows", format!("/api/flows/{}/events/stream", AskedQuestion::bare(session))).await,
            frames("react", format!("/api/agent/chat/react/stream?sessionId={session}")).await,
            frames("react by channel", format!("/api/agent/chat/react/stream?sessionId={channel}")).await,
            socket("ws", plain),
            socket("tools", by.joins(&format!("/ws/{session}")).await),
            socket("tools by channel", by.joins(&format!("/ws/{channel}")).await),
        ];
        Self { by: by.clone(), readers }
    }

    /// Adds a reader that joined the channel before the session existed.
    pub(crate) fn with_early(mut self, connection: websocket::Socket) -> Self {
        let (name, stream) = ("tools before the session", Stream::Socket(connection));
        self.readers.push(Reader { name, stream, told: String::new() });
        self
    }

    /// Checks that every reader receives the question.
    pub(crate) async fn expect_question(&mut self, asked: &AskedQuestion, label: &str) {
        for reader in &mut self.readers {
            loop {
                match reader.note().await {
                    Note::Asked(id) if asked.is(&id) => break,
                    Note::Ended(id) if asked.is(&id) => {
                        panic!("{label}: {} received the end before the question", reader.name)
                    }
                    _ => {}
                }
            }
        }
    }

    /// Checks that, before the next question, every reader receives the end once and does not receive the question
    /// again.
    pub(crate) async fn expect_one_end(&mut self, asked: &AskedQuestion, next: &str, label: &str) {
        for reader in &mut self.readers {
            let mut ended = 0;
            loop {
                match reader.note().await {
                    Note::Asked(id) if id == next => break,
                    Note::Asked(id) => assert!(!asked.is(&id), "{label}: {} received the question again", reader.name),
                    Note::Ended(id) => ended += u32::from(asked.is(&id)),
                    Note::Moved(_) | Note::Other => {}
                }
            }
            assert_eq!(ended, 1, "{label}: {} received the end", reader.name);
        }
    }

    /// Checks that every reader is informed of the handover.
    pub(crate) async fn expect_handover(&mut self, asked: &AskedQuestion, label: &str) {
        for reader in &mut self.readers {
            loop {
                match reader.note().await {
                    Note::Moved(id) if asked.is(&id) => break,
                    Note::Ended(id) if asked.is(&id) => panic!("{label}: {} received the end", reader.name),
                    _ => {}
                }
            }
        }
    }

    /// Checks the lists of answerable questions for `here` and the lists of open questions for `open`: whether they
    /// contain the question.
    pub(crate) async fn assert_listed(&self, asked: &AskedQuestion, here: bool, open: bool, label: &str) {
        let bare = AskedQuestion::bare(&asked.session);
        for (path, list, id, open) in [
            (format!("/hitl/conversations/{}/pending", asked.session), "/requests", "id", here),
            (format!("/api/v1/agent/hitl/conversations/{}/pending", asked.channel), "/requests", "id", here),
            (format!("/sessions/{}/pending-approvals", asked.session), "/pending_approvals", "interaction", here),
            (format!("/sessions/{}/pending-approvals", asked.channel), "/pending_approvals", "interaction", here),
            (format!("/api/flows/{bare}/interactions"), "/active", "requestId", open),
            (format!("/v1/interactions?session={}&status=pending", asked.session), "/interactions", "id", open),
        ] {
            let listed = self.by.get(&path).await.done();
            let found = listed.pointer(list).and_then(Value::as_array).unwrap().iter();
            let found = found.filter(|one| one[id].as_str().is_some_and(|id| asked.is(id)));
            assert_eq!(found.count(), usize::from(open), "{label}: {path} has {listed}");
        }
    }

    pub(crate) fn assert_no_secret(&self, label: &str) {
        for reader in &self.readers {
            assert!(!reader.told.contains(SECRET), "{label}: {} received the secret", reader.name);
        }
    }
}

impl AskedQuestion {
    /// Whether a message of an API is about this question.
    fn is(&self, id: &str) -> bool {
        id == self.id || id == self.call || id == Self::bare(&self.id) || id == self.call_in_channel()
    }
}

impl Reader {
    async fn note(&mut self) -> Note {
        let (name, said) = match &mut self.stream {
            Stream::Frames(frames) => {
                let frame = frames.next().await.unwrap();
                self.told.push_str(&frame.data);
                (frame.name.unwrap_or_default(), serde_json::from_str(&frame.data).unwrap_or_default())
            }
            Stream::Socket(socket) => {
                let message = socket.hears().await;
                self.told.push_str(&message.to_string());
                match message["type"].as_str().unwrap() {
                    "event" => (message["event"]["type"].as_str().unwrap().to_owned(), message["event"].clone()),
                    name => (name.to_owned(), message),
                }
            }
        };
        let id = |value: &Value| value.as_str().map(str::to_owned);
        let api = self.name.split(' ').next().unwrap_or_default();
        let note = match (api, name.as_str()) {
            ("session" | "project" | "ws", "interaction.asked") => id(&said["interaction"]).map(Note::Asked),
            ("session" | "project" | "ws", "interaction.handed_over") => id(&said["interaction"]).map(Note::Moved),
            ("session" | "project" | "ws", name) if ends(name) => id(&said["interaction"]).map(Note::Ended),
            ("flows", "humanInteractionRequired") => id(&said["requestId"]).map(|id| Note::Asked(format!("int_{id}"))),
            ("flows", "humanInteractionStatusChanged") if said["status"] == "PENDING" => {
                assert!(said["metadata"]["handedOver"]["chatSessionId"].is_string(), "{said}");
                id(&said["requestId"]).map(Note::Moved)
            }
            ("flows", "humanInteractionStatusChanged") => id(&said["requestId"]).map(Note::Ended),
            ("react", "INTERACTION") => id(&said["data"]["requestId"]).map(Note::Asked),
            ("react", "OBSERVING") if said["data"]["state"] == "handed_over" => {
                id(&said["data"]["requestId"]).map(Note::Moved)
            }
            ("react", "OBSERVING") => id(&said["data"]["requestId"]).map(Note::Ended),
            ("tools", "tool_call") => id(&said["interaction"]).map(Note::Asked),
            ("tools", "error") if said["code"] == "interaction_handed_over" => id(&said["call_id"]).map(Note::Moved),
            ("tools", "hitl_resolved" | "hitl_expired") => id(&said["call_id"]).map(Note::Ended),
            _ => None,
        };
        note.unwrap_or(Note::Other)
    }
}
