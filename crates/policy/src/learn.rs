//! The narrowest rule that explains a run of equal decisions of people.
//!
//! A rule is found only where it can be proved: it says nothing of what the policy denies, it passes every check that a file passes, its
//! examples are the calls of the run, and no decision that is known speaks against it.

mod words;

use std::collections::{BTreeMap, BTreeSet};

use domain::{Digest, Role, Verdict};
use serde_json::Value;

use crate::{Parsed, Pattern, Policy, PolicyInput, Rule, case::Case, rule::Fit};

/// How many equal decisions are a run.
pub const RUN: usize = 5;
/// How the name of a learnt rule begins.
pub const LEARNT: &str = "learnt-";
/// How many people or roles a rule may name; a run of more is nobody's habit.
const MOST_NAMES: usize = 20;
/// How many different calls of a run stand as examples.
const EXAMPLES: usize = 5;

/// One call that a person decided about.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// The agent.
    pub agent: String,
    /// Who started the session.
    pub user: String,
    /// The role of the key that proposed.
    pub role: Role,
    /// What was decided.
    pub said: Said,
    /// The agent asked about it in its own words. That may speak against a rule, and never for one.
    pub own_words: bool,
}

/// What a person decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// Run it as it is.
    Approved,
    /// Do not run it.
    Rejected,
    /// Something else: other arguments, another try.
    Otherwise,
}

impl Said {
    /// What a rule would say in its place.
    const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Approved => Some(Verdict::Allow),
            Self::Rejected => Some(Verdict::Deny),
            Self::Otherwise => None,
        }
    }
}

/// A run of equal decisions, and the form that they have in common. Not proved yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    form: Form,
    verdict: Verdict,
    /// Which decisions, by their place in the list.
    pub decisions: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// The same arguments.
    Exactly,
    /// One plain command of this program and subcommand, in one of these orders of words.
    Command { program: String, subcommand: String, words: BTreeSet<Vec<String>> },
}

/// A rule that explains a run of equal decisions, proved.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    /// The name of the rule, made of what it says.
    pub name: String,
    /// What it says.
    pub verdict: Verdict,
    /// The rule, in TOML, with its examples.
    pub rule: String,
    /// The rule that asked, in front of which it stands; none where the default did, and it stands last.
    pub before: Option<String>,
    /// The policy with the rule in it.
    pub text: String,
    /// Which decisions it explains, by their place in the list.
    pub decisions: Vec<usize>,
}

/// A run that would be one, had nobody decided otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// What a rule would say.
    pub verdict: Verdict,
    /// Which decisions speak for it, by their place in the list.
    pub decisions: Vec<usize>,
    /// Which speak against it.
    pub against: Vec<usize>,
}

/// A sort of commands: the tool, the agent, the program and the subcommand.
type Sort<'a> = (&'a str, &'a str, String, String);

/// Decisions about the same arguments of one tool and agent, by their places.
type Exact<'a> = BTreeMap<(&'a str, &'a str, String), Vec<usize>>;
/// Decisions about one sort of commands, with the words of each.
type Commands<'a> = BTreeMap<Sort<'a>, Vec<(usize, Vec<String>)>>;

/// The runs among decisions, the longest first.
#[must_use]
pub fn runs(decisions: &[Decided]) -> Vec<Run> {
    let (exact, commands) = sorted(decisions);
    let mut runs: Vec<Run> = exact.into_values().filter_map(|places| run(decisions, places, Form::Exactly)).collect();
    for ((_, _, program, subcommand), found) in commands {
        let for_it = found.iter().filter(|(place, _)| supports(decisions, *place));
        let different: BTreeSet<&Vec<String>> = for_it.map(|(_, words)| words).collect();
        if different.len() > 1 {
            let words = different.into_iter().cloned().collect();
            let places = found.iter().map(|(place, _)| *place).collect();
            let form = Form::Command { program, subcommand, words };
            runs.extend(run(decisions, places, form).filter(|run| run.verdict == Verdict::Allow));
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.decisions.len()));
    runs
}

/// The runs that somebody has decided otherwise about, those with most support first.
#[must_use]
pub fn held_back(decisions: &[Decided]) -> Vec<HeldBack> {
    let (exact, commands) = sorted(decisions);
    let mut held: Vec<HeldBack> = Vec::new();
    for places in exact.values() {
        held.extend([Said::Approved, Said::Rejected].into_iter().filter_map(|said| disputed(decisions, places, said)));
    }
    for found in commands.values() {
        let places: Vec<usize> = found.iter().map(|(place, _)| *place).collect();
        let approved = |place: &usize| agrees(decisions, *place, Said::Approved) && supports(decisions, *place);
        let words = found.iter().filter(|(place, _)| approved(place)).map(|(_, words)| words);
        // What is about one order of words is about the same arguments.
        if words.collect::<BTreeSet<_>>().len() > 1 {
            held.extend(disputed(decisions, &places, Said::Approved));
        }
    }
    held.sort_by_key(|held| std::cmp::Reverse(held.decisions.len()));
    held
}

