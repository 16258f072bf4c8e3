//! What policy says of an action: a verdict, with the rule and the reason that it rests on.

use serde::{Deserialize, Serialize};

/// What policy says of an action. Ordered: the later is the stricter, and combining is `max`.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It never runs.
    Deny,
}

impl Verdict {
    /// Every verdict, the mildest first.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// The word for it on the wire, in policies and in the stores.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A verdict on one action, with what it rests on. Kept as it was given: a later policy does not change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// What was said.
    pub verdict: Verdict,
    /// The rule that said it, or `None` where no rule matched and the default spoke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why, for whoever reads it.
    pub reason: String,
    /// The version of the policy: the digest of its text.
    pub policy: String,
}
