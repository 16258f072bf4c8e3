//! Extractors of path and query parameters, and the limits of pages and waits. A query parameter that an operation does
//! not have is refused.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use axum::extract::{FromRequestParts, MatchedPath, Path};
use http::Method;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use store::Page;
use utoipa::IntoParams;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};

use crate::App;
use crate::document::document;
use crate::error::ApiError;
use crate::routes::Addition;

/// Maximum time that a request may wait, in seconds.
pub const LONGEST_WAIT: u64 = 300;
/// Largest number of items of a page.
pub(crate) const LARGEST_PAGE: u32 = 200;
/// Prefix of the operations whose query parameters are checked. Dialects ignore unknown parameters, as their original
/// servers do.
const OWN: &str = "/v1/";
/// Number of characters of an unknown parameter that the error repeats.
const SHOWN: usize = 60;

/// Extractor of an id in the path.
pub struct PathId<T>(pub T);

impl<T: FromStr<Err: Display>> FromRequestParts<App> for PathId<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Path(text) = Path::<String>::from_request_parts(parts, app)
            .await
            .map_err(|_| ApiError::IdInvalid("the id in the path cannot be read".into()))?;
        text.parse().map(Self).map_err(|error: T::Err| ApiError::IdInvalid(error.to_string()))
    }
}

/// Extractor of two ids in the path.
pub struct PathIds<A, B>(pub A, pub B);

impl<A: FromStr<Err: Display>, B: FromStr<Err: Display>> FromRequestParts<App> for PathIds<A, B> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Path((first, second)) = Path::<(String, String)>::from_request_parts(parts, app)
            .await
            .map_err(|_| ApiError::IdInvalid("the ids in the path cannot be read".into()))?;
        let first = first.parse().map_err(|error: A::Err| ApiError::IdInvalid(error.to_string()))?;
        Ok(Self(first, second.parse().map_err(|error: B::Err| ApiError::IdInvalid(error.to_string()))?))
    }
}

/// Extractor of query parameters. NUL is refused, because PostgreSQL text cannot contain it.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ApiError> {
        if parts.uri.query().is_some_and(|query| query.contains("%00")) {
            return Err(ApiError::QueryInvalid("a parameter contains NUL".into()));
        }
        let read = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        read.map(|query| Self(query.0)).map_err(|rejection| ApiError::QueryInvalid(rejection.body_text()))
    }
}

/// Query of a stream or socket that a browser opens, where it cannot send a key.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TicketQuery {
    /// Ticket from `POST /v1/tickets`, in place of a key, for browsers. It opens one stream or socket.
    #[expect(dead_code, reason = "the authentication extractor reads the ticket from the query")]
    ticket: Option<String>,
}

/// Checks the time that a request may wait; 0 if absent.
pub(crate) fn wait(seconds: Option<u64>) -> Result<Duration, ApiError> {
    match seconds.unwrap_or(0) {
        seconds if seconds <= LONGEST_WAIT => Ok(Duration::from_secs(seconds)),
        _ => Err(ApiError::QueryInvalid(format!("wait: at most {LONGEST_WAIT} seconds"))),
    }
}

/// Checks the size of a page; 50 if absent.
pub(crate) fn limit(limit: Option<u32>) -> Result<u32, ApiError> {
    match limit.unwrap_or(50) {
        limit if (1..=LARGEST_PAGE).contains(&limit) => Ok(limit),
        _ => Err(ApiError::QueryInvalid(format!("limit: 1 to {LARGEST_PAGE}"))),
    }
}

/// Checks the cursor and the size of a page.
pub fn page<T: FromStr<Err: Display>>(after: Option<&str>, size: Option<u32>) -> Result<Page<T>, ApiError> {
    Ok(Page { after: cursor(after)?, limit: limit(size)? })
}

/// Parses the cursor of a list.
pub fn cursor<T: FromStr<Err: Display>>(cursor: Option<&str>) -> Result<Option<T>, ApiError> {
    cursor.map(|text| text.parse().map_err(|error| ApiError::QueryInvalid(format!("cursor: {error}")))).transpose()
}

/// Refuses a cursor that the stores cannot hold: they store signed 64-bit integers.
pub(crate) fn list_number(number: u64) -> Result<u64, ApiError> {
    i64::try_from(number)
        .map(|_| number)
        .map_err(|_| ApiError::QueryInvalid("cursor: not a number of this list".into()))
}

/// Refuses a number of an event that the stores cannot hold: they store signed 64-bit integers.
pub fn event_number(after: Option<u64>) -> Result<u64, ApiError> {
    let after = after.unwrap_or(0);
    if i64::try_from(after).is_err() {
        return Err(ApiError::QueryInvalid("after: not the number of an event".into()));
    }
    Ok(after)
}

/// Query parameters of each operation, by path and method, from the OpenAPI document.
static PARAMETERS: LazyLock<HashMap<(String, Method), BTreeSet<String>>> = LazyLock::new(|| {
    let mut parameters = HashMap::new();
    for (path, item) in document(Addition::default()).paths.paths.into_iter().filter(|(path, _)| path.starts_with(OWN))
    {
        let operations = [
            (Method::GET, item.get),
            (Method::PUT, item.put),
            (Method::POST, item.post),
            (Method::DELETE, item.delete),
            (Method::PATCH, item.patch),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                parameters.insert((path.clone(), method), query_parameters(operation));
            }
        }
    }
    parameters
});

fn query_parameters(operation: Operation) -> BTreeSet<String> {
    let in_query = |parameter: RefOr<Parameter>| match parameter {
        RefOr::T(one) if one.parameter_in == ParameterIn::Query => Some(one.name),
        _ => None,
    };
    operation.parameters.into_iter().flatten().filter_map(in_query).collect()
}

/// Refuses a request with a query parameter that its operation does not have. It is never ignored: a client that sends
/// `wait` in the query of a command that takes it in its body would believe that the server waits.
pub(crate) fn refuse_unknown(parts: &Parts) -> Result<(), ApiError> {
    let (Some(query), Some(path)) = (parts.uri.query(), parts.extensions.get::<MatchedPath>()) else { return Ok(()) };
    let method = if parts.method == Method::HEAD { Method::GET } else { parts.method.clone() };
    let Some(parameters) = PARAMETERS.get(&(path.as_str().to_owned(), method)) else { return Ok(()) };
    let sent: Vec<(String, String)> =
        serde_urlencoded::from_str(query).map_err(|_| ApiError::QueryInvalid("the query cannot be read".into()))?;
    match sent.into_iter().find(|(name, _)| !parameters.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let name: String = name.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
            Err(ApiError::QueryInvalid(format!("{name}: this operation takes no such parameter in its query")))
        }
    }
}
