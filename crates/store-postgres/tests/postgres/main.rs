//! What only this store has to do: share its database with others, and outlive it.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod archive;
mod audit;
mod bells;
mod common;
mod log;
mod migrating;
mod opening;
mod outages;
mod recounting;
mod sealing;
mod upgrade;
