//! Tests of the rules of the domain: every state with every change, and generated histories.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing helper fails its test")]

mod action_histories;
mod action_table;
mod agents;
mod answers;
mod audience;
mod audit;
mod common;
mod documents;
mod events;
mod flows;
mod histories;
mod interaction_table;
mod moves;
mod page_words;
mod questions;
mod requirements;
mod session_table;
mod words;