/// Decisions by what they have in common.
fn sorted(decisions: &[Decided]) -> (Exact<'_>, Commands<'_>) {
    let (mut exact, mut commands) = (Exact::new(), Commands::new());
    for (place, decided) in decisions.iter().enumerate() {
        let (tool, agent) = (decided.tool.as_str(), decided.agent.as_str());
        let arguments = Digest::of_json(&decided.arguments).to_string();
        exact.entry((tool, agent, arguments)).or_default().push(place);
        if let Some((program, subcommand, words)) = command(decided) {
            commands.entry((tool, agent, program, subcommand)).or_default().push((place, words));
        }
    }
    (exact, commands)
}

/// What would be a run, had nobody decided otherwise.
fn disputed(decisions: &[Decided], places: &[usize], said: Said) -> Option<HeldBack> {
    let (mut agreeing, against): (Vec<usize>, Vec<usize>) =
        places.iter().partition(|place| agrees(decisions, **place, said));
    agreeing.retain(|place| supports(decisions, *place));
    let verdict = said.verdict().filter(|_| agreeing.len() >= RUN && !against.is_empty())?;
    Some(HeldBack { verdict, decisions: agreeing, against })
}

fn agrees(decisions: &[Decided], place: usize, said: Said) -> bool {
    decisions.get(place).is_some_and(|decided| decided.said == said)
}

fn run(decisions: &[Decided], places: Vec<usize>, form: Form) -> Option<Run> {
    let mut said = places.iter().filter_map(|place| decisions.get(*place)).map(|decided| decided.said);
    let first = said.next()?;
    let equal = said.all(|other| other == first);
    let verdict = first.verdict()?;
    let places: Vec<usize> = places.into_iter().filter(|place| supports(decisions, *place)).collect();
    (equal && places.len() >= RUN).then_some(Run { form, verdict, decisions: places })
}

/// Whether a decision may speak for a rule.
fn supports(decisions: &[Decided], place: usize) -> bool {
    decisions.get(place).is_some_and(|decided| !decided.own_words)
}

/// The program, subcommand and words of a call that is one plain command and nothing else.
fn command(decided: &Decided) -> Option<(String, String, Vec<String>)> {
    let arguments = decided.arguments.as_object().filter(|arguments| arguments.len() == 1)?;
    arguments.values().next()?.as_str()?;
    let parsed = Parsed::of(&decided.tool, &decided.arguments);
    if parsed.failed().is_some() {
        return None;
    }
    let shell = parsed.shell?.ok().filter(|shell| shell.plain)?;
    let [simple] = shell.commands.as_slice() else { return None };
    let ordinary = |word: &String| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
    if simple.subcommand.is_empty() || simple.opaque || simple.remote || !simple.words.iter().all(ordinary) {
        return None;
    }
    Some((simple.program.clone(), simple.subcommand.clone(), simple.words.clone()))
}

impl Policy {
    /// Proves the rule of a run. None where that cannot be done, or where a decision speaks against it.
    #[must_use]
    pub fn learn(&self, run: &Run, decisions: &[Decided]) -> Option<Learnt> {
        let of_run: Vec<&Decided> = run.decisions.iter().filter_map(|place| decisions.get(*place)).collect();
        let first = *of_run.first()?;
        let names = Names::of(&of_run)?;
        let asking = self.asking(&of_run, &names)?;
        if let (Form::Command { .. }, Some(asking)) = (&run.form, asking) {
            // Whatever the words: every such call comes to the rule that asks, or to one before it.
            let rule = self.rules.iter().find(|rule| rule.name == asking)?;
            if rule.when.is_some() || rule.arguments.is_some() {
                return None;
            }
        }
        let rule = words::Words { run, names: &names, first, calls: distinct(&of_run) }.rule()?;
        let text = words::inserted(self, &rule.text, asking);
        let learnt = Self::load("policy.toml", &text).ok()?;
        let same = learnt.rules.len() == self.rules.len() + 1 && learnt.warnings.len() == self.warnings.len();
        let spoken = |decided: &&Decided| learnt.judge(&decided.call()).ruling.rule.as_ref() == Some(&rule.name);
        if !same || !of_run.iter().all(spoken) || learnt.spoken_against(&rule.name, decisions) {
            return None;
        }
        let before = asking.map(str::to_owned);
        Some(Learnt {
            name: rule.name,
            verdict: run.verdict,
            rule: rule.text,
            before,
            text,
            decisions: run.decisions.clone(),
        })
    }

