//! Questions are answered: by a person, in place of one, or not at all.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use domain::{AnswerDraft, AutoSource, Caller, Effect, Interaction, InteractionId, Refusal, SessionId, Status};
use engine::{Error, Placed};
use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;
use serde_json::Value;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::item::FlowInteractionView;
use super::payload;
use crate::App;
use crate::caller::Who;
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Ids;

/// The header that names the channel.
const CHANNEL: &str = "x-chat-session-id";

/// What every answer replies.
type Reply = Result<(StatusCode, Json<FlowInteractionView>), ApiError>;

/// Somebody at one of the questions of a session, as the path names it, in the channel that the header names.
pub(super) struct At {
    caller: Caller,
    session: SessionId,
    request: InteractionId,
    channel: Option<String>,
}

impl FromRequestParts<App> for At {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Who(caller) = Who::from_request_parts(parts, app).await?;
        let Ids(session, request) = Ids::<SessionId, InteractionId>::from_request_parts(parts, app).await?;
        let channel = parts.headers.get(CHANNEL).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok(Self { caller, session, request, channel })
    }
}

impl IntoParams for At {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let text = |name: &str, place: ParameterIn, required: Required, what: &str| {
            let of: SchemaType = match required {
                Required::True => Type::String.into(),
                Required::False => [Type::String, Type::Null].into_iter().collect(),
            };
            let schema = ObjectBuilder::new().schema_type(of);
            let parameter = ParameterBuilder::new().name(name).parameter_in(place).required(required);
            parameter.description(Some(what)).schema(Some(schema)).build()
        };
        vec![
            text("sessionId", ParameterIn::Path, Required::True, "The session"),
            text("requestId", ParameterIn::Path, Required::True, "The question"),
            text("X-Chat-Session-Id", ParameterIn::Header, Required::True, "The channel of the question"),
            text("Idempotency-Key", ParameterIn::Header, Required::False, "One key with one body gives one result"),
        ]
    }
}

impl At {
    /// The question, where the channel is the one that the header names, and the body if it names one.
    async fn found(&self, app: &App, said: Option<&str>) -> Result<Placed, ApiError> {
        let placed = app.engine.question(&self.caller, self.session, self.request).await?;
        let missing = || ApiError::HeaderInvalid("X-Chat-Session-Id must name the channel of the question".into());
        let header = self.channel.as_deref().ok_or_else(missing)?;
        let channel = &placed.interaction.origin.channel;
        let mut named = [Some(header), said].into_iter().flatten();
        if named.all(|named| same(named, channel)) { Ok(placed) } else { Err(ApiError::ChannelMismatch) }
    }

    /// Who answers is said by the credential alone; a body that says otherwise is refused.
    fn signed(&self, responded_by: Option<&str>) -> Result<(), ApiError> {
        match responded_by {
            Some(name) if !domain::text::same_name(name, &self.caller.actor.name) => {
                Err(ApiError::wrong("/respondedBy", "is not whom the credential belongs to: leave it out"))
            }
            _ => Ok(()),
        }
    }

    fn signed_by_person(&self, body: &FlowRespondBody) -> Result<(), ApiError> {
        self.signed(body.responded_by.as_deref())?;
        if body.source.is_some_and(|source| source != FlowSource::User) {
            return Err(ApiError::wrong("/source", "is USER where a person answers: use `auto`"));
        }
        Ok(())
    }
}

/// Whether two texts name one channel; a UUID may be written in any of its forms.
fn same(one: &str, other: &str) -> bool {
    let uuid = |text: &str| Uuid::try_parse(text.strip_prefix(SessionId::PREFIX).unwrap_or(text)).ok();
    one == other || uuid(one).is_some_and(|one| uuid(other) == Some(one))
}

/// What a use case made of a question, or why it did not, in the words of this wire.
fn replied(placed: Placed, done: Result<Interaction, Error>) -> Reply {
    let Placed { interaction: before, step } = placed;
    match done {
        Ok(interaction) => Ok((StatusCode::ACCEPTED, Json(FlowInteractionView::new(interaction, step)))),
        // Whatever is closed is a conflict here; past due and not yet closed is too late.
        Err(Error::Refused(Refusal::TooLate(_))) if before.status() == Status::Expired => {
            Err(Refusal::AlreadyResolved(Box::new(before)).into())
        }
        Err(error) => Err(payload::placed(error, &before.question)),
    }
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum FlowSource {
    /// A person.
    User,
    /// A rule.
    AutoPolicy,
    /// A service.
    System,
}

/// Answers a question.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "payload": { "action": "confirm", "comment": "Looks good." } }))]
pub(super) struct FlowRespondBody {
    /// The channel once more; it must be the one of the header.
    chat_session_id: Option<String>,
    /// The form, or the action chosen.
    #[serde(default)]
    payload: Value,
    /// Whoever the credential belongs to, if anybody is named.
    responded_by: Option<String>,
    /// `USER`, if anything is said.
    source: Option<FlowSource>,
}

/// Answers a question. The first answer wins.
#[utoipa::path(post, path = "/api/flows/{sessionId}/interactions/{requestId}/respond", tag = "flows-wire",
    request_body = FlowRespondBody,
    params(At), responses((status = 202, description = "The question, with the answer", body = FlowInteractionView), Problems))]
