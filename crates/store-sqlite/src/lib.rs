//! Store for a single server, on SQLite.
//!
//! Implements the traits of `store` in SQL. One thread owns the only connection that writes ([`writer`]): it runs the queued jobs in one
//! `BEGIN IMMEDIATE` transaction with a savepoint for each job, so that many use cases share one flush of the disk and a refused job
//! rolls back only its own writes. Readers have connections of their own.
//!
//! This crate makes no decisions. It has one file for each noun, with the names of the files of `store-postgres`.
//!
//! Start reading at [`SqliteStore`], then [`writer`], then any noun.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod access;
mod action;
mod audit;
mod backup;
mod budget;
mod connection;
mod definition;
mod error;
mod event;
mod grant;
mod idempotency;
mod interaction;
mod lineage;
mod lock;
mod migrate;
#[cfg(test)]
mod plans;
mod policy;
mod secret;
mod session;
mod sqlite_store;
mod stats;
mod step;
mod ticket;
mod timers;
mod user;
mod values;
mod webhook;
mod writer;

pub use backup::{backup, check_integrity};
pub use connection::private_directory;
pub use lock::DataLock;
pub use sqlite_store::{FILE, SqliteOptions, SqliteStore};
