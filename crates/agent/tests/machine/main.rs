//! The machine of a step, its history, and the questions that a model asks.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![expect(clippy::panic, reason = "a cell that names an unknown state or input is a mistake in the table")]

mod ask_user;
mod eight_ways;
mod every_cell;
mod histories;
mod inputs;
mod resuming;
mod table;
mod world;
