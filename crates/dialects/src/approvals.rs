//! `approvals`: tool approval over a WebSocket, for an editor with an assistant.
//!
//! A call that people are asked about is sent as a `tool_call` with `requires_approval: true`; a decision is a message
//! of its own and never looks like a tool error. A call that this client has to run is sent as a `tool_call` with
//! `requires_approval: false`: the server starts the action when it sends the message, to one client, once.
//!
//! `messages.rs` has the message types, `decide.rs` handles messages of clients, `names.rs` maps calls to the names
//! that clients see, and `channel.rs` describes the socket in the AsyncAPI document. Start reading at `approvals_open`.

mod channel;
mod decide;
mod messages;
mod names;

use std::collections::HashSet;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use domain::event::{ActionRuled, ActionSettled};
use domain::{
    Caller, Event, EventKind, Interaction, InteractionId, PermitId, Refusal, SessionId, SignedDuration, Status,
    Timestamp,
};
use engine::{ChannelFollower, ChannelItem, ChannelStart, Error, NamedConversation, SessionFollower, SessionSnapshot};
use serde::Deserialize;
use serde_json::Value;
use store::StoreError;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use channel::channel;

use super::pending::PendingQuery;
use messages::{
    AssistantMessage, ErrorMessage, PendingApprovals, ServerMessage, ToolCall, Warning, approval_request,
    resolved_message,
};
use names::CallNames;
use server::App;
use server::handler::{
    ApiError, Authenticated, CloseReason, PathId, Problems, Query, SocketHandler, SocketRequest, page,
};

/// Lease of a call that a client runs, in seconds. It is extended while the client is connected; when it runs out, the
/// outcome is unknown.
const LEASE: i64 = 60;
/// Size of a page, unless the request names one.
const PAGE: u32 = 200;

/// Time for which the server waits for the outcome of a call from a client that reconnects. The dialect has no message that says
/// whether the client still runs it: the client may have been restarted.
const RESUMED: SignedDuration = SignedDuration::from_secs(300);
/// Upper bound of that time since the call was started, over all reconnections.
const RESUMED_IN_ALL: SignedDuration = SignedDuration::from_hours(1);

/// Operations of this dialect.
pub(super) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(approvals_open)).routes(routes!(approvals_pending))
}

/// Query parameters of `/ws/{session}`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OpenQuery {
    /// Name of the agent that messages are for. A message goes to a session of this agent that listens, or opens one.
    agent: Option<String>,
    /// Ticket from `POST /v1/tickets`, in place of a key, for browsers. It opens one socket.
    #[expect(dead_code, reason = "the authentication extractor reads the ticket from the query")]
    ticket: Option<String>,
}

/// Opens a WebSocket for one session or for a channel. `/asyncapi.json` describes its messages.
#[utoipa::path(get, path = "/ws/{session}", tag = "approvals",
    params(("session" = String, Path, description = "`ses_…` or its UUID; or the name of a channel: all sessions that are in it or will be, \
            where the first message opens one"), OpenQuery),
    responses((status = 101, description = "The socket is open"),
              (status = 426, description = "The request is not a WebSocket handshake", content_type = "application/problem+json",
               body = protocol::ProblemBody), Problems))]
async fn approvals_open(
    State(app): State<App>,
    socket: SocketRequest,
    PathId(name): PathId<String>,
    Query(query): Query<OpenQuery>,
) -> Result<Response, ApiError> {
    let caller = socket.caller.clone();
    let names = call_names(&app, &caller, &name).await?;
    // The follower starts before the first message is handled, so that a question decided by that message is reported
    // as resolved.
    let (follower, sessions) = if let Some(session) = names.session() {
        let SessionSnapshot { session, .. } = app.engine.session_snapshot(&caller, session).await?;
        (Follower::Session(app.engine.session_follow(&caller, session.id, session.last_seq).await?), vec![session.id])
    } else {
        let mut follower = app.engine.channel_follow(&caller, &name, ChannelStart::Now).await?;
        let sessions = follower.begin().await?;
        (Follower::Channel(follower), sessions)
    };
    let updates = sessions.into_iter().map(Update::Joined).collect();
    let (shown, running) = (HashSet::new(), Vec::new());
    let agent = query.agent;
    socket.open(&app, Approvals { app: app.clone(), caller, name, names, agent, follower, updates, shown, running })
}

