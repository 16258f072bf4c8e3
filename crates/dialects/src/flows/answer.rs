//! Operations that end a question: respond, skip, auto-resolve, expire.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use domain::{AnswerDraft, AutoSource, Caller, Effect, Interaction, InteractionId, Refusal, SessionId, Status};
use engine::{AnswerSubject, Error, QuestionWithStep};
use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;
use serde_json::Value;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::interaction::FlowInteractionView;
use super::payload;
use server::App;
use server::handler::{ApiError, Authenticated, CommandRequest, IdempotencyKey, PathIds, Problems};

/// Header with the channel of the question.
const CHANNEL: &str = "x-chat-session-id";

/// Reply of the operations that end a question.
type AnswerReply = Result<(StatusCode, Json<FlowInteractionView>), ApiError>;

/// The caller, the session and question of the path, and the channel of the header.
pub(super) struct QuestionPath {
    caller: Caller,
    session: SessionId,
    request: InteractionId,
    channel: Option<String>,
}

impl FromRequestParts<App> for QuestionPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Authenticated(caller) = Authenticated::from_request_parts(parts, app).await?;
        let PathIds(session, request) = PathIds::<SessionId, InteractionId>::from_request_parts(parts, app).await?;
        let channel = parts.headers.get(CHANNEL).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok(Self { caller, session, request, channel })
    }
}

impl IntoParams for QuestionPath {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let text = |name: &str, place: ParameterIn, what: &str| {
            let schema = ObjectBuilder::new().schema_type(Type::String);
            let parameter = ParameterBuilder::new().name(name).parameter_in(place).required(Required::True);
            parameter.description(Some(what)).schema(Some(schema)).build()
        };
        let mut parameters = vec![
            text("sessionId", ParameterIn::Path, "Identifier of the session"),
            text("requestId", ParameterIn::Path, "Identifier of the question"),
            text("X-Chat-Session-Id", ParameterIn::Header, "Channel of the question"),
        ];
        parameters.extend(IdempotencyKey::into_params(|| None));
        parameters
    }
}

impl QuestionPath {
    /// Reads the question for an answer, and checks its channel.
    async fn load(&self, app: &App, in_body: Option<&str>) -> Result<(AnswerSubject, QuestionWithStep), ApiError> {
        let (subject, step) = app.engine.read_subject_with_step(&self.caller, self.session, self.request).await?;
        self.check_channel(&subject.asked, in_body)?;
        let placed = QuestionWithStep { interaction: subject.asked.clone(), step };
        Ok((subject, placed))
    }

    /// Checks that the channel of the question is the one in the header, and in the body if the body names one.
    fn check_channel(&self, asked: &Interaction, in_body: Option<&str>) -> Result<(), ApiError> {
        let missing = || ApiError::HeaderInvalid("X-Chat-Session-Id must name the channel of the question".into());
        let header = self.channel.as_deref().ok_or_else(missing)?;
        let mut named = [Some(header), in_body].into_iter().flatten();
        if named.all(|named| is_same_channel(named, &asked.origin.channel)) {
            Ok(())
        } else {
            Err(ApiError::ChannelMismatch)
        }
    }

    /// Checks that `respondedBy`, if present, is the name of the caller: the credential alone decides who answers.
    fn check_responder(&self, responded_by: Option<&str>) -> Result<(), ApiError> {
        match responded_by {
            Some(name) if !domain::text::is_same_name(name, &self.caller.actor.name) => {
                Err(ApiError::invalid("/respondedBy", "is not the name of the caller: leave it out"))
            }
            _ => Ok(()),
        }
    }

    fn check_person(&self, body: &FlowRespondBody) -> Result<(), ApiError> {
        self.check_responder(body.responded_by.as_deref())?;
        if body.source.is_some_and(|source| source != FlowSource::User) {
            return Err(ApiError::invalid(
                "/source",
                "must be USER for the answer of a person; for an automatic answer use `auto`",
            ));
        }
        Ok(())
    }
}

/// Whether two strings name the same channel. A UUID may be written in any of its forms.
fn is_same_channel(one: &str, other: &str) -> bool {
    let uuid = |text: &str| Uuid::try_parse(text.strip_prefix(SessionId::PREFIX).unwrap_or(text)).ok();
    one == other || uuid(one).is_some_and(|one| uuid(other) == Some(one))
}

/// Renders the result of a use case on a question.
fn reply(placed: QuestionWithStep, done: Result<Interaction, Error>) -> AnswerReply {
    let QuestionWithStep { interaction: before, step } = placed;
    match done {
        Ok(interaction) => Ok((StatusCode::ACCEPTED, Json(FlowInteractionView::new(interaction, step)))),
        // In this dialect an expired question is a conflict. 410 is only for a deadline that has passed while the
        // question is still open.
        Err(Error::Refused(Refusal::TooLate(_))) if before.status() == Status::Expired => {
            Err(Refusal::AlreadyResolved(Box::new(before)).into())
        }
        Err(error) => Err(payload::map_fields(error, &before.question)),
    }
}

/// Source of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum FlowSource {
    /// A person gave the answer.
    User,
    /// A policy gave the answer.
    AutoPolicy,
    /// The server gave the answer.
    System,
}

