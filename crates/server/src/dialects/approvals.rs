//! Tool approval over WebSocket, as an editor with an assistant speaks it (seeds 002 and 003).
//!
//! A call that people are asked about is a `tool_call` with `requires_approval`; a decision is a message of its own, never the error of
//! a tool. A call that this client is to run is a `tool_call` without: it is started as it is handed over, to one client, once.

mod decide;
pub(crate) mod words;

use std::collections::HashSet;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use domain::{Caller, Event, Interaction, InteractionId, Refusal, Session, SessionId, Status};
use engine::{Attended, Error, SessionFollower};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::caller::Who;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{Id, Query};
use crate::socket::{End, Joining, Talk};
use words::{AssistantMessage, Message, PendingApprovals, ToolCall, Warning, Wrong, asking, call_of, ended};

/// How long a client that was given a call may be gone before nobody knows what became of the call.
const LEASE: i64 = 60;

/// Its operations.
pub(super) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(approvals_open)).routes(routes!(approvals_pending))
}

/// How a socket is opened.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OpenQuery {
    /// The agent that listens, where the first message opens the session.
    agent: Option<String>,
    /// In place of a key, for browsers: what `POST /v1/tickets` gave, good for one socket.
    #[expect(dead_code, reason = "read before the query is")]
    ticket: Option<String>,
}

/// Opens a WebSocket of one session: what it says stands in `/asyncapi.json`.
#[utoipa::path(get, path = "/ws/{session}", tag = "approvals",
    params(("session" = String, Path, description = "`ses_…`, its UUID, or the name of a channel, whose newest session is meant; \
            where it has none, the first message opens one"), OpenQuery),
    responses((status = 101, description = "The socket is open"),
              (status = 426, description = "This is a WebSocket", content_type = "application/problem+json",
               body = protocol::ProblemBody), Problems))]
async fn approvals_open(
    State(app): State<App>,
    joining: Joining,
    Id(name): Id<String>,
    Query(query): Query<OpenQuery>,
) -> Result<Response, ApiError> {
    let session = meant(&app, &joining.caller, &name).await?;
    if session.is_none() && name.starts_with(SessionId::PREFIX) {
        // Only we give such names: it is not here, or somebody else's.
        return Err(Refusal::NotFound("session").into());
    }
    let caller = joining.caller.clone();
    let mut talk = Approvals::new(app.clone(), caller, name, query.agent);
    if let Some(session) = session {
        talk.attend(session.id, None).await?;
    }
    joining.with(&app, talk)
}

/// Lists the calls of a session that people are asked about, the oldest first.
#[utoipa::path(get, path = "/sessions/{session}/pending-approvals", tag = "approvals",
    params(("session" = String, Path, description = "`ses_…`, its UUID, or the name of a channel")),
    responses((status = 200, description = "What is open", body = PendingApprovals), Problems))]
async fn approvals_pending(
    State(app): State<App>,
    Who(caller): Who,
    Id(name): Id<String>,
) -> Result<Json<PendingApprovals>, ApiError> {
    let session = meant(&app, &caller, &name).await?.ok_or(Refusal::NotFound("session"))?;
    let Attended { open, .. } = app.engine.attend(&caller, session.id).await?;
    let mut pending_approvals = Vec::with_capacity(open.len());
    for id in open {
        let asked = app.engine.interaction(&caller, id, Duration::ZERO).await?;
        if is_open(&asked) {
            pending_approvals.push(asking(&asked));
        }
    }
    let count = pending_approvals.len();
    Ok(Json(PendingApprovals { session_id: name, pending_approvals, count }))
}

async fn meant(app: &App, caller: &Caller, name: &str) -> Result<Option<Session>, ApiError> {
    if name.contains('\0') {
        return Err(ApiError::IdInvalid("the session in the path contains NUL".into()));
    }
    Ok(app.engine.conversation(caller, name).await?)
}

