//! Policies: rules in a file that give a ruling on a call.
//!
//! This crate reads a policy, refuses one that does not mean what it says, and judges calls by it. It does no I/O: a
//! policy comes as text, a call as a [`PolicyInput`].
//!
//! Fail closed: a call that no rule matches, that cannot be parsed or that a rule cannot evaluate is never allowed.
//!
//! Start reading at `policy.rs`: the first rule that matches decides. `asking.rs` combines the questions of several
//! rules. `rule.rs` says when a rule matches, `index.rs` finds the rules for a tool, `condition.rs` evaluates the
//! expressions of rules (the only module that knows CEL). The facts that expressions examine come from the crate
//! `tool-facts`. A file is read by `load.rs`, which parses it with `document.rs`, checks its examples and lints it;
//! every problem is a [`Finding`]. `learn.rs` suggests rules from the decisions of people.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![warn(clippy::wildcard_enum_match_arm)]

mod answer;
mod asking;
mod case;
mod command_covers;
mod command_finds;
mod command_pattern;
mod command_tool;
mod condition;
mod document;
mod environment;
mod example;
mod example_result;
mod explain;
mod finding;
mod fit_allow;
mod fit_find;
mod fit_parts;
mod host_pattern;
mod index;
mod judgement;
mod learn;
mod lint;
mod listed;
mod load;
mod location;
mod part_patterns;
mod parts;
mod path_pattern;
mod pattern;
mod policy;
mod presets;
#[cfg(test)]
mod properties;
mod read_ask;
mod read_patterns;
mod read_rule;
mod read_tool;
mod reason;
mod remembered;
mod rule;
mod settle;
mod table_pattern;
mod why;
mod wildcard;

pub use asking::{AskCause, AskTerms, Asking};
pub use command_tool::CommandTool;
pub use condition::Condition;
pub use environment::{clients, is_client, is_root};
pub use example_result::ExampleResult;
pub use explain::{ConsideredPart, ConsideredRule, Explanation};
pub use finding::{Finding, Severity};
pub use fit_parts::PartFit;
pub use judgement::{AskSettings, Judgement, NearestRule, PartRuling, PolicyInput};
pub use learn::{Decided, DecisionOutcome, DisputedRun, LEARNT_PREFIX, LearntRule, RUN, Run, held_back, runs};
pub use pattern::Pattern;
pub use policy::{Policy, ToolDeclaration};
pub use presets::{preset, presets};
pub use remembered::{fits, steers};
pub use rule::{Exact, Fit, MismatchReason, Rule};
pub use why::{Does, PartKind, Why};
