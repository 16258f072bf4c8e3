//! One rule, and the check whether it matches a call.

use std::{fmt, sync::Arc};

use domain::{Digest, Role, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::{AskSettings, Pattern, case::Case, condition::Condition, part_patterns::PartPatterns};

/// One rule of a policy.
#[derive(Debug)]
pub struct Rule {
    /// Name of the rule in the file.
    pub name: String,
    /// Patterns of tool names. A rule without any is refused when it is loaded.
    pub tools: Vec<Pattern>,
    /// Patterns of agent names, or `None` for all agents, also those without a name.
    pub agents: Option<Vec<Pattern>>,
    /// Patterns of the names of users who started the session, or `None` for all.
    pub users: Option<Vec<Pattern>>,
    /// Roles of keys, or `None` for all.
    pub roles: Option<Vec<Role>>,
    /// The exact arguments that a call must have, or `None` for any.
    pub arguments: Option<Exact>,
    /// The expression that must be true of the call.
    pub when: Option<Condition>,
    /// The patterns about the parts of the call.
    pub(crate) patterns: Option<Box<PartPatterns>>,
    /// The rule was put in force by an earlier version, and has become an error: it matches nothing.
    pub(crate) disarmed: bool,
    /// Verdict of the rule.
    pub verdict: Verdict,
    /// Reason for the verdict, shown with the ruling.
    pub reason: String,
    /// Settings of its question, if the rule asks and has any.
    pub ask: Option<Arc<AskSettings>>,
    /// Line of the file on which the rule starts.
    pub line: usize,
}

/// Arguments that are compared as a whole by their JSON value: `1` and `1.0` are the same number.
#[derive(Debug, Clone)]
pub struct Exact {
    value: Value,
    digest: Digest,
}

impl Exact {
    /// Takes the arguments to compare with.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self { digest: Digest::of_json(&value), value }
    }

    /// The arguments as written.
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

/// Result of the check of a rule against a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "why")]
pub enum Fit {
    /// The rule matches the call.
    Matches,
    /// The rule does not match, for this reason.
    Misses(MismatchReason),
    /// The expression of the rule could not be evaluated, for this reason.
    Fails(String),
}

/// Reason why a rule does not match a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MismatchReason {
    /// No pattern in `tools` matches the name of the tool.
    Tool,
    /// No pattern in `agents` matches the name of the agent, or the agent has no name.
    Agent,
    /// No pattern in `users` matches the user who started the session.
    User,
    /// The role of the key is not in `roles`.
    Role,
    /// The call has other arguments than `arguments`.
    Arguments,
    /// The rule would allow the call, and an argument of the call could not be parsed.
    Unparsed,
    /// The rule would allow the call, and does not examine an argument that may change the facts which it examines.
    Beside,
    /// The expression is false.
    Condition,
    /// The patterns do not match every part of the call that they have to match.
    Patterns,
    /// The rule allows more than it says, and is an error in this version.
    Unsafe,
    /// The learnt rule is suspended, because a person decided otherwise.
    Suspended,
}

impl Rule {
    /// Says whether a pattern in `tools` matches the name of a tool.
    #[must_use]
    pub fn is_about(&self, tool: &str) -> bool {
        self.tools.iter().any(|pattern| pattern.matches(tool))
    }

    /// Checks the rule against a call.
    pub(crate) fn fit(&self, case: &Case<'_>) -> Fit {
        if self.is_about(case.call.tool) {
            self.fit_all(case, self.fit_beyond_tool(case))
        } else {
            Fit::Misses(MismatchReason::Tool)
        }
    }

