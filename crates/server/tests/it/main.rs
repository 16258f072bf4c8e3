//! Tests the server over real sockets.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

extern crate holdpoint_server as server;

mod api;
mod crate_layers;
mod dependencies;
mod engine_modules;
mod lessons;
mod signatures;
mod targets;
