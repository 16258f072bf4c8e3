//! Views of a question, its options, its resolution and its delivery.

use domain::interaction::{Claim, Pending};
use domain::question::SuggestionSource;
use domain::ruling::AskingRule;
use domain::{
    Actor, Answer, Audience, Call, Choice, Delivery, Effect, Fallback, Interaction, InteractionId, Move, Resolution,
    Role, SecretField, SessionId, State, Status, StepId, Suggestion, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{AbstentionView, AnswerView, HandedFromView, HandedOverView, example};

/// Question to people, with its status and its answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::question)]
pub struct InteractionView {
    /// Identifier of the question.
    #[schema(value_type = String)]
    pub id: InteractionId,
    /// Identifier of the session in which the question was asked.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// Identifier of the step that waits for the answer.
    #[schema(value_type = String)]
    pub step: StepId,
    /// Channel that routes the question to people. It is a routing name and grants no rights.
    pub channel: String,
    /// Name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Version of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Kind of the question.
    pub kind: &'static str,
    /// Name that the agent gave to a `custom` kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_kind: Option<String>,
    /// Title of the question, one line.
    pub title: String,
    /// Text of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Details that clients show below the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Structured background of the question. Clients show it as data, never as markup.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub context: Value,
    /// Whether a worker of this server asked the question for a hosted agent. Statements about an action in `context` then come from the
    /// server and not from the agent.
    #[serde(rename = "driven", skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
    /// Call that waits for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<CallView>,
    /// Options to choose from.
    pub options: Vec<OptionView>,
    /// Whether several options may be chosen at once.
    pub multiple: bool,
    /// Answers that the question accepts now: the option or effect, the required input and the result of each. Empty after the question was
    /// closed or handed over. The list does not depend on the reader; whether the reader may answer depends on `asked_by`, `audience`,
    /// `requirements`, `claim` and `votes`.
    pub moves: Vec<Move>,
    /// JSON Schema of the form. The annotation `x-order` lists the properties of an object in the order in which they were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    /// Named values of a secret question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretField>,
    /// Whether people are asked for the secrets even if values are kept from an earlier session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Whether the question must be answered and may not be skipped.
    pub required: bool,
    /// Whether the question is a message of the conversation. Its answer then becomes a message, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub requires_reply: bool,
    /// People who may answer. If there are several `requirements`, the strictest of them.
    pub audience: AudienceView,
    /// Audiences of the rules that ask about one call, if there are several. Each must reach its quorum with equal answers of its own
    /// members. One person may count for several audiences, and a member of any of them may answer. Absent if `audience` is the only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementView>,
    /// Deadline of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline: Option<Timestamp>,
    /// Time at which people are warned about the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub warn_at: Option<Timestamp>,
    /// Result at the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// Suggested answers that a person may start from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<SuggestionView>,
    /// Metadata, as the agent gave it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// Rule of the policy that asked; absent if the agent asked directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by_rule: Option<AskingRule>,
    /// Actor that asked the question.
    pub asked_by: Actor,
    /// Time at which the question was asked.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Status of the question.
    pub status: Status,
    /// Whether the question stays open although its deadline has passed.
    pub overdue: bool,
    /// Person who has claimed the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimView>,
    /// Answers so far, while the quorum is not reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteView>,
    /// People who declared that they will not answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abstained: Vec<AbstentionView>,
    /// Whether too few people remain who could answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deserted: bool,
    /// Destination of the question, if it was handed over. It can then be answered only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed_over: Option<HandedOverView>,
    /// Origin of the question, if it was handed over from another session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed_from: Option<HandedFromView>,
    /// Resolution of the question; absent while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<ResolutionView>,
    /// Delivery of the answer to the agent; absent while the question is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryView>,
    /// Number of changes to the question.
    pub revision: u64,
}

/// Call that an agent wants to run: a tool with its arguments.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = ActionView)]
pub struct CallView {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the tool.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// SHA-256 of the canonical JSON of tool and arguments.
    pub digest: String,
}

/// JSON Schema of the arguments of an action.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "schema": { "type": "object", "required": ["path"], "properties": { "path": { "type": "string" } } } }))]
pub struct ActionSchemaView {
    /// The JSON Schema; absent if none was declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
}

/// An option of a question.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OptionView {
    /// Identifier of the option, unique within the question.
    pub id: String,
    /// Label of the button.
    pub label: String,
    /// Explanation of the option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Effect of choosing the option.
    pub effect: Effect,
    /// Whether clients preselect the option.
    pub default: bool,
    /// Whether clients warn before the option is chosen.
    pub dangerous: bool,
    /// Whether the agent recommends the option.
    pub recommended: bool,
    /// Whether the option requires a text or data in addition.
    pub requires_input: bool,
    /// Prompt for the additional input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_prompt: Option<String>,
    /// Risk of the option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// Cost of the option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Duration of the option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// Metadata of the option, as the agent gave it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

/// People who may answer a question, and how many of them must agree.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AudienceView {
    /// Names of users who may answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<String>>,
    /// Names of groups whose members may answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// Roles whose holders may answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<Role>>,
    /// Number of different people who must give equal answers.
    pub quorum: u32,
    /// Whether these people must belong to different groups.
    pub distinct_groups: bool,
    /// Whether the person who started the session may not answer.
    pub four_eyes: bool,
}

