//! The OpenAPI document: tags, credentials, and the refusals that all operations share.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Content, OpenApi as Document, Ref, RefOr, Response as Described, ResponseBuilder};
use utoipa::{IntoResponses, Modify, OpenApi};

use crate::routes::Addition;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Holdpoint",
        description = "Holds actions and questions of AI agents until a person answers them. An agent asks, its state is stored, a \
                       person answers, and the agent continues exactly once.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    modifiers(&Credentials, &SharedResponses),
    security(("key" = []), ("cookie" = [])),
    components(schemas(protocol::ProblemBody)),
    tags(
        (name = "sessions", description = "One run of an agent or of a flow"),
        (name = "interactions", description = "Questions put to people, and their answers"),
        (name = "actions", description = "Tool calls that agents propose: judged, released, started once, reported"),
        (name = "grants", description = "Approvals that hold for more than one action"),
        (name = "policy", description = "Rules that allow, ask about or deny actions"),
        (name = "deliveries", description = "Answers on their way to the agents that asked"),
        (name = "events", description = "Numbered events of sessions and projects"),
        (name = "audit", description = "Every decision with its person, time, entry point and address; chained and signed"),
        (name = "agents", description = "Agents that this server runs itself, in versions that never change"),
        (name = "flows", description = "Steps that follow each other, in versions that never change"),
        (name = "keys", description = "Keys of agents and people, and their revocation"),
        (name = "people", description = "People, their roles, and sign-in"),
        (name = "project", description = "The settings of the project"),
        (name = "secrets", description = "Secrets that people keep for agents' later sessions"),
        (name = "flows-dialect", description = "The dialect `flows`: flows with human steps, their interactions and their events"),
        (name = "webhooks", description = "Events and answers, posted to endpoints and signed"),
        (name = "approvals", description = "The dialect `approvals`: tool approval over a WebSocket"),
        (name = "hitl", description = "The dialect `hitl`: requests of four types, their responses and their status"),
        (name = "react", description = "The dialect `react`: a conversation as an event stream that pauses for interactions"),
        (name = "server", description = "Health and metrics")
    )
)]
struct Holdpoint;

struct Credentials;

impl Modify for Credentials {
    fn modify(&self, document: &mut Document) {
        let scheme = Http::builder().scheme(HttpAuthScheme::Bearer).description(Some("A key: `hp_…`")).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("key", SecurityScheme::Http(scheme));
        let words =
            "A browser in which a person has signed in; requests other than GET also send `X-Holdpoint-Page: 1`";
        let cookie = ApiKey::Cookie(ApiKeyValue::with_description(crate::cookie::SIGN_IN, words));
        components.add_security_scheme("cookie", SecurityScheme::ApiKey(cookie));
    }
}

/// The refusals that every operation can give: status, name under `components.responses`, description.
const PROBLEMS: [(&str, &str, &str); 16] = [
    ("400", "BadRequest", "The request cannot be read"),
    ("401", "Unauthorized", "No credential, or one that is unknown, expired or revoked"),
    ("403", "Forbidden", "The caller may not do this"),
    ("404", "NotFound", "The object does not exist, or belongs to another tenant or project"),
    ("405", "MethodNotAllowed", "This path does not accept this method"),
    ("408", "RequestTimeout", "The body did not arrive in time"),
    ("409", "Conflict", "The object is in a state that does not allow this, or another request was first"),
    ("410", "Gone", "The deadline has passed"),
    ("413", "ContentTooLarge", "The body is too large"),
    ("414", "UriTooLong", "The path and query are too long"),
    ("415", "UnsupportedMediaType", "The body is not JSON"),
    ("422", "UnprocessableContent", "The body does not fit; `errors` says where"),
    ("429", "TooManyRequests", "Too many requests"),
    ("500", "InternalServerError", "The server failed; its log has the cause"),
    ("503", "ServiceUnavailable", "The server cannot do this now; try again"),
    ("507", "InsufficientStorage", "The disk is full"),
];

/// References to [`PROBLEMS`], for the responses of one operation.
pub struct Problems;

impl IntoResponses for Problems {
    fn responses() -> std::collections::BTreeMap<String, RefOr<Described>> {
        PROBLEMS.iter().map(|(status, name, _)| ((*status).to_owned(), Ref::from_response_name(*name).into())).collect()
    }
}

/// Describes [`PROBLEMS`] once, each as `application/problem+json`.
struct SharedResponses;

impl Modify for SharedResponses {
    fn modify(&self, document: &mut Document) {
        let components = document.components.get_or_insert_default();
        for (_, name, words) in PROBLEMS {
            let content = Content::builder().schema(Some(Ref::from_schema_name("ProblemBody"))).build();
            let response = ResponseBuilder::new().description(words).content("application/problem+json", content);
            components.responses.insert(name.to_owned(), response.build().into());
        }
    }
}

/// The document without its operations, which each route adds.
pub(crate) fn base() -> Document {
    Holdpoint::openapi()
}

/// The whole document, with the operations that a crate above this one adds.
#[must_use]
pub fn document(addition: Addition) -> Document {
    crate::routes::operations(addition.operations).to_openapi()
}
