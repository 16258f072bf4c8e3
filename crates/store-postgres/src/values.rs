//! Conversion of times, numbers and JSON from and to columns.

use domain::Timestamp;
use postgres::Row;
use postgres::types::FromSql;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{StoreError, StoreResult};

pub(crate) fn json<T: Serialize>(value: &T) -> StoreResult<String> {
    serde_json::to_string(value).map_err(corrupt)
}

pub(crate) fn optional_json<T: Serialize>(value: Option<&T>) -> StoreResult<Option<String>> {
    value.map(json).transpose()
}

pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> StoreResult<T> {
    serde_json::from_str(text).map_err(corrupt)
}

pub(crate) fn parse_optional<T: DeserializeOwned>(text: Option<&str>) -> StoreResult<Option<T>> {
    text.map(parse).transpose()
}

pub(crate) fn time(micros: i64) -> StoreResult<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(corrupt)
}

pub(crate) fn optional_time(micros: Option<i64>) -> StoreResult<Option<Timestamp>> {
    micros.map(time).transpose()
}

pub(crate) fn micros(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_microsecond)
}

/// Reads a column of a row.
pub(crate) fn column<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> StoreResult<T> {
    row.try_get(index).map_err(corrupt)
}

/// Reads a column that holds a non-negative number.
pub(crate) fn number<T: TryFrom<i64>>(row: &Row, index: usize) -> StoreResult<T>
where
    T::Error: std::fmt::Display,
{
    T::try_from(column(row, index)?).map_err(corrupt)
}

/// Converts a number to the type of its column.
pub(crate) fn signed(number: u64) -> StoreResult<i64> {
    i64::try_from(number).map_err(corrupt)
}

pub(crate) fn corrupt(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(error.to_string())
}
