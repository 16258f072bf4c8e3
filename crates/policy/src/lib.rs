//! Rules in a file give a ruling on an action.
//!
//! Duty: read a policy, refuse one that does not mean what it says, and judge actions by it. Nothing here does I/O: a policy
//! comes as text, an action as a [`Call`].
//!
//! What cannot be parsed or evaluated is never allowed.

mod judgement;
mod parsed;

pub use judgement::{AskSettings, Call, Judgement};
pub use parsed::{Assignment, Parsed, PathFacts, Redirect, Shell, Simple, Sql, Statement, Unparsed, UrlFacts, under};
