//! Learns policy rules from the decisions of people, and suspends learnt rules that later decisions contradict.
//!
//! `decisions.rs` reads the decisions of people, `action_history.rs` the actions that agents proposed. `suggest.rs` derives rules from
//! both. `suspend.rs` suspends a learnt rule in the transaction of a decision that contradicts it. The crate `policy` contains the
//! derivation of a rule. Start with `suggest.rs`.

pub(crate) mod action_history;
pub(crate) mod decisions;
pub(crate) mod suggest;
pub(crate) mod suspend;

pub(crate) use decisions::find_contradictions;
pub(crate) use suspend::{enforce_earlier_decisions, suspend_contradicted_rules};
