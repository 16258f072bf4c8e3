//! Tests of the store on SQLite.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod conformance;
mod sqlite;