pub(super) async fn flows_respond(
    State(app): State<App>,
    at: At,
    Command { body, once }: Command<FlowRespondBody>,
) -> Reply {
    let placed = at.found(&app, body.chat_session_id.as_deref()).await?;
    at.signed_by_person(&body)?;
    let draft = payload::draft(&placed.interaction.question, body.payload)?;
    let answered = app.engine.answer(&at.caller, at.request, draft, once).await;
    replied(placed, answered)
}

/// Goes on without an answer. No form is looked at.
#[utoipa::path(post, path = "/api/flows/{sessionId}/interactions/{requestId}/skip", tag = "flows-wire",
    request_body = FlowRespondBody,
    params(At), responses((status = 202, description = "The question", body = FlowInteractionView), Problems))]
pub(super) async fn flows_skip(
    State(app): State<App>,
    at: At,
    Command { body, once }: Command<FlowRespondBody>,
) -> Reply {
    let placed = at.found(&app, body.chat_session_id.as_deref()).await?;
    at.signed_by_person(&body)?;
    let draft = AnswerDraft { effect: Some(Effect::Skip), ..AnswerDraft::default() };
    let skipped = app.engine.answer(&at.caller, at.request, draft, once).await;
    replied(placed, skipped)
}

/// Answers in place of a person, or ends a question before its time.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "source": "SYSTEM" }))]
pub(super) struct FlowAutoBody {
    /// What is answered; what the question falls back to if absent.
    #[serde(default)]
    payload: Value,
    /// `SYSTEM` if absent, or `AUTO_POLICY`.
    source: Option<FlowSource>,
    /// Whoever the credential belongs to, if anybody is named.
    responded_by: Option<String>,
}

impl FlowAutoBody {
    fn source(&self) -> Result<AutoSource, ApiError> {
        match self.source {
            None | Some(FlowSource::System) => Ok(AutoSource::System),
            Some(FlowSource::AutoPolicy) => Ok(AutoSource::AutoPolicy),
            Some(FlowSource::User) => {
                Err(ApiError::wrong("/source", "is not USER where nobody in person answers: use `respond`"))
            }
        }
    }
}

/// Answers in the name of a policy or of the system. For admins; to approve or provide, they must be able to answer themselves.
#[utoipa::path(post, path = "/api/flows/{sessionId}/interactions/{requestId}/auto", tag = "flows-wire",
    request_body = FlowAutoBody,
    params(At), responses((status = 202, description = "The question", body = FlowInteractionView), Problems))]
pub(super) async fn flows_auto(State(app): State<App>, at: At, Command { body, once }: Command<FlowAutoBody>) -> Reply {
    let placed = at.found(&app, None).await?;
    at.signed(body.responded_by.as_deref())?;
    let source = body.source()?;
    let question = &placed.interaction.question;
    let draft =
        if body.payload.is_null() { payload::unsaid(question) } else { payload::draft(question, body.payload)? };
    let done = app.engine.auto(&at.caller, at.request, source, draft, once).await;
    replied(placed, done)
}

/// Ends a question now as its deadline would: by its fallback, or expired.
#[utoipa::path(post, path = "/api/flows/{sessionId}/interactions/{requestId}/expire", tag = "flows-wire",
    request_body = FlowAutoBody,
    params(At), responses((status = 202, description = "The question", body = FlowInteractionView), Problems))]
pub(super) async fn flows_expire(
    State(app): State<App>,
    at: At,
    Command { body, once }: Command<FlowAutoBody>,
) -> Reply {
    let placed = at.found(&app, None).await?;
    at.signed(body.responded_by.as_deref())?;
    body.source()?;
    if !body.payload.is_null() {
        return Err(ApiError::wrong("/payload", "is not taken: what is over is answered by nobody"));
    }
    let done = app.engine.expire(&at.caller, at.request, once).await;
    replied(placed, done)
}
