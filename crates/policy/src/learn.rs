//! Suggests the narrowest rule that explains a run of equal decisions of people.
//!
//! A rule is suggested only if it can be proved: it covers nothing that the policy denies, the policy with it passes every check of a file, its
//! examples are the calls of the run, and no known decision contradicts it.

mod words;

use std::collections::{BTreeMap, BTreeSet};

use domain::{AgentEnvironment, Digest, Role, Verdict};
use serde_json::Value;
use tool_facts::CallFacts;

use crate::{Pattern, Policy, PolicyInput, Rule, rule::Fit};

/// Number of equal decisions that make a run.
pub const RUN: usize = 5;
/// Prefix of the names of learnt rules.
pub const LEARNT_PREFIX: &str = "learnt-";
/// Largest number of users that a learnt rule names.
const MOST_NAMES: usize = 20;
/// Largest number of different calls of a run that become examples.
const EXAMPLES: usize = 5;

/// One call that a person decided about.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the tool.
    pub arguments: Value,
    /// Name of the agent.
    pub agent: String,
    /// Name of the user who started the session.
    pub user: String,
    /// Role of the key that proposed the call.
    pub role: Role,
    /// Program and directory for which that key was made.
    pub environment: AgentEnvironment,
    /// The decision.
    pub said: DecisionOutcome,
    /// Whether the agent asked in its own words. Such a decision may contradict a rule, and never supports one.
    pub own_words: bool,
}

/// The decision of a person about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionOutcome {
    /// Run the call as proposed.
    Approved,
    /// Do not run the call.
    Rejected,
    /// Any other answer, such as edited arguments or a request to try again.
    Otherwise,
}

impl DecisionOutcome {
    /// The verdict of a rule that decides in the same way.
    const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Approved => Some(Verdict::Allow),
            Self::Rejected => Some(Verdict::Deny),
            Self::Otherwise => None,
        }
    }
}

/// A run of equal decisions, and the form that their calls have in common. Its rule is not proved yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    form: Form,
    verdict: Verdict,
    /// Indices of the decisions in the list.
    pub decisions: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// All calls have the same arguments.
    Exactly,
    /// Every call is one plain command of this program and subcommand, with one of these lists of words.
    Command { program: String, subcommand: String, words: BTreeSet<Vec<String>> },
}

/// A proved rule that explains a run of equal decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct LearntRule {
    /// Name of the rule, derived from its content.
    pub name: String,
    /// Verdict of the rule.
    pub verdict: Verdict,
    /// The rule, in TOML, with its examples.
    pub rule: String,
    /// Name of the rule that asked: the new rule is inserted before it. `None` if the default asked: the new rule is added at
    /// the end.
    pub before: Option<String>,
    /// Text of the policy with the rule in it.
    pub text: String,
    /// Indices in the list of the decisions that the rule explains.
    pub decisions: Vec<usize>,
}

/// Decisions that would be a run if no decision contradicted them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisputedRun {
    /// Verdict of the rule that they would give.
    pub verdict: Verdict,
    /// Indices in the list of the decisions that support the rule.
    pub decisions: Vec<usize>,
    /// Indices of the decisions that contradict it.
    pub against: Vec<usize>,
}

/// A kind of command: the tool, the agent, the program and the subcommand.
type CommandKind<'a> = (&'a str, &'a str, String, String);

/// Indices of the decisions about the same arguments of one tool and agent.
type ByArguments<'a> = BTreeMap<(&'a str, &'a str, String), Vec<usize>>;
/// Indices of the decisions about one kind of command, with the words of each.
type ByCommand<'a> = BTreeMap<CommandKind<'a>, Vec<(usize, Vec<String>)>>;

