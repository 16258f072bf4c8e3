//! SQL statements with one text for all stores.
//!
//! A parameter is written `?1`, `?2` and so on, as SQLite has it; the PostgreSQL store replaces the question mark by a dollar sign before it
//! prepares a statement. Identifiers that PostgreSQL reserves, such as `"user"`, are quoted.
//!
//! Statements of the hot path stay in each store, because they are written for the indexes and the planner of one database; only the
//! conditions of their lists are here ([`list`]). Each constant is named after the method that runs it.
//! `crates/server/tests/it/shared_sql.rs` lists the hot statements, and finds any other that stands in both stores.

pub mod access;
pub mod audit;
pub mod budget;
pub mod definition;
pub mod grant;
pub mod idempotency;
pub mod interaction;
pub mod list;
pub mod policy;
pub mod secret;
pub mod session;
pub mod stats;
pub mod step;
pub mod ticket;
pub mod timers;
pub mod user;
pub mod webhook;
