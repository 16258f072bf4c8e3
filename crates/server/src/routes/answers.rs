//! Answers: one, many, and in place of a person.

use std::collections::VecDeque;

use axum::Json;
use axum::extract::State;
use domain::{AnswerDraft, Interaction, InteractionId, Problem, Refusal};
use engine::{Entry, EntryResult};
use protocol::{AnswerBody, AnswersBody, AnswersItem, AnswersResult, AnswersView, AutoBody, InteractionView};
use serde_json::Value;
use store::PAGE_BYTES;

use crate::App;
use crate::caller::Who;
use crate::command::{Command, part};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Id;

/// How many answers one call may carry.
const MOST: usize = 100;

/// Answers a question. The first answer wins.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/answer", tag = "interactions", request_body = AnswerBody,
    params(("interaction" = String, Path, description = "`int_…`"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "The question, with the answer", body = InteractionView), Problems))]
pub(super) async fn interaction_answer(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<InteractionId>,
    Command { body, once }: Command<AnswerBody>,
) -> Result<Json<InteractionView>, ApiError> {
    let interaction = app.engine.answer(&caller, id, body.into(), once).await?;
    Ok(Json(interaction.into()))
}

/// Answers many questions. Each is judged on its own; the result says of each what happened.
#[utoipa::path(post, path = "/v1/interactions/answers", tag = "interactions", request_body = AnswersBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "Names every answer of the call, each with its place")),
    responses((status = 200, description = "One result for each", body = AnswersView), Problems))]
pub(super) async fn interaction_answer_many(
    State(app): State<App>,
    Who(caller): Who,
    Command { body: AnswersBody { answers }, once }: Command<AnswersBody>,
) -> Result<Json<AnswersView>, ApiError> {
    caller.require(domain::access::Right::Answer)?;
    if answers.is_empty() || answers.len() > MOST {
        let problem = Problem::new("/answers", format!("must be 1 to {MOST}"));
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    if let Some(call) = &once {
        app.engine.answer_many_as(&caller, call.clone()).await?;
    }
    let (mut entries, mut read) = (Vec::new(), Vec::new());
    for (index, answer) in answers.into_iter().enumerate() {
        let named = answer.get("interaction").and_then(Value::as_str).unwrap_or_default().to_owned();
        let refused = match item(index, answer) {
            Ok((interaction, draft)) => {
                let once = once.as_ref().map(|call| call.part(index));
                entries.push(Entry { interaction, draft, once });
                None
            }
            Err(error) => Some(error),
        };
        read.push((named, refused));
    }
    let (mut taken, mut left) = (VecDeque::new(), PAGE_BYTES);
    let take = |entry: EntryResult| taken.push_back(shown(entry.result.map_err(ApiError::from), &mut left));
    app.engine.answer_many(&caller, entries, take).await;
    let results = read.into_iter().map(|(named, refused)| match refused {
        Some(error) => result(named, Err(error)),
        None => result(named, taken.pop_front().unwrap_or(Err(ApiError::Panicked))),
    });
    Ok(Json(AnswersView { results: results.collect() }))
}

/// Reads one answer of many.
fn item(index: usize, answer: Value) -> Result<(InteractionId, AnswerDraft), ApiError> {
    Ok(part::<AnswersItem>(&format!("/answers/{index}"), answer)?.into_parts())
}

/// A question that was answered, as far as the bytes of the reply go: where those before it have used them up, it is left out.
fn shown(answered: Result<Interaction, ApiError>, left: &mut usize) -> Result<Option<Box<InteractionView>>, ApiError> {
    let view = Box::new(InteractionView::from(answered?));
    let bytes = serde_json::to_vec(&view).map_or(usize::MAX, |json| json.len());
    let fits = *left > 0;
    *left = left.saturating_sub(bytes);
    Ok(fits.then_some(view))
}

fn result(interaction: String, answered: Result<Option<Box<InteractionView>>, ApiError>) -> AnswersResult {
    match answered {
        Ok(result) => AnswersResult { interaction, status: 200, result, problem: None },
        Err(error) => {
            let problem = error.into_body();
            AnswersResult { interaction, status: problem.status, result: None, problem: Some(problem) }
        }
    }
}

/// Answers in the name of a policy or of the system. For admins; to approve or provide, they must be able to answer themselves.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/auto", tag = "interactions", request_body = AutoBody,
    params(("interaction" = String, Path, description = "`int_…`"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "The question", body = InteractionView), Problems))]
pub(super) async fn interaction_auto(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<InteractionId>,
    Command { body, once }: Command<AutoBody>,
) -> Result<Json<InteractionView>, ApiError> {
    let (source, draft) = body.into_parts();
    let interaction = app.engine.auto(&caller, id, source, draft, once).await?;
    Ok(Json(interaction.into()))
}
