//! Translation of the events of a session into the events of this dialect.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use axum::response::sse::Event as Frame;
use domain::event::{ModelText, ModelTurn, SessionChange, SessionControlled};
use domain::{Caller, Event, EventKind, SessionId, Status};
use engine::Error;
use serde_json::{Value, json};

use super::position::{Position, Positions};
use super::request::RequestView;
use server::App;
use server::handler::{ApiError, EventRenderer, Rendered};

/// End of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
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
    until: StreamEnd,
    /// First position to stream of each session.
    from: Positions,
    /// Last streamed position of each running session.
    told: Positions,
    /// Sessions whose end was not sent yet; for ended sessions the number of the last event.
    open: BTreeMap<SessionId, Option<u64>>,
    /// Whether the agent of a session waits for messages.
    listens: HashMap<SessionId, bool>,
}

/// An event of this dialect: its name and its data.
type ReactEvent = (&'static str, Value);

impl ReactEvents {
    pub(super) fn new(name: String, until: StreamEnd, from: Positions) -> Self {
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
            let (session, session_input, _) = app.engine.session(caller, id).await?;
            unknown.insert(session.hosted && session.head.flow.is_none() && session_input.input.is_null());
        }
        Ok(())
    }

    /// Whether the agent waits for the next message at the end of its turn, instead of ending.
    fn listens(&self, event: &Event) -> bool {
        self.listens.get(&event.session).copied().unwrap_or_default()
    }

    /// Translates an event. `None` for a question that was asked, which `question` reads and translates. An event that this
    /// version does not know has no translation.
    #[expect(clippy::too_many_lines, reason = "a table with one row for each kind of event")]
    fn translate(&self, event: &Event) -> Option<Vec<ReactEvent>> {
        let Some(kind) = event.kind() else { return Some(Vec::new()) };
        Some(match &kind {
            EventKind::InteractionAsked(_) => return None,
            EventKind::SessionStarted(started) => {
                vec![("STARTED", json!({ "agent": started.agent, "title": started.title }))]
            }
            EventKind::SessionRevived(_) => vec![("STARTED", json!({ "agent": null, "title": null }))],
            EventKind::MessageSent(message) => vec![("STARTED", json!({ "message": message.content }))],
            EventKind::ModelThought(said) | EventKind::ModelAgain(said) => vec![("THINKING", model_text(said))],
            EventKind::ModelSaid(said) => vec![("PARTIAL_RESULT", model_text(said))],
            EventKind::ModelTurn(turn) => turn_events(turn, self.listens(event)),
            EventKind::ActionAllowed(ruled) | EventKind::ActionWaiting(ruled) | EventKind::ActionDenied(ruled) => {
                let reason = ruled.ruling.as_ref().map(|ruling| ruling.reason.as_str());
                vec![("TOOL", call(event, (&ruled.call_id, &ruled.tool), reason))]
            }
            EventKind::ActionStarted(started) => {
                vec![("TOOL", call(event, (&started.call_id, &started.tool), None))]
            }
            EventKind::ActionOffered(settled) => {
                vec![("TOOL", call(event, (&settled.call_id, &settled.tool), settled.reason.as_deref()))]
            }
            EventKind::ActionDone(settled) | EventKind::ActionFailed(settled) | EventKind::ActionUnknown(settled) => {
                vec![("OBSERVING", call(event, (&settled.call_id, &settled.tool), settled.reason.as_deref()))]
            }
            EventKind::ActionRejected(rejected) => {
                vec![("OBSERVING", call(event, (&rejected.call_id, &rejected.tool), None))]
            }
            EventKind::ActionUnusable(unusable) => {
                vec![("OBSERVING", call(event, (&unusable.call_id, &unusable.tool), Some(&unusable.reason)))]
            }
            EventKind::InteractionAnswered(answered) => question_end(event, Some(&answered.options)),
            EventKind::InteractionAutoResolved(resolved) => question_end(event, Some(&resolved.answer.options)),
            EventKind::InteractionExpired(_)
            | EventKind::InteractionCancelled(_)
            | EventKind::InteractionHandedOver(_) => question_end(event, None),
            EventKind::StepCompleted(_) if self.listens(event) => Vec::new(),
            EventKind::StepCompleted(step) => vec![("DONE", json!({ "step": step.name, "result": step.output }))],
            EventKind::StepFailed(step) | EventKind::StepRejected(step) | EventKind::StepSkipped(step) => {
                let state = state_name(&event.name);
                vec![("OBSERVING", json!({ "step": step.name, "state": state, "reason": step.reason }))]
            }
            EventKind::SessionFailed(end) => {
                let why = end.reason.as_deref().unwrap_or("the session has failed");
                vec![("ERROR", json!({ "message": why })), ("COMPLETED", session_end(event, end))]
            }
            EventKind::SessionCompleted(end) | EventKind::SessionCancelled(end) => {
                vec![("COMPLETED", session_end(event, end))]
            }
            // This dialect has no word for these events.
            EventKind::InteractionVoted(_)
            | EventKind::InteractionOverdue(_)
            | EventKind::InteractionWarned(_)
            | EventKind::InteractionClaimed(_)
            | EventKind::InteractionReleased(_)
            | EventKind::InteractionAbstained(_)
            | EventKind::InteractionDeserted(_)
            | EventKind::SessionPaused(_)
            | EventKind::SessionResumed(_)
            | EventKind::StepBegun(_)
            | EventKind::StepSentBack(_)
            | EventKind::StepCancelled(_)
            | EventKind::StepTroubled(_)
            | EventKind::ModelFailed(_)
            | EventKind::SuggestionsDropped(_)
            | EventKind::DeliveryTaken(_)
            | EventKind::DeliveryCompleted(_)
            | EventKind::DeliveryFailed(_)
            | EventKind::DeliveryOffered(_)
            | EventKind::DeliveryNotNeeded(_)
            | EventKind::GrantGiven(_)
            | EventKind::SecretKept(_)
            | EventKind::SecretUsed(_) => Vec::new(),
        })
    }

    /// Whether this is the last event of its session; removes the session from the open ones.
    fn close(&mut self, event: &Event) -> bool {
        let change = event.kind().and_then(|kind| kind.session_change());
        if change == Some(SessionChange::Opened) {
            self.open.entry(event.session).or_default();
        }
        let closes = match self.open.get(&event.session) {
            Some(Some(last)) => event.seq >= *last,
            Some(None) | None => change == Some(SessionChange::Ended),
        };
        if closes {
            self.open.remove(&event.session);
        }
        closes
    }

    async fn is_last(&self, app: &App, caller: &Caller, event: &Event, closes: bool) -> Result<bool, Error> {
        Ok(match self.until {
            StreamEnd::Turn => {
                closes || self.translate(event).into_iter().flatten().any(|(name, _)| name == "COMPLETED")
            }
            StreamEnd::Session => closes,
            StreamEnd::Channel => {
                closes && self.is_complete() && app.engine.live_sessions(caller, &self.name).await?.is_empty()
            }
            StreamEnd::Event(last) => closes || event.seq >= last,
        })
    }

    /// Whether the dialect shows nothing for an event of an ended session. All questions of the session are closed.
    pub(super) fn is_silent(&self, event: &Event) -> bool {
        self.frames(event, self.translate(event).unwrap_or_default()).is_empty()
    }

    /// Renders a question that is open. A reader that reconnects is not sent questions that were closed meanwhile.
    async fn question(&self, app: &App, caller: &Caller, event: &Event) -> Result<Vec<ReactEvent>, Error> {
        let Some(id) = event.interaction else { return Ok(Vec::new()) };
        let asked = app.engine.interaction_get(caller, id, Duration::ZERO).await?;
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
        let translated = match self.translate(&event) {
            Some(translated) => translated,
            None => self.question(app, caller, &event).await?,
        };
        let frames = self.frames(&event, translated);
        let closes = self.close(&event);
        let last = self.is_last(app, caller, &event, closes).await?;
        self.told.0.insert(event.session, Position::after(event.seq));
        if closes && !last {
            // Positions of finished sessions are dropped, except that of the newest: without it a reader of an idle
            // channel would receive that session again.
            let newest = self.told.0.keys().next_back().copied();
            self.told.0.retain(|id, _| self.open.contains_key(id) || Some(*id) == newest);
        }
        Ok(Rendered { frames, last })
    }
}

