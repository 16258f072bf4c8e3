//! Rulings of the policy on actions: a verdict with its rule and its reason.

use serde::{Deserialize, Serialize};

/// Verdict of the policy on an action.
// The variants are ordered from lenient to strict, so that `max` combines verdicts.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The action may run.
    Allow,
    /// People decide whether the action runs.
    Ask,
    /// The action must not run.
    Deny,
}

impl Verdict {
    /// All verdicts, the most lenient first.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// Name of the verdict in JSON, in policies and in the stores.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Ruling on one action: the verdict and its grounds. It is stored as it was given; a later policy does not change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// Verdict of the policy.
    pub verdict: Verdict,
    /// Rule that decided. `None` if no rule matched and the default decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Reason for the verdict.
    pub reason: String,
    /// Version of the policy: the digest of its text.
    pub policy: String,
    /// Ruling of the server's floor on the action, if a floor was in force. The verdict is never more lenient than the verdict of the floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorRuling>,
}

/// Ruling of the server's floor on an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloorRuling {
    /// Version of the floor: the digest of its text.
    pub version: String,
    /// Verdict of the floor. `Allow` leaves the decision to the policy of the project.
    pub verdict: Verdict,
    /// Rule that decided. `None` if no rule of the floor matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Reason for the verdict.
    pub reason: String,
}

impl Ruling {
    /// Combines the ruling with a floor. The stricter verdict applies, with its rule and reason.
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
    fn floor_makes_a_ruling_stricter_and_never_looser() {
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

/// Rule of a policy version that asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskingRule {
    /// Version of the policy.
    pub policy: String,
    /// Name of the rule; absent if no rule matched and the default asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Names of further rules that asked about this call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}
