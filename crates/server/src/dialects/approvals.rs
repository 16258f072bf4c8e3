//! Tool approval over WebSocket, as an editor with an assistant speaks it (seeds 002 and 003).
//!
//! A call that people are asked about is a `tool_call` with `requires_approval`; a decision is a message of its own, never the error of
//! a tool. A call that this client is to run is a `tool_call` without: it is started as it is handed over, to one client, once.

mod decide;
mod names;
pub(crate) mod words;

use std::collections::HashSet;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use domain::{
    Caller, Event, Interaction, InteractionId, PermitId, Refusal, SessionId, SignedDuration, Status, Timestamp,
};
use engine::{Attended, Beginning, ChannelFollower, Error, InChannel, Named, SessionFollower};
use serde::Deserialize;
use serde_json::Value;
use store::Page;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::caller::Who;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{Id, Query, cursor, limit};
use crate::socket::{End, Joining, Talk};
use names::Names;
use words::{AssistantMessage, Message, PendingApprovals, ToolCall, Warning, Wrong, asking, ended};

/// How long a client that was given a call may be gone before nobody knows what became of the call.
const LEASE: i64 = 60;
/// How many open calls a page has, unless less is asked for.
const PORTION: u32 = 200;

/// How long a client that has come back is taken to run still what it was given before. Nothing on this wire says that it does: it may have
/// been begun anew, and know of nothing.
const TAKEN_UP: SignedDuration = SignedDuration::from_secs(300);
/// How long that can go on, however often it comes back.
const IN_ALL: SignedDuration = SignedDuration::from_hours(1);

/// Its operations.
pub(super) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(approvals_open)).routes(routes!(approvals_pending))
}

/// How a socket is opened.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OpenQuery {
    /// The agent that messages are for: a session of it that listens, or that the message opens.
    agent: Option<String>,
    /// In place of a key, for browsers: what `POST /v1/tickets` gave, good for one socket.
    #[expect(dead_code, reason = "read before the query is")]
    ticket: Option<String>,
}

/// Opens a WebSocket of one session, or of a channel: what it says stands in `/asyncapi.json`.
#[utoipa::path(get, path = "/ws/{session}", tag = "approvals",
    params(("session" = String, Path, description = "`ses_…` or its UUID; or the name of a channel: all sessions that are in it or will be, \
            where the first message opens one"), OpenQuery),
    responses((status = 101, description = "The socket is open"),
              (status = 426, description = "This is a WebSocket", content_type = "application/problem+json",
               body = protocol::ProblemBody), Problems))]
async fn approvals_open(
    State(app): State<App>,
    joining: Joining,
    Id(name): Id<String>,
    Query(query): Query<OpenQuery>,
) -> Result<Response, ApiError> {
    let caller = joining.caller.clone();
    let names = meant(&app, &caller, &name).await?;
    // What is open is shown before anything is heard: the end of a question that is decided by the first message is told then, too.
    let (follower, sessions) = match names.only() {
        Some(session) => {
            let Attended { session, .. } = app.engine.attend(&caller, session).await?;
            (Follower::Session(app.engine.follow(&caller, session.id, session.last_seq).await?), vec![session.id])
        }
        None => {
            let mut follower = app.engine.follow_channel(&caller, &name, Beginning::Now).await?;
            let sessions = follower.begin().await?;
            (Follower::Channel(follower), sessions)
        }
    };
    let found = sessions.into_iter().map(News::Joined).collect();
    let (shown, held) = (HashSet::new(), Vec::new());
    let agent = query.agent;
    joining.with(&app, Approvals { app: app.clone(), caller, name, names, agent, follower, found, shown, held })
}

/// Which part of what is open.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PendingQuery {
    /// Where the page before ended: its `next`.
    cursor: Option<String>,
    /// At most so many, and about 4 MiB; 200 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists the calls of a session, or of all sessions that go on in a channel, that people are asked about, the oldest first.
#[utoipa::path(get, path = "/sessions/{session}/pending-approvals", tag = "approvals",
    params(("session" = String, Path, description = "`ses_…`, its UUID, or the name of a channel"), PendingQuery),
    responses((status = 200, description = "What is open", body = PendingApprovals), Problems))]
