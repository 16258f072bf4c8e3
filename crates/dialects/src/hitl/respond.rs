//! Responses of people: the form of each type, and the answer that it is turned into.

use domain::answer::AS_PROPOSED;
use domain::grant::RememberedArguments;
use domain::{AnswerDraft, Effect, Kind, Problem, Question, Refusal, Remember};
use protocol::RememberBody;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::views::HitlType;
use server::handler::{ApiError, parse_part};

/// Body of a response.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "request_id": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "hitl_type": "permission",
    "response_data": { "action": "allow", "remember": false }
}))]
pub(super) struct HitlRespondBody {
    /// Identifier of the request.
    pub(super) request_id: String,
    /// Type of the request.
    hitl_type: HitlType,
    /// `{answer}`, `{decision}`, `{values, save}` or `{action | granted, remember?}`, by the type; with each a `feedback`.
    #[schema(value_type = Object)]
    response_data: Value,
}

#[derive(Deserialize)]
struct ClarificationData {
    answer: Value,
    feedback: Option<String>,
}

#[derive(Deserialize)]
struct DecisionData {
    decision: OneOrMany,
    feedback: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an option, or a list of them")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
struct EnvVarData {
    values: Map<String, Value>,
    #[serde(default)]
    save: bool,
    feedback: Option<String>,
}

#[derive(Deserialize)]
struct PermissionData {
    action: Option<String>,
    granted: Option<bool>,
    remember: Option<RememberData>,
    feedback: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "true, false, or what is to be remembered")]
enum RememberData {
    Just(bool),
    That(RememberBody),
}

/// Translates a response into an answer, with a note for the reply.
pub(super) fn draft(
    body: HitlRespondBody,
    question: &Question,
) -> Result<(AnswerDraft, Option<&'static str>), ApiError> {
    let (given, expected) = (body.hitl_type, HitlType::of(question));
    if given != expected {
        return Err(ApiError::invalid("/hitl_type", format!("this request is a {}", expected.name())));
    }
    let data = body.response_data;
    if !data.is_object() {
        return Err(ApiError::invalid("/response_data", "must be an object"));
    }
    let changed = changed_argument(&data, question);
    let (draft, note) = match expected {
        HitlType::Clarification => (clarification(parse_part("/response_data", data)?, question), None),
        HitlType::Decision => (decision(parse_part("/response_data", data)?, question), None),
        HitlType::EnvVar => (env_var(parse_part("/response_data", data)?, question), None),
        HitlType::Permission => permission(parse_part("/response_data", data)?, question)?,
    };
    match changed {
        Some(name) if question.effect_of(&draft) == Some(Effect::Approve) => {
            let problem = Problem::new(format!("/response_data/{name}"), AS_PROPOSED);
            Err(Refusal::AnswerInvalid(vec![problem]).into())
        }
        _ => Ok((draft, note)),
    }
}

/// Name of a field that would change an argument of the action. This dialect has no way to edit arguments.
fn changed_argument(data: &Value, question: &Question) -> Option<String> {
    const OURS: [&str; 6] = ["action", "granted", "decision", "answer", "remember", "feedback"];
    let shown = &question.call.as_ref()?.arguments;
    let whole = ["arguments", "modified_arguments", "data"].into_iter();
    let whole = whole.filter(|name| data.get(name).is_some_and(|given| given != shown)).map(str::to_owned);
    let parts = shown.as_object().into_iter().flatten().filter(|(name, _)| !OURS.contains(&name.as_str()));
    let parts = parts.filter(|(name, value)| data.get(name.as_str()).is_some_and(|given| given != *value));
    whole.chain(parts.map(|(name, _)| name.clone())).next()
}