    /// The one rule that asks about the whole run, whoever of it proposes: outer none if there is no such rule, inner none for the default.
    fn asking(&self, of_run: &[&Decided], names: &Names<'_>) -> Option<Option<&str>> {
        let mut asking: Option<Option<String>> = None;
        for decided in of_run {
            for user in &names.users {
                for role in &names.roles {
                    let judgement = self.judge(&PolicyInput { user, role: *role, ..decided.call() });
                    if judgement.ruling.verdict != Verdict::Ask || !judgement.certain {
                        return None;
                    }
                    if asking.get_or_insert_with(|| judgement.ruling.rule.clone()) != &judgement.ruling.rule {
                        return None;
                    }
                }
            }
        }
        match asking? {
            None => Some(None),
            Some(name) => Some(Some(self.rules.iter().find(|rule| rule.name == name)?.name.as_str())),
        }
    }

    /// Whether a rule is about a call of which somebody decided otherwise.
    #[must_use]
    pub fn spoken_against(&self, rule: &str, decisions: &[Decided]) -> bool {
        let Some(rule) = self.rules.iter().find(|found| found.name == rule) else { return false };
        decisions.iter().any(|decided| {
            decided.said.verdict() != Some(rule.verdict) && rule.fit(&Case::new(&decided.call())) == Fit::Matches
        })
    }

    /// The learnt rules that are about a call of which somebody decided otherwise.
    #[must_use]
    pub fn contradicted(&self, decided: &Decided) -> Vec<&str> {
        let about = self.learnt_about(&decided.call()).into_iter();
        about.filter(|(_, verdict)| decided.said.verdict() != Some(*verdict)).map(|(name, _)| name).collect()
    }

    /// Its learnt rules, by name.
    pub fn learnt(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.name.as_str()).filter(|name| name.starts_with(LEARNT))
    }

    /// The rules that have the name of a learnt rule, and not the one that is made of what they say: that name stands for what people decided,
    /// and is what a rule is suspended by.
    pub fn misnamed(&self) -> impl Iterator<Item = &Rule> {
        let learnt = self.rules.iter().filter(|rule| rule.name.starts_with(LEARNT));
        learnt.filter(|rule| words::Saying::of(rule).and_then(|saying| saying.name()).as_ref() != Some(&rule.name))
    }

    /// The learnt rules that are about a call, whether or not another one speaks first, with what each says.
    #[must_use]
    pub fn learnt_about(&self, call: &PolicyInput<'_>) -> Vec<(&str, Verdict)> {
        let case = Case::new(call);
        let learnt = self.rules.iter().filter(|rule| rule.name.starts_with(LEARNT));
        learnt.filter(|rule| rule.fit(&case) == Fit::Matches).map(|rule| (rule.name.as_str(), rule.verdict)).collect()
    }
}

impl Decided {
    /// The call, as policy sees it.
    #[must_use]
    pub fn call(&self) -> PolicyInput<'_> {
        let Self { tool, arguments, agent, user, role, .. } = self;
        PolicyInput { tool, arguments, agent: Some(agent), user, role: *role }
    }
}

/// On whose behalf the calls of a run were made.
struct Names<'a> {
    users: BTreeSet<&'a str>,
    roles: Vec<Role>,
}

impl<'a> Names<'a> {
    /// None where a name could stand for others.
    fn of(of_run: &[&'a Decided]) -> Option<Self> {
        let exact = |name: &str| Pattern::new(name).is_ok_and(|pattern| pattern.is_exact());
        let users: BTreeSet<&str> = of_run.iter().map(|decided| decided.user.as_str()).collect();
        let roles = Role::ALL.into_iter().filter(|role| of_run.iter().any(|decided| decided.role == *role)).collect();
        let plain = of_run.iter().all(|decided| exact(&decided.tool) && exact(&decided.agent) && exact(&decided.user));
        (plain && users.len() <= MOST_NAMES).then_some(Self { users, roles })
    }
}

/// The different calls of a run, as many as are shown.
fn distinct<'a>(of_run: &[&'a Decided]) -> Vec<&'a Decided> {
    let mut calls: Vec<&Decided> = Vec::new();
    for decided in of_run {
        if calls.len() < EXAMPLES && !calls.iter().any(|known| known.call_is(decided)) {
            calls.push(decided);
        }
    }
    calls
}

impl Decided {
    fn call_is(&self, other: &Self) -> bool {
        (&self.arguments, &self.user, self.role) == (&other.arguments, &other.user, other.role)
    }
}
