//! What a person responds in the form of each type, and the answer that it is.

use domain::answer::AS_PROPOSED;
use domain::grant::RememberedArguments;
use domain::{AnswerDraft, Effect, Kind, Problem, Question, Refusal, Remember};
use protocol::RememberBody;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::views::HitlType;
use crate::command::part;
use crate::error::ApiError;

/// A response.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "request_id": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "hitl_type": "permission",
    "response_data": { "action": "allow", "remember": false }
}))]
pub(super) struct HitlRespondBody {
    /// Which request.
    pub(super) request_id: String,
    /// The request's type.
    hitl_type: HitlType,
    /// `{answer}`, `{decision}`, `{values, save}` or `{action | granted, remember?}`, by the type; with each a `feedback`.
    #[schema(value_type = Object)]
    response_data: Value,
}

#[derive(Deserialize)]
struct Clarified {
    answer: Value,
    feedback: Option<String>,
}

#[derive(Deserialize)]
struct Decided {
    decision: Decision,
    feedback: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an option, or a list of them")]
enum Decision {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
struct Given {
    values: Map<String, Value>,
    #[serde(default)]
    save: bool,
    feedback: Option<String>,
}

#[derive(Deserialize)]
struct Permitted {
    action: Option<String>,
    granted: Option<bool>,
    remember: Option<Remembered>,
    feedback: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "true, false, or what is to be remembered")]
enum Remembered {
    Just(bool),
    That(RememberBody),
}

/// The answer to a question, and what the person should be told with the thanks.
pub(super) fn draft(
    body: HitlRespondBody,
    question: &Question,
) -> Result<(AnswerDraft, Option<&'static str>), ApiError> {
    let (given, wanted) = (body.hitl_type, HitlType::of(question));
    if given != wanted {
        return Err(ApiError::wrong("/hitl_type", format!("this request is a {}", wanted.name())));
    }
    let data = body.response_data;
    if !data.is_object() {
        return Err(ApiError::wrong("/response_data", "must be an object"));
    }
    let otherwise = otherwise(&data, question);
    let (draft, note) = match wanted {
        HitlType::Clarification => (clarified(part("/response_data", data)?, question), None),
        HitlType::Decision => (decided(part("/response_data", data)?, question), None),
        HitlType::EnvVar => (provided(part("/response_data", data)?, question), None),
        HitlType::Permission => permitted(part("/response_data", data)?, question)?,
    };
    match otherwise {
        Some(name) if question.effect_of(&draft) == Some(Effect::Approve) => {
            let problem = Problem::new(format!("/response_data/{name}"), AS_PROPOSED);
            Err(Refusal::AnswerInvalid(vec![problem]).into())
        }
        _ => Ok((draft, note)),
    }
}

/// Where a response would have an argument otherwise than it is shown. This wire has no place for that.
fn otherwise(data: &Value, question: &Question) -> Option<String> {
    const OURS: [&str; 6] = ["action", "granted", "decision", "answer", "remember", "feedback"];
    let shown = &question.call.as_ref()?.arguments;
    let whole = ["arguments", "modified_arguments", "data"].into_iter();
    let whole = whole.filter(|name| data.get(name).is_some_and(|given| given != shown)).map(str::to_owned);
    let parts = shown.as_object().into_iter().flatten().filter(|(name, _)| !OURS.contains(&name.as_str()));
    let parts = parts.filter(|(name, value)| data.get(name.as_str()).is_some_and(|given| given != *value));
    whole.chain(parts.map(|(name, _)| name.clone())).next()
}

/// Where the parts of an answer stand in the response data of each type.
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

fn clarified(Clarified { answer, feedback }: Clarified, question: &Question) -> AnswerDraft {
    match answer.as_str().and_then(|text| option(question, text)) {
        Some(id) => AnswerDraft { options: vec![id], feedback, ..AnswerDraft::default() },
        None => AnswerDraft { data: answer, feedback, ..AnswerDraft::default() },
    }
}

fn decided(Decided { decision, feedback }: Decided, question: &Question) -> AnswerDraft {
    let named = match decision {
        Decision::One(one) => vec![one],
        Decision::Many(many) => many,
    };
    let options = named.into_iter().map(|name| option(question, &name).unwrap_or(name)).collect();
    AnswerDraft { options, feedback, ..AnswerDraft::default() }
}

fn provided(Given { values, save, feedback }: Given, question: &Question) -> AnswerDraft {
    let keep = save && question.kind == Kind::Secret;
    AnswerDraft { data: Value::Object(values), keep, feedback, ..AnswerDraft::default() }
}

fn permitted(body: Permitted, question: &Question) -> Result<(AnswerDraft, Option<&'static str>), ApiError> {
    let Permitted { action, granted, remember, feedback } = body;
    let by_effect = |effect| AnswerDraft { effect: Some(effect), ..AnswerDraft::default() };
    let (draft, always) = match (action.as_deref(), granted) {
        (Some(action), None) if question.option(action).is_some() => {
            (AnswerDraft { options: vec![action.to_owned()], ..AnswerDraft::default() }, false)
        }
        (Some("allow"), None | Some(true)) | (None, Some(true)) => (by_effect(Effect::Approve), false),
        (Some("allow_always"), None | Some(true)) => (by_effect(Effect::Approve), true),
        (Some("deny"), None | Some(false)) | (None, Some(false)) => (by_effect(Effect::Reject), false),
        (Some("deny_always"), _) => {
            let why = "what is never to run is for the policy to say; deny this one";
            return Err(ApiError::wrong("/response_data/action", why));
        }
        (None, None) => return Err(ApiError::wrong("/response_data", "say `action` or `granted`")),
        (Some(_), Some(_)) => {
            return Err(ApiError::wrong("/response_data/granted", "does not say the same as `action`"));
        }
        (Some(_), None) => {
            let words = "must be allow, allow_always, deny, or an option of the request";
            return Err(ApiError::wrong("/response_data/action", words));
        }
    };
    let wanted = match remember {
        Some(Remembered::That(wanted)) => Some(wanted.into()),
        Some(Remembered::Just(true)) => Some(this_tool()),
        Some(Remembered::Just(false)) | None => always.then(this_tool),
    };
    let lasting = question.call_id.is_some();
    let note = (wanted.is_some() && !lasting).then_some("it holds for this request alone");
    Ok((AnswerDraft { remember: wanted.filter(|_| lasting), feedback, ..draft }, note))
}

/// What "always" means on this wire: the tool, for as long as the conversation goes on.
const fn this_tool() -> Remember {
    Remember { project: false, arguments: RememberedArguments::Anything, seconds: None, uses: None }
}

/// The option that a person means, by its id or by what its button says.
fn option(question: &Question, said: &str) -> Option<String> {
    let labelled = || question.options.iter().find(|option| option.label == said);
    question.option(said).or_else(labelled).map(|option| option.id.clone())
}