/// Fields of an answer and their place in the response data of each type.
pub(super) const fn fields(question: &Question) -> &'static [(&'static str, &'static str)] {
    match HitlType::of(question) {
        HitlType::Clarification => &[
            ("/data", "/response_data/answer"),
            ("/option", "/response_data/answer"),
            ("/options", "/response_data/answer"),
            ("/effect", "/response_data/answer"),
            ("/feedback", "/response_data/feedback"),
        ],
        HitlType::Decision => &[
            ("/option", "/response_data/decision"),
            ("/options", "/response_data/decision"),
            ("/effect", "/response_data/decision"),
            ("/feedback", "/response_data/feedback"),
        ],
        HitlType::EnvVar => &[("/data", "/response_data/values"), ("/feedback", "/response_data/feedback")],
        HitlType::Permission => &[
            ("/effect", "/response_data/action"),
            ("/option", "/response_data/action"),
            ("/options", "/response_data/action"),
            ("/remember", "/response_data/remember"),
            ("/feedback", "/response_data/feedback"),
        ],
    }
}

fn clarification(ClarificationData { answer, feedback }: ClarificationData, question: &Question) -> AnswerDraft {
    match answer.as_str().and_then(|text| option(question, text)) {
        Some(id) => AnswerDraft { options: vec![id], feedback, ..AnswerDraft::default() },
        None => AnswerDraft { data: answer, feedback, ..AnswerDraft::default() },
    }
}

fn decision(DecisionData { decision, feedback }: DecisionData, question: &Question) -> AnswerDraft {
    let named = match decision {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    };
    let options = named.into_iter().map(|name| option(question, &name).unwrap_or(name)).collect();
    AnswerDraft { options, feedback, ..AnswerDraft::default() }
}

fn env_var(EnvVarData { values, save, feedback }: EnvVarData, question: &Question) -> AnswerDraft {
    let keep = save && question.kind == Kind::Secret;
    AnswerDraft { data: Value::Object(values), keep, feedback, ..AnswerDraft::default() }
}

fn permission(body: PermissionData, question: &Question) -> Result<(AnswerDraft, Option<&'static str>), ApiError> {
    let PermissionData { action, granted, remember, feedback } = body;
    let by_effect = |effect| AnswerDraft { effect: Some(effect), ..AnswerDraft::default() };
    let (draft, always) = match (action.as_deref(), granted) {
        (Some(action), None) if question.option(action).is_some() => {
            (AnswerDraft { options: vec![action.to_owned()], ..AnswerDraft::default() }, false)
        }
        (Some("allow"), None | Some(true)) | (None, Some(true)) => (by_effect(Effect::Approve), false),
        (Some("allow_always"), None | Some(true)) => (by_effect(Effect::Approve), true),
        (Some("deny"), None | Some(false)) | (None, Some(false)) => (by_effect(Effect::Reject), false),
        (Some("deny_always"), _) => {
            let why = "permanent denials belong in the policy; deny this request only";
            return Err(ApiError::invalid("/response_data/action", why));
        }
        (None, None) => return Err(ApiError::invalid("/response_data", "say `action` or `granted`")),
        (Some(_), Some(_)) => {
            return Err(ApiError::invalid("/response_data/granted", "contradicts `action`"));
        }
        (Some(_), None) => {
            let words = "must be allow, allow_always, deny, or an option of the request";
            return Err(ApiError::invalid("/response_data/action", words));
        }
    };
    let grant = match remember {
        Some(RememberData::That(grant)) => Some(grant.into()),
        Some(RememberData::Just(true)) => Some(this_tool()),
        Some(RememberData::Just(false)) | None => always.then(this_tool),
    };
    let lasting = question.call_id.is_some();
    let note = (grant.is_some() && !lasting).then_some("it applies to this request only");
    Ok((AnswerDraft { remember: grant.filter(|_| lasting), feedback, ..draft }, note))
}

/// Grant of `allow_always`: this tool with any arguments, in this session.
const fn this_tool() -> Remember {
    Remember { project: false, arguments: RememberedArguments::Anything, seconds: None, uses: None }
}

/// Finds an option by its id or its label.
fn option(question: &Question, said: &str) -> Option<String> {
    let labelled = || question.options.iter().find(|option| option.label == said);
    question.option(said).or_else(labelled).map(|option| option.id.clone())
}