/// Body that answers a question.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "payload": { "action": "confirm", "comment": "Looks good." } }))]
pub(super) struct FlowRespondBody {
    /// Channel of the question; must be equal to the channel in the header.
    chat_session_id: Option<String>,
    /// The form, or the chosen action.
    #[serde(default)]
    payload: Value,
    /// Name of the caller, if present.
    responded_by: Option<String>,
    /// Must be `USER` if present.
    source: Option<FlowSource>,
}

/// Answers a question. The first answer wins.
#[utoipa::path(post, path = "/api/flows/{sessionId}/interactions/{requestId}/respond", tag = "flows-dialect",
    request_body = FlowRespondBody,
    params(QuestionPath), responses((status = 202, description = "The question, with the answer", body = FlowInteractionView), Problems))]
pub(super) async fn flows_respond(
    State(app): State<App>,
    path: QuestionPath,
    CommandRequest { body, idempotency }: CommandRequest<FlowRespondBody>,
) -> AnswerReply {
    let (subject, placed) = path.load(&app, body.chat_session_id.as_deref()).await?;
    path.check_person(&body)?;
    let draft = payload::draft(&placed.interaction.question, body.payload)?;
    let answered = app.engine.answer_subject(&path.caller, subject, draft, idempotency).await;
    reply(placed, answered)
}

/// Skips a question. The form is not validated.
#[utoipa::path(post, path = "/api/flows/{sessionId}/interactions/{requestId}/skip", tag = "flows-dialect",
    request_body = FlowRespondBody,
    params(QuestionPath), responses((status = 202, description = "Question with its new status", body = FlowInteractionView), Problems))]
pub(super) async fn flows_skip(
    State(app): State<App>,
    path: QuestionPath,
    CommandRequest { body, idempotency }: CommandRequest<FlowRespondBody>,
) -> AnswerReply {
    let (subject, placed) = path.load(&app, body.chat_session_id.as_deref()).await?;
    path.check_person(&body)?;
    let draft = AnswerDraft { effect: Some(Effect::Skip), ..AnswerDraft::default() };
    let skipped = app.engine.answer_subject(&path.caller, subject, draft, idempotency).await;
    reply(placed, skipped)
}

/// Body that answers in place of a person, or expires a question.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "source": "SYSTEM" }))]
pub(super) struct FlowAutoBody {
    /// The answer; the fallback of the question if absent.
    #[serde(default)]
    payload: Value,
    /// `SYSTEM` or `AUTO_POLICY`; `SYSTEM` if absent.
    source: Option<FlowSource>,
    /// Name of the caller, if present.
    responded_by: Option<String>,
}

impl FlowAutoBody {
    fn source(&self) -> Result<AutoSource, ApiError> {
        match self.source {
            None | Some(FlowSource::System) => Ok(AutoSource::System),
            Some(FlowSource::AutoPolicy) => Ok(AutoSource::AutoPolicy),
            Some(FlowSource::User) => Err(ApiError::invalid(
                "/source",
                "must not be USER for an automatic answer; for the answer of a person use `respond`",
            )),
        }
    }
}

/// Answers a question on behalf of a policy or the system. Requires an admin; to approve or to provide a value, the admin must be allowed to answer the question.
#[utoipa::path(post, path = "/api/flows/{sessionId}/interactions/{requestId}/auto", tag = "flows-dialect",
    request_body = FlowAutoBody,
    params(QuestionPath), responses((status = 202, description = "Question with its new status", body = FlowInteractionView), Problems))]
pub(super) async fn flows_auto(
    State(app): State<App>,
    path: QuestionPath,
    CommandRequest { body, idempotency }: CommandRequest<FlowAutoBody>,
) -> AnswerReply {
    let (subject, placed) = path.load(&app, None).await?;
    path.check_responder(body.responded_by.as_deref())?;
    let source = body.source()?;
    let question = &placed.interaction.question;
    let draft =
        if body.payload.is_null() { payload::default_draft(question) } else { payload::draft(question, body.payload)? };
    let done = app.engine.auto_resolve_subject(&path.caller, subject, source, draft, idempotency).await;
    reply(placed, done)
}

/// Ends a question as its deadline would: with its fallback, or as expired.
#[utoipa::path(post, path = "/api/flows/{sessionId}/interactions/{requestId}/expire", tag = "flows-dialect",
    request_body = FlowAutoBody,
    params(QuestionPath), responses((status = 202, description = "Question with its new status", body = FlowInteractionView), Problems))]
pub(super) async fn flows_expire(
    State(app): State<App>,
    path: QuestionPath,
    CommandRequest { body, idempotency }: CommandRequest<FlowAutoBody>,
) -> AnswerReply {
    let placed = app.engine.question(&path.caller, path.session, path.request).await?;
    path.check_channel(&placed.interaction, None)?;
    path.check_responder(body.responded_by.as_deref())?;
    body.source()?;
    if !body.payload.is_null() {
        return Err(ApiError::invalid("/payload", "is not accepted, because expiry takes no answer"));
    }
    let done = app.engine.interaction_expire(&path.caller, path.request, idempotency).await;
    reply(placed, done)
}
