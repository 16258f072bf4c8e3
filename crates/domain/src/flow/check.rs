//! Validation of flow definitions: lists everything that prevents a flow from running.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::{END, FlowStep, FlowVersion, StepQuestion, StepWay};
use crate::agent::check::{OF_VERSIONS, check_definition_size, check_kind_name, check_seconds, check_suggestions};
use crate::flow::next::Next;
use crate::template::{Path, placeholders};
use crate::{AgentVersion, Kind, Problem, text};

/// Largest number of steps of a flow.
const MOST_STEPS: usize = 100;
/// Largest number of attempts at a step.
const MOST_ATTEMPTS: u32 = 20;
/// Longest delay in seconds before the second attempt.
const MOST_DELAY: u32 = 3_600;

/// Location of a template, which determines the values that it may refer to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Question,
    Input,
    Pass,
}

impl FlowVersion {
    /// Lists all errors of the definition, each with a JSON Pointer. A definition without errors can run if its agents exist.
    ///
    /// Steps may form a cycle; a session ends after [`super::MOST_RUNS`] steps in any case. The `forms` crate checks whether the schemas of
    /// the questions compile, and [`FlowVersion::check_agents`] whether the agents exist.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        text::check_name("/name", &self.name, ".", &mut problems);
        text::check_name("/version", &self.version, OF_VERSIONS, &mut problems);
        if let Some(description) = &self.description {
            text::check_line("/description", description, &mut problems);
        }
        if self.steps.is_empty() || self.steps.len() > MOST_STEPS {
            problems.push(Problem::new("/steps", format!("must be 1 to {MOST_STEPS}")));
        }
        let reached = self.reached();
        for (index, step) in self.steps.iter().enumerate() {
            let at = format!("/steps/{index}");
            self.check_name(index, step, &mut problems);
            step.check(&at, &mut problems);
            self.check_targets(&at, step, &mut problems);
            self.check_templates(&at, step, &mut problems);
            if !reached.contains(step.name.as_str()) {
                problems.push(Problem::new(format!("{at}/name"), format!("nothing leads to step `{}`", step.name)));
            }
        }
        check_definition_size(self, &mut problems);
        problems
    }

    /// Lists the agents, versions and tools that the steps need and that `agents` does not contain.
    ///
    /// If a step names no version, every version of its agent must fit, because the newest one is chosen when a session starts.
    #[must_use]
    pub fn check_agents(&self, agents: &[AgentVersion]) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            let Some(agent) = &step.agent else { continue };
            let at = |field: &str| format!("/steps/{index}/{field}");
            let versions: Vec<&AgentVersion> = agents.iter().filter(|known| known.name == *agent).collect();
            if versions.is_empty() {
                problems.push(Problem::new(at("agent"), format!("there is no agent `{agent}`")));
                continue;
            }
            let wanted = |known: &&&AgentVersion| step.agent_version.as_ref().is_none_or(|want| known.version == *want);
            let fitting: Vec<&&AgentVersion> = versions.iter().filter(wanted).collect();
            if let (true, Some(version)) = (fitting.is_empty(), &step.agent_version) {
                let message = format!("agent `{agent}` has no version `{version}`");
                problems.push(Problem::new(at("agent_version"), message));
            }
            for (number, tool) in step.tools.iter().flatten().enumerate() {
                if let Some(lacking) = fitting.iter().find(|known| !known.has_tool(tool)) {
                    let message = format!("agent `{agent}` {} has no tool `{tool}`", lacking.version);
                    problems.push(Problem::new(at(&format!("tools/{number}")), message));
                }
            }
        }
        problems
    }

    /// All JSON Schemas of the definition with their JSON Pointers. The `forms` crate checks whether they compile.
    pub fn schemas(&self) -> impl Iterator<Item = (String, &Value)> {
        self.steps.iter().enumerate().filter_map(|(index, step)| {
            let schema = step.question.as_ref()?.schema.as_ref()?;
            Some((format!("/steps/{index}/question/schema"), schema))
        })
    }

    /// Names of the steps that a session can reach.
    fn reached(&self) -> BTreeSet<&str> {
        let (mut reached, mut waiting) = (BTreeSet::new(), Vec::from_iter(self.first()));
        while let Some(step) = waiting.pop() {
            if reached.insert(step.name.as_str()) {
                waiting.extend(StepWay::ALL.into_iter().filter_map(|how| match self.next(&step.name, how) {
                    Next::Step(next) => Some(next),
                    Next::End | Next::Failed(_) => None,
                }));
            }
        }
        reached
    }

    fn check_name(&self, index: usize, step: &FlowStep, problems: &mut Vec<Problem>) {
        let at = format!("/steps/{index}/name");
        text::check_name(&at, &step.name, "", problems);
        if step.name == END {
            problems.push(Problem::new(&at, format!("`{END}` is where a flow ends, not a step")));
        }
        if self.steps[..index].iter().any(|earlier| earlier.name == step.name) {
            problems.push(Problem::new(&at, "is already the name of another step"));
        }
    }

    fn check_targets(&self, at: &str, step: &FlowStep, problems: &mut Vec<Problem>) {
        let targets =
            [("on_success", &step.on_success), ("on_failure", &step.on_failure), ("on_rejection", &step.on_rejection)];
        for (field, target) in targets {
            if let Some(target) = target
                && target != END
                && self.step(target).is_none()
            {
                problems.push(Problem::new(
                    format!("{at}/{field}"),
                    format!("there is no step `{target}`, and it is not `{END}`"),
                ));
            }
        }
        if step.on_rejection.is_some() && step.question.is_none() {
            problems.push(Problem::new(format!("{at}/on_rejection"), "there is no question that could be rejected"));
        }
    }

    fn check_templates(&self, at: &str, step: &FlowStep, problems: &mut Vec<Problem>) {
        let mut check = |at: &str, template: &Value, within: Within| {
            for (place, path) in placeholders(at, template) {
                let wrong = match path {
                    Ok(path) => self.unknown(&path, step, within),
                    Err(error) => Some(error.to_string()),
                };
                if let Some(message) = wrong {
                    problems.push(Problem::new(place, message));
                }
            }
        };
        if let Some(question) = &step.question {
            check(&format!("{at}/question/title"), &Value::from(question.title.as_str()), Within::Question);
            let description = question.description.as_deref().map_or(Value::Null, Value::from);
            check(&format!("{at}/question/description"), &description, Within::Question);
        }
        check(&format!("{at}/input"), &step.input, Within::Input);
        for (name, template) in &step.pass {
            check(&text::field(&format!("{at}/pass"), name), template, Within::Pass);
        }
    }

    /// Reason why this path can never have a value. `None` if it can have one.
    fn unknown(&self, path: &Path, step: &FlowStep, within: Within) -> Option<String> {
        match path.parts().as_slice() {
            ["input" | "shared", ..] => None,
            ["answer", ..] if within == Within::Question => {
                Some("there is no `answer` before the question is answered".into())
            }
            ["answer", ..] if within == Within::Pass => Some("`answer` is known in `input` only".into()),
            ["answer", ..] if step.question.is_none() => Some("there is no `answer`: the step has no question".into()),
            ["answer", ..] => None,
            ["output", ..] if within == Within::Pass => None,
            ["output", ..] => Some("`output` is known in `pass` only".into()),
            ["steps", name, "output" | "rejection", ..] => {
                self.step(name).is_none().then(|| format!("there is no step `{name}`"))
            }
            ["steps", ..] => Some("write `steps.NAME.output` or `steps.NAME.rejection`".into()),
            _ => {
                let known = "`input`, `shared`, `steps.NAME.output`, `steps.NAME.rejection`, in `input` `answer`, and in `pass` `output`";
                Some(format!("there is no `{}`; a template can refer to {known}", path.parts().join(".")))
            }
        }
    }
}