/// Finds the runs among decisions, the longest first.
#[must_use]
pub fn runs(decisions: &[Decided]) -> Vec<Run> {
    let (exact, commands) = group(decisions);
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

/// Finds the runs that some decision contradicts, those with most support first.
#[must_use]
pub fn held_back(decisions: &[Decided]) -> Vec<DisputedRun> {
    let (exact, commands) = group(decisions);
    let mut held: Vec<DisputedRun> = Vec::new();
    for places in exact.values() {
        held.extend(
            [DecisionOutcome::Approved, DecisionOutcome::Rejected]
                .into_iter()
                .filter_map(|said| disputed(decisions, places, said)),
        );
    }
    for found in commands.values() {
        let places: Vec<usize> = found.iter().map(|(place, _)| *place).collect();
        let approved =
            |place: &usize| agrees(decisions, *place, DecisionOutcome::Approved) && supports(decisions, *place);
        let words = found.iter().filter(|(place, _)| approved(place)).map(|(_, words)| words);
        // Calls with the same words have the same arguments, and are counted above.
        if words.collect::<BTreeSet<_>>().len() > 1 {
            held.extend(disputed(decisions, &places, DecisionOutcome::Approved));
        }
    }
    held.sort_by_key(|held| std::cmp::Reverse(held.decisions.len()));
    held
}

/// Groups decisions by their arguments and by their commands.
fn group(decisions: &[Decided]) -> (ByArguments<'_>, ByCommand<'_>) {
    let (mut exact, mut commands) = (ByArguments::new(), ByCommand::new());
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

/// Returns the decisions of one kind that would be a run if no decision contradicted them.
fn disputed(decisions: &[Decided], places: &[usize], said: DecisionOutcome) -> Option<DisputedRun> {
    let (mut agreeing, against): (Vec<usize>, Vec<usize>) =
        places.iter().partition(|place| agrees(decisions, **place, said));
    agreeing.retain(|place| supports(decisions, *place));
    let verdict = said.verdict().filter(|_| agreeing.len() >= RUN && !against.is_empty())?;
    Some(DisputedRun { verdict, decisions: agreeing, against })
}

fn agrees(decisions: &[Decided], place: usize, said: DecisionOutcome) -> bool {
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

/// Says whether a decision may support a rule.
fn supports(decisions: &[Decided], place: usize) -> bool {
    decisions.get(place).is_some_and(|decided| !decided.own_words)
}

/// The program, subcommand and words of a call that is one plain command and nothing else.
fn command(decided: &Decided) -> Option<(String, String, Vec<String>)> {
    let arguments = decided.arguments.as_object().filter(|arguments| arguments.len() == 1)?;
    arguments.values().next()?.as_str()?;
    let parsed = CallFacts::of(&decided.tool, &decided.arguments);
    if parsed.first_failure().is_some() {
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
    /// Returns the rule of a run, if it can be proved and no decision contradicts it.
    #[must_use]
    pub fn learn(&self, run: &Run, decisions: &[Decided]) -> Option<LearntRule> {
        let of_run: Vec<&Decided> = run.decisions.iter().filter_map(|place| decisions.get(*place)).collect();
        let first = *of_run.first()?;
        let names = Names::of(&of_run)?;
        let asking = self.asking(&of_run, &names)?;
        if let (Form::Command { .. }, Some(asking)) = (&run.form, asking) {
            // Every call of this form, with any words, must reach the asking rule or a rule before it.
            let rule = self.rules.iter().find(|rule| rule.name == asking)?;
            if rule.when.is_some() || rule.arguments.is_some() || rule.patterns.is_some() {
                return None;
            }
        }
        let rule = words::RuleWriter { run, names: &names, first, calls: distinct(&of_run) }.rule()?;
        let text = words::with_rule(self, &rule.text, asking);
        // A rule of the policy that has become an error must not stop learning: the learnt rule adds no warning.
        let learnt = Self::load_stored("policy.toml", &text).ok()?;
        let same = learnt.rules.len() == self.rules.len() + 1 && learnt.warnings.len() == self.warnings.len();
        let spoken = |decided: &&Decided| learnt.judge(&decided.call()).ruling.rule.as_ref() == Some(&rule.name);
        if !same || !of_run.iter().all(spoken) || learnt.spoken_against(&rule.name, decisions) {
            return None;
        }
        let before = asking.map(str::to_owned);
        Some(LearntRule {
            name: rule.name,
            verdict: run.verdict,
            rule: rule.text,
            before,
            text,
            decisions: run.decisions.clone(),
        })
    }

    /// The one rule that asks about every call of the run, for every user and role in it: `None` if there is no such
    /// rule, `Some(None)` for the default.
    #[expect(
        clippy::option_option,
        reason = "the outer option says that one rule asks, the inner one names it unless it is the default"
    )]
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

    /// Says whether a rule matches a call on which a person made the opposite decision.
    #[must_use]
    pub fn spoken_against(&self, rule: &str, decisions: &[Decided]) -> bool {
        let Some(rule) = self.rules.iter().find(|found| found.name == rule) else { return false };
        decisions.iter().any(|decided| {
            decided.said.verdict() != Some(rule.verdict) && rule.fit(&self.case(&decided.call())) == Fit::Matches
        })
    }

    /// Names of the learnt rules that match a call and have another verdict than the decision about it.
    #[must_use]
    pub fn contradicted(&self, decided: &Decided) -> Vec<&str> {
        let about = self.learnt_about(&decided.call()).into_iter();
        about.filter(|(_, verdict)| decided.said.verdict() != Some(*verdict)).map(|(name, _)| name).collect()
    }

    /// Names of the learnt rules.
    pub fn learnt(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.name.as_str()).filter(|name| name.starts_with(LEARNT_PREFIX))
    }

    /// Rules with the prefix of learnt rules whose name is not the one derived from their content. The name of a learnt rule stands for the
    /// decisions behind it, and a rule is suspended by its name.
    pub fn misnamed(&self) -> impl Iterator<Item = &Rule> {
        let learnt = self.rules.iter().filter(|rule| rule.name.starts_with(LEARNT_PREFIX));
        learnt
            .filter(|rule| words::RuleContent::of(rule).and_then(|content| content.name()).as_ref() != Some(&rule.name))
    }

    /// Names and verdicts of the learnt rules that match a call, also if an earlier rule decides.
    #[must_use]
    pub fn learnt_about(&self, call: &PolicyInput<'_>) -> Vec<(&str, Verdict)> {
        let case = self.case(call);
        let learnt = self.rules.iter().filter(|rule| rule.name.starts_with(LEARNT_PREFIX));
        learnt.filter(|rule| rule.fit(&case) == Fit::Matches).map(|rule| (rule.name.as_str(), rule.verdict)).collect()
    }
}

impl Decided {
    /// The call as the input of a policy.
    #[must_use]
    pub fn call(&self) -> PolicyInput<'_> {
        let Self { tool, arguments, agent, user, role, environment, .. } = self;
        let (client, root) = (environment.client.as_deref(), environment.root.as_deref());
        PolicyInput { tool, arguments, agent: Some(agent), user, role: *role, client, root }
    }
}

/// The users and roles of the calls of a run.
struct Names<'a> {
    users: BTreeSet<&'a str>,
    roles: Vec<Role>,
}

impl<'a> Names<'a> {
    /// `None` if a name has a wildcard and so could match others, or if there are too many users.
    fn of(of_run: &[&'a Decided]) -> Option<Self> {
        let exact = |name: &str| Pattern::new(name).is_ok_and(|pattern| pattern.is_exact());
        let users: BTreeSet<&str> = of_run.iter().map(|decided| decided.user.as_str()).collect();
        let roles = Role::ALL.into_iter().filter(|role| of_run.iter().any(|decided| decided.role == *role)).collect();
        let plain = of_run.iter().all(|decided| exact(&decided.tool) && exact(&decided.agent) && exact(&decided.user));
        (plain && users.len() <= MOST_NAMES).then_some(Self { users, roles })
    }
}

/// The different calls of a run that become examples.
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
