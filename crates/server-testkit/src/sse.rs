//! Reads server-sent events as a client does.

use reqwest::Response;
use serde_json::Value;

use crate::client::text;
use crate::world::PATIENCE;

/// One frame of a stream.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Frame {
    pub id: Option<String>,
    pub name: Option<String>,
    pub data: String,
    pub comment: Option<String>,
}

/// An open event stream.
pub struct Frames {
    response: Response,
    unread: String,
}

impl Frames {
    pub fn of(response: Response) -> Self {
        Self { response, unread: String::new() }
    }

    /// The next frame; `None` if the stream has ended.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some((frame, rest)) = self.unread.split_once("\n\n") {
                let frame = parsed(frame);
                self.unread = rest.to_owned();
                return Some(frame);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.unwrap().unwrap()?;
            self.unread.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next event: its id on the stream and its data.
    pub async fn event(&mut self) -> (String, Value) {
        let frame = self.next().await.unwrap();
        let event: Value = serde_json::from_str(&frame.data).unwrap();
        assert_eq!(frame.name.unwrap(), text(&event["type"]));
        (frame.id.unwrap(), event)
    }

    /// Names of the next events, each with its id on the stream.
    pub async fn events(&mut self, count: usize) -> Vec<(String, String)> {
        let mut events = Vec::new();
        for _ in 0..count {
            let (id, event) = self.event().await;
            events.push((id, text(&event["type"])));
        }
        events
    }
}

fn parsed(text: &str) -> Frame {
    let mut frame = Frame::default();
    for line in text.lines() {
        let (field, value) = line.split_once(':').unwrap();
        let value = value.trim_start().to_owned();
        match field {
            "" => frame.comment = Some(value),
            "id" => frame.id = Some(value),
            "event" => frame.name = Some(value),
            "data" => frame.data.push_str(&value),
            _ => {}
        }
    }
    frame
}