impl FlowStep {
    fn check(&self, at: &str, problems: &mut Vec<Problem>) {
        if self.agent.is_none() {
            if self.question.is_none() {
                problems.push(Problem::new(at, "needs an `agent`, a `question`, or both"));
            }
            let others = [
                ("agent_version", self.agent_version.is_some()),
                ("input", !self.input.is_null()),
                ("tools", self.tools.is_some()),
            ];
            for (field, _) in others.into_iter().filter(|(_, there)| *there) {
                problems.push(Problem::new(format!("{at}/{field}"), "is for a step with an `agent`"));
            }
        }
        if !(1..=MOST_ATTEMPTS).contains(&self.attempts) {
            problems.push(Problem::new(format!("{at}/attempts"), format!("must be 1 to {MOST_ATTEMPTS}")));
        }
        if self.delay_seconds.is_some_and(|seconds| seconds > MOST_DELAY) {
            problems.push(Problem::new(format!("{at}/delay_seconds"), format!("must be 0 to {MOST_DELAY}")));
        }
        text::check_depth(&format!("{at}/input"), &self.input, problems);
        for (name, template) in &self.pass {
            let place = text::field(&format!("{at}/pass"), name);
            text::check_name(&place, name, "", problems);
            text::check_depth(&place, template, problems);
        }
        for (index, tool) in self.tools.iter().flatten().enumerate() {
            text::check_identifier(&format!("{at}/tools/{index}"), tool, problems);
        }
        if let Some(question) = &self.question {
            question.check(&format!("{at}/question"), problems);
        }
    }
}

impl StepQuestion {
    fn check(&self, at: &str, problems: &mut Vec<Problem>) {
        check_kind_name(&format!("{at}/kind"), &self.kind, problems);
        if let Some(seconds) = self.deadline_seconds {
            check_seconds(&format!("{at}/deadline_seconds"), seconds, problems);
        }
        check_suggestions(&format!("{at}/suggestions"), &self.suggestions, problems);
        if Kind::named(&self.kind) == Kind::Secret {
            let message = "a secret is asked for by the agent that uses it, not before a step";
            problems.push(Problem::new(format!("{at}/kind"), message));
            return;
        }
        // An invalid question would otherwise be noticed only when a session reaches it.
        let mut trial = self.worded(self.title.clone(), self.description.clone());
        trial.deadline = self.deadline_seconds.map(|_| Timestamp::UNIX_EPOCH);
        for problem in trial.admit().err().unwrap_or_default() {
            let place = problem.pointer.replacen("/message", "/description", 1);
            let found = Problem::new(format!("{at}{place}"), problem.message);
            if !problems.contains(&found) {
                problems.push(found);
            }
        }
    }
}
