//! Status code, error code and problem document of every refusal. No other file assigns a status code to a refusal.

use axum::response::{IntoResponse, Response};
use domain::{Interaction, Limit, Problem, Refusal, State};
use engine::Error;
use http::{HeaderValue, StatusCode, header};
use protocol::{ProblemBody, ResolutionView};
use store::StoreError;

/// Reason why a request was refused.
#[derive(Debug)]
pub enum ApiError {
    /// The engine or the domain refused it.
    Engine(Error),
    /// The request has no credential.
    NoCredential,
    /// The body is not JSON.
    MalformedJson(String),
    /// The body is JSON of the wrong shape.
    BodyInvalid(Vec<Problem>),
    /// The body is too large.
    BodyTooLarge(usize),
    /// The body did not arrive in time.
    BodyTimeout,
    /// The content type is not JSON.
    NotJson,
    /// The body is compressed, or encoded in another way.
    EncodingUnsupported,
    /// A query parameter is invalid.
    QueryInvalid(String),
    /// The id in the path is malformed.
    IdInvalid(String),
    /// A header is invalid.
    HeaderInvalid(String),
    /// The question belongs to another channel than the request says.
    ChannelMismatch,
    /// The key exceeds this number of requests per second.
    RateLimited(u32),
    /// More than this number of sign-in attempts in a row.
    TooManySignIns(u32),
    /// The request came from another site.
    CrossSite,
    /// The node has as many streams as this limit allows.
    TooManyStreams(usize),
    /// The path and query exceed this number of bytes.
    UriTooLong(usize),
    /// The path is a WebSocket, and the request is not a WebSocket handshake.
    NotSocket,
    /// A socket message is binary.
    Binary,
    /// A step of the agent failed for this reason.
    StepFailed(String),
    /// The socket has as many subscriptions as this limit allows.
    TooManySubscriptions(usize),
    /// No route has this path.
    NoRoute,
    /// The path does not accept this method.
    NoMethod,
    /// An internal error ended the request.
    Panicked,
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::Engine(refusal.into())
    }
}

/// Every error code. `docs/errors.md` has a heading for each, and a test compares the two.
pub const CODES: &[&str] = &[
    "not_found",
    "role_forbids",
    "not_in_audience",
    "asker_cannot_answer",
    "four_eyes",
    "needs_others",
    "interaction_already_resolved",
    "interaction_expired",
    "interaction_already_overdue",
    "already_voted",
    "already_abstained",
    "interaction_handed_over",
    "claimed_by_other",
    "not_claimed",
    "answer_invalid",
    "body_invalid",
    "interaction_pending",
    "delivery_taken",
    "delivery_closed",
    "lease_lost",
    "not_your_delivery",
    "session_ended",
    "session_paused",
    "session_already_paused",
    "session_not_paused",
    "limit_reached",
    "too_many_open",
    "too_many_webhooks",
    "webhook_disabled",
    "webhook_delivery_pending",
    "call_conflict",
    "call_reserved",
    "not_your_session",
    "action_denied",
    "permit_void",
    "not_your_action",
    "step_lost",
    "step_not_failed",
    "nobody_listens",
    "not_driven",
    "version_exists",
    "action_state",
    "another_run",
    "permit_unknown",
    "permit_expired",
    "edit_denied",
    "policy_moved",
    "policy_differs",
    "grant_revoked",
    "user_exists",
    "name_taken",
    "user_elsewhere",
    "last_admin",
    "needs_sign_in",
    "password_wrong",
    "sign_in_failed",
    "cross_site",
    "idempotency_conflict",
    "schema_invalid",
    "policy_invalid",
    "unauthenticated",
    "sealed",
    "audit_incomplete",
    "conflict",
    "busy",
    "storage_full",
    "storage_unavailable",
    "in_doubt",
    "internal",
    "malformed_json",
    "body_too_large",
    "body_timeout",
    "not_json",
    "encoding_unsupported",
    "query_invalid",
    "id_invalid",
    "header_invalid",
    "channel_mismatch",
    "rate_limited",
    "too_many_streams",
    "uri_too_long",
    "upgrade_required",
    "too_many_subscriptions",
    "step_failed",
    "route_not_found",
    "method_not_allowed",
];

