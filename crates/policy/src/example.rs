//! Examples: calls with the verdict that the author of a rule expects, checked when the file is loaded.

use domain::{Role, Verdict};
use serde_json::{Value, json};

use crate::{
    ExampleResult, Policy, PolicyInput, Rule, document::Table, finding::Findings, load::verdict, read_rule::role,
    rule::Fit,
};

/// One call with the verdict or match that its author expects.
pub(crate) struct Example {
    /// Number of the rule to which the example belongs.
    pub(crate) rule: usize,
    pub(crate) at: usize,
    pub(crate) tool: String,
    arguments: Value,
    agent: Option<String>,
    user: String,
    role: Role,
    client: Option<String>,
    root: Option<String>,
    verdict: Option<Verdict>,
    matches: Option<bool>,
}

/// Number of steps that the examples may take before a file is refused as too costly.
const MOST_STEPS: usize = 500_000;

const KEYS: [&str; 9] = ["tool", "arguments", "agent", "user", "role", "client", "root", "verdict", "matches"];

impl Example {
    /// Sets the number of the rule.
    pub(crate) fn of_rule(mut self, rule: usize) -> Self {
        self.rule = rule;
        self
    }

    /// Says whether the example expects that the rule matches, or that the call is allowed.
    pub(crate) fn shows_a_match(&self) -> bool {
        self.matches.unwrap_or(self.verdict == Some(Verdict::Allow))
    }

    pub(crate) fn call(&self) -> PolicyInput<'_> {
        PolicyInput {
            tool: &self.tool,
            arguments: &self.arguments,
            agent: self.agent.as_deref(),
            user: &self.user,
            role: self.role,
            client: self.client.as_deref(),
            root: self.root.as_deref(),
        }
    }
}

/// Reads the examples of one rule.
pub(crate) fn read(rule: &Table<'_>, findings: &mut Findings<'_>) -> Vec<Example> {
    let mut examples = Vec::new();
    for table in rule.tables("example", "an example", findings) {
        table.only(&KEYS, findings);
        let tool = table.required("tool", findings);
        let arguments = table.table("arguments", "`arguments`", findings);
        let arguments = arguments.map_or_else(|| Some(json!({})), |arguments| arguments.to_json(findings));
        let agent = table.text("agent", findings).map(|text| text.it.to_owned());
        let user = table.text("user", findings).map_or("example", |text| text.it).to_owned();
        let role = table.text("role", findings).map_or(Some(Role::Agent), |text| role(&text, findings));
        let client = table.text("client", findings).map(|text| text.it.to_owned());
        let root = table.text("root", findings).map(|text| text.it.to_owned());
        let verdict = table.text("verdict", findings).and_then(|text| verdict(&text, "verdict", findings));
        let matches = table.flag("matches", findings).map(|flag| flag.it);
        if !table.has("verdict") && !table.has("matches") {
            findings.error(table.at, "missing_key", "an example needs `verdict` or `matches`, or it proves nothing");
        }
        let (Some(tool), Some(arguments), Some(role)) = (tool, arguments, role) else { continue };
        let tool = tool.it.to_owned();
        let rule = 0;
        examples.push(Example {
            rule,
            at: table.at,
            tool,
            arguments,
            agent,
            user,
            role,
            client,
            root,
            verdict,
            matches,
        });
    }
    examples
}

/// Judges every example, and adds an error for each difference from the expected result.
pub(crate) fn prove(policy: &Policy, examples: &[Example], findings: &mut Findings<'_>) -> Vec<ExampleResult> {
    let mut steps = MOST_STEPS;
    let mut results = Vec::with_capacity(examples.len());
    for example in examples {
        let Some(rule) = policy.rules.get(example.rule) else { continue };
        let Some(left) = steps.checked_sub(cost(policy, &example.call())) else {
            findings.error(example.at, "too_costly", "there are too many examples for so many rules");
            break;
        };
        steps = left;
        let failures = failures(policy, rule, example);
        failures.iter().for_each(|failure| findings.refusal(example.at, "example_fails", failure.clone()));
        results.push(ExampleResult {
            rule: rule.name.clone(),
            line: findings.line(example.at),
            tool: example.tool.clone(),
            arguments: example.arguments.clone(),
            verdict: example.verdict,
            matches: example.matches,
            failures,
        });
    }
    results
}

/// The differences from the expected result of an example.
fn failures(policy: &Policy, rule: &Rule, example: &Example) -> Vec<String> {
    let call = example.call();
    let mut failures = Vec::new();
    if let Some(expected) = example.verdict {
        let ruling = policy.judge(&call).ruling;
        if ruling.verdict != expected {
            let by =
                ruling.rule.map_or_else(|| "the default, as no rule matches,".into(), |rule| format!("rule `{rule}`"));
            let (expected, given) = (expected.name(), ruling.verdict.name());
            failures.push(format!("the example expects {expected}, and {by} says {given}: {}", ruling.reason));
        }
    }
    if let Some(expected) = example.matches {
        let fit = rule.fit(&policy.case(&call));
        if matches!(fit, Fit::Fails(_)) || (fit == Fit::Matches) != expected {
            failures.push(format!("the example expects `matches = {expected}`, and the rule {fit}"));
        }
    }
    failures
}

/// An upper bound of the steps that judging a call takes.
fn cost(policy: &Policy, call: &PolicyInput<'_>) -> usize {
    let case = policy.case(call);
    // The arguments are compared, and parsed once.
    let size = call.arguments.to_string().len() / 2;
    let rules = policy.index.about(call.tool).into_iter().filter_map(|number| policy.rules.get(number));
    rules.fold(1 + size, |cost, rule| cost.saturating_add(rule.when.as_ref().map_or(1, |when| when.cost_of(&case))))
}
