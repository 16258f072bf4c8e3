//! What a stream of this wire says of each event of a session.

use std::str::FromStr;
use std::time::Duration;

use axum::response::sse::Event as Frame;
use domain::{Caller, Event, Status};
use engine::Error;
use serde_json::{Value, json};

use super::request::RequestView;
use crate::App;
use crate::error::ApiError;
use crate::sse::{Said, Words};

/// A place on the stream. An event of ours can be several of this wire: all but the last of them have a part as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    seq: u64,
    part: Option<usize>,
}

impl Place {
    /// After everything that is said of an event.
    pub(super) const fn after(seq: u64) -> Self {
        Self { seq, part: None }
    }

    /// The number of the event of which everything was said.
    pub(super) const fn before(self) -> u64 {
        match self.part {
            None => self.seq,
            Some(_) => self.seq.saturating_sub(1),
        }
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (seq, part) = text.split_once('.').map_or((text, None), |(seq, part)| (seq, Some(part)));
        let seq: u64 = seq.parse().map_err(|_| ())?;
        // Stores count in 63 bits.
        i64::try_from(seq).map_err(|_| ())?;
        let part = part.map(str::parse).transpose().map_err(|_| ())?;
        Ok(Self { seq, part })
    }
}

/// How long a stream goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Until the agent has had its say.
    Turn,
    /// Until the session has ended.
    Session,
    /// Until this event, the last one of a session that has ended.
    Event(u64),
}

/// The words of this wire.
pub(super) struct Speech {
    /// What the client calls the session.
    session: String,
    /// Whether its agent waits for messages.
    listens: bool,
    until: Until,
    from: Place,
}

/// One event of this wire.
type Spoken = (&'static str, Value);

impl Speech {
    pub(super) const fn new(session: String, listens: bool, until: Until) -> Self {
        Self { session, listens, until, from: Place::after(0) }
    }

    /// The same from a place on: what was said before it is left out.
    pub(super) fn beginning(self, from: Place) -> Self {
        Self { from, ..self }
    }

    /// What is said of an event, but of those that need the question itself.
    fn spoken(&self, event: &Event) -> Vec<Spoken> {
        let data = &event.data;
        match event.name.as_str() {
            "session.started" | "session.revived" => {
                vec![("STARTED", json!({ "agent": data["agent"], "title": data["title"] }))]
            }
            "message.sent" => vec![("STARTED", json!({ "message": data["content"] }))],
            "model.thought" | "model.again" => vec![("THINKING", turn(data))],
            "model.said" => vec![("PARTIAL_RESULT", turn(data))],
            "model.turn" => self.turned(data),
            "action.allowed" | "action.waiting" | "action.denied" | "action.started" | "action.offered" => {
                vec![("TOOL", call(event))]
            }
            "action.done" | "action.failed" | "action.rejected" | "action.unknown" | "action.unusable" => {
                vec![("OBSERVING", call(event))]
            }
            "interaction.answered"
            | "interaction.auto_resolved"
            | "interaction.expired"
            | "interaction.cancelled"
            | "interaction.handed_over" => vec![("OBSERVING", settled(event))],
            "step.completed" if !self.listens => {
                vec![("DONE", json!({ "step": data["name"], "result": data["output"] }))]
            }
            "step.failed" | "step.rejected" | "step.skipped" => {
                vec![(
                    "OBSERVING",
                    json!({ "step": data["name"], "state": past(&event.name), "reason": data["reason"] }),
                )]
            }
            "session.failed" => {
                let why = data["reason"].as_str().unwrap_or("the session has failed");
                vec![("ERROR", json!({ "message": why })), ("COMPLETED", ended(event))]
            }
            "session.completed" | "session.cancelled" => vec![("COMPLETED", ended(event))],
            _ => Vec::new(),
        }
    }

    /// A turn of the model: what it thought, unless it was told while it did, and what it wants done or says in the end.
    fn turned(&self, data: &Value) -> Vec<Spoken> {
        let (number, text) = (&data["turn"], &data["text"]);
        let mut all = Vec::new();
        if data["thinking"].as_str().is_none_or(str::is_empty) {
            all.push(("THINKING", json!({ "iteration": number, "text": text })));
        }
        if data["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
            all.push(("ACTING", json!({ "iteration": number, "tools": data["tools"] })));
        } else if self.listens {
            all.push(("DONE", json!({ "iteration": number, "result": text })));
            all.push(("COMPLETED", json!({ "status": "waiting_for_message" })));
        }
        all
    }

    fn last(&self, event: &Event) -> bool {
        let ended = ["session.completed", "session.failed", "session.cancelled"].contains(&event.name.as_str());
        let had_say = || self.spoken(event).iter().any(|(name, _)| *name == "COMPLETED");
        ended
            || match self.until {
                Until::Turn => had_say(),
                Until::Session => false,
                Until::Event(last) => event.seq >= last,
            }
    }

    /// Whether nothing would be said of an event of a session that has ended, whose questions are all settled.
    pub(super) fn silent(&self, event: &Event) -> bool {
        self.framed(event, self.spoken(event)).is_empty()
    }

    /// A question that is open. Whoever connects again is not shown what was settled meanwhile.
    async fn asked(&self, app: &App, caller: &Caller, event: &Event) -> Result<Vec<Spoken>, Error> {
        let Some(id) = event.interaction else { return Ok(Vec::new()) };
        let asked = app.engine.interaction(caller, id, Duration::ZERO).await?;
        if asked.status() != Status::Pending || asked.handed_over().is_some() {
            return Ok(Vec::new());
        }
        Ok(vec![("INTERACTION", json!(RequestView::new(asked, &self.session)))])
    }

    fn framed(&self, event: &Event, spoken: Vec<Spoken>) -> Vec<Frame> {
        let last = spoken.len().saturating_sub(1);
        let parts = spoken.into_iter().enumerate().map(|(part, (name, data))| {
            let id = if part == last { event.seq.to_string() } else { format!("{}.{part}", event.seq) };
            let body = json!({ "type": name, "sessionId": self.session, "data": data, "timestamp": event.at });
            Frame::default().id(id).event(name).data(body.to_string())
        });
        let known = self.from.part.filter(|_| self.from.seq == event.seq).map_or(0, |part| part.saturating_add(1));
        parts.skip(known).collect()
    }
}

impl Words for Speech {
    async fn say(&mut self, app: &App, caller: &Caller, (_, event): (String, Event)) -> Result<Said, ApiError> {
        let spoken = match event.name.as_str() {
            "interaction.asked" => self.asked(app, caller, &event).await?,
            _ => self.spoken(&event),
        };
        Ok(Said { frames: self.framed(&event, spoken), last: self.last(&event) })
    }
}

fn turn(data: &Value) -> Value {
    json!({ "iteration": data["turn"], "text": data["text"] })
}

fn call(event: &Event) -> Value {
    let data = &event.data;
    json!({ "toolCallId": data["call_id"], "toolName": data["tool"], "state": past(&event.name), "reason": data["reason"] })
}

fn settled(event: &Event) -> Value {
    let data = &event.data;
    let request = event.interaction.map(|id| id.to_string());
    json!({ "requestId": request, "state": past(&event.name), "selectedOptionIds": data["options"], "by": data["by"]["name"] })
}

fn ended(event: &Event) -> Value {
    json!({ "status": past(&event.name), "reason": event.data["reason"] })
}

/// What has happened, without what it has happened to.
fn past(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, past)| past)
}
