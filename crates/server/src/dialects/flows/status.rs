//! A session and what happened in it, as this wire shows them.

use domain::step::StepPhase;
use domain::{Caller, Event, Kind, Session, SessionId, Step, Timestamp};
use engine::Questions;
use serde::Serialize;
use serde_json::{Value, json};
use store::Page;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{example, words};
use crate::App;
use crate::error::ApiError;

/// A session, and what happened in it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = example::status)]
pub(super) struct FlowStatusView {
    /// The session as it is now.
    pub(super) state: StateView,
    /// What happened, in order.
    pub(super) events: Vec<FlowEventView>,
    /// Give it as `sinceEventId` for what comes next.
    pub(super) next_since_event_id: u64,
}

/// A session as it is now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FlowStateView, example = example::state)]
pub(super) struct StateView {
    /// The session.
    #[schema(value_type = String)]
    session_id: Uuid,
    /// `NEW`, `RUNNING`, `WAITING_USER_INPUT`, `PAUSED`, `COMPLETED`, `FAILED` or `CANCELLED`.
    status: &'static str,
    /// The step that it is at: its name in the flow, or its id where it has none.
    current_step_id: String,
    /// Greater whenever anything has changed.
    state_version: u64,
    /// When it was started.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    completed_at: Option<Timestamp>,
    /// The flow that it follows, or the agent that it is for.
    flow_definition_id: Option<String>,
    /// The version of that.
    flow_definition_version: Option<String>,
    /// The channel of its questions.
    chat_session_id: String,
    /// What its steps share by now.
    shared_context: Value,
    /// Its steps, the oldest first.
    steps: Vec<FlowStepView>,
}

/// One execution of a step.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FlowStepView {
    /// Its id.
    #[schema(value_type = String)]
    step_execution_id: Uuid,
    /// Its name in the flow, or its id where it has none.
    step_id: String,
    /// The agent that it runs.
    agent_id: Option<String>,
    /// `PENDING`, `RUNNING`, `BLOCKED_WAITING_USER`, `COMPLETED`, `FAILED`, `SKIPPED` or `CANCELLED`.
    status: &'static str,
    /// Which attempt it is, from 1.
    attempt: u32,
    /// When it was begun.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    completed_at: Option<Timestamp>,
    /// The oldest question that it sleeps on.
    #[schema(value_type = Option<String>)]
    interaction_request_id: Option<Uuid>,
}

/// Something that happened.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlowEventView {
    /// Its number in the session, from 1 without gaps.
    event_id: u64,
    /// `HUMAN_INTERACTION_REQUIRED`, `FLOW_STARTED`, `STEP_COMPLETED` …
    #[serde(rename = "type")]
    name: String,
    /// The session.
    #[schema(value_type = String)]
    trace_id: Uuid,
    /// The step that it concerns.
    #[schema(value_type = Option<String>)]
    span_id: Option<Uuid>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// The particulars.
    #[schema(value_type = Object)]
    payload: Value,
}

impl StateView {
    /// A session, with its steps and what they sleep on.
    pub(super) async fn read(app: &App, caller: &Caller, id: SessionId) -> Result<Self, ApiError> {
        let (session, _, steps, mut before) = app.engine.session_before(caller, id, None).await?;
        let waits = session.waiting_on > 0;
        let page = Page { after: None, limit: 1 };
        let asked = if waits { Some(app.engine.questions(caller, id, None, page).await?) } else { None };
        let mut state = Self::new(session, &steps, asked.as_ref());
        // Of earlier steps only what is shown is held.
        while before.is_some() {
            let (session, _, steps, next) = app.engine.session_before(caller, id, before).await?;
            let earlier = Self::new(session, &steps, asked.as_ref());
            state.steps.splice(..0, earlier.steps);
            before = next;
        }
        Ok(state)
    }

    /// A session with some of its steps, the last of them or earlier ones.
    fn new(session: Session, steps: &[Step], asked: Option<&Questions>) -> Self {
        let current = steps.iter().find(|step| step.id == session.step);
        let sleeps = |step: &Step| {
            let open = asked.map_or(&[][..], |asked| &asked.open);
            let of = |placed: &&engine::Placed| {
                placed.interaction.origin.step == step.id && placed.interaction.question.kind != Kind::Notice
            };
            open.iter().find(of).map(|placed| placed.interaction.id.uuid())
        };
        let shown = |step: &Step| FlowStepView {
            step_execution_id: step.id.uuid(),
            step_id: named(step),
            agent_id: step.agent.clone(),
            status: words::step(step.status(if step.id == session.step { session.waiting_on } else { 0 })),
            attempt: step.attempt,
            started_at: step.created_at,
            completed_at: match &step.phase {
                StepPhase::Ended { at, .. } => Some(*at),
                StepPhase::Pending | StepPhase::Running => None,
            },
            interaction_request_id: sleeps(step),
        };
        Self {
            session_id: session.id.uuid(),
            status: words::session(session.status()),
            current_step_id: current.map_or_else(|| session.step.uuid().to_string(), named),
            state_version: session.last_seq,
            started_at: session.created_at,
            completed_at: session.ended.as_ref().map(|(_, note)| note.at),
            steps: steps.iter().map(shown).collect(),
            shared_context: current.map_or(Value::Null, |step| step.shared.clone()),
            flow_definition_id: session.head.flow.or(session.head.agent),
            flow_definition_version: session.head.flow_version.or(session.head.agent_version),
            chat_session_id: session.head.channel,
        }
    }
}

fn named(step: &Step) -> String {
    step.name.clone().unwrap_or_else(|| step.id.uuid().to_string())
}

impl From<Event> for FlowEventView {
    fn from(Event { session, seq, name, at, step, interaction, data, .. }: Event) -> Self {
        let mut payload = data;
        if let Some(id) = interaction {
            payload["requestId"] = json!(id.uuid());
        }
        Self {
            event_id: seq,
            name: words::event(&name),
            trace_id: session.uuid(),
            span_id: step.map(domain::StepId::uuid),
            created_at: at,
            payload,
        }
    }
}
