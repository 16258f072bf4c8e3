//! Tests the server over real sockets.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing helper fails its test")]

extern crate holdpoint_server as server;

mod api;
mod crate_layers;
mod dependencies;
mod file_sizes;
mod function_names;
mod lessons;
mod rooms;
mod shared_sql;
mod signatures;
mod targets;
mod unused_items;
mod use_cases;
