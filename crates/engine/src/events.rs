//! Followers that read events from a cursor.
//!
//! A follower reads the events of a session or a project (`follow.rs`), or of all sessions of a channel (`channel.rs`). `settling.rs`
//! shares one wait among the readers of a project whose newest events are not yet in commit order. `run/transaction.rs` writes the
//! events. Start with `follow.rs`.

pub(crate) mod channel;
pub(crate) mod follow;
pub(crate) mod settling;
