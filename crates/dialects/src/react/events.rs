//! Translation of the events of a session into the events of this dialect.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use axum::response::sse::Event as Frame;
use domain::event::{ActionRuled, ActionSettled, ModelText, ModelTurn, SessionChange, SessionControlled, StepEnded};
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

/// Name of an event of this dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReactName {
    Started,
    Thinking,
    PartialResult,
    Acting,
    Tool,
    Observing,
    Interaction,
    Done,
    Error,
    Completed,
}

impl ReactName {
    const fn text(self) -> &'static str {
        match self {
            Self::Started => "STARTED",
            Self::Thinking => "THINKING",
            Self::PartialResult => "PARTIAL_RESULT",
            Self::Acting => "ACTING",
            Self::Tool => "TOOL",
            Self::Observing => "OBSERVING",
            Self::Interaction => "INTERACTION",
            Self::Done => "DONE",
            Self::Error => "ERROR",
            Self::Completed => "COMPLETED",
        }
    }

    /// Whether the event ends the turn of the agent, and with it a stream of one turn.
    const fn ends_turn(self) -> bool {
        matches!(self, Self::Completed)
    }
}

/// An event of this dialect: its name and its data.
type ReactEvent = (ReactName, Value);

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
                vec![(ReactName::Started, json!({ "agent": started.agent, "title": started.title }))]
            }
            EventKind::SessionRevived(_) => vec![(ReactName::Started, json!({ "agent": null, "title": null }))],
            EventKind::MessageSent(message) => vec![(ReactName::Started, json!({ "message": message.content }))],
            EventKind::ModelThought(said) | EventKind::ModelAgain(said) => {
                vec![(ReactName::Thinking, model_text(said))]
            }
            EventKind::ModelSaid(said) => vec![(ReactName::PartialResult, model_text(said))],
            EventKind::ModelTurn(turn) => turn_events(turn, self.listens(event)),
            EventKind::ActionAllowed(ruled) => vec![ruled_event("allowed", ruled)],
            EventKind::ActionWaiting(ruled) => vec![ruled_event("waiting", ruled)],
            EventKind::ActionDenied(ruled) => vec![ruled_event("denied", ruled)],
            EventKind::ActionStarted(started) => {
                vec![(ReactName::Tool, call("started", (&started.call_id, &started.tool), None))]
            }
            EventKind::ActionOffered(settled) => vec![(ReactName::Tool, settled_call("offered", settled))],
            EventKind::ActionDone(settled) => vec![(ReactName::Observing, settled_call("done", settled))],
            EventKind::ActionFailed(settled) => vec![(ReactName::Observing, settled_call("failed", settled))],
            EventKind::ActionUnknown(settled) => vec![(ReactName::Observing, settled_call("unknown", settled))],
            EventKind::ActionRejected(rejected) => {
                vec![(ReactName::Observing, call("rejected", (&rejected.call_id, &rejected.tool), None))]
            }
            EventKind::ActionUnusable(unusable) => {
                let data = call("unusable", (&unusable.call_id, &unusable.tool), Some(&unusable.reason));
                vec![(ReactName::Observing, data)]
            }
            EventKind::InteractionAnswered(answered) => question_end("answered", event, Some(&answered.options)),
            EventKind::InteractionAutoResolved(resolved) => {
                question_end("auto_resolved", event, Some(&resolved.answer.options))
            }
            EventKind::InteractionExpired(_) => question_end("expired", event, None),
            EventKind::InteractionCancelled(_) => question_end("cancelled", event, None),
            EventKind::InteractionHandedOver(_) => question_end("handed_over", event, None),
            EventKind::StepCompleted(_) if self.listens(event) => Vec::new(),
            EventKind::StepCompleted(step) => {
                vec![(ReactName::Done, json!({ "step": step.name, "result": step.output }))]
            }
            EventKind::StepFailed(step) => vec![step_end("failed", step)],
            EventKind::StepRejected(step) => vec![step_end("rejected", step)],
            EventKind::StepSkipped(step) => vec![step_end("skipped", step)],
            EventKind::SessionFailed(end) => {
                let why = end.reason.as_deref().unwrap_or("the session has failed");
                vec![(ReactName::Error, json!({ "message": why })), session_end("failed", end)]
            }
            EventKind::SessionCompleted(end) => vec![session_end("completed", end)],
            EventKind::SessionCancelled(end) => vec![session_end("cancelled", end)],
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
            StreamEnd::Turn => closes || self.translate(event).into_iter().flatten().any(|(name, _)| name.ends_turn()),
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
        Ok(vec![(ReactName::Interaction, json!(RequestView::new(asked, &self.name)))])
    }

    fn frames(&self, event: &Event, translated: Vec<ReactEvent>) -> Vec<Frame> {
        if translated.is_empty() {
            return Vec::new();
        }
        let last = translated.len() - 1;
        let parts = translated.into_iter().enumerate().map(|(part, (name, data))| {
            let told = self.told.at(event.session, Position { seq: event.seq, part: (part != last).then_some(part) });
            let name = name.text();
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
        all.push((ReactName::Thinking, json!({ "iteration": number, "text": text })));
    }
    if !turn.tools.is_empty() {
        all.push((ReactName::Acting, json!({ "iteration": number, "tools": turn.tools })));
    } else if listens {
        all.push((ReactName::Done, json!({ "iteration": number, "result": text })));
        all.push((ReactName::Completed, json!({ "status": "waiting_for_message" })));
    }
    all
}

fn model_text(said: &ModelText) -> Value {
    json!({ "iteration": said.turn, "text": said.text })
}

fn ruled_event(state: &str, ruled: &ActionRuled) -> ReactEvent {
    let reason = ruled.ruling.as_ref().map(|ruling| ruling.reason.as_str());
    (ReactName::Tool, call(state, (&ruled.call_id, &ruled.tool), reason))
}

fn settled_call(state: &str, settled: &ActionSettled) -> Value {
    call(state, (&settled.call_id, &settled.tool), settled.reason.as_deref())
}

fn call(state: &str, (call, tool): (&str, &str), reason: Option<&str>) -> Value {
    json!({ "toolCallId": call, "toolName": tool, "state": state, "reason": reason })
}

fn question_end(state: &str, event: &Event, options: Option<&[String]>) -> Vec<ReactEvent> {
    let (request, by) = (event.interaction.map(|id| id.to_string()), event.by().map(|by| by.name));
    let data = json!({ "requestId": request, "state": state, "selectedOptionIds": options, "by": by });
    vec![(ReactName::Observing, data)]
}

fn step_end(state: &str, step: &StepEnded) -> ReactEvent {
    (ReactName::Observing, json!({ "step": step.name, "state": state, "reason": step.reason }))
}

fn session_end(status: &str, end: &SessionControlled) -> ReactEvent {
    (ReactName::Completed, json!({ "status": status, "reason": end.reason }))
}
