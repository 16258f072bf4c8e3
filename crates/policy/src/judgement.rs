//! The input and the result of a judgement: a call, and what the policy decides about it.

use std::ops::Range;

use domain::{Audience, Choice, Fallback, Role, Ruling, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::{Asking, PartKind, Why};

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
    /// Name of the client that the key is for, if the key says so: the catalogue declares the tools of known clients.
    pub client: Option<&'a str>,
    /// Root of the session, where relative patterns start: an absolute path that a person set, never the agent.
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
    /// The ruling on each part of the call, in the order of its text.
    pub parts: Vec<PartRuling>,
}

/// The ruling on one part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartRuling {
    /// The kind of the part.
    pub kind: PartKind,
    /// The bytes of the command in which the part stands. `None` for the call as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Range<usize>>,
    /// The part in a few words. Empty for the call as a whole.
    pub text: String,
    /// The verdict on the part.
    pub verdict: Verdict,
    /// The rule that gave it; `None` for the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The allowing rule that came closest, and the first term of it that is false. `None` for an allowed part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestRule>,
}

/// The allowing rule that came closest to a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearestRule {
    /// Name of the rule.
    pub rule: String,
    /// The first term that is false.
    pub why: Why,
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
