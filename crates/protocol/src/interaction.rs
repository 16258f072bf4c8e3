//! A question as people and agents see it.

use domain::interaction::Pending;
use domain::question::SuggestionSource;
use domain::ruling::AskingRule;
use domain::{
    Actor, Answer, Audience, Choice, Delivery, Effect, Fallback, Interaction, InteractionId, Kind, Move, Resolution,
    Role, SecretField, SessionId, State, Status, StepId, Suggestion, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{AbstentionView, AnswerView, HandedFromView, HandedOverView, example};

/// A question.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::question)]
pub struct InteractionView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: InteractionId,
    /// The session that it was asked in.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// The step that sleeps on it.
    #[schema(value_type = String)]
    pub step: StepId,
    /// Routes it. Proves nothing.
    pub channel: String,
    /// The agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// What sort of question.
    pub kind: &'static str,
    /// The agent's own name for a `custom` kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_kind: Option<String>,
    /// One line.
    pub title: String,
    /// What the person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Shown as data, never as markup.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub context: Value,
    /// Whether a worker of this server asked, for an agent that it runs: what `context` says of an action is then the server's word.
    #[serde(rename = "driven", skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
    /// The action that waits for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<CallView>,
    /// What may be chosen.
    pub options: Vec<OptionView>,
    /// Whether several may be chosen at once.
    pub multiple: bool,
    /// The answers that the question accepts now: which option or effect, what each takes, and what each does. Empty once the question is closed
    /// or handed over. The list is a property of the question and the same for every reader: whether the reader may answer depends on
    /// `asked_by`, `audience`, `requirements`, `claim` and `votes`.
    pub moves: Vec<Move>,
    /// JSON Schema of the form; `x-order` has the names of an object's properties as they were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    /// The named values of a secret question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretField>,
    /// Whether people are asked for the secrets although they are kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Whether it may not be skipped.
    pub required: bool,
    /// Whether it is a message of the conversation, so that the answer is one too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub requires_reply: bool,
    /// Who may answer; the strictest of the `requirements` where there are several.
    pub audience: AudienceView,
    /// The audiences that must each be satisfied by equal answers of its own members, where several rules ask about one call. One person may
    /// count in several. Whoever belongs to one of them may answer. Absent where `audience` is the only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementView>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline: Option<Timestamp>,
    /// When people are warned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub warn_at: Option<Timestamp>,
    /// What happens at the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// What a person may start from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<SuggestionView>,
    /// As the agent gave it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// The rule that asked; absent where an agent asked by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by_rule: Option<AskingRule>,
    /// Who asked.
    pub asked_by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Where it is.
    pub status: Status,
    /// Whether it is held open past its deadline.
    pub overdue: bool,
    /// Who is working on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimView>,
    /// Who has answered so far, while more must.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteView>,
    /// Who has said that they will not answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abstained: Vec<AbstentionView>,
    /// Whether too few are left who could answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deserted: bool,
    /// Where it went; it can be answered only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed_over: Option<HandedOverView>,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed_from: Option<HandedFromView>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<ResolutionView>,
    /// Whether the agent has taken the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryView>,
    /// How often it has changed.
    pub revision: u64,
}

/// What an agent wants to do.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = ActionView)]
pub struct CallView {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// SHA-256 over the canonical JSON of both.
    pub digest: String,
}

/// What the arguments of an action must be.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "schema": { "type": "object", "required": ["path"], "properties": { "path": { "type": "string" } } } }))]
pub struct ActionSchemaView {
    /// A JSON Schema, where anybody has declared one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
}

/// One thing that may be chosen.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OptionView {
    /// Its name within the question.
    pub id: String,
    /// What the button says.
    pub label: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What choosing it does.
    pub effect: Effect,
    /// Whether a client that shows one preselects it.
    pub default: bool,
    /// Whether it deserves a warning.
    pub dangerous: bool,
    /// Whether the agent recommends it.
    pub recommended: bool,
    /// Whether choosing it needs a text or data as well.
    pub requires_input: bool,
    /// What to ask for then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_prompt: Option<String>,
    /// What could go wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// What it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// How long it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// As the agent gave it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

/// Who may answer, and how many must.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AudienceView {
    /// User names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<String>>,
    /// Group names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// Roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<Role>>,
    /// How many distinct people must say the same.
    pub quorum: u32,
    /// Whether they must come from distinct groups.
    pub distinct_groups: bool,
    /// Whether whoever started the session is barred.
    pub four_eyes: bool,
}

/// One of several audiences that must each be satisfied.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RequirementView {
    /// Who may answer, and how many must.
    #[serde(flatten)]
    pub audience: AudienceView,
    /// Whether the equal answers so far are enough for it.
    pub met: bool,
}

/// Something that fills the form in.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SuggestionView {
    /// Its name within the question.
    pub id: String,
    /// What the person reads.
    pub label: String,
    /// Where it comes from.
    pub source: SuggestionSource,
    /// The option that it chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// What it fills in.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// How often people have answered so before, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// Who is working on a question.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClaimView {
    /// Who.
    pub by: Actor,
    /// Until when it is theirs.
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
}

/// Who has answered, while more must.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct VoteView {
    /// Who.
    pub by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Which way.
    pub effect: Effect,
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ResolutionView {
    /// `answered`, `auto_resolved`, `expired` or `cancelled`.
    pub status: Status,
    /// `user`, `auto_policy` or `system`; none if it was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// On whose word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// What the agent goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerView>,
    /// With a quorum, everybody's answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<AnswerView>,
    /// Why, where nobody answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether the agent has taken the answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeliveryView {
    /// `waiting`, `processing`, `completed`, `failed`; `not_needed` where nobody waits.
    pub state: &'static str,
    /// How many times it was taken.
    pub attempt: u32,
    /// When the lease runs out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Timestamp>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A page of questions.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::questions)]
pub struct InteractionsPage {
    /// In the order asked for.
    pub interactions: Vec<InteractionView>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl From<Interaction> for InteractionView {
    fn from(interaction: Interaction) -> Self {
        let (status, moves) = (interaction.status(), interaction.moves());
        let requirements = requirements(&interaction);
        let Interaction { id, origin, question, state, revision, .. } = interaction;
        let custom_kind = match &question.kind {
            Kind::Custom(name) => Some(name.clone()).filter(|name| name != "custom"),
            _ => None,
        };
        let action = question.call.map(|action| {
            let digest = action.digest().to_string();
            CallView { tool: action.tool, arguments: action.arguments, digest }
        });
        let gathered = match &state {
            State::Pending(pending) => pending.clone(),
            State::Resolved { handed_over, .. } => Pending { handed_over: handed_over.clone(), ..Pending::default() },
        };
        let (resolution, delivery) = match state {
            State::Pending(_) => (None, None),
            State::Resolved { resolution, at, delivery, .. } => {
                (Some(ResolutionView::new(resolution, at)), Some(delivery.into()))
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
            action,
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
            claim: gathered.claim.map(|claim| ClaimView { by: claim.by, until: claim.until }),
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
    /// How a question ended, and when.
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
