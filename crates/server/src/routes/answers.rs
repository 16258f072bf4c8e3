//! Answers: one, many, and on behalf of a policy or the system.

use std::collections::VecDeque;

use axum::Json;
use axum::extract::State;
use domain::{AnswerDraft, Interaction, InteractionId, Problem, Refusal};
use engine::{AnswerEntry, AnswerResult};
use protocol::{AnswerBody, AnswersBody, AnswersItem, AnswersResult, AnswersView, AutoBody, InteractionView};
use serde_json::Value;
use store::PAGE_BYTES;

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey, parse_part};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::PathId;

/// Maximum number of answers in one request.
const MOST: usize = 100;

/// Answers a question. The first answer wins.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/answer", tag = "interactions", request_body = AnswerBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "The question, with the answer", body = InteractionView), Problems))]
pub(super) async fn interaction_answer(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body, idempotency }: CommandRequest<AnswerBody>,
) -> Result<Json<InteractionView>, ApiError> {
    let interaction = app.engine.interaction_answer(&caller, id, body.into(), idempotency).await?;
    Ok(Json(interaction.into()))
}

/// Answers many questions. Each answer is accepted or refused on its own; the reply has a result for each.
#[utoipa::path(post, path = "/v1/interactions/answers", tag = "interactions", request_body = AnswersBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request idempotent: this key and the position of an answer identify it")),
    responses((status = 200, description = "One result for each answer", body = AnswersView), Problems))]
pub(super) async fn interaction_answer_many(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: AnswersBody { answers }, idempotency }: CommandRequest<AnswersBody>,
) -> Result<Json<AnswersView>, ApiError> {
    caller.require(domain::access::Right::Answer)?;
    if answers.is_empty() || answers.len() > MOST {
        let problem = Problem::new("/answers", format!("must be 1 to {MOST}"));
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    if let Some(call) = &idempotency {
        app.engine.bind_answers(&caller, call.clone()).await?;
    }
    let (mut entries, mut read) = (Vec::new(), Vec::new());
    for (index, answer) in answers.into_iter().enumerate() {
        let named = answer.get("interaction").and_then(Value::as_str).unwrap_or_default().to_owned();
        let refused = match item(index, answer) {
            Ok((interaction, draft)) => {
                let idempotency = idempotency.as_ref().map(|call| call.part(index));
                entries.push(AnswerEntry { interaction, draft, idempotency });
                None
            }
            Err(error) => Some(error),
        };
        read.push((named, refused));
    }
    let (mut taken, mut left) = (VecDeque::new(), PAGE_BYTES);
    let report = |entry: AnswerResult| taken.push_back(answered_view(entry.result.map_err(ApiError::from), &mut left));
    app.engine.interaction_answer_many(&caller, entries, report).await;
    let results = read.into_iter().map(|(named, refused)| match refused {
        Some(error) => result(named, Err(error)),
        None => result(named, taken.pop_front().unwrap_or(Err(ApiError::Panicked))),
    });
    Ok(Json(AnswersView { results: results.collect() }))
}

/// Parses one answer of many.
fn item(index: usize, answer: Value) -> Result<(InteractionId, AnswerDraft), ApiError> {
    Ok(parse_part::<AnswersItem>(&format!("/answers/{index}"), answer)?.into_parts())
}

/// Renders an answered question, or `None` if the questions before it have used up the size of the reply.
fn answered_view(
    answered: Result<Interaction, ApiError>,
    left: &mut usize,
) -> Result<Option<Box<InteractionView>>, ApiError> {
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

/// Answers a question on behalf of a policy or the system. Requires an admin; to approve or to provide a value, the admin must be allowed to answer the question.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/auto", tag = "interactions", request_body = AutoBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "Question with the answer", body = InteractionView), Problems))]
pub(super) async fn interaction_auto(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body, idempotency }: CommandRequest<AutoBody>,
) -> Result<Json<InteractionView>, ApiError> {
    let (source, draft) = body.into_parts();
    let interaction = app.engine.interaction_auto(&caller, id, source, draft, idempotency).await?;
    Ok(Json(interaction.into()))
}
