//! A whole server for tests: SQLite, engine, every route with the dialects, on a real socket, with a clock that tests
//! move by hand.
//!
//! The tests of `server` and of `dialects` share this crate. [`world::World`] starts a server; [`client::ApiClient`] is
//! a caller with a key; [`sse`] and [`websocket`] read streams and sockets; [`actions`], [`flows`], [`play`] and
//! [`scripted_worker`] are the steps that many tests begin with.
//!
//! Never an ordinary dependency: only `[dev-dependencies]` name this crate.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![expect(clippy::must_use_candidate, reason = "tests may ignore replies")]
#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing helper fails its test")]

pub mod actions;
pub mod client;
pub mod definitions;
pub mod flows;
pub mod play;
pub mod scripted_worker;
pub mod sse;
pub mod websocket;
pub mod world;
