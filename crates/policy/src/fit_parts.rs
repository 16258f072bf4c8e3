//! Whether a rule with patterns matches one part of a call.

use domain::Verdict;
use serde::Serialize;

use crate::{
    Rule,
    answer::MatchAnswer,
    case::Case,
    parts::{CallPart, Parts},
    rule::Fit,
    why::{PartKind, Why},
};

/// Result of the check of a rule against one part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "why")]
pub enum PartFit {
    /// The rule matches the part.
    Matches,
    /// The rule does not match, for this reason.
    Misses(Why),
    /// The rule could not be evaluated, for this reason.
    Fails(String),
}

impl From<Fit> for PartFit {
    fn from(fit: Fit) -> Self {
        match fit {
            Fit::Matches => Self::Matches,
            Fit::Misses(why) => Self::Misses(Why::Rule { why }),
            Fit::Fails(error) => Self::Fails(error),
        }
    }
}

/// A call with its parts, as rules with patterns see it.
pub(crate) struct CallView<'v, 'c> {
    pub(crate) case: &'v Case<'c>,
    pub(crate) parts: &'v Parts<'v>,
}

impl Rule {
    /// Checks the rule against one part of a call, if the fit of its other conditions is known.
    pub(crate) fn fit_part(&self, view: &CallView<'_, '_>, part: &CallPart, rest: &Fit) -> PartFit {
        let Some(patterns) = self.patterns.as_deref() else { return rest.clone().into() };
        if let Fit::Misses(why) = rest {
            return PartFit::Misses(Why::Rule { why: *why });
        }
        let answer =
            if self.verdict == Verdict::Allow { patterns.allow(self, view, part) } else { patterns.find(view, part) };
        match (answer, rest) {
            (MatchAnswer::No(why), _) => PartFit::Misses(why),
            (_, Fit::Fails(error)) => PartFit::Fails(error.clone()),
            (MatchAnswer::Yes, _) => PartFit::Matches,
            (MatchAnswer::Maybe(why), _) => self.perhaps(why),
        }
    }

    /// The fit of a rule that matches perhaps.
    fn perhaps(&self, why: Why) -> PartFit {
        let absent = matches!(why, Why::NoCommand | Why::Nothing { .. });
        match self.verdict {
            Verdict::Allow => PartFit::Misses(why),
            Verdict::Ask if !absent => PartFit::Matches,
            Verdict::Ask | Verdict::Deny => PartFit::Fails(why.to_string()),
        }
    }

    /// Checks the rule against a whole call: an allowing rule must match every part, another one some part.
    pub(crate) fn fit_all(&self, case: &Case<'_>, rest: Fit) -> Fit {
        if self.patterns.is_none() || matches!(rest, Fit::Misses(_)) {
            return rest;
        }
        let parts = Parts::of(case.parsed(), case.call.root);
        let view = CallView { case, parts: &parts };
        let fits: Vec<PartFit> = parts.list.iter().map(|part| self.fit_part(&view, part, &rest)).collect();
        let failed = fits.iter().find_map(|fit| if let PartFit::Fails(error) = fit { Some(error) } else { None });
        let matching = fits.iter().filter(|fit| **fit == PartFit::Matches).count();
        let enough = if self.verdict == Verdict::Allow { matching == fits.len() } else { matching > 0 };
        match failed {
            _ if enough => Fit::Matches,
            Some(error) => Fit::Fails(error.clone()),
            None => Fit::Misses(crate::MismatchReason::Patterns),
        }
    }
}

/// The reason of a rule that says nothing about parts of a kind.
pub(crate) const fn not_about(kind: PartKind) -> MatchAnswer {
    MatchAnswer::No(Why::NotAbout { kind })
}
