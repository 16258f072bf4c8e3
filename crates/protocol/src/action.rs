//! Proposed actions on the wire.

use domain::{
    Action, ActionState, Actor, Call, Effect, GrantId, InteractionId, Outcome, PermitId, SessionId, Timestamp, Verdict,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Proposes an action.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "call_id": "call_1", "tool": "write_file", "arguments": { "path": "notes.md", "content": "hello" }, "wait": 30
}))]
pub struct ProposeBody {
    /// The agent's own name for this call, unique in its session. The same call finds the same decision.
    pub call_id: String,
    /// The tool's name.
    pub tool: String,
    /// Its arguments. Whole numbers beyond 64 bits are refused: send them as text.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// What people should know about it; shown as data, never as markup.
    #[serde(default)]
    pub context: Value,
    /// Reply when it is decided, or after so many seconds; then propose the same again to go on waiting.
    #[schema(maximum = 300)]
    pub wait: Option<u64>,
}

impl ProposeBody {
    /// The action that is proposed.
    #[must_use]
    pub fn call(&self) -> Call {
        Call { tool: self.tool.clone(), arguments: self.arguments.clone() }
    }
}

/// Starts an action that may run.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "permit": "prm_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01.5f2b…", "lease_seconds": 600 }))]
pub struct PermitBody {
    /// What was given with the decision. It is spent by this.
    pub permit: String,
    /// Until when the outcome is waited for; 300 if absent. After it the outcome is unknown, and a person is asked.
    #[schema(minimum = 1, maximum = 86_400)]
    pub lease_seconds: Option<i64>,
}

/// What became of an action.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "outcome": "done", "result": { "bytes": 5 }, "permit": "prm_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01.5f2b…"
}))]
pub struct OutcomeBody {
    /// Which way it went.
    pub outcome: OutcomeName,
    /// What came of it.
    #[serde(default)]
    pub result: Value,
    /// Why it failed.
    pub message: Option<String>,
    /// The permit that this run was started with, or its `spent_permit`. Then nothing is said of a run that was started since: 409 `another_run`.
    pub permit: Option<String>,
}

impl OutcomeBody {
    /// What became of it, and of which run, where that is said; nothing where what should say so is no permit.
    #[must_use]
    pub fn of_run(self) -> Option<(Outcome, Option<PermitId>)> {
        let id = |text: &String| text.split('.').next().and_then(|id| id.parse().ok());
        let run = match &self.permit {
            Some(text) => Some(id(text)?),
            None => None,
        };
        Some((self.into(), run))
    }
}

/// Which way an action went.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeName {
    /// It ran.
    Done,
    /// It failed.
    Failed,
    /// The agent cannot tell.
    Unknown,
}

impl From<OutcomeBody> for Outcome {
    fn from(OutcomeBody { outcome, result, message, .. }: OutcomeBody) -> Self {
        match outcome {
            OutcomeName::Done => Self::Done { result },
            OutcomeName::Failed => Self::Failed { message: message.unwrap_or_else(|| "it failed".into()), result },
            OutcomeName::Unknown => Self::Unknown,
        }
    }
}