/// Lists the calls that wait for approval in a session, or in all running sessions of a channel, oldest first.
#[utoipa::path(get, path = "/sessions/{session}/pending-approvals", tag = "approvals",
    params(("session" = String, Path, description = "`ses_…`, its UUID, or the name of a channel"), PendingQuery),
    responses((status = 200, description = "Calls that wait for approval", body = PendingApprovals), Problems))]
async fn approvals_pending(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(name): PathId<String>,
    Query(query): Query<PendingQuery>,
) -> Result<Json<PendingApprovals>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit.or(Some(PAGE)))?;
    let names = call_names(&app, &caller, &name).await?;
    let (shown, next) = app.engine.questions_with_calls(&caller, names.session(), &name, page).await?;
    let open = shown.into_iter().filter(|(asked, _)| is_open(asked));
    let pending_approvals: Vec<ToolCall> =
        open.map(|(asked, call)| approval_request(&asked, names.of_question(&asked, call))).collect();
    let count = pending_approvals.len();
    Ok(Json(PendingApprovals { session_id: name, pending_approvals, count, next }))
}

/// Resolves the name in the path to a session or a channel, which decides how calls are named.
async fn call_names(app: &App, caller: &Caller, name: &str) -> Result<CallNames, ApiError> {
    let named = app.engine.resolve_name(caller, name).await?;
    let ours = name.starts_with(SessionId::PREFIX);
    match named {
        Some(NamedConversation::Session(session)) => Ok(CallNames::Session(session.id)),
        // The prefix is reserved for ids of this server: the session does not exist or is not visible to the caller.
        _ if ours && app.engine.find_session(caller, name).await?.is_none() => Err(Refusal::NotFound("session").into()),
        Some(NamedConversation::Channel(own)) => Ok(CallNames::Channel(own)),
        None => Err(ApiError::IdInvalid("a channel has 1 to 128 printable ASCII characters without spaces".into())),
    }
}

/// A connected client of one session or one channel.
struct Approvals {
    app: App,
    caller: Caller,
    /// Name of the session or channel, as the client wrote it.
    name: String,
    names: CallNames,
    agent: Option<String>,
    follower: Follower,
    /// Updates from the time when the client connected or a session began, not yet sent.
    updates: Vec<Update>,
    /// Questions that were sent to this client and whose end was not.
    shown: HashSet<InteractionId>,
    /// Calls that this client runs, as far as the server knows.
    running: Vec<RunningCall>,
}

/// A call that was sent to the client to run and has no result yet.
struct RunningCall {
    call: (SessionId, String),
    /// Permit of this run. A later run of the same call is not this client's.
    run: Option<PermitId>,
    /// End of the wait, where the call was sent before the client reconnected.
    until: Option<Timestamp>,
    /// Whether the lease is still extended. The client may report an outcome later, for this run only.
    awaited: bool,
}

/// Source of the events.
enum Follower {
    Session(SessionFollower),
    Channel(ChannelFollower),
}

/// Something to send to the client.
enum Update {
    Joined(SessionId),
    Question(InteractionId),
    Ready(SessionId, String),
    Event(Event),
}

impl SocketHandler for Approvals {
    type Update = Update;

    fn set_caller(&mut self, caller: &Caller) {
        self.caller.clone_from(caller);
    }

    fn drain_updates(&mut self) -> Vec<Update> {
        std::mem::take(&mut self.updates)
    }