/// Translates a turn of the model: its thinking unless that was streamed, and its tool calls or final text.
fn turn_events(turn: &ModelTurn, listens: bool) -> Vec<ReactEvent> {
    let (number, text) = (turn.turn, &turn.text);
    let mut all = Vec::new();
    if turn.thinking.is_empty() {
        all.push(("THINKING", json!({ "iteration": number, "text": text })));
    }
    if !turn.tools.is_empty() {
        all.push(("ACTING", json!({ "iteration": number, "tools": turn.tools })));
    } else if listens {
        all.push(("DONE", json!({ "iteration": number, "result": text })));
        all.push(("COMPLETED", json!({ "status": "waiting_for_message" })));
    }
    all
}

fn model_text(said: &ModelText) -> Value {
    json!({ "iteration": said.turn, "text": said.text })
}

fn call(event: &Event, (call, tool): (&str, &str), reason: Option<&str>) -> Value {
    json!({ "toolCallId": call, "toolName": tool, "state": state_name(&event.name), "reason": reason })
}

fn question_end(event: &Event, options: Option<&[String]>) -> Vec<ReactEvent> {
    let request = event.interaction.map(|id| id.to_string());
    let (state, by) = (state_name(&event.name), event.by().map(|by| by.name));
    vec![("OBSERVING", json!({ "requestId": request, "state": state, "selectedOptionIds": options, "by": by }))]
}

fn session_end(event: &Event, end: &SessionControlled) -> Value {
    json!({ "status": state_name(&event.name), "reason": end.reason })
}

/// Second part of an event name: `answered` of `interaction.answered`.
fn state_name(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, past)| past)
}
