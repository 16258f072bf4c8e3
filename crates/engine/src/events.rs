//! Readers that follow what happened.
//!
//! A follower reads events from its own cursor: of a session, of a project (`follow.rs`) or of all sessions of a channel (`channel.rs`). `settling.rs`
//! shares one wait among the readers of a project whose newest events are not yet in commit order. Events are written by `run/transaction.rs`. Start with
//! `follow.rs`.

pub(crate) mod channel;
pub(crate) mod follow;
pub(crate) mod settling;