    async fn next(&mut self) -> Result<Vec<Update>, Error> {
        let events = match &mut self.follower {
            Follower::Session(follower) => follower.next().await?,
            Follower::Channel(follower) => match follower.next().await? {
                ChannelItem::Joined(sessions) => return Ok(sessions.into_iter().map(Update::Joined).collect()),
                ChannelItem::Events(events) => events,
            },
        };
        Ok(events.into_iter().map(Update::Event).collect())
    }

    async fn render(&mut self, update: Update) -> Vec<String> {
        let message = match update {
            Update::Joined(session) => self.join_session(session).await,
            Update::Question(id) => self.show_question(id).await,
            Update::Ready(session, call) => self.start_call(session, call).await,
            Update::Event(event) => self.show_event(event).await,
        };
        message.unwrap_or_else(|error| Some(error_message(error, None))).iter().map(to_json).collect()
    }

    async fn handle(&mut self, text: &str) -> Vec<String> {
        self.handle_message(text).await.iter().map(to_json).collect()
    }

    fn refusal(&self, error: ApiError) -> String {
        to_json(&error_message(error, None))
    }

    /// Extends the leases of the calls that this client runs.
    async fn heartbeat(&mut self) {
        let now = self.app.engine.now();
        for running in std::mem::take(&mut self.running) {
            let waited_for = running.until.is_none_or(|until| now < until);
            if running.awaited && waited_for {
                self.extend_lease(running).await;
            } else {
                self.running.push(RunningCall { awaited: false, ..running });
            }
        }
    }

    fn farewell(&self, _: CloseReason) -> Option<String> {
        None
    }
}

impl Approvals {
    /// Attaches the client to a session. Calls that were sent to it before a disconnection and are not reported stay
    /// leased to it.
    async fn join_session(&mut self, session: SessionId) -> Result<Option<ServerMessage>, ApiError> {
        let snapshot = self.app.engine.session_snapshot(&self.caller, session).await?;
        let now = self.app.engine.now();
        for (call, run, since) in snapshot.running {
            let ends = [now.saturating_add(RESUMED), since.saturating_add(RESUMED_IN_ALL)];
            let until = ends.into_iter().flatten().min();
            let running = RunningCall {
                call: (session, call),
                run: Some(run),
                until,
                awaited: until.is_some_and(|end| now < end),
            };
            if running.awaited {
                self.extend_lease(running).await;
            } else {
                self.running.push(running);
            }
        }
        self.queue(session, snapshot.open, snapshot.ready);
        Ok(None)
    }

    /// Extends the lease of a call, and stops doing so when the engine refuses.
    async fn extend_lease(&mut self, running: RunningCall) {
        let kept = self.app.engine.action_extend_lease(&self.caller, running.call.clone(), LEASE, running.run).await;
        self.running.push(RunningCall { awaited: !matches!(kept, Err(Error::Refused(_))), ..running });
    }

    fn queue(&mut self, session: SessionId, open: Vec<InteractionId>, ready: Vec<String>) {
        self.updates.extend(open.into_iter().map(Update::Question));
        self.updates.extend(ready.into_iter().map(|call| Update::Ready(session, call)));
    }

    /// Queues the open questions and startable calls of a session.
    async fn queue_open(&mut self, session: SessionId) -> Result<Option<ServerMessage>, ApiError> {
        let SessionSnapshot { open, ready, .. } = self.app.engine.session_snapshot(&self.caller, session).await?;
        self.queue(session, open, ready);
        Ok(None)
    }

