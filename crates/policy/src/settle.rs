//! Settles the ruling on a call: every part is ruled on as if it came alone, and the strictest verdict counts.

use domain::{Ruling, Verdict};

use crate::{
    AskCause, Asking, Fit, Judgement, NearestRule, PartKind, PartRuling, Policy, Rule, Why,
    case::Case,
    fit_parts::{CallView, PartFit},
    parts::CallPart,
    reason,
};

/// A rule that could not be evaluated, so that a person has to decide about the part.
pub(crate) struct Failed<'p> {
    pub(crate) rule: &'p Rule,
    pub(crate) error: String,
}

/// The rules that were evaluated for one part so far.
#[derive(Default)]
pub(crate) struct PartState<'p> {
    failed: Vec<Failed<'p>>,
    matched: Option<&'p Rule>,
    /// The allowing rule that came closest.
    nearest: Option<(&'p Rule, Why)>,
}

/// The ruling on one part.
struct PartOutcome<'p> {
    verdict: Verdict,
    rule: Option<&'p Rule>,
    reason: String,
    /// The reasons to ask, with the lines of their rules.
    asks: Vec<(usize, Asking)>,
}

/// Is told the results of a rule: the fit of its conditions on the whole call, and its fit for each part that was not decided, by number.
pub(crate) type Note<'n, 'p> = dyn FnMut(&'p Rule, &Fit, Vec<(usize, PartFit)>) + 'n;

impl<'p> PartState<'p> {
    /// Takes the result of the next rule.
    fn take(&mut self, rule: &'p Rule, fit: PartFit) {
        match fit {
            PartFit::Matches => self.matched = Some(rule),
            PartFit::Fails(error) => self.failed.push(Failed { rule, error }),
            PartFit::Misses(why) if rule.verdict == Verdict::Allow => {
                if self.nearest.as_ref().is_none_or(|(_, best)| best.closeness() < why.closeness()) {
                    self.nearest = Some((rule, why));
                }
            }
            PartFit::Misses(_) => {}
        }
    }
}

impl Policy {
    /// Goes through the rules until one matches the call as a whole.
    ///
    /// After a rule that fails the verdict is at least `ask`; only a later rule or a default that denies is stronger. Every asking rule that
    /// fails, and the rule or default that asks at the end, asks its own audience.
    pub(crate) fn settle<'p>(&'p self, case: &Case<'_>, fits: impl Iterator<Item = (&'p Rule, Fit)>) -> Judgement {
        let mut state = PartState::default();
        for (rule, fit) in fits {
            state.take(rule, fit.into());
            if state.matched.is_some() {
                break;
            }
        }
        self.combine(case, &[CallPart::of_call()], &[state])
    }

    /// Goes through the rules until one matches each part. `note` is told the results of every rule by the number of the part.
    pub(crate) fn settle_parts<'p>(
        &'p self,
        view: &CallView<'_, '_>,
        rules: impl Iterator<Item = (&'p Rule, Fit)>,
        note: &mut Note<'_, 'p>,
    ) -> Judgement {
        let parts = &view.parts.list;
        let mut states: Vec<PartState<'p>> = parts.iter().map(|_| PartState::default()).collect();
        for (rule, rest) in rules {
            let mut fits = Vec::new();
            for (number, (part, state)) in parts.iter().zip(&mut states).enumerate() {
                if state.matched.is_some() {
                    continue;
                }
                let fit = rule.fit_part(view, part, &rest);
                fits.push((number, fit.clone()));
                state.take(rule, fit);
            }
            note(rule, &rest, fits);
            if states.iter().all(|state| state.matched.is_some()) {
                break;
            }
        }
        self.combine(view.case, parts, &states)
    }

    /// Combines the rulings on the parts: the strictest verdict, and all reasons to ask.
    fn combine(&self, case: &Case<'_>, parts: &[CallPart], states: &[PartState<'_>]) -> Judgement {
        let outcomes: Vec<PartOutcome<'_>> =
            states.iter().map(|state| self.outcome(case, state, parts.len())).collect();
        let verdict = outcomes.iter().map(|outcome| outcome.verdict).max().unwrap_or(Verdict::Ask);
        let first = outcomes.iter().find(|outcome| outcome.verdict == verdict);
        let parts: Vec<PartRuling> = parts
            .iter()
            .zip(&outcomes)
            .zip(states)
            .map(|((part, outcome), state)| part_ruling(part, outcome, state))
            .collect();
        let reason = reason::with_parts(first.map_or("", |first| &first.reason), verdict, &parts);
        let ruling = Ruling {
            verdict,
            rule: first.and_then(|first| first.rule).map(|rule| rule.name.clone()),
            reason,
            policy: self.version.clone(),
            floor: None,
        };
        let asks = if verdict == Verdict::Ask { merged(outcomes) } else { Vec::new() };
        let certain = verdict != Verdict::Ask
            || (states.iter().all(|state| state.failed.is_empty()) && case.parsed().first_failure().is_none());
        Judgement { ruling, asks, certain, parts }
    }

    fn outcome<'p>(&self, case: &Case<'_>, state: &PartState<'p>, parts: usize) -> PartOutcome<'p> {
        let rest = state.matched.map_or(self.default, |rule| rule.verdict);
        match (state.failed.first(), state.matched) {
            (Some(first), matched) if rest <= Verdict::Ask => {
                let asks = self.asks(&state.failed, matched);
                let reason = reason::held_because(first, &asks, &reason::doubts(case));
                PartOutcome { verdict: Verdict::Ask, rule: Some(first.rule), reason, asks }
            }
            (_, Some(rule)) => self.outcome_of(rule.verdict, Some(rule), rule.reason.clone()),
            (_, None) => {
                let what = if parts > 1 { "a part of this call" } else { "this call" };
                let reason = format!("No rule matches {what}.{}", reason::doubts(case));
                self.outcome_of(self.default, None, reason)
            }
        }
    }

    fn outcome_of<'p>(&self, verdict: Verdict, rule: Option<&'p Rule>, reason: String) -> PartOutcome<'p> {
        let asks = if verdict == Verdict::Ask { self.asks(&[], rule) } else { Vec::new() };
        PartOutcome { verdict, rule, reason, asks }
    }

    /// All reasons to ask about a part: the asking rules that could not be evaluated, then the rule that matches or
    /// the default.
    ///
    /// If no rule matches, the default asks too: otherwise an agent could have a call that the default asks about decided by the audience of
    /// a rule for other calls. A floor has no default. If an allowing rule matches and nothing else asks, the default audience decides.
    fn asks(&self, failed: &[Failed<'_>], matched: Option<&Rule>) -> Vec<(usize, Asking)> {
        let asking = failed.iter().filter(|failed| failed.rule.verdict == Verdict::Ask);
        let mut asks: Vec<(usize, Asking)> = asking
            .map(|Failed { rule, error }| (rule.line, Asking::by(rule, AskCause::Fails(error.clone()))))
            .collect();
        match matched {
            Some(rule) if rule.verdict == Verdict::Ask => {
                asks.push((rule.line, Asking::by(rule, AskCause::Matches)));
            }
            Some(_) if !asks.is_empty() => {}
            None if !asks.is_empty() && self.is_floor() => {}
            Some(_) | None => asks.push((usize::MAX, Asking::by_default())),
        }
        asks
    }
}

/// The reasons to ask of all parts in the order of the file, each rule once.
fn merged(outcomes: Vec<PartOutcome<'_>>) -> Vec<Asking> {
    let mut asks: Vec<(usize, Asking)> = Vec::new();
    for (line, ask) in outcomes.into_iter().flat_map(|outcome| outcome.asks) {
        if !asks.iter().any(|(_, other)| other.rule == ask.rule) {
            asks.push((line, ask));
        }
    }
    asks.sort_by_key(|(line, _)| *line);
    asks.into_iter().map(|(_, ask)| ask).collect()
}

fn part_ruling(part: &CallPart, outcome: &PartOutcome<'_>, state: &PartState<'_>) -> PartRuling {
    let nearest = state.nearest.as_ref().filter(|_| outcome.verdict > Verdict::Allow);
    let nearest = nearest.map(|(rule, why)| NearestRule { rule: rule.name.clone(), why: why.clone() });
    PartRuling {
        kind: part.kind,
        span: part.span.clone().filter(|_| part.kind != PartKind::Call),
        text: part.text.clone(),
        verdict: outcome.verdict,
        rule: outcome.rule.map(|rule| rule.name.clone()),
        nearest,
    }
}
