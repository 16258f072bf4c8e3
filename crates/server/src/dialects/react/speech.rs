//! What a stream of this wire says of each event of a session.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use axum::response::sse::Event as Frame;
use domain::{Caller, Event, SessionId, Status};
use engine::Error;
use serde_json::{Value, json};

use super::place::{Place, Places};
use super::request::RequestView;
use crate::App;
use crate::error::ApiError;
use crate::sse::{Said, Words};

/// How long a stream goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Until the agent has had its say.
    Turn,
    /// Until the session has ended.
    Session,
    /// Until every session of the channel has ended, and the end of each that was told of was said.
    Channel,
    /// Until this event, the last one of a session that has ended.
    Event(u64),
}

/// The words of this wire.
pub(super) struct Speech {
    /// What the client calls the session or the channel.
    name: String,
    until: Until,
    /// From where on each session is told.
    from: Places,
    /// What was told of each session that goes on.
    told: Places,
    /// The sessions of which the end is still to be said; of those that have ended, their last event.
    open: BTreeMap<SessionId, Option<u64>>,
    /// Whether the agent of a session waits for messages.
    listens: HashMap<SessionId, bool>,
}

/// One event of this wire.
type Spoken = (&'static str, Value);

impl Speech {
    pub(super) fn new(name: String, until: Until, from: Places) -> Self {
        Self { name, until, told: from.clone(), from, open: BTreeMap::new(), listens: HashMap::new() }
    }

    /// There is something to say of a session that is known already: up to its end, or to this event if it has ended.
    pub(super) fn expects(&mut self, session: SessionId, last: Option<u64>) {
        self.open.insert(session, last);
    }

    /// Whether everything was said of all sessions that were told of.
    pub(super) fn all_said(&self) -> bool {
        self.open.is_empty()
    }

    /// Finds out how a session is to be told of.
    pub(super) async fn meets(&mut self, app: &App, caller: &Caller, id: SessionId) -> Result<(), Error> {
        if let Entry::Vacant(unknown) = self.listens.entry(id) {
            let (session, luggage, _) = app.engine.session(caller, id).await?;
            unknown.insert(session.hosted && session.head.flow.is_none() && luggage.input.is_null());
        }
        Ok(())
    }

    /// Whether its agent waits for the next message when it has had its say, instead of ending.
    fn listens(&self, event: &Event) -> bool {
        self.listens.get(&event.session).copied().unwrap_or_default()
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
            "model.turn" => turned(data, self.listens(event)),
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
            "step.completed" if !self.listens(event) => {
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

    /// Whether this is the last that there is to say of its session.
    fn closes(&mut self, event: &Event) -> bool {
        if ["session.started", "session.revived"].contains(&event.name.as_str()) {
            self.open.entry(event.session).or_default();
        }
        let closes = match self.open.get(&event.session) {
            Some(Some(last)) => event.seq >= *last,
            _ => ends(event),
        };
        if closes {
            self.open.remove(&event.session);
        }
        closes
    }

    async fn last(&self, app: &App, caller: &Caller, (event, closes): (&Event, bool)) -> Result<bool, Error> {
        Ok(match self.until {
            Until::Turn => closes || self.spoken(event).iter().any(|(name, _)| *name == "COMPLETED"),
            Until::Session => closes,
            Until::Channel => closes && self.all_said() && app.engine.live_in(caller, &self.name).await?.is_empty(),
            Until::Event(last) => closes || event.seq >= last,
        })
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
        Ok(vec![("INTERACTION", json!(RequestView::new(asked, &self.name)))])
    }

    fn framed(&self, event: &Event, spoken: Vec<Spoken>) -> Vec<Frame> {
        if spoken.is_empty() {
            return Vec::new();
        }
        let last = spoken.len() - 1;
        let parts = spoken.into_iter().enumerate().map(|(part, (name, data))| {
            let told = self.told.at(event.session, Place { seq: event.seq, part: (part != last).then_some(part) });
            let body = json!({ "type": name, "sessionId": self.name, "data": data, "timestamp": event.at });
            Frame::default().id(told.to_string()).event(name).data(body.to_string())
        });
        let from = self.from.within(event.session);
        let known = from.part.filter(|_| from.seq == event.seq).map_or(0, |part| part.saturating_add(1));
        parts.skip(known).collect()
    }
}

impl Words for Speech {
    async fn say(&mut self, app: &App, caller: &Caller, (_, event): (String, Event)) -> Result<Said, ApiError> {
        self.meets(app, caller, event.session).await?;
        let spoken = match event.name.as_str() {
            "interaction.asked" => self.asked(app, caller, &event).await?,
            _ => self.spoken(&event),
        };
        let frames = self.framed(&event, spoken);
        let closes = self.closes(&event);
        let last = self.last(app, caller, (&event, closes)).await?;
        self.told.0.insert(event.session, Place::after(event.seq));
        if closes && !last {
            // What is told of no more nobody needs to be reminded of, but of the newest: it would be told again to whoever finds nothing else.
            let newest = self.told.0.keys().next_back().copied();
            self.told.0.retain(|id, _| self.open.contains_key(id) || Some(*id) == newest);
        }
        Ok(Said { frames, last })
    }
}

fn ends(event: &Event) -> bool {
    ["session.completed", "session.failed", "session.cancelled"].contains(&event.name.as_str())
}

/// A turn of the model: what it thought, unless it was told while it did, and what it wants done or says in the end.
fn turned(data: &Value, listens: bool) -> Vec<Spoken> {
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
