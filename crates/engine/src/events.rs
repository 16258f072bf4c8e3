//! Follows the events of sessions, projects and channels from a cursor.
//!
//! A follower reads the events of a session or a project (`follow.rs`), or of all sessions of a channel (`channel.rs`). `settling.rs` shares one
//! wait among the readers of a project whose newest events are not yet in commit order. Events are not written here but in `run/transaction.rs`.
//! Webhooks read the same events in `webhooks/batch.rs`. Start with `follow.rs`.

pub(crate) mod channel;
pub(crate) mod follow;
pub(crate) mod settling;
