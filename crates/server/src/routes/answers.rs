//! Answers: one, many, and in place of a person.

use axum::Json;
use axum::extract::State;
use domain::{InteractionId, Problem, Refusal};
use engine::Entry;
use http::HeaderMap;
use protocol::{AnswerBody, AnswersBody, AnswersItem, AnswersResult, AnswersView, AutoBody, InteractionView};

use crate::App;
use crate::caller::Who;
use crate::command::Command;
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
    headers: HeaderMap,
    Command { body: AnswersBody { answers }, .. }: Command<AnswersBody>,
) -> Result<Json<AnswersView>, ApiError> {
    caller.require(domain::access::Right::Answer)?;
    if answers.is_empty() || answers.len() > MOST {
        let problem = Problem::new("/answers", format!("must be 1 to {MOST}"));
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok());
    let entries = answers.into_iter().enumerate().map(|(index, item)| entry(index, item, key)).collect();
    let results = app.engine.answer_many(&caller, entries).await;
    let results = results.into_iter().map(|entry| match entry.result {
        Ok(interaction) => AnswersResult {
            interaction: entry.interaction,
            status: 200,
            result: Some(Box::new(interaction.into())),
            problem: None,
        },
        Err(error) => {
            let problem = ApiError::from(error).into_body();
            AnswersResult {
                interaction: entry.interaction,
                status: problem.status,
                result: None,
                problem: Some(problem),
            }
        }
    });
    Ok(Json(AnswersView { results: results.collect() }))
}

fn entry(index: usize, item: AnswersItem, key: Option<&str>) -> Entry {
    let digest = format!("{item:?}");
    let (interaction, draft) = item.into_parts();
    let once = key.map(|key| engine::Idempotency::new(format!("{key}#{index}"), "answers", digest.as_bytes()));
    Entry { interaction, draft, once }
}

/// Answers in the name of a policy or of the system, past the audience. For admins.
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
