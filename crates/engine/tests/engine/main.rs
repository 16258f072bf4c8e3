//! Each use case and each refusal of the engine, on a real SQLite store.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod actions;
mod answering;
mod asking;
mod audit;
mod behind;
mod both;
mod budgets;
mod channels;
mod chatting;
mod claims;
mod command_secrets;
mod deliveries;
mod floors;
mod gates;
mod idempotency;
mod identity;
mod keys;
mod learning;
mod lists;
mod people;
mod policy_now;
mod reading;
mod retention;
mod rotation;
mod secrets;
mod sessions;
mod standing;
mod stuck;
mod time;
mod webhooks;
mod world;
