//! Extractors of path and query parameters, and the limits of pages and waits.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::App;
use crate::error::ApiError;

/// Maximum time that a request may wait, in seconds.
pub const LONGEST_WAIT: u64 = 300;
/// Maximum page size.
pub(crate) const LARGEST_PAGE: u32 = 200;

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
    /// Ticket from `POST /v1/tickets`, in place of a key, for browsers. Good for one stream or socket.
    #[expect(dead_code, reason = "read before the query is")]
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
pub fn limit(limit: Option<u32>) -> Result<u32, ApiError> {
    match limit.unwrap_or(50) {
        limit if (1..=LARGEST_PAGE).contains(&limit) => Ok(limit),
        _ => Err(ApiError::QueryInvalid(format!("limit: 1 to {LARGEST_PAGE}"))),
    }
}

/// Parses the cursor of a list.
pub fn cursor<T: FromStr<Err: Display>>(cursor: Option<&str>) -> Result<Option<T>, ApiError> {
    cursor.map(|text| text.parse().map_err(|error| ApiError::QueryInvalid(format!("cursor: {error}")))).transpose()
}

/// Checks a cursor that is a number. Stores count in 63 bits.
pub(crate) fn list_number(number: u64) -> Result<u64, ApiError> {
    i64::try_from(number)
        .map(|_| number)
        .map_err(|_| ApiError::QueryInvalid("cursor: not a number of this list".into()))
}

/// Checks the number of an event. Stores count in 63 bits.
pub fn event_number(after: Option<u64>) -> Result<u64, ApiError> {
    let after = after.unwrap_or(0);
    if i64::try_from(after).is_err() {
        return Err(ApiError::QueryInvalid("after: not the number of an event".into()));
    }
    Ok(after)
}