    #[expect(clippy::too_many_lines, reason = "a table with one row for each kind of event")]
    async fn show_event(&mut self, event: Event) -> Result<Option<ServerMessage>, ApiError> {
        let Some(kind) = event.kind() else { return Ok(None) };
        match kind {
            EventKind::InteractionAsked(_) => self.show_question(question_of(&event)?).await,
            EventKind::InteractionAnswered(_)
            | EventKind::InteractionAutoResolved(_)
            | EventKind::InteractionExpired(_)
            | EventKind::InteractionCancelled(_) => {
                let id = question_of(&event)?;
                self.shown.remove(&id);
                let (asked, name) = self.question(id).await?;
                Ok(resolved_message(&asked, name))
            }
            EventKind::InteractionHandedOver(_) => self.show_handover(question_of(&event)?).await,
            EventKind::InteractionWarned(_) => self.show_warning(question_of(&event)?).await,
            EventKind::ActionAllowed(ActionRuled { call_id, .. })
            | EventKind::ActionOffered(ActionSettled { call_id, .. }) => self.start_call(event.session, call_id).await,
            // Calls that were allowed during the pause can be started now.
            EventKind::SessionResumed(_) => self.queue_open(event.session).await,
            EventKind::ModelSaid(said) => Ok(Some(assistant_message(said.text, false, false))),
            EventKind::ModelAgain(_) => Ok(Some(assistant_message(String::new(), false, true))),
            EventKind::ModelTurn(turn) => {
                Ok((!turn.text.is_empty()).then(|| assistant_message(String::new(), true, false)))
            }
            EventKind::StepFailed(step) => {
                Err(ApiError::StepFailed(step.reason.unwrap_or_else(|| "the agent could not continue".to_owned())))
            }
            EventKind::InteractionVoted(_)
            | EventKind::InteractionOverdue(_)
            | EventKind::InteractionClaimed(_)
            | EventKind::InteractionReleased(_)
            | EventKind::InteractionAbstained(_)
            | EventKind::InteractionDeserted(_)
            | EventKind::SessionStarted(_)
            | EventKind::SessionPaused(_)
            | EventKind::SessionCancelled(_)
            | EventKind::SessionCompleted(_)
            | EventKind::SessionFailed(_)
            | EventKind::SessionRevived(_)
            | EventKind::StepBegun(_)
            | EventKind::StepCompleted(_)
            | EventKind::StepRejected(_)
            | EventKind::StepSentBack(_)
            | EventKind::StepSkipped(_)
            | EventKind::StepCancelled(_)
            | EventKind::StepTroubled(_)
            | EventKind::MessageSent(_)
            | EventKind::ModelThought(_)
            | EventKind::ModelFailed(_)
            | EventKind::SuggestionsDropped(_)
            | EventKind::DeliveryTaken(_)
            | EventKind::DeliveryCompleted(_)
            | EventKind::DeliveryFailed(_)
            | EventKind::DeliveryOffered(_)
            | EventKind::DeliveryNotNeeded(_)
            | EventKind::ActionWaiting(_)
            | EventKind::ActionDenied(_)
            | EventKind::ActionRejected(_)
            | EventKind::ActionStarted(_)
            | EventKind::ActionDone(_)
            | EventKind::ActionFailed(_)
            | EventKind::ActionUnknown(_)
            | EventKind::ActionUnusable(_)
            | EventKind::GrantGiven(_)
            | EventKind::SecretKept(_)
            | EventKind::SecretUsed(_) => Ok(None),
        }
    }

    /// Reads a question and the name of its call.
    async fn question(&self, id: InteractionId) -> Result<(Interaction, String), ApiError> {
        let (asked, call) = self.app.engine.question_with_call(&self.caller, id).await?;
        let name = self.names.of_question(&asked, call);
        Ok((asked, name))
    }

    /// Sends a question that is open and was not sent yet.
    async fn show_question(&mut self, id: InteractionId) -> Result<Option<ServerMessage>, ApiError> {
        let (asked, name) = self.question(id).await?;
        let fresh = is_open(&asked) && self.shown.insert(id);
        Ok(fresh.then(|| ServerMessage::ToolCall(approval_request(&asked, name))))
    }

