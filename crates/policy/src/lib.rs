//! Rules in a file give a ruling on an action.
//!
//! Duty: read a policy, refuse one that does not mean what it says, and judge actions by it. Nothing here does I/O: a policy
//! comes as text, an action as a [`PolicyInput`].
//!
//! What no rule knows, what cannot be parsed and what cannot be evaluated is never allowed.
//!
//! Start reading at `policy.rs`: the first rule that matches speaks. `asking.rs` combines what several rules ask. `rule.rs` says when one matches, `index.rs` finds those that may,
//! `condition.rs` evaluates what they look at (and alone knows CEL), `parsed.rs` is what there is to look at. A file comes in through
//! `load.rs`, which reads it with `document.rs`, proves its examples and lints it; every complaint is a [`Finding`]. `learn.rs` finds rules in what
//! people decide.

mod asking;
mod case;
mod condition;
mod document;
mod example;
mod explain;
mod finding;
mod index;
mod judgement;
mod learn;
mod lint;
mod load;
mod parsed;
mod pattern;
mod policy;
#[cfg(test)]
mod properties;
mod read_ask;
mod read_rule;
mod remembered;
mod rule;

pub use asking::{Ask, Asking, Because};
pub use condition::Condition;
pub use explain::{Considered, Explanation};
pub use finding::{Finding, Severity};
pub use judgement::{AskSettings, Judgement, PolicyInput};
pub use learn::{Decided, HeldBack, LEARNT, Learnt, RUN, Run, Said, held_back, runs};
pub use parsed::{Assignment, Parsed, PathFacts, Redirect, Shell, Simple, Sql, Statement, Unparsed, UrlFacts, under};
pub use pattern::Pattern;
pub use policy::{Policy, Tool};
pub use remembered::{fits, steers};
pub use rule::{Exact, Fit, Miss, Rule};
