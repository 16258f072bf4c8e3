//! Store for several servers, on PostgreSQL.
//!
//! Implements the traits of `store` in SQL. A use case is a closure that a [`worker`] thread runs on its own connection between `BEGIN`
//! and `COMMIT`; row locks (`session_lock`) keep two transactions from changing one session at the same time. A worker repeats a
//! transaction after a serialisation failure, reconnects after a lost connection, and reports a connection that broke during a commit as
//! [`store::StoreError::InDoubt`].
//!
//! Transactions do not commit in the order of their ids. [`event`] therefore orders the log of a project by transaction id, and shows
//! events only up to the oldest transaction that is still running.
//!
//! [`bell`] sends notifications between servers, and polls once a second for changes whose notification was lost.
//!
//! [`migrate`] migrates the schema while other nodes run, and [`lineage`] detects a dump that was restored into another cluster.
//!
//! This crate makes no decisions, and uses no extension, trigger or advisory lock. It has one file for each noun, with the names of the
//! files of `store-sqlite`. Connections are not encrypted yet: keep the database on a private network or a Unix socket.
//!
//! Start reading at [`PostgresStore`], then [`worker`], then any noun.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

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

pub use postgres_store::{PostgresOptions, PostgresStore, connections};