impl ApiError {
    /// A refusal of one invalid field of a body.
    pub fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::BodyInvalid(vec![Problem::new(pointer, message)])
    }

    fn status_and_code(&self) -> (StatusCode, &'static str) {
        use StatusCode as S;
        match self {
            Self::Engine(Error::Refused(refusal)) => of_refusal(refusal),
            Self::Engine(Error::IdempotencyConflict) => (S::CONFLICT, "idempotency_conflict"),
            Self::Engine(Error::SchemaInvalid(_)) => (S::UNPROCESSABLE_ENTITY, "schema_invalid"),
            Self::Engine(Error::PolicyInvalid(_)) => (S::UNPROCESSABLE_ENTITY, "policy_invalid"),
            Self::Engine(Error::PolicyDiffers(_)) => (S::SERVICE_UNAVAILABLE, "policy_differs"),
            Self::Engine(Error::Unauthenticated) | Self::NoCredential => (S::UNAUTHORIZED, "unauthenticated"),
            Self::Engine(Error::SignInFailed) => (S::UNAUTHORIZED, "sign_in_failed"),
            Self::Engine(Error::Sealed) => (S::INTERNAL_SERVER_ERROR, "sealed"),
            Self::Engine(Error::AuditIncomplete(_)) => (S::INTERNAL_SERVER_ERROR, "audit_incomplete"),
            Self::Engine(Error::Store(error)) => of_store(error),
            Self::MalformedJson(_) => (S::BAD_REQUEST, "malformed_json"),
            Self::BodyInvalid(_) => (S::UNPROCESSABLE_ENTITY, "body_invalid"),
            Self::BodyTooLarge(_) => (S::PAYLOAD_TOO_LARGE, "body_too_large"),
            Self::BodyTimeout => (S::REQUEST_TIMEOUT, "body_timeout"),
            Self::NotJson => (S::UNSUPPORTED_MEDIA_TYPE, "not_json"),
            Self::EncodingUnsupported => (S::UNSUPPORTED_MEDIA_TYPE, "encoding_unsupported"),
            Self::QueryInvalid(_) => (S::BAD_REQUEST, "query_invalid"),
            Self::IdInvalid(_) => (S::BAD_REQUEST, "id_invalid"),
            Self::HeaderInvalid(_) => (S::BAD_REQUEST, "header_invalid"),
            Self::ChannelMismatch => (S::BAD_REQUEST, "channel_mismatch"),
            Self::RateLimited(_) | Self::TooManySignIns(_) => (S::TOO_MANY_REQUESTS, "rate_limited"),
            Self::CrossSite => (S::FORBIDDEN, "cross_site"),
            Self::TooManyStreams(_) => (S::SERVICE_UNAVAILABLE, "too_many_streams"),
            Self::UriTooLong(_) => (S::URI_TOO_LONG, "uri_too_long"),
            Self::NotSocket => (S::UPGRADE_REQUIRED, "upgrade_required"),
            Self::Binary => (S::UNSUPPORTED_MEDIA_TYPE, "not_json"),
            Self::StepFailed(_) => (S::CONFLICT, "step_failed"),
            Self::TooManySubscriptions(_) => (S::CONFLICT, "too_many_subscriptions"),
            Self::NoRoute => (S::NOT_FOUND, "route_not_found"),
            Self::NoMethod => (S::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::Panicked => (S::INTERNAL_SERVER_ERROR, "internal"),
        }
    }

    /// Rewrites the JSON Pointers of the field errors, for bodies of another format.
    #[must_use]
    pub fn map_pointers(mut self, map: impl Fn(String) -> String) -> Self {
        if let Self::Engine(Error::Refused(Refusal::AnswerInvalid(problems) | Refusal::QuestionInvalid(problems)))
        | Self::BodyInvalid(problems) = &mut self
        {
            for problem in problems {
                problem.pointer = map(std::mem::take(&mut problem.pointer));
            }
        }
        self
    }

    /// The limit that was reached, with its value if it is one number.
    fn limit(&self) -> Option<(Limit, Option<u64>)> {
        match self {
            Self::Engine(Error::Refused(refusal)) => refusal.limit().map(|(limit, max)| (limit, Some(max))),
            Self::Engine(Error::Store(StoreError::Busy)) => Some((Limit::NodeQueue, None)),
            Self::RateLimited(most) => Some((Limit::KeyRequests, Some(u64::from(*most)))),
            Self::TooManySignIns(most) => Some((Limit::SignIns, Some(u64::from(*most)))),
            Self::TooManyStreams(most) => Some((Limit::NodeStreams, Some(*most as u64))),
            Self::TooManySubscriptions(most) => Some((Limit::SocketSubscriptions, Some(*most as u64))),
            _ => None,
        }
    }

    /// The problem document. Internal errors are described in the log only.
    pub(crate) fn into_body(self) -> ProblemBody {
        let (status, code) = self.status_and_code();
        let (title, detail) = self.words();
        let reached = self.limit();
        let detail = detail.or_else(|| reached.map(|(limit, _)| limit.detail()));
        let (errors, resolution) = match self {
            Self::Engine(
                Error::Refused(Refusal::AnswerInvalid(problems) | Refusal::QuestionInvalid(problems))
                | Error::SchemaInvalid(problems)
                | Error::PolicyInvalid(problems),
            )
            | Self::BodyInvalid(problems) => (problems, None),
            // The pointer tells programs which field makes the request acceptable.
            Self::Engine(Error::Refused(Refusal::NameOfAccount(_))) => {
                (vec![Problem::new("/join_account", "must be true to make a key for that person")], None)
            }
            Self::Engine(Error::Refused(Refusal::AlreadyResolved(interaction))) => (Vec::new(), ended(*interaction)),
            _ => (Vec::new(), None),
        };
        ProblemBody {
            kind: format!("urn:holdpoint:problem:{code}"),
            title,
            status: status.as_u16(),
            code: code.to_owned(),
            detail,
            limit: reached.map(|(limit, _)| limit.name().to_owned()),
            max: reached.and_then(|(_, max)| max),
            errors: errors.into_iter().map(Into::into).collect(),
            resolution: resolution.map(Box::new),
        }
    }

    fn words(&self) -> (String, Option<String>) {
        let plain = |title: &str| (title.to_owned(), None);
        match self {
            Self::Engine(Error::Refused(refusal)) => (refusal.to_string(), None),
            Self::Engine(Error::Store(StoreError::Full)) => plain("the disk is full; nothing was changed"),
            Self::Engine(Error::Store(StoreError::Busy)) => {
                plain("a queue of the server is full, or the request waited in it too long; try again")
            }
            Self::Engine(Error::Store(StoreError::InDoubt)) => {
                plain("the database connection broke during the commit; try again with the same Idempotency-Key")
            }
            Self::Engine(Error::Store(StoreError::Unavailable(_) | StoreError::Closed)) => {
                plain("the database cannot be reached; try again")
            }
            Self::Engine(Error::Store(StoreError::Conflict | StoreError::Serialization)) => {
                plain("another request changed the same object at the same time; try again")
            }
            Self::Engine(Error::Store(_)) | Self::Panicked => plain("the server failed; its log has the cause"),
            Self::Engine(error) => (error.to_string(), None),
            Self::NoCredential => plain("sign in, or send a key as `Authorization: Bearer KEY`"),
            Self::MalformedJson(why) => ("the body is not JSON".to_owned(), Some(why.clone())),
            Self::BodyInvalid(_) => plain("this operation does not accept the body"),
            Self::BodyTooLarge(most) => (format!("the body is larger than {most} bytes"), None),
            Self::BodyTimeout => plain("the body did not arrive in time"),
            Self::NotJson => plain("send the body as `Content-Type: application/json`"),
            Self::EncodingUnsupported => plain("send the body without `Content-Encoding`"),
            Self::QueryInvalid(why) => ("a query parameter is not valid".to_owned(), Some(why.clone())),
            Self::IdInvalid(why) | Self::HeaderInvalid(why) => (why.clone(), None),
            Self::ChannelMismatch => plain("the question is in another channel than the request names"),
            Self::RateLimited(_) => plain("too many requests with this key; wait a second"),
            Self::TooManySignIns(_) => plain("too many attempts to sign in; wait a minute"),
            Self::CrossSite => {
                plain("this request did not come from the page of this server, which sends `X-Holdpoint-Page: 1`")
            }
            Self::TooManyStreams(_) => plain("this node has reached its limit of open streams"),
            Self::UriTooLong(most) => (format!("the path and query are longer than {most} bytes"), None),
            Self::NotSocket => plain("this is a WebSocket: connect with `Upgrade: websocket`"),
            Self::Binary => plain("a binary message cannot be read: send JSON as text"),
            Self::StepFailed(why) => (why.clone(), None),
            Self::TooManySubscriptions(most) => {
                (format!("this socket has reached its limit of {most} subscriptions"), None)
            }
            Self::NoRoute => plain("this path does not exist"),
            Self::NoMethod => plain("this path does not accept this method"),
        }
    }
}

