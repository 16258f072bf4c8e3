//! The API over a real socket: each lesson a story, each operation its refusals, each bad input its code.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

extern crate holdpoint_server as server;

mod acting;
mod actions;
mod approvals;
mod approvals_checklist;
mod approvals_clients;
mod approvals_table;
mod asyncapi;
mod audit;
mod bad_access;
mod bad_bodies;
mod bad_questions;
mod closing;
mod contract;
mod crowds;
mod definitions;
mod deliveries;
mod edits;
mod effects;
mod errors;
mod flows_stream;
mod flows_table;
mod flows_wire;
mod flows_words;
mod grant_patterns;
mod grants;
mod handing_over;
mod keeping;
mod limits;
mod messages;
mod oidc;
mod page;
mod people;
mod permits;
mod play;
mod policy;
mod provider;
mod resuming;
mod secrets;
mod side_doors;
mod signing_in;
mod sockets;
mod sse;
mod stopping;
mod streams;
mod tickets;
mod time;
mod waiting;
mod walls;
mod webhooks;
mod wire;
mod wire_client;
mod words;
mod world;
