//! The store of many servers: PostgreSQL behind them.
//!
//! Duty: the traits of `store` in SQL, nothing else. A use case is a closure, so [`worker`] threads own one connection each and
//! run it between `BEGIN` and `COMMIT`; row locks (`session_lock`) keep two of them from changing one session at once. What
//! the database asks to be run again is run again, a lost connection is made anew, and a commit that broke on the way is told
//! as [`store::StoreError::InDoubt`].
//!
//! Commits do not happen in the order in which numbers are drawn. [`event`] therefore reads a project's log by transaction, and
//! only as far as no older transaction is still under way.
//!
//! [`bell`] carries hints between servers, and looks itself once a second for what no hint told.
//!
//! [`migrate`] brings the schema up to date beside nodes that run, and [`lineage`] notices a dump that was restored into another cluster.
//!
//! This crate must never decide anything, and uses no extension, trigger or advisory lock. A file a noun, with the same names
//! as in `store-sqlite`. Connections are not encrypted yet: keep the database on a private network or a Unix socket.
//!
//! Start reading at [`PostgresStore`], then [`worker`], then any noun.

mod access;
mod action;
mod audit;
mod bell;
mod budget;
mod connection;
mod definition;
mod error;
mod event;
mod grant;
mod idempotency;
mod interaction;
mod lineage;
mod migrate;
mod payload;
#[cfg(test)]
mod plans;
mod policy;
mod postgres_store;
mod queue;
mod secret;
mod session;
mod stats;
mod step;
mod ticket;
mod timers;
mod user;
mod values;
mod webhook;
mod worker;

pub use postgres_store::{Options, PostgresStore, connections};