/// One of several audiences, each of which must reach its quorum.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RequirementView {
    /// People who may answer, and how many of them must agree.
    #[serde(flatten)]
    pub audience: AudienceView,
    /// Whether the equal answers so far reach the quorum of this audience.
    pub met: bool,
}

/// A suggested answer that fills in the form.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SuggestionView {
    /// Identifier of the suggestion, unique within the question.
    pub id: String,
    /// Label that people see.
    pub label: String,
    /// Source of the suggestion.
    pub source: SuggestionSource,
    /// Identifier of the option that the suggestion chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// Data that the suggestion fills in.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// Number of earlier answers of this form, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// Claim of a person on a question.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClaimView {
    /// Person who has claimed the question.
    pub by: Actor,
    /// Time at which the claim ends.
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
}

/// Answer of one person, while the quorum is not reached.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct VoteView {
    /// Person who gave the answer.
    pub by: Actor,
    /// Time of the answer.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Effect of the answer.
    pub effect: Effect,
}

/// Resolution of a question: the way in which it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ResolutionView {
    /// Final status: `answered`, `auto_resolved`, `expired` or `cancelled`.
    pub status: Status,
    /// Source of the resolution: `user`, `auto_policy` or `system`; absent if the question was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Time of the resolution.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Actor that resolved the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// Answer with which the agent continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerView>,
    /// With a quorum: the answers of all people who voted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<AnswerView>,
    /// Reason, if no person answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Delivery of the answer to the agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeliveryView {
    /// State of the delivery: `waiting`, `processing`, `completed` or `failed`; `not_needed` if no agent waits for the answer.
    pub state: &'static str,
    /// Number of times that the answer was taken.
    pub attempt: u32,
    /// Time at which the lease expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// Time at which the delivery ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Timestamp>,
    /// Reason, if the delivery failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A page of questions.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::questions)]
pub struct InteractionsPage {
    /// Questions, in the requested order.
    pub interactions: Vec<InteractionView>,
    /// Cursor of the next page, to be sent as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl From<Interaction> for InteractionView {
    fn from(interaction: Interaction) -> Self {
        let (status, moves) = (interaction.status(), interaction.moves());
        let requirements = requirements(&interaction);
        let Interaction { id, origin, question, state, revision, .. } = interaction;
        let custom_kind = question.kind.custom_name().map(str::to_owned);
        let (gathered, resolution, delivery) = match state {
            State::Pending(pending) => (pending, None, None),
            State::Resolved { resolution, at, delivery, handed_over, .. } => {
                let gathered = Pending { handed_over, ..Pending::default() };
                (gathered, Some(ResolutionView::new(resolution, at)), Some(delivery.into()))
            }
        };
        Self {
            id,
            session: origin.session,
            step: origin.step,
            channel: origin.channel,
            agent: origin.agent,
            agent_version: origin.agent_version,
            kind: question.kind.name(),
            custom_kind,
            title: question.title,
            message: question.message,
            details: question.details,
            context: question.context,
            hosted: origin.hosted,
            action: question.call.map(Into::into),
            options: question.options.into_iter().map(Into::into).collect(),
            multiple: question.multiple,
            moves,
            schema: question.schema,
            secrets: question.secrets,
            fresh: question.fresh,
            required: question.required,
            requires_reply: question.reply,
            audience: question.audience.into(),
            requirements,
            deadline: question.deadline,
            warn_at: question.warn_at,
            fallback: question.fallback,
            suggestions: question.suggestions.into_iter().map(Into::into).collect(),
            metadata: question.metadata,
            asked_by_rule: question.asked_by_rule,
            asked_by: origin.asked_by,
            created_at: origin.at,
            status,
            overdue: gathered.overdue,
            claim: gathered.claim.map(Into::into),
            votes: gathered.votes.into_iter().map(Into::into).collect(),
            abstained: gathered.abstained.into_iter().map(Into::into).collect(),
            deserted: gathered.deserted,
            handed_over: gathered.handed_over.map(Into::into),
            handed_from: origin.handed_from.map(Into::into),
            resolution,
            delivery,
            revision,
        }
    }
}

