//! Rules that are suggested from the decisions of people, and suspended by them.
//!
//! `decisions.rs` reads what people decided, `action_history.rs` what agents proposed. `suggest.rs` makes rules of it. `suspend.rs` suspends a learnt
//! rule in the transaction of a decision that contradicts it. How a rule is derived is in the crate `policy`. Start with `suggest.rs`.

pub(crate) mod action_history;
pub(crate) mod decisions;
pub(crate) mod suggest;
pub(crate) mod suspend;

pub(crate) use decisions::find_contradictions;
pub(crate) use suspend::{enforce_earlier_decisions, suspend_contradicted_rules};
