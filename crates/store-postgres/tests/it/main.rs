//! Tests of the store on PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod conformance;
mod postgres;