    /// Checks all conditions except the name of the tool and the patterns about parts.
    pub(crate) fn fit_beyond_tool(&self, case: &Case<'_>) -> Fit {
        let named = |patterns: &Option<Vec<Pattern>>, name: Option<&str>| {
            let Some(patterns) = patterns else { return true };
            name.is_some_and(|name| patterns.iter().any(|pattern| pattern.matches(name)))
        };
        if self.disarmed {
            return Fit::Misses(MismatchReason::Unsafe);
        }
        if !named(&self.agents, case.call.agent) {
            return Fit::Misses(MismatchReason::Agent);
        }
        if !named(&self.users, Some(case.call.user)) {
            return Fit::Misses(MismatchReason::User);
        }
        if self.roles.as_ref().is_some_and(|roles| !roles.contains(&case.call.role)) {
            return Fit::Misses(MismatchReason::Role);
        }
        if self.arguments.as_ref().is_some_and(|arguments| arguments.digest != case.digest()) {
            return Fit::Misses(MismatchReason::Arguments);
        }
        self.fit_contents(case)
    }

    /// Checks only the facts and the expression: tool, caller and exact arguments are known to match.
    pub(crate) fn fit_contents(&self, case: &Case<'_>) -> Fit {
        if self.verdict == Verdict::Allow && self.is_blind(case) {
            return Fit::Misses(MismatchReason::Unparsed);
        }
        if self.verdict == Verdict::Allow && self.when.as_ref().is_some_and(|when| when.overlooks(case)) {
            return Fit::Misses(MismatchReason::Beside);
        }
        match self.when.as_ref().map(|when| when.holds(case)) {
            None | Some(Ok(true)) => Fit::Matches,
            Some(Ok(false)) => Fit::Misses(MismatchReason::Condition),
            Some(Err(_)) if self.verdict != Verdict::Allow && self.is_about_absent(case) => {
                Fit::Misses(MismatchReason::Condition)
            }
            Some(Err(error)) => Fit::Fails(error),
        }
    }

    /// Says whether an allowing rule would rely on a part of the call that could not be parsed.
    ///
    /// Patterns look at every part by themselves. A rule with exact arguments names the text of a declared command as a whole.
    fn is_blind(&self, case: &Case<'_>) -> bool {
        let facts = case.parsed();
        let shell = || facts.first_shell_doubt().is_some();
        match &self.when {
            Some(when) if when.looks_at("shell") && shell() => true,
            _ if self.patterns.is_some() => false,
            None if self.arguments.is_some() && facts.declared => {
                facts.first_failure().is_some_and(|failure| failure.what != "shell")
            }
            None => facts.first_failure().is_some(),
            Some(_) => facts.first_failure().is_some() || shell(),
        }
    }

    /// Says whether the expression looks at nothing but facts, and at a command, an address or SQL that a call of a declared tool does not have.
    fn is_about_absent(&self, case: &Case<'_>) -> bool {
        let facts = case.parsed();
        let absent = [("shell", facts.shell.is_none()), ("url", facts.url.is_none()), ("sql", facts.sql.is_none())];
        let on_absent = |when: &Condition| {
            !when.reads_arguments()
                && absent.iter().any(|(name, absent)| *absent && when.looks_at(name))
                && absent.iter().all(|(name, absent)| *absent || !when.looks_at(name))
                && !when.looks_at("path")
        };
        facts.declared && self.when.as_ref().is_some_and(on_absent)
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

impl fmt::Display for MismatchReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "none of its tools is this one",
            Self::Agent => "none of its agents is the caller",
            Self::User => "none of its users started the session",
            Self::Role => "none of its roles is the caller's",
            Self::Unparsed => "a part of the call could not be parsed, and no rule allows such a call",
            Self::Beside => {
                "the call has an argument that may change the facts that the rule tests, and the rule does not test it by its name"
            }
            Self::Arguments => "the arguments of the call are not equal to its `arguments`",
            Self::Condition => "its expression is false",
            Self::Patterns => "its patterns do not match every part of the call that they have to match",
            Self::Unsafe => "it allows more than it says, and this version refuses it: see the warnings of the policy",
            Self::Suspended => "it is suspended, because a person decided against it",
        })
    }
}
