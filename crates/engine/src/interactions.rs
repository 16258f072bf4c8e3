//! Asks people questions, records their answers and closes the questions.
//!
//! Each command has a file: `ask.rs`, `answer.rs`, `cancel.rs`, `expire.rs`, `claim.rs` and so on. `plan.rs` reads the question, the action and the
//! policy that an answer needs, before its transaction. `close.rs` locks a question, applies a change to it, and is the only file that lists the
//! consequences of its end. The room `deliveries` hands answers to agents, and the room `actions` applies them to actions.
//! `domain::Interaction::admit` decides who may answer. Start with `answer.rs`, then `plan.rs` and `close.rs`.

pub(crate) mod abstain;
pub(crate) mod answer;
pub(crate) mod archive;
pub(crate) mod ask;
pub(crate) mod auto_resolve;
pub(crate) mod cancel;
pub(crate) mod claim;
pub(crate) mod close;
pub(crate) mod expire;
pub(crate) mod forms_check;
pub(crate) mod hand_over;
pub(crate) mod kept_answer;
pub(crate) mod list;
pub(crate) mod open;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod release;

pub(crate) use close::{apply_answer, apply_change, lock, save_lease, withdraw};
pub(crate) use hand_over::{close_handed_over, find_original_question};
pub(crate) use open::open;