/// One client of one session.
struct Approvals {
    app: App,
    caller: Caller,
    /// What the client calls the session.
    name: String,
    agent: Option<String>,
    session: Option<SessionId>,
    follower: Option<SessionFollower>,
    /// What was found when the client came, and is still to be told.
    found: Vec<News>,
    /// Questions that this client was shown and not yet told the end of.
    shown: HashSet<InteractionId>,
    /// Calls that were handed to this client, and no result has come.
    handed: Vec<String>,
}

/// What there is to tell.
enum News {
    Question(InteractionId),
    Ready(String),
    Event(Event),
}

impl Talk for Approvals {
    type News = News;

    fn found(&mut self) -> Vec<News> {
        std::mem::take(&mut self.found)
    }

    async fn next(&mut self) -> Result<Vec<News>, Error> {
        match &mut self.follower {
            None => std::future::pending().await,
            Some(follower) => Ok(follower.next().await?.into_iter().map(News::Event).collect()),
        }
    }

    async fn told(&mut self, news: News) -> Vec<String> {
        let told = match news {
            News::Question(id) => self.asked(id).await,
            News::Ready(call) => self.hand_over(call).await,
            News::Event(event) => self.happened(event).await,
        };
        told.unwrap_or_else(|error| Some(wrong(error, None))).iter().map(written).collect()
    }

    async fn heard(&mut self, text: &str) -> Vec<String> {
        self.said(text).await.iter().map(written).collect()
    }

    fn refused(&self, error: ApiError) -> String {
        written(&wrong(error, None))
    }

    /// Says that this client is still there, of whatever it runs.
    async fn beat(&mut self) {
        let Some(session) = self.session else { return };
        for call in std::mem::take(&mut self.handed) {
            if self.app.engine.action_keep(&self.caller, (session, call.clone()), LEASE).await.is_ok() {
                self.handed.push(call);
            }
        }
    }

    fn farewell(&self, _: End) -> Option<String> {
        None
    }
}

impl Approvals {
    fn new(app: App, caller: Caller, name: String, agent: Option<String>) -> Self {
        let (found, shown, handed) = (Vec::new(), HashSet::new(), Vec::new());
        Self { app, caller, name, agent, session: None, follower: None, found, shown, handed }
    }

    /// Begins with what is open now, and goes on with what happens from now on, or after an event.
    async fn attend(&mut self, id: SessionId, after: Option<u64>) -> Result<(), Error> {
        let Attended { session, open, ready } = self.app.engine.attend(&self.caller, id).await?;
        self.follower = Some(self.app.engine.follow(&self.caller, id, after.unwrap_or(session.last_seq)).await?);
        self.session = Some(id);
        self.found.extend(open.into_iter().map(News::Question));
        self.found.extend(ready.into_iter().map(News::Ready));
        Ok(())
    }

    async fn happened(&mut self, event: Event) -> Result<Option<Message>, ApiError> {
        let said = |name: &str| event.data[name].as_str().unwrap_or_default().to_owned();
        match (event.name.as_str(), event.interaction) {
            ("interaction.asked", Some(id)) => self.asked(id).await,
            (
                "interaction.answered" | "interaction.auto_resolved" | "interaction.expired" | "interaction.cancelled",
                Some(id),
            ) => {
                self.shown.remove(&id);
                Ok(ended(&self.app.engine.interaction(&self.caller, id, Duration::ZERO).await?))
            }
            ("interaction.handed_over", Some(id)) => self.handed_on(id).await,
            ("interaction.warned", Some(id)) => self.warned(id).await,
            ("action.allowed" | "action.offered", _) => self.hand_over(said("call_id")).await,
            ("session.resumed", _) => {
                // What was allowed while the session was paused can be started now.
                let attended = self.app.engine.attend(&self.caller, event.session).await?;
                self.found.extend(attended.ready.into_iter().map(News::Ready));
                Ok(None)
            }
            ("model.said", _) => Ok(Some(assistant(said("text"), false, false))),
            ("model.again", _) => Ok(Some(assistant(String::new(), false, true))),
            ("model.turn", _) if !said("text").is_empty() => Ok(Some(assistant(String::new(), true, false))),
            ("step.failed", _) => {
                let why = event.data["reason"].as_str().unwrap_or("the agent could not go on").to_owned();
                Err(ApiError::StepFailed(why))
            }
            _ => Ok(None),
        }
    }