fn of_refusal(refusal: &Refusal) -> (StatusCode, &'static str) {
    use StatusCode as S;
    match refusal {
        Refusal::NotFound(_) => (S::NOT_FOUND, "not_found"),
        Refusal::RoleForbids { .. } => (S::FORBIDDEN, "role_forbids"),
        Refusal::NotInAudience => (S::FORBIDDEN, "not_in_audience"),
        Refusal::AskerCannotAnswer => (S::FORBIDDEN, "asker_cannot_answer"),
        Refusal::FourEyes => (S::FORBIDDEN, "four_eyes"),
        Refusal::AlreadyResolved(_) => (S::CONFLICT, "interaction_already_resolved"),
        Refusal::TooLate(_) => (S::GONE, "interaction_expired"),
        Refusal::AlreadyOverdue(_) => (S::CONFLICT, "interaction_already_overdue"),
        Refusal::AlreadyVoted(_) => (S::CONFLICT, "already_voted"),
        Refusal::AlreadyAbstained(_) => (S::CONFLICT, "already_abstained"),
        Refusal::HandedOver(_) => (S::CONFLICT, "interaction_handed_over"),
        Refusal::ClaimedByOther { .. } => (S::CONFLICT, "claimed_by_other"),
        Refusal::NotClaimed(_) => (S::CONFLICT, "not_claimed"),
        Refusal::AnswerInvalid(_) => (S::UNPROCESSABLE_ENTITY, "answer_invalid"),
        Refusal::QuestionInvalid(_) => (S::UNPROCESSABLE_ENTITY, "body_invalid"),
        Refusal::StillPending(_) => (S::CONFLICT, "interaction_pending"),
        Refusal::DeliveryTaken { .. } => (S::CONFLICT, "delivery_taken"),
        Refusal::DeliveryClosed(_) => (S::CONFLICT, "delivery_closed"),
        Refusal::LeaseLost => (S::CONFLICT, "lease_lost"),
        Refusal::NotYourDelivery => (S::FORBIDDEN, "not_your_delivery"),
        Refusal::SessionEnded { .. } => (S::CONFLICT, "session_ended"),
        Refusal::SessionPaused(_) => (S::CONFLICT, "session_paused"),
        Refusal::AlreadyPaused(_) => (S::CONFLICT, "session_already_paused"),
        Refusal::NotPaused(_) => (S::CONFLICT, "session_not_paused"),
        Refusal::TooManyOpen { .. } => (S::CONFLICT, "too_many_open"),
        Refusal::LimitReached { .. } => (S::TOO_MANY_REQUESTS, "limit_reached"),
        Refusal::TooManyWebhooks { .. } => (S::CONFLICT, "too_many_webhooks"),
        Refusal::WebhookDisabled(_) => (S::CONFLICT, "webhook_disabled"),
        Refusal::WebhookDeliveryPending(_) => (S::CONFLICT, "webhook_delivery_pending"),
        Refusal::CallConflict(_) => (S::CONFLICT, "call_conflict"),
        Refusal::CallReserved(_) => (S::CONFLICT, "call_reserved"),
        Refusal::NotYourSession(_) => (S::FORBIDDEN, "not_your_session"),
        Refusal::NowDenied(_) => (S::FORBIDDEN, "action_denied"),
        Refusal::NowAsked(_) | Refusal::GrantOver(_) => (S::CONFLICT, "permit_void"),
        Refusal::NotYourAction => (S::FORBIDDEN, "not_your_action"),
        Refusal::StepLost => (S::CONFLICT, "step_lost"),
        Refusal::StepNotFailed => (S::CONFLICT, "step_not_failed"),
        Refusal::NotHosted(_) => (S::CONFLICT, "not_driven"),
        Refusal::NobodyListens => (S::CONFLICT, "nobody_listens"),
        Refusal::VersionExists { .. } => (S::CONFLICT, "version_exists"),
        Refusal::ActionNot { .. } | Refusal::ActionStepEnded => (S::CONFLICT, "action_state"),
        Refusal::AnotherRun(_) => (S::CONFLICT, "another_run"),
        Refusal::PermitUnknown => (S::FORBIDDEN, "permit_unknown"),
        Refusal::PermitExpired { .. } => (S::GONE, "permit_expired"),
        Refusal::EditDenied(_) => (S::FORBIDDEN, "edit_denied"),
        Refusal::PolicyMoved { .. } => (S::CONFLICT, "policy_moved"),
        Refusal::GrantRevoked(_) => (S::CONFLICT, "grant_revoked"),
        Refusal::UserExists(_) => (S::CONFLICT, "user_exists"),
        Refusal::NameTaken(_) | Refusal::NameOfAccount(_) | Refusal::NameOutside(_) => (S::CONFLICT, "name_taken"),
        Refusal::UserElsewhere(_) => (S::FORBIDDEN, "user_elsewhere"),
        Refusal::NeedsOthers(_) => (S::FORBIDDEN, "needs_others"),
        Refusal::LastAdmin(_) => (S::CONFLICT, "last_admin"),
        Refusal::NeedsSignIn => (S::FORBIDDEN, "needs_sign_in"),
        Refusal::PasswordWrong => (S::FORBIDDEN, "password_wrong"),
    }
}

