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
    /// What the server's floor said of the same action, where one was in force. The verdict is never milder than this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorRuling>,
}

/// What the server's floor said of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloorRuling {
    /// The version of the floor: the digest of its text.
    pub version: String,
    /// What it said. `Allow` means that the floor leaves the action to the project's policy.
    pub verdict: Verdict,
    /// The rule that said it, or `None` where no rule of the floor matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
}

impl Ruling {
    /// The same ruling under a floor: the stricter of the two verdicts counts, with the rule and the reason that it rests on.
    #[must_use]
    pub fn under_floor(self, floor: FloorRuling) -> Self {
        let ruling = if floor.verdict > self.verdict {
            Self { verdict: floor.verdict, rule: floor.rule.clone(), reason: floor.reason.clone(), ..self }
        } else {
            self
        };
        Self { floor: Some(floor), ..ruling }
    }

    /// Whether the floor asks people about the action.
    #[must_use]
    pub fn floor_asks(&self) -> bool {
        self.floor.as_ref().is_some_and(|floor| floor.verdict == Verdict::Ask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_makes_a_ruling_stricter_and_never_milder() {
        for given in Verdict::ALL {
            for verdict in Verdict::ALL {
                let ruling = Ruling {
                    verdict: given,
                    rule: Some("project".into()),
                    reason: "p".into(),
                    policy: "v1".into(),
                    floor: None,
                };
                let floor =
                    FloorRuling { version: "f1".into(), verdict, rule: Some("floor".into()), reason: "f".into() };
                let combined = ruling.under_floor(floor.clone());
                assert_eq!(combined.verdict, given.max(verdict));
                let rule = if verdict > given { "floor" } else { "project" };
                assert_eq!(combined.rule.as_deref(), Some(rule), "{given:?} {verdict:?}");
                assert_eq!((combined.policy.as_str(), combined.floor), ("v1", Some(floor)));
            }
        }
    }
}

/// Which rule of which version of the policy asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskingRule {
    /// The policy's version.
    pub policy: String,
    /// The rule's name; none where no rule matched and the default asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Further rules that asked about the same call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}