    /// Shows a question that is still open, once.
    async fn asked(&mut self, id: InteractionId) -> Result<Option<Message>, ApiError> {
        let asked = self.app.engine.interaction(&self.caller, id, Duration::ZERO).await?;
        let fresh = is_open(&asked) && self.shown.insert(id);
        Ok(fresh.then(|| Message::ToolCall(asking(&asked))))
    }

    /// A call that was shown here is decided elsewhere from now on: this wire has no word for that but what whoever decides it would hear.
    async fn handed_on(&mut self, id: InteractionId) -> Result<Option<Message>, ApiError> {
        let asked = self.app.engine.interaction(&self.caller, id, Duration::ZERO).await?;
        let Some(to) = asked.handed_over().filter(|_| self.shown.remove(&id)) else { return Ok(None) };
        let refusal = Refusal::HandedOver(Box::new(to.clone()));
        Ok(Some(wrong(refusal.into(), Some(call_of(&asked)))))
    }

    async fn warned(&self, id: InteractionId) -> Result<Option<Message>, ApiError> {
        let asked = self.app.engine.interaction(&self.caller, id, Duration::ZERO).await?;
        let Some(expires_at) = asked.question.deadline.filter(|_| asked.status() == Status::Pending) else {
            return Ok(None);
        };
        let seconds_left = expires_at.duration_since(self.app.engine.now()).as_secs().max(0);
        Ok(Some(Message::HitlTimeoutWarning(Warning { call_id: call_of(&asked), seconds_left, expires_at })))
    }

    /// Starts a call that is this client's to run, and hands it over. Whoever else wanted it finds it started.
    async fn hand_over(&mut self, call: String) -> Result<Option<Message>, ApiError> {
        let Some(session) = self.session else { return Ok(None) };
        let acted = self.app.engine.action(&self.caller, session, call.clone(), Duration::ZERO).await?;
        let mine = acted.proposal.runner.as_ref() == Some(&self.caller.actor);
        let Some(permit) = acted.permit.filter(|_| mine) else { return Ok(None) };
        let place = (session, call.clone());
        match self.app.engine.action_start(&self.caller, place, permit, Some(LEASE), None).await {
            Ok(started) => {
                let action = started.proposal.effective();
                self.handed.push(call.clone());
                Ok(Some(Message::ToolCall(ToolCall {
                    call_id: call,
                    tool_name: action.tool,
                    arguments: action.arguments,
                    requires_approval: false,
                    reason: None,
                    created_at: None,
                    expires_at: None,
                    kind: None,
                    interaction: None,
                })))
            }
            // Another client was first; or it goes on when the session does.
            Err(Error::Refused(Refusal::ActionNot { .. } | Refusal::PermitUnknown | Refusal::SessionPaused(_))) => {
                Ok(None)
            }
            Err(error) => Ok(Some(wrong(error.into(), Some(call)))),
        }
    }
}

/// Whether a question can be decided here.
fn is_open(asked: &Interaction) -> bool {
    asked.status() == Status::Pending && asked.handed_over().is_none()
}

const fn assistant(token: String, is_final: bool, restarted: bool) -> Message {
    Message::AssistantMessage(AssistantMessage { token, is_final, restarted })
}

fn wrong(error: ApiError, call_id: Option<String>) -> Message {
    let problem = error.logged();
    let content = match problem.detail {
        Some(detail) => format!("{}: {detail}", problem.title),
        None => problem.title,
    };
    Message::Error(Wrong { content, code: problem.code, call_id, errors: problem.errors })
}

fn written(message: &Message) -> String {
    // Its keys are strings and its numbers are JSON's own, so that this cannot fail.
    serde_json::to_string(message).unwrap_or_default()
}

/// The text of what a client gives as an error: a text, or an object with a message.
fn text_of(error: &Value) -> String {
    match error {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match fields.get("message").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => error.to_string(),
        },
        other => other.to_string(),
    }
}
