//! The input and the result of a judgement: a call, and what the policy decides about it.

use domain::{Audience, Choice, Fallback, Role, Ruling};
use serde_json::Value;

use crate::Asking;

/// One call and its caller: everything that a policy may examine.
#[derive(Debug, Clone, Copy)]
pub struct PolicyInput<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// Arguments of the tool, an object.
    pub arguments: &'a Value,
    /// Name of the agent, if its session has one.
    pub agent: Option<&'a str>,
    /// Name of the user who started the session.
    pub user: &'a str,
    /// Role of the key that proposes the call.
    pub role: Role,
    /// Client for which that key was made: a name in the catalogue of tools.
    pub client: Option<&'a str>,
    /// Directory in which the agent works, an absolute path.
    pub root: Option<&'a str>,
}

/// The result of judging a call: a ruling, and for `ask` all reasons to ask.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The verdict, the rule that gave it, and the reason.
    pub ruling: Ruling,
    /// For `ask`, all reasons to ask, in the order of the file: rules that could not be evaluated, then the rule that
    /// matches or the default. Empty for other verdicts. [`AskTerms::of`](crate::AskTerms::of) combines them into one question.
    pub asks: Vec<Asking>,
    /// Whether the call was parsed without doubt, and no rule failed on it. If not, a denying rule may not have seen
    /// the part that it denies. Meaningful for `ask` only.
    pub certain: bool,
}

/// Settings of the question that a rule asks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AskSettings {
    /// The audience: who may answer, and how many answers are needed.
    pub audience: Option<Audience>,
    /// Time to answer, in seconds.
    pub deadline_seconds: Option<i64>,
    /// The outcome if nobody answers in time.
    pub fallback: Option<Fallback>,
    /// The options to choose from; empty for the usual options of an approval.
    pub options: Vec<Choice>,
}
