//! Translation of the events of a session into the events of this dialect.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use axum::response::sse::Event as Frame;
use domain::{Caller, Event, SessionId, Status};
use engine::Error;
use serde_json::{Value, json};

use super::position::{Position, Positions};
use super::request::RequestView;
use server::App;
use server::handler::{ApiError, EventRenderer, Rendered};

/// End of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The stream ends with the turn of the agent.
    Turn,
    /// The stream ends with the session.
    Session,
    /// The stream ends when all sessions of the channel have ended and their ends were sent.
    Channel,
    /// The stream ends with this event, the last one of an ended session.
    Event(u64),
}

/// Translates the events of one stream.
pub(super) struct ReactEvents {
    /// Name of the session or channel, as the client wrote it.
    name: String,
    until: Until,
    /// Position from which each session is streamed.
    from: Positions,
    /// Position up to which each running session was streamed.
    told: Positions,
    /// Sessions whose end was not sent yet; for ended sessions the number of the last event.
    open: BTreeMap<SessionId, Option<u64>>,
    /// Whether the agent of a session waits for messages.
    listens: HashMap<SessionId, bool>,
}

/// An event of this dialect: its name and its data.
type ReactEvent = (&'static str, Value);

impl ReactEvents {
    pub(super) fn new(name: String, until: Until, from: Positions) -> Self {
        Self { name, until, told: from.clone(), from, open: BTreeMap::new(), listens: HashMap::new() }
    }

    /// Registers a session whose end is still to be sent; `last` is its last event if it has ended.
    pub(super) fn expect_end(&mut self, session: SessionId, last: Option<u64>) {
        self.open.insert(session, last);
    }

    /// Whether the ends of all sessions were sent.
    pub(super) fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// Reads whether the agent of a session waits for messages, once.
    pub(super) async fn learn(&mut self, app: &App, caller: &Caller, id: SessionId) -> Result<(), Error> {
        if let Entry::Vacant(unknown) = self.listens.entry(id) {
            let (session, luggage, _) = app.engine.session(caller, id).await?;
            unknown.insert(session.hosted && session.head.flow.is_none() && luggage.input.is_null());
        }
        Ok(())
    }

    /// Whether the agent waits for the next message at the end of its turn, instead of ending.
    fn listens(&self, event: &Event) -> bool {
        self.listens.get(&event.session).copied().unwrap_or_default()
    }

    /// Translates an event, except those that need to read the question.
    fn translate(&self, event: &Event) -> Vec<ReactEvent> {
        let data = &event.data;
        match event.name.as_str() {
            "session.started" | "session.revived" => {
                vec![("STARTED", json!({ "agent": data["agent"], "title": data["title"] }))]
            }
            "message.sent" => vec![("STARTED", json!({ "message": data["content"] }))],
            "model.thought" | "model.again" => vec![("THINKING", turn(data))],
            "model.said" => vec![("PARTIAL_RESULT", turn(data))],
            "model.turn" => turn_events(data, self.listens(event)),
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
            | "interaction.handed_over" => vec![("OBSERVING", question_end(event))],
            "step.completed" if !self.listens(event) => {
                vec![("DONE", json!({ "step": data["name"], "result": data["output"] }))]
            }
            "step.failed" | "step.rejected" | "step.skipped" => {
                vec![(
                    "OBSERVING",
                    json!({ "step": data["name"], "state": state_name(&event.name), "reason": data["reason"] }),
                )]
            }
            "session.failed" => {
                let why = data["reason"].as_str().unwrap_or("the session has failed");
                vec![("ERROR", json!({ "message": why })), ("COMPLETED", session_end(event))]
            }
            "session.completed" | "session.cancelled" => vec![("COMPLETED", session_end(event))],
            _ => Vec::new(),
        }
    }

    /// Whether this is the last event of its session; removes the session from the open ones.
    fn close(&mut self, event: &Event) -> bool {
        if ["session.started", "session.revived"].contains(&event.name.as_str()) {
            self.open.entry(event.session).or_default();
        }
        let closes = match self.open.get(&event.session) {
            Some(Some(last)) => event.seq >= *last,
            _ => ends_session(event),
        };
        if closes {
            self.open.remove(&event.session);
        }
        closes
    }

    async fn is_last(&self, app: &App, caller: &Caller, (event, closes): (&Event, bool)) -> Result<bool, Error> {
        Ok(match self.until {
            Until::Turn => closes || self.translate(event).iter().any(|(name, _)| *name == "COMPLETED"),
            Until::Session => closes,
            Until::Channel => closes && self.is_complete() && app.engine.live_in(caller, &self.name).await?.is_empty(),
            Until::Event(last) => closes || event.seq >= last,
        })
    }

    /// Whether an event of an ended session has no translation. All questions of such a session are closed.
    pub(super) fn is_silent(&self, event: &Event) -> bool {
        self.frames(event, self.translate(event)).is_empty()
    }

    /// Renders a question that is open. A reader that reconnects is not sent questions that were closed meanwhile.
    async fn question(&self, app: &App, caller: &Caller, event: &Event) -> Result<Vec<ReactEvent>, Error> {
        let Some(id) = event.interaction else { return Ok(Vec::new()) };
        let asked = app.engine.interaction(caller, id, Duration::ZERO).await?;
        if asked.status() != Status::Pending || asked.handed_over().is_some() {
            return Ok(Vec::new());
        }
        Ok(vec![("INTERACTION", json!(RequestView::new(asked, &self.name)))])
    }

    fn frames(&self, event: &Event, translated: Vec<ReactEvent>) -> Vec<Frame> {
        if translated.is_empty() {
            return Vec::new();
        }
        let last = translated.len() - 1;
        let parts = translated.into_iter().enumerate().map(|(part, (name, data))| {
            let told = self.told.at(event.session, Position { seq: event.seq, part: (part != last).then_some(part) });
            let body = json!({ "type": name, "sessionId": self.name, "data": data, "timestamp": event.at });
            Frame::default().id(told.to_string()).event(name).data(body.to_string())
        });
        let from = self.from.within(event.session);
        let known = from.part.filter(|_| from.seq == event.seq).map_or(0, |part| part.saturating_add(1));
        parts.skip(known).collect()
    }
}

impl EventRenderer for ReactEvents {
    async fn render(&mut self, app: &App, caller: &Caller, (_, event): (String, Event)) -> Result<Rendered, ApiError> {
        self.learn(app, caller, event.session).await?;
        let translated = match event.name.as_str() {
            "interaction.asked" => self.question(app, caller, &event).await?,
            _ => self.translate(&event),
        };
        let frames = self.frames(&event, translated);
        let closes = self.close(&event);
        let last = self.is_last(app, caller, (&event, closes)).await?;
        self.told.0.insert(event.session, Position::after(event.seq));
        if closes && !last {
            // Positions of finished sessions are dropped, except that of the newest: without it a reader of an idle channel would receive that session again.
            let newest = self.told.0.keys().next_back().copied();
            self.told.0.retain(|id, _| self.open.contains_key(id) || Some(*id) == newest);
        }
        Ok(Rendered { frames, last })
    }
}

fn ends_session(event: &Event) -> bool {
    ["session.completed", "session.failed", "session.cancelled"].contains(&event.name.as_str())
}

/// Translates a turn of the model: its thinking unless that was streamed, and its tool calls or final text.
fn turn_events(data: &Value, listens: bool) -> Vec<ReactEvent> {
    let (number, text) = (&data["turn"], &data["text"]);
    let mut all = Vec::new();
    if data["thinking"].as_str().is_none_or(str::is_empty) {
        all.push(("THINKING", json!({ "iteration": number, "text": text })));
    }
    if data["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
        all.push(("ACTING", json!({ "iteration": number, "tools": data["tools"] })));
    } else if listens {
        all.push(("DONE", json!({ "iteration": number, "result": text })));
        all.push(("COMPLETED", json!({ "status": "waiting_for_message" })));
    }
    all
}

fn turn(data: &Value) -> Value {
    json!({ "iteration": data["turn"], "text": data["text"] })
}

fn call(event: &Event) -> Value {
    let data = &event.data;
    json!({ "toolCallId": data["call_id"], "toolName": data["tool"], "state": state_name(&event.name), "reason": data["reason"] })
}

fn question_end(event: &Event) -> Value {
    let data = &event.data;
    let request = event.interaction.map(|id| id.to_string());
    json!({ "requestId": request, "state": state_name(&event.name), "selectedOptionIds": data["options"], "by": data["by"]["name"] })
}

fn session_end(event: &Event) -> Value {
    json!({ "status": state_name(&event.name), "reason": event.data["reason"] })
}

/// Second part of an event name: `answered` of `interaction.answered`.
fn state_name(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, past)| past)
}
