//! The engine on a real store, and the simulation of everything that it does.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod engine;
mod simulation;
