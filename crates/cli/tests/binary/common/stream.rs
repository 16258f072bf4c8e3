//! Reads server-sent events as a browser does: only complete frames count.

use reqwest::Response;

use super::Client;

/// An open stream of events.
#[derive(Debug)]
pub(crate) struct Stream {
    response: Response,
    received: String,
}

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) id: Option<String>,
    pub(crate) event: String,
    pub(crate) data: String,
}

impl Stream {
    /// Opens a stream, optionally after the last event of an earlier stream.
    pub(crate) async fn open(client: &Client, path: &str, last: Option<&str>) -> reqwest::Result<Self> {
        let mut request = client.request("GET", path).timeout(std::time::Duration::from_mins(10));
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let response = request.send().await?.error_for_status()?;
        Ok(Self { response, received: String::new() })
    }

    /// Next event; `None` if the stream has ended or was interrupted.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            while let Some(end) = self.received.find("\n\n") {
                let text: String = self.received.drain(..end + 2).collect();
                let frame = Frame::read(&text);
                if frame != Frame::default() {
                    return Some(frame);
                }
            }
            let chunk = self.response.chunk().await.ok()??;
            // The events of these tests contain no character that a chunk boundary could split.
            self.received.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

impl Frame {
    fn read(text: &str) -> Self {
        let mut frame = Self::default();
        for line in text.lines() {
            match line.split_once(": ") {
                Some(("id", value)) => frame.id = Some(value.to_owned()),
                Some(("event", value)) => value.clone_into(&mut frame.event),
                Some(("data", value)) => frame.data.push_str(value),
                _ => {}
            }
        }
        frame
    }
}
