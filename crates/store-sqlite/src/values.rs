//! Conversion of ids, times and JSON from and to columns.

use domain::Timestamp;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::StoreError;
use uuid::Uuid;

pub(crate) fn json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| corrupt(Type::Text, error))
}

pub(crate) fn parse_optional<T: DeserializeOwned>(text: Option<String>) -> rusqlite::Result<Option<T>> {
    text.map(|text| parse(&text)).transpose()
}

pub(crate) fn time(micros: i64) -> rusqlite::Result<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|error| corrupt(Type::Integer, error))
}

pub(crate) fn optional_time(micros: Option<i64>) -> rusqlite::Result<Option<Timestamp>> {
    micros.map(time).transpose()
}

pub(crate) fn micros(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_microsecond)
}

/// Reads a UUID from its 16 bytes, which sort in the order of the ids.
pub(crate) fn id(bytes: [u8; 16]) -> Uuid {
    Uuid::from_bytes(bytes)
}

pub(crate) fn corrupt(column: Type, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, column, Box::new(error))
}
