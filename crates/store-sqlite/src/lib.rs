//! The store of a single server: SQLite inside.
//!
//! Duty: the traits of `store` in SQL, nothing else. One thread owns the only connection that writes ([`writer`]): it drains
//! its queue into one `BEGIN IMMEDIATE` transaction with a savepoint for each job, so that many use cases share one flush of the
//! disk and a refused one undoes only itself. Readers have connections of their own.
//!
//! This crate must never decide anything. A file a noun, with the same names as in `store-postgres`.
//!
//! Start reading at [`SqliteStore`], then [`writer`], then any noun.

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
pub use sqlite_store::{FILE, Options, SqliteStore};
