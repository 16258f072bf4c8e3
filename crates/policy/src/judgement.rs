//! What is judged, and what comes out.

use domain::{Audience, Choice, Fallback, Role, Ruling};
use serde_json::Value;

use crate::Asking;

/// One action, as policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct PolicyInput<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments, an object.
    pub arguments: &'a Value,
    /// The agent's name, where its session has one.
    pub agent: Option<&'a str>,
    /// Who started the session.
    pub user: &'a str,
    /// The role of the key that proposes.
    pub role: Role,
}

/// A ruling, and with `ask` everything that asks.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// What was said, by which rule and why.
    pub ruling: Ruling,
    /// With `ask`, everything that asks, in the order of the file: rules that could not be evaluated, then the rule that matches or the
    /// default. Empty otherwise. [`Ask::of`](crate::Ask::of) makes one question of them.
    pub asks: Vec<Asking>,
    /// Every rule saw the whole of the call: all of it was parsed without doubt, and no rule failed on it. Where that is not so, a rule that
    /// denies may have been kept from seeing what it denies. Told of `ask` only.
    pub certain: bool,
}

/// How a rule wants its question put.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AskSettings {
    /// Who may answer, and how many must.
    pub audience: Option<Audience>,
    /// How long people have.
    pub deadline_seconds: Option<i64>,
    /// What happens then.
    pub fallback: Option<Fallback>,
    /// What they may choose from; empty for the usual options of an approval.
    pub options: Vec<Choice>,
}