async fn approvals_pending(
    State(app): State<App>,
    Who(caller): Who,
    Id(name): Id<String>,
    Query(query): Query<PendingQuery>,
) -> Result<Json<PendingApprovals>, ApiError> {
    let page = Page { after: cursor(query.cursor.as_deref())?, limit: limit(query.limit.or(Some(PORTION)))? };
    let names = meant(&app, &caller, &name).await?;
    let (shown, next) = app.engine.questions_shown(&caller, names.only(), &name, page).await?;
    let open = shown.into_iter().filter(|(asked, _)| is_open(asked));
    let pending_approvals: Vec<ToolCall> =
        open.map(|(asked, call)| asking(&asked, names.shown(&asked, call))).collect();
    let count = pending_approvals.len();
    Ok(Json(PendingApprovals { session_id: name, pending_approvals, count, next }))
}

/// What a client calls what it wants to hear of, and so how calls are named to it.
async fn meant(app: &App, caller: &Caller, name: &str) -> Result<Names, ApiError> {
    let named = app.engine.named(caller, name).await?;
    let ours = name.starts_with(SessionId::PREFIX);
    match named {
        Some(Named::Session(session)) => Ok(Names::Session(session.id)),
        // Only we give such names: it is not here, or somebody else's.
        _ if ours && app.engine.conversation(caller, name).await?.is_none() => Err(Refusal::NotFound("session").into()),
        Some(Named::Channel(own)) => Ok(Names::Channel(own)),
        None => Err(ApiError::IdInvalid("a channel has 1 to 128 printable ASCII characters without spaces".into())),
    }
}

/// One client of one session, or of one channel.
struct Approvals {
    app: App,
    caller: Caller,
    /// What the client calls the session or the channel.
    name: String,
    names: Names,
    agent: Option<String>,
    follower: Follower,
    /// What was found when the client came, or a session began, and is still to be told.
    found: Vec<News>,
    /// Questions that this client was shown and not yet told the end of.
    shown: HashSet<InteractionId>,
    /// Calls that this client runs, as far as is known.
    held: Vec<Held>,
}

/// A call that was handed over, and no result has come.
struct Held {
    place: (SessionId, String),
    /// Which run: of one that was begun again since, this client knows nothing.
    run: Option<PermitId>,
    /// Until when it is kept, where it was handed to this client before it came back.
    until: Option<Timestamp>,
    /// Whether its outcome is still waited for. One that was given up may still be reported, and only for its own run.
    runs: bool,
}

/// Where the news come from.
enum Follower {
    Session(SessionFollower),
    Channel(ChannelFollower),
}

/// What there is to tell.
enum News {
    Joined(SessionId),
    Question(InteractionId),
    Ready(SessionId, String),
    Event(Event),
}

impl Talk for Approvals {
    type News = News;

    fn renew(&mut self, caller: &Caller) {
        self.caller.clone_from(caller);
    }

    fn found(&mut self) -> Vec<News> {
        std::mem::take(&mut self.found)
    }

    async fn next(&mut self) -> Result<Vec<News>, Error> {
        let events = match &mut self.follower {
            Follower::Session(follower) => follower.next().await?,
            Follower::Channel(follower) => match follower.next().await? {
                InChannel::Joined(sessions) => return Ok(sessions.into_iter().map(News::Joined).collect()),
                InChannel::Events(events) => events,
            },
        };
        Ok(events.into_iter().map(News::Event).collect())
    }

    async fn told(&mut self, news: News) -> Vec<String> {
        let told = match news {
            News::Joined(session) => self.joined(session).await,
            News::Question(id) => self.asked(id).await,
            News::Ready(session, call) => self.hand_over(session, call).await,
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
        let now = self.app.engine.now();
        for held in std::mem::take(&mut self.held) {
            let waited_for = held.until.is_none_or(|until| now < until);
            match held.runs && waited_for {
                true => self.keep(held).await,
                false => self.held.push(Held { runs: false, ..held }),
            }
        }
    }

    fn farewell(&self, _: End) -> Option<String> {
        None
    }
}

impl Approvals {
    /// Comes to a session, or back to it: what its client was given before and has not reported is waited for as if it had stayed.
    async fn joined(&mut self, session: SessionId) -> Result<Option<Message>, ApiError> {
        let attended = self.app.engine.attend(&self.caller, session).await?;
        let now = self.app.engine.now();
        for (call, run, since) in attended.running {
            let ends = [now.saturating_add(TAKEN_UP), since.saturating_add(IN_ALL)];
            let until = ends.into_iter().flatten().min();
            let held = Held { place: (session, call), run: Some(run), until, runs: until.is_some_and(|end| now < end) };
            match held.runs {
                true => self.keep(held).await,
                false => self.held.push(held),
            }
        }
        self.show(session, attended.open, attended.ready);
        Ok(None)
    }

