//! The store on SQLite.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod conformance;
mod sqlite;
