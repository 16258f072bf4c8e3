//! One rule, and whether it matches one call.

use std::{fmt, sync::Arc};

use domain::{Digest, Role, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::{AskSettings, Pattern, case::Case, condition::Condition};

/// One rule of a policy.
#[derive(Debug)]
pub struct Rule {
    /// Its name in the file.
    pub name: String,
    /// The tools that it is about. Empty never loads: it would be about none.
    pub tools: Vec<Pattern>,
    /// The agents that it is about, or `None` for all, those without a name included.
    pub agents: Option<Vec<Pattern>>,
    /// The people that it is about, by who started the session, or `None` for all.
    pub users: Option<Vec<Pattern>>,
    /// The roles of keys that it is about, or `None` for all.
    pub roles: Option<Vec<Role>>,
    /// The arguments that a call must have, these and no others, or `None` for all.
    pub arguments: Option<Exact>,
    /// What must be true of the call besides.
    pub when: Option<Condition>,
    /// What it says.
    pub verdict: Verdict,
    /// Why, for whoever reads the ruling.
    pub reason: String,
    /// How its question is put, where it asks and says so.
    pub ask: Option<Arc<AskSettings>>,
    /// The line of the file where it starts.
    pub line: usize,
}

/// Arguments that are compared as a whole, as JSON means them: `1` and `1.0` are one number.
#[derive(Debug, Clone)]
pub struct Exact {
    value: Value,
    digest: Digest,
}

impl Exact {
    /// Exactly these.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self { digest: Digest::of_json(&value), value }
    }

    /// As they were written.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

/// What a rule makes of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "why")]
pub enum Fit {
    /// It is about this call.
    Matches,
    /// It is not, for this reason.
    Misses(Miss),
    /// Its expression could not be evaluated, for this reason.
    Fails(String),
}

/// Why a rule is not about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Miss {
    /// No pattern of its tools matches the tool's name.
    Tool,
    /// None of its agents is the caller's, or the caller's has no name.
    Agent,
    /// None of its users started the session.
    User,
    /// None of its roles is that of the key.
    Role,
    /// It names arguments, and the call's are others.
    Arguments,
    /// Something in the call could not be parsed, and the rule would allow it.
    Unparsed,
    /// The call has an argument that may change what the rule looks at, and the rule, which would allow it, does not look at that.
    Beside,
    /// Its expression is false.
    Condition,
    /// Somebody decided otherwise than it says.
    Suspended,
}

impl Rule {
    /// Whether every call of its tools matches, whoever makes it and whatever is in it.
    #[must_use]
    pub fn is_unconditional(&self) -> bool {
        self.agents.is_none() && self.users.is_none() && self.roles.is_none() && self.takes_any_arguments()
    }

    /// Whether it does not look at what is in a call.
    #[must_use]
    pub const fn takes_any_arguments(&self) -> bool {
        self.arguments.is_none() && self.when.is_none()
    }

    /// Whether one of its patterns matches a tool's name.
    #[must_use]
    pub fn is_about(&self, tool: &str) -> bool {
        self.tools.iter().any(|pattern| pattern.matches(tool))
    }

    pub(crate) fn fit(&self, case: &Case<'_>) -> Fit {
        if self.is_about(case.call.tool) { self.fit_beyond_tool(case) } else { Fit::Misses(Miss::Tool) }
    }

    /// The same for a tool that is known to match.
    pub(crate) fn fit_beyond_tool(&self, case: &Case<'_>) -> Fit {
        let named = |patterns: &Option<Vec<Pattern>>, name: Option<&str>| {
            let Some(patterns) = patterns else { return true };
            name.is_some_and(|name| patterns.iter().any(|pattern| pattern.matches(name)))
        };
        if !named(&self.agents, case.call.agent) {
            return Fit::Misses(Miss::Agent);
        }
        if !named(&self.users, Some(case.call.user)) {
            return Fit::Misses(Miss::User);
        }
        if self.roles.as_ref().is_some_and(|roles| !roles.contains(&case.call.role)) {
            return Fit::Misses(Miss::Role);
        }
        if self.arguments.as_ref().is_some_and(|arguments| arguments.digest != case.digest()) {
            return Fit::Misses(Miss::Arguments);
        }
        self.fit_contents(case)
    }

    /// The same for a caller who is known to be meant, and arguments that are those which it names.
    pub(crate) fn fit_contents(&self, case: &Case<'_>) -> Fit {
        if self.verdict == Verdict::Allow && case.parsed().failed().is_some() {
            return Fit::Misses(Miss::Unparsed);
        }
        if self.verdict == Verdict::Allow && self.when.as_ref().is_some_and(|when| when.overlooks(case)) {
            return Fit::Misses(Miss::Beside);
        }
        match self.when.as_ref().map(|when| when.holds(case)) {
            None | Some(Ok(true)) => Fit::Matches,
            Some(Ok(false)) => Fit::Misses(Miss::Condition),
            Some(Err(error)) => Fit::Fails(error),
        }
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matches => f.write_str("matches"),
            Self::Misses(miss) => write!(f, "does not match: {miss}"),
            Self::Fails(error) => write!(f, "cannot be evaluated: {error}"),
        }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "none of its tools is this one",
            Self::Agent => "none of its agents is the caller",
            Self::User => "none of its users started the session",
            Self::Role => "none of its roles is the caller's",
            Self::Unparsed => "something in the call could not be parsed, and what cannot be parsed is never allowed",
            Self::Beside => {
                "an argument beside what it looks at may change that, and it does not look at the argument, by its name"
            }
            Self::Arguments => "its arguments are others",
            Self::Condition => "its expression is false",
            Self::Suspended => "it is suspended, because somebody decided otherwise",
        })
    }
}