    /// Has the outcome of a call waited for, as long as there is one to come.
    async fn keep(&mut self, held: Held) {
        let kept = self.app.engine.action_keep(&self.caller, held.place.clone(), LEASE, held.run).await;
        self.held.push(Held { runs: !matches!(kept, Err(Error::Refused(_))), ..held });
    }

    fn show(&mut self, session: SessionId, open: Vec<InteractionId>, ready: Vec<String>) {
        self.found.extend(open.into_iter().map(News::Question));
        self.found.extend(ready.into_iter().map(|call| News::Ready(session, call)));
    }

    /// Begins with what is open in a session now.
    async fn attend(&mut self, session: SessionId) -> Result<Option<Message>, ApiError> {
        let Attended { open, ready, .. } = self.app.engine.attend(&self.caller, session).await?;
        self.show(session, open, ready);
        Ok(None)
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
                let (asked, name) = self.question(id).await?;
                Ok(ended(&asked, name))
            }
            ("interaction.handed_over", Some(id)) => self.handed_on(id).await,
            ("interaction.warned", Some(id)) => self.warned(id).await,
            ("action.allowed" | "action.offered", _) => self.hand_over(event.session, said("call_id")).await,
            ("session.resumed", _) => {
                // What was allowed while the session was paused can be started now.
                self.attend(event.session).await
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

    /// A question, and what it is called here.
    async fn question(&self, id: InteractionId) -> Result<(Interaction, String), ApiError> {
        let (asked, call) = self.app.engine.question_shown(&self.caller, id).await?;
        let name = self.names.shown(&asked, call);
        Ok((asked, name))
    }

    /// Shows a question that is still open, once.
    async fn asked(&mut self, id: InteractionId) -> Result<Option<Message>, ApiError> {
        let (asked, name) = self.question(id).await?;
        let fresh = is_open(&asked) && self.shown.insert(id);
        Ok(fresh.then(|| Message::ToolCall(asking(&asked, name))))
    }

    /// A call that was shown here is decided elsewhere from now on: this wire has no word for that but what whoever decides it would hear.
    async fn handed_on(&mut self, id: InteractionId) -> Result<Option<Message>, ApiError> {
        let (asked, name) = self.question(id).await?;
        let Some(to) = asked.handed_over().filter(|_| self.shown.remove(&id)) else { return Ok(None) };
        let refusal = Refusal::HandedOver(Box::new(to.clone()));
        Ok(Some(wrong(refusal.into(), Some(name))))
    }

    async fn warned(&self, id: InteractionId) -> Result<Option<Message>, ApiError> {
        let (asked, call_id) = self.question(id).await?;
        let Some(expires_at) = asked.question.deadline.filter(|_| asked.status() == Status::Pending) else {
            return Ok(None);
        };
        let seconds_left = expires_at.duration_since(self.app.engine.now()).as_secs().max(0);
        Ok(Some(Message::HitlTimeoutWarning(Warning { call_id, seconds_left, expires_at })))
    }

    /// Starts a call that is this client's to run, and hands it over. Whoever else wanted it finds it started.
    async fn hand_over(&mut self, session: SessionId, call: String) -> Result<Option<Message>, ApiError> {
        let acted = self.app.engine.action(&self.caller, session, call.clone(), Duration::ZERO).await?;
        let mine = acted.proposal.runner.as_ref() == Some(&self.caller.actor);
        let Some(permit) = acted.permit.filter(|_| mine) else { return Ok(None) };
        let (place, call_id) = ((session, call.clone()), self.names.of_call(session, &call));
        match self.app.engine.action_start(&self.caller, place.clone(), permit, Some(LEASE), None).await {
            Ok(started) => {
                let action = started.proposal.effective();
                self.held.retain(|held| held.place != place);
                self.held.push(Held { place, run: started.proposal.state.run(), until: None, runs: true });
                Ok(Some(Message::ToolCall(ToolCall {
                    call_id,
                    tool_name: action.tool,
                    arguments: action.arguments,
                    requires_approval: false,
                    reason: None,
                    created_at: None,
                    expires_at: None,
                    kind: None,
                    interaction: None,
                    asked_by: None,
                })))
            }
            // Another client was first; or it goes on when the session does.
            Err(Error::Refused(Refusal::ActionNot { .. } | Refusal::PermitUnknown | Refusal::SessionPaused(_))) => {
                Ok(None)
            }
            Err(error) => Ok(Some(wrong(error.into(), Some(call_id)))),
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
