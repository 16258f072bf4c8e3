//! Request bodies and views of proposed actions.

use domain::{
    Action, ActionState, Actor, Call, Effect, GrantId, InteractionId, Outcome, PermitId, SessionId, Timestamp, Verdict,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Request to propose an action: a tool call that the policy rules on before it may run.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "call_id": "call_1", "tool": "write_file", "arguments": { "path": "notes.md", "content": "hello" }, "wait": 30
}))]
pub struct ProposeBody {
    /// The agent's own identifier of this call, unique within the session. Proposing an equal call again under this `call_id` returns the
    /// existing action; another call under it is refused.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the tool. Integers that do not fit into 64 bits are refused; send them as strings.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Background for the people who are asked. Clients show it as data, never as markup.
    #[serde(default)]
    pub context: Value,
    /// Longest time in seconds to wait for a decision. Without it, the reply is immediate. If the action is still undecided after this
    /// time, repeat the proposal to continue waiting.
    #[schema(maximum = 300)]
    pub wait: Option<u64>,
}

impl ProposeBody {
    /// Tool name and arguments of the proposed action.
    #[must_use]
    pub fn call(&self) -> Call {
        Call { tool: self.tool.clone(), arguments: self.arguments.clone() }
    }
}

/// Request to start an allowed action.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "permit": "prm_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01.5f2b…", "lease_seconds": 600 }))]
pub struct PermitBody {
    /// Permit that was returned with the decision. Starting the action spends it.
    pub permit: String,
    /// Time in seconds within which the outcome must be reported; 300 if absent. After it the outcome counts as unknown and a person is
    /// asked about it.
    #[schema(minimum = 1, maximum = 86_400)]
    pub lease_seconds: Option<i64>,
}

/// Report of the outcome of an action.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "outcome": "done", "result": { "bytes": 5 }, "permit": "prm_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01.5f2b…"
}))]
pub struct OutcomeBody {
    /// Outcome of the run.
    pub outcome: OutcomeName,
    /// Result of the tool.
    #[serde(default)]
    pub result: Value,
    /// Error message, if the action failed.
    pub message: Option<String>,
    /// Permit with which the reported run was started, or the `spent_permit` of the action. If the action was started again since then, the
    /// report is refused with 409 `another_run` instead of being applied to the newer run.
    pub permit: Option<String>,
}

impl OutcomeBody {
    /// Splits the report into the outcome and the run that it names, if any. Returns `None` if `permit` is not a valid permit.
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

/// Outcome of a run of an action.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeName {
    /// The action ran and succeeded.
    Done,
    /// The action ran and failed.
    Failed,
    /// The agent does not know whether the action took effect.
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

/// An action with its current state.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = ProposalView, example = json!({
    "call_id": "call_1", "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "state": "allowed", "tool": "read_file",
    "arguments": { "path": "notes.md" }, "proposed_by": { "kind": "agent", "name": "helper" },
    "proposed_at": "2026-11-15T10:00:00Z",
    "ruling": { "verdict": "allow", "rule": "reading", "reason": "reading changes nothing", "policy": "9f86d081…" },
    "permit": "prm_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01.5f2b…", "permit_expires_at": "2026-11-16T10:00:00Z"
}))]
pub struct ActionView {
    /// The agent's own identifier of the call.
    pub call_id: String,
    /// Identifier of the session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// State of the action: `allowed`, `waiting`, `denied`, `rejected`, `started`, `done`, `failed` or `unknown`.
    pub state: &'static str,
    /// Name of the tool.
    pub tool: String,
    /// Arguments with which the action may run: the proposed ones, or the ones that a person edited.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Proposed arguments, present if a person edited them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub original_arguments: Option<Value>,
    /// Actor that proposed the action.
    pub proposed_by: Actor,
    /// Time of the proposal.
    #[schema(value_type = String, format = DateTime)]
    pub proposed_at: Timestamp,
    /// Ruling of the policy on the action.
    pub ruling: RulingView,
    /// Identifier of the grant that allowed the action without a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub grant: Option<GrantId>,
    /// Identifier of the latest question that was asked about the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub interaction: Option<InteractionId>,
    /// Effect of the answer that rejected the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Actor that rejected the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_by: Option<Actor>,
    /// Reason why the action does not run, in a form that a model can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Permit that starts the action. Only the agent that proposed the action sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permit: Option<String>,
    /// Time at which the permit expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub permit_expires_at: Option<Timestamp>,
    /// Identifier of the permit that started the latest run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub spent_permit: Option<PermitId>,
    /// Time by which the outcome must be reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub lease_until: Option<Timestamp>,
    /// Result of the tool.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// Error message, if the action failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Ruling of the policy on an action.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RulingView {
    /// Verdict of the policy.
    pub verdict: Verdict,
    /// Name of the rule that decided; absent if no rule matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Reason for the verdict.
    pub reason: String,
    /// Version of the policy.
    pub policy: String,
    /// Ruling of the server's floor; absent if no floor was in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorRulingView>,
}

/// Ruling of the server's floor on an action. The verdict `allow` leaves the decision to the policy of the project.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FloorRulingView {
    /// Version of the floor.
    pub version: String,
    /// Verdict of the floor.
    pub verdict: Verdict,
    /// Name of the rule of the floor that decided; absent if no rule matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Reason for the verdict.
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
    /// Builds the view of an action at the time `at`. `permit` is the permit to show, `None` if the reader may not see it.
    #[must_use]
    pub fn new(action: Action, permit: Option<String>, at: Timestamp) -> Self {
        let state = action.status(at).name();
        let original = action.edited.is_some().then(|| action.call.arguments.clone());
        let mut view = Self {
            call_id: action.call_id.clone(),
            session: action.session,
            state,
            tool: action.call.tool.clone(),
            arguments: action.effective().arguments,
            original_arguments: original,
            proposed_by: action.proposed_by,
            proposed_at: action.at,
            ruling: action.ruling.into(),
            grant: action.grant,
            interaction: action.asked.last().copied(),
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
        match action.state {
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

/// A page of the actions of a session, ordered by `call_id`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "actions": [] }))]
pub struct ActionsPage {
    /// Actions on this page.
    pub actions: Vec<ActionView>,
    /// Cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