impl From<Call> for CallView {
    fn from(call: Call) -> Self {
        let digest = call.digest().to_string();
        Self { tool: call.tool, arguments: call.arguments, digest }
    }
}

impl From<Claim> for ClaimView {
    fn from(Claim { by, until }: Claim) -> Self {
        Self { by, until }
    }
}

fn requirements(interaction: &Interaction) -> Vec<RequirementView> {
    let several = interaction.question.requirements.iter().cloned();
    let shown = several.zip(interaction.requirements_met());
    shown.map(|(audience, met)| RequirementView { audience: audience.into(), met }).collect()
}

impl From<Answer> for VoteView {
    fn from(Answer { by, at, effect, .. }: Answer) -> Self {
        Self { by, at, effect }
    }
}

impl ResolutionView {
    /// Builds the view of a resolution that was made at the time `at`.
    #[must_use]
    pub fn new(resolution: Resolution, at: Timestamp) -> Self {
        let status = resolution.status();
        let source = resolution.source().map(str::to_owned);
        let (by, answer, votes, reason) = match resolution {
            Resolution::Answered { answer, votes } => (Some(answer.by.clone()), Some(answer), votes, None),
            Resolution::AutoResolved { answer, reason, .. } => {
                (Some(answer.by.clone()), Some(answer), Vec::new(), Some(reason))
            }
            Resolution::Expired => (None, None, Vec::new(), None),
            Resolution::Cancelled { by, reason } => (Some(by), None, Vec::new(), Some(reason)),
        };
        let votes = votes.into_iter().map(Into::into).collect();
        Self { status, source, at, by, answer: answer.map(Into::into), votes, reason }
    }
}

impl From<Choice> for OptionView {
    fn from(choice: Choice) -> Self {
        Self {
            id: choice.id,
            label: choice.label,
            description: choice.description,
            effect: choice.effect,
            default: choice.default,
            dangerous: choice.dangerous,
            recommended: choice.recommended,
            requires_input: choice.requires_input,
            input_prompt: choice.input_prompt,
            risk: choice.risk,
            cost: choice.cost,
            duration: choice.duration,
            metadata: choice.metadata,
        }
    }
}

impl From<Audience> for AudienceView {
    fn from(Audience { named, quorum, distinct_groups, four_eyes }: Audience) -> Self {
        let (users, groups, roles) =
            named.map_or((None, None, None), |named| (Some(named.users), Some(named.groups), Some(named.roles)));
        Self { users, groups, roles, quorum, distinct_groups, four_eyes }
    }
}

impl From<Suggestion> for SuggestionView {
    fn from(Suggestion { id, label, source, option, data, count }: Suggestion) -> Self {
        Self { id, label, source, option, data, count }
    }
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        let state = delivery.name();
        let (attempt, until, at, reason) = match delivery {
            Delivery::NotNeeded => (0, None, None, None),
            Delivery::Waiting { attempt } => (attempt, None, None, None),
            Delivery::Processing { attempt, until, .. } => (attempt, Some(until), None, None),
            Delivery::Completed { at, attempt } => (attempt, None, Some(at), None),
            Delivery::Failed { at, attempt, reason } => (attempt, None, Some(at), Some(reason)),
        };
        Self { state, attempt, until, at, reason }
    }
}
