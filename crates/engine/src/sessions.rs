//! Opens, controls and ends sessions, and carries the messages of their conversations.
//!
//! `open.rs` opens a session with its first step, `control.rs` pauses, resumes and ends it. `message.rs` carries messages between people and agents.
//! `chat.rs` and `names.rs` find the session of a conversation that another system knows by its own name. `lock.rs` locks a session for a use case
//! and saves it. The steps inside a hosted session are in `steps`. Start with `open.rs`, then `control.rs`.

pub(crate) mod chat;
pub(crate) mod control;
pub(crate) mod list;
pub(crate) mod lock;
pub(crate) mod message;
pub(crate) mod names;
pub(crate) mod open;
pub(crate) mod snapshot;

pub(crate) use control::{apply_control, end_by_answer};
pub(crate) use lock::{lock, save};
pub(crate) use message::{record_question_message, record_reply, send_message};
pub(crate) use open::open;