fn of_store(error: &StoreError) -> (StatusCode, &'static str) {
    use StatusCode as S;
    match error {
        StoreError::Conflict | StoreError::Serialization => (S::CONFLICT, "conflict"),
        StoreError::Busy => (S::SERVICE_UNAVAILABLE, "busy"),
        StoreError::Full => (S::INSUFFICIENT_STORAGE, "storage_full"),
        StoreError::Unavailable(_) | StoreError::Closed => (S::SERVICE_UNAVAILABLE, "storage_unavailable"),
        StoreError::InDoubt => (S::SERVICE_UNAVAILABLE, "in_doubt"),
        StoreError::Newer(_)
        | StoreError::Diverged(_)
        | StoreError::InUse(_)
        | StoreError::Exists(_)
        | StoreError::Corrupt(_)
        | StoreError::Panicked => (S::INTERNAL_SERVER_ERROR, "internal"),
    }
}

fn ended(interaction: Interaction) -> Option<ResolutionView> {
    match interaction.state {
        State::Pending(_) => None,
        State::Resolved { resolution, at, .. } => Some(ResolutionView::new(resolution, at)),
    }
}

impl ApiError {
    /// Logs and counts the refusal, and returns its problem document, for errors that are not sent as an HTTP response.
    pub fn log(self) -> ProblemBody {
        if let Self::Engine(Error::Store(error)) = &self {
            tracing::error!(%error, "the store failed");
        }
        if let Some((limit, _)) = self.limit() {
            metrics::counter!("flow_limit_refusals_total", "limit" => limit.name()).increment(1);
        }
        self.into_body()
    }
}

/// The raw HTTP response to a connection that exceeds a limit. Counts the refusal.
pub(crate) fn refused_connection(limit: Limit) -> String {
    metrics::counter!("flow_limit_refusals_total", "limit" => limit.name()).increment(1);
    let code = "limit_reached";
    let body = serde_json::json!({
        "type": format!("urn:holdpoint:problem:{code}"),
        "title": format!("the limit of {} is reached", limit.words()),
        "status": 503,
        "code": code,
        "detail": limit.detail(),
        "limit": limit.name(),
    });
    let body = body.to_string();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nContent-Length: {}\r\n\
         Retry-After: 1\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let retry = matches!(self.status_and_code().0, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        let body = self.log();
        let status = StatusCode::from_u16(body.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, axum::Json(&body)).into_response();
        // Dialects reword the problem (`crates/dialects/src/refusals.rs`).
        response.extensions_mut().insert(body);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

#[cfg(test)]
mod tests;