/// An action, and how far it is.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = ProposalView, example = json!({
    "call_id": "call_1", "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "state": "allowed", "tool": "read_file",
    "arguments": { "path": "notes.md" }, "proposed_by": { "kind": "agent", "name": "helper" },
    "proposed_at": "2026-11-15T10:00:00Z",
    "ruling": { "verdict": "allow", "rule": "reading", "reason": "reading changes nothing", "policy": "9f86d081…" },
    "permit": "prm_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01.5f2b…", "permit_expires_at": "2026-11-16T10:00:00Z"
}))]
pub struct ActionView {
    /// The agent's name for the call.
    pub call_id: String,
    /// Its session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// `allowed`, `waiting`, `denied`, `rejected`, `started`, `done`, `failed` or `unknown`.
    pub state: &'static str,
    /// The tool's name.
    pub tool: String,
    /// What may run: as proposed, or as a person has edited it.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// As it was proposed, where a person has edited it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub original_arguments: Option<Value>,
    /// Who proposed it.
    pub proposed_by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub proposed_at: Timestamp,
    /// What policy said of it.
    pub ruling: RulingView,
    /// The grant that let it through.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub grant: Option<GrantId>,
    /// The question that people were asked last about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub interaction: Option<InteractionId>,
    /// Which way people decided against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Who decided against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_by: Option<Actor>,
    /// Why it will not run, for the model to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// What starts it, shown to the agent that proposed it and to nobody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permit: Option<String>,
    /// From when on the permit is good for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub permit_expires_at: Option<Timestamp>,
    /// The permit that was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub spent_permit: Option<PermitId>,
    /// Until when the outcome is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub lease_until: Option<Timestamp>,
    /// What came of it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What policy said of an action.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RulingView {
    /// What was said.
    pub verdict: Verdict,
    /// The rule that said it; absent where no rule matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
    /// The version of the policy.
    pub policy: String,
    /// What the server's floor said, where one was in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorRulingView>,
}

/// What the server's floor said of an action. `allow` means that it leaves the action to the policy of the project.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FloorRulingView {
    /// The version of the floor.
    pub version: String,
    /// What it said.
    pub verdict: Verdict,
    /// The rule of the floor that said it; absent where none matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
}

impl From<domain::Ruling> for RulingView {
    fn from(domain::Ruling { verdict, rule, reason, policy, floor }: domain::Ruling) -> Self {
        Self { verdict, rule, reason, policy, floor: floor.map(Into::into) }
    }
}

impl From<domain::FloorRuling> for FloorRulingView {
    fn from(domain::FloorRuling { version, verdict, rule, reason }: domain::FloorRuling) -> Self {
        Self { version, verdict, rule, reason }
    }
}

impl ActionView {
    /// What is shown of an action at this moment, with its permit where the reader may have it.
    #[must_use]
    pub fn new(proposal: Action, permit: Option<String>, at: Timestamp) -> Self {
        let state = proposal.state_name(at);
        let original = proposal.edited.is_some().then(|| proposal.call.arguments.clone());
        let mut view = Self {
            call_id: proposal.call_id.clone(),
            session: proposal.session,
            state,
            tool: proposal.call.tool.clone(),
            arguments: proposal.effective().arguments,
            original_arguments: original,
            proposed_by: proposal.proposed_by,
            proposed_at: proposal.at,
            ruling: proposal.ruling.into(),
            grant: proposal.grant,
            interaction: proposal.asked.last().copied(),
            effect: None,
            rejected_by: None,
            feedback: None,
            permit,
            permit_expires_at: None,
            spent_permit: None,
            lease_until: None,
            result: Value::Null,
            message: None,
        };
        match proposal.state {
            ActionState::Allowed { permit } if permit.expires_at <= at => {
                view.feedback = Some(format!("the permit ran out at {}", permit.expires_at));
            }
            ActionState::Allowed { permit } => view.permit_expires_at = Some(permit.expires_at),
            ActionState::Rejected { by, effect, feedback } => {
                (view.rejected_by, view.effect, view.feedback) = (Some(by), effect, feedback);
            }
            ActionState::Started { permit, until, .. } => {
                (view.spent_permit, view.lease_until) = (Some(permit), Some(until));
            }
            ActionState::Done { result } => view.result = result,
            ActionState::Failed { message, result } => (view.message, view.result) = (Some(message), result),
            ActionState::Denied => view.feedback = Some(view.ruling.reason.clone()),
            ActionState::Unknown { permit, .. } => view.spent_permit = permit,
            ActionState::Waiting { .. } => {}
        }
        view
    }
}

/// A page of a session's actions, by call.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "actions": [] }))]
pub struct ActionsPage {
    /// The actions.
    pub actions: Vec<ActionView>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
