//! Each use case and each refusal of the engine, on a real SQLite store.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod actions;
mod answering;
mod asking;
mod audit;
mod budgets;
mod channels;
mod chatting;
mod claims;
mod deliveries;
mod gates;
mod idempotency;
mod keys;
mod learning;
mod lists;
mod people;
mod reading;
mod retention;
mod rotation;
mod secrets;
mod sessions;
mod time;
mod webhooks;
mod world;
