//! Sessions, steps and events as this dialect shows them.

use domain::step::StepPhase;
use domain::{Caller, Event, Kind, Session, SessionId, Step, Timestamp};
use engine::Questions;
use serde::Serialize;
use serde_json::{Value, json};
use store::Page;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{example, names};
use server::App;
use server::handler::ApiError;

/// A session and its events.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = example::status)]
pub(super) struct FlowStatusView {
    /// Current state of the session.
    pub(super) state: StateView,
    /// Events of the session, in order.
    pub(super) events: Vec<FlowEventView>,
    /// Value of `sinceEventId` for the next poll.
    pub(super) next_since_event_id: u64,
}

/// Current state of a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FlowStateView, example = example::state)]
pub(super) struct StateView {
    /// Identifier of the session.
    #[schema(value_type = String)]
    session_id: Uuid,
    /// `NEW`, `RUNNING`, `WAITING_USER_INPUT`, `PAUSED`, `COMPLETED`, `FAILED` or `CANCELLED`.
    status: &'static str,
    /// Name of the current step; the id of the step if it has no name.
    current_step_id: String,
    /// Increases with every change.
    state_version: u64,
    /// Time at which the session was opened.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// Time at which the session ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    completed_at: Option<Timestamp>,
    /// Name of the flow, or of the agent.
    flow_definition_id: Option<String>,
    /// Version of the flow or agent.
    flow_definition_version: Option<String>,
    /// Channel of the questions.
    chat_session_id: String,
    /// Context that the steps share.
    shared_context: Value,
    /// Steps of the session, oldest first.
    steps: Vec<FlowStepView>,
}

/// An execution of a step.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FlowStepView {
    /// Identifier of the execution.
    #[schema(value_type = String)]
    step_execution_id: Uuid,
    /// Name of the step; its id if it has no name.
    step_id: String,
    /// Name of the agent that runs the step.
    agent_id: Option<String>,
    /// `PENDING`, `RUNNING`, `BLOCKED_WAITING_USER`, `COMPLETED`, `FAILED`, `SKIPPED` or `CANCELLED`.
    status: &'static str,
    /// Attempt number, from 1.
    attempt: u32,
    /// Time at which the step began.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// Time at which the step ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    completed_at: Option<Timestamp>,
    /// Identifier of the oldest question that the step waits for.
    #[schema(value_type = Option<String>)]
    interaction_request_id: Option<Uuid>,
}

/// Event of a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlowEventView {
    /// Number of the event in the session, from 1 without gaps.
    event_id: u64,
    /// `HUMAN_INTERACTION_REQUIRED`, `FLOW_STARTED`, `STEP_COMPLETED` …
    #[serde(rename = "type")]
    name: String,
    /// Identifier of the session.
    #[schema(value_type = String)]
    trace_id: Uuid,
    /// Identifier of the step.
    #[schema(value_type = Option<String>)]
    span_id: Option<Uuid>,
    /// Time of the event.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Details of the event.
    #[schema(value_type = Object)]
    payload: Value,
}

impl StateView {
    /// Reads a session with its steps and the questions that they wait for.
    pub(super) async fn read(app: &App, caller: &Caller, id: SessionId) -> Result<Self, ApiError> {
        let (session, _, steps, mut before) = app.engine.session_get(caller, id, None).await?;
        let waits = session.waiting_on > 0;
        let page = Page { after: None, limit: 1 };
        let asked = if waits { Some(app.engine.questions(caller, id, None, page).await?) } else { None };
        let mut state = Self::new(session, &steps, asked.as_ref());
        // Earlier steps are read in batches; only their views are kept in memory.
        while before.is_some() {
            let (session, _, steps, next) = app.engine.session_get(caller, id, before).await?;
            let earlier = Self::new(session, &steps, asked.as_ref());
            state.steps.splice(..0, earlier.steps);
            before = next;
        }
        Ok(state)
    }

    /// Renders a session with a batch of its steps.
    fn new(session: Session, steps: &[Step], asked: Option<&Questions>) -> Self {
        let current = steps.iter().find(|step| step.id == session.step);
        let sleeps = |step: &Step| {
            let open = asked.map_or(&[][..], |asked| &asked.open);
            let of = |placed: &&engine::QuestionWithStep| {
                placed.interaction.origin.step == step.id && placed.interaction.question.kind != Kind::Notice
            };
            open.iter().find(of).map(|placed| placed.interaction.id.uuid())
        };
        let shown = |step: &Step| FlowStepView {
            step_execution_id: step.id.uuid(),
            step_id: step_name(step),
            agent_id: step.agent.clone(),
            status: names::step(step.status(if step.id == session.step { session.waiting_on } else { 0 })),
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
            status: names::session(session.status()),
            current_step_id: current.map_or_else(|| session.step.uuid().to_string(), step_name),
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

fn step_name(step: &Step) -> String {
    step.name.clone().unwrap_or_else(|| step.id.uuid().to_string())
}

impl From<Event> for FlowEventView {
    fn from(event: Event) -> Self {
        let name = names::event(&event);
        let Event { session, seq, at, step, interaction, data, .. } = event;
        let mut payload = data;
        if let Some(id) = interaction {
            payload["requestId"] = json!(id.uuid());
        }
        Self {
            event_id: seq,
            name,
            trace_id: session.uuid(),
            span_id: step.map(domain::StepId::uuid),
            created_at: at,
            payload,
        }
    }
}