    /// Reports that a question was handed over. The dialect has no message for it: the client gets the error that a
    /// decision would get.
    async fn show_handover(&mut self, id: InteractionId) -> Result<Option<ServerMessage>, ApiError> {
        let (asked, name) = self.question(id).await?;
        let Some(to) = asked.handed_over().filter(|_| self.shown.remove(&id)) else { return Ok(None) };
        let refusal = Refusal::HandedOver(Box::new(to.clone()));
        Ok(Some(error_message(refusal.into(), Some(name))))
    }

    async fn show_warning(&self, id: InteractionId) -> Result<Option<ServerMessage>, ApiError> {
        let (asked, call_id) = self.question(id).await?;
        let Some(expires_at) = asked.question.deadline.filter(|_| asked.status() == Status::Pending) else {
            return Ok(None);
        };
        let seconds_left = expires_at.duration_since(self.app.engine.now()).as_secs().max(0);
        Ok(Some(ServerMessage::HitlTimeoutWarning(Warning { call_id, seconds_left, expires_at })))
    }

    /// Starts a call that this client has to run and sends it. Only one client succeeds.
    async fn start_call(&mut self, session: SessionId, call: String) -> Result<Option<ServerMessage>, ApiError> {
        let acted = self.app.engine.action_get(&self.caller, session, call.clone(), Duration::ZERO).await?;
        let mine = acted.action.runner.as_ref() == Some(&self.caller.actor);
        let Some(permit) = acted.permit.filter(|_| mine) else { return Ok(None) };
        let (key, call_id) = ((session, call.clone()), self.names.of_call(session, &call));
        match self.app.engine.action_start(&self.caller, key.clone(), permit, Some(LEASE), None).await {
            Ok(started) => {
                let call = started.action.effective();
                self.running.retain(|running| running.call != key);
                self.running.push(RunningCall {
                    call: key,
                    run: started.action.state.run(),
                    until: None,
                    awaited: true,
                });
                Ok(Some(ServerMessage::ToolCall(ToolCall {
                    call_id,
                    tool_name: call.tool,
                    arguments: call.arguments,
                    requires_approval: false,
                    reason: None,
                    created_at: None,
                    expires_at: None,
                    kind: None,
                    interaction: None,
                    asked_by: None,
                })))
            }
            // Another client was first, or the session is paused and the call starts when it resumes.
            Err(Error::Refused(
                Refusal::ActionNot { .. }
                | Refusal::ActionStepEnded
                | Refusal::PermitUnknown
                | Refusal::SessionPaused(_),
            )) => Ok(None),
            Err(error) => Ok(Some(error_message(error.into(), Some(call_id)))),
        }
    }
}

/// Whether a question can still be decided in this session.
/// Question that an event is about. Every event about a question names it; one without it was damaged in the store.
fn question_of(event: &Event) -> Result<InteractionId, Error> {
    let missing = || StoreError::Corrupt(format!("event {} names no question", event.id));
    Ok(event.interaction.ok_or_else(missing)?)
}

fn is_open(asked: &Interaction) -> bool {
    asked.status() == Status::Pending && asked.handed_over().is_none()
}

const fn assistant_message(token: String, is_final: bool, restarted: bool) -> ServerMessage {
    ServerMessage::AssistantMessage(AssistantMessage { token, is_final, restarted })
}

fn error_message(error: ApiError, call_id: Option<String>) -> ServerMessage {
    let problem = error.log();
    let content = match problem.detail {
        Some(detail) => format!("{}: {detail}", problem.title),
        None => problem.title,
    };
    ServerMessage::Error(ErrorMessage { content, code: problem.code, call_id, errors: problem.errors })
}

fn to_json(message: &ServerMessage) -> String {
    // Serialization cannot fail: keys are strings and numbers are JSON numbers.
    serde_json::to_string(message).unwrap_or_default()
}

/// Text of a client's error, which is a string or an object with a `message`.
fn error_text(error: &Value) -> String {
    match error {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match fields.get("message").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => error.to_string(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => error.to_string(),
    }
}
