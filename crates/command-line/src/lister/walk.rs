//! Lists, pipelines and compound commands.

use super::facts::Facts;
use super::place::{Ends, Place};
use super::{Context, Lister, arithmetic};
use crate::syntax::tree::{Arm, CommandNode, Item, Joint, Kind, List, Pipeline, RawWord};
use crate::{ProgramRun, RunPosition, ShellLanguage, ShellWord, Stdin, VariableAssignment, WordPart};

/// Functions with these names are called instead of a program in some shells only, or by the shell itself.
const SPECIAL_BUILTINS: &[&str] = &[
    ".", ":", "break", "builtin", "cd", "command", "continue", "eval", "exec", "exit", "export", "readonly", "return",
    "set", "shift", "source", "times", "trap", "unset",
];

impl Lister<'_> {
    /// Walks a list. The state after it depends on whether its last command succeeded.
    pub(crate) fn list(&mut self, list: &List, context: &Context) -> Ends {
        let many = list.items.len() > 1;
        let inner = if many { context.within(RunPosition::List) } else { context.clone() };
        let mut ends = Ends::same(self.place.clone());
        for (at, item) in list.items.iter().enumerate() {
            if self.output.is_full {
                break;
            }
            ends = self.item(item, &inner);
            if at + 1 < list.items.len() {
                let single = item.links.len() == 1 && item.links.first().is_some_and(|link| is_plain(&link.pipeline));
                let stops = single && !context.checked && ends.good.strict;
                let Ends { good, bad } = ends;
                self.place = if stops { good } else { good.merge(bad) };
                ends = Ends::same(self.place.clone());
            }
        }
        ends
    }

    fn item(&mut self, item: &Item, context: &Context) -> Ends {
        if !item.background {
            return self.chain(item, context);
        }
        let start = self.place.clone();
        let inner = context.within(RunPosition::Background);
        self.scoped(false, |lister| lister.chain(item, &inner));
        self.place = start.clone();
        Ends::same(start)
    }

    fn chain(&mut self, item: &Item, context: &Context) -> Ends {
        let links = &item.links;
        let mut inner = if links.len() > 1 { context.within(RunPosition::List) } else { context.clone() };
        if context.position.last() == Some(&RunPosition::List) {
            inner.position = context.position.clone();
        }
        let all_and = links.iter().all(|link| link.joint != Joint::Or);
        let mut ends = Ends::same(self.place.clone());
        self.scopes.push(super::VariableScope::default());
        for (at, link) in links.iter().enumerate() {
            inner.checked = context.checked || at + 1 < links.len() || link.pipeline.negated;
            let before = ends;
            match link.joint {
                Joint::First => {}
                Joint::And => self.place = before.good.clone(),
                Joint::Or => self.place = before.bad.clone(),
            }
            if at == 0 {
                // The first pipeline always runs: what it sets is known after the list too.
                let scope = self.scopes.pop();
                ends = self.pipeline(&link.pipeline, &inner);
                self.scopes.extend(scope);
                continue;
            }
            let after = if all_and {
                self.pipeline(&link.pipeline, &inner)
            } else {
                self.scoped(false, |lister| lister.pipeline(&link.pipeline, &inner))
            };
            ends = match link.joint {
                Joint::First => after,
                Joint::And => Ends { good: after.good, bad: before.bad.merge(after.bad) },
                Joint::Or => Ends { good: before.good.merge(after.good), bad: after.bad },
            };
        }
        self.scopes.pop();
        ends
    }

    fn pipeline(&mut self, pipeline: &Pipeline, context: &Context) -> Ends {
        let mut inner = context.clone();
        if pipeline.negated {
            inner.position.push(RunPosition::Condition);
        }
        if pipeline.timed {
            inner.position.push(RunPosition::Wrapper("time".to_owned()));
        }
        if let [only] = pipeline.commands.as_slice() {
            let ends = self.command(only, &inner);
            return if pipeline.negated { Ends { good: ends.bad, bad: ends.good } } else { ends };
        }
        inner.position.push(RunPosition::Pipe);
        let start = self.place.clone();
        let mut after = start.clone();
        for (at, command) in pipeline.commands.iter().enumerate() {
            if at > 0 {
                inner.stdin = Stdin::Pipe;
            }
            self.place = start.clone();
            let ends = self.scoped(false, |lister| lister.command(command, &inner));
            // The last command of a pipeline runs in the shell itself in zsh.
            if self.language == ShellLanguage::Zsh {
                after = start.clone().merge(ends.merged());
            }
        }
        self.place = after.clone();
        Ends::same(after)
    }

    pub(super) fn command(&mut self, command: &CommandNode, context: &Context) -> Ends {
        if !self.step(&command.span) {
            return Ends::same(self.place.clone());
        }
        if let Kind::Simple(simple) = &command.kind {
            return self.simple(simple, command, context);
        }
        let mut inner = context.clone();
        self.redirects(&command.redirects, &mut inner);
        match &command.kind {
            Kind::Group(list) => self.list(list, &inner),
            Kind::Subshell(list) => {
                let start = self.place.clone();
                let inner = inner.within(RunPosition::Subshell);
                self.scoped(false, |lister| lister.list(list, &inner));
                self.place = start.clone();
                Ends::same(start)
            }
            Kind::If { branches, otherwise } => self.branches(branches, otherwise.as_ref(), &inner),
            Kind::While { condition, body } => self.repeat(Some(condition), body, &inner),
            Kind::For(iteration) => self.iteration(iteration, &inner),
            Kind::Count { expression, body } => {
                self.evaluate(expression, &inner);
                self.repeat(None, body, &inner)
            }
            Kind::Case { subject, arms } => self.case(subject, arms, &inner),
            Kind::Function { name, body } => self.function(name, body, &inner),
            Kind::Test(words) => {
                self.test(words, &inner);
                self.add_empty(command, &inner)
            }
            Kind::Arithmetic(expression) => {
                self.evaluate(expression, &inner);
                self.add_empty(command, &inner)
            }
            Kind::Simple(_) => Ends::same(self.place.clone()),
        }
    }

    /// Lists a command that starts no program, for its redirections.
    fn add_empty(&mut self, command: &CommandNode, context: &Context) -> Ends {
        let run = self.run(&command.span, context);
        self.push(run);
        Ends::same(self.place.clone())
    }

    /// A run without words.
    pub(super) fn run(&self, span: &std::ops::Range<usize>, context: &Context) -> ProgramRun {
        ProgramRun {
            redirects: context.redirects.clone(),
            position: context.position.clone(),
            stdin: if self.is_redirected && context.stdin == Stdin::Inherited {
                Stdin::UnknownText
            } else {
                context.stdin.clone()
            },
            directory: self.directory(),
            span: self.span(span),
            ..ProgramRun::default()
        }
    }

    /// Notes what an expression sets, and a doubt if it may run a command.
    pub(super) fn evaluate(&mut self, expression: &RawWord, context: &Context) {
        self.value(expression, context);
        if let Some(risk) = arithmetic::find_risk(expression, &self.facts) {
            self.doubt(&expression.span, risk);
        }
        let names = arithmetic::assigned(expression);
        if !names.is_empty() {
            let mut run = self.run(&expression.span, context);
            let value = ShellWord { parts: vec![WordPart::Number], span: run.span.clone() };
            let assign = |name| VariableAssignment { name, value: value.clone(), exported: false };
            run.assignments = names.into_iter().map(assign).collect();
            self.push(run);
        }
    }

    fn branches(&mut self, branches: &[(List, List)], otherwise: Option<&List>, context: &Context) -> Ends {
        let body_context = context.within(RunPosition::Condition);
        let mut condition_context = body_context.clone();
        condition_context.checked = true;
        let mut result = self.place.unreachable();
        for (condition, body) in branches {
            let ends = self.scoped(false, |lister| lister.list(condition, &condition_context));
            self.place = ends.good;
            let after = self.scoped(false, |lister| lister.list(body, &body_context));
            result = result.merge(after.merged());
            self.place = ends.bad;
        }
        let last = match otherwise {
            Some(list) => self.scoped(false, |lister| lister.list(list, &body_context)).merged(),
            None => self.place.clone(),
        };
        self.place = result.merge(last);
        Ends::same(self.place.clone())
    }

    /// Walks the body of a loop once.
    pub(super) fn repeat(&mut self, condition: Option<&List>, body: &List, context: &Context) -> Ends {
        let moves = |list: &List| {
            let facts = Facts::of(list);
            (facts.moves || self.facts.function_moves, facts.has_options)
        };
        let (moved, set) = moves(body);
        let (moved_before, set_before) = condition.map_or((false, false), moves);
        let start = self.place.clone();
        let mut inside = if moved || moved_before { start.lost() } else { start.clone() };
        inside.strict &= !(set || set_before);
        self.place = inside.clone();
        let inner = context.within(RunPosition::Loop);
        if let Some(condition) = condition {
            let mut checked = context.within(RunPosition::Condition);
            checked.checked = true;
            self.place = self.scoped(false, |lister| lister.list(condition, &checked)).merged();
            self.place.reachable = inside.reachable;
        }
        self.scoped(false, |lister| lister.list(body, &inner));
        self.place = inside.clone();
        Ends::same(inside)
    }

    fn case(&mut self, subject: &RawWord, arms: &[Arm], context: &Context) -> Ends {
        self.value(subject, context);
        let inner = context.within(RunPosition::Condition);
        let start = self.place.clone();
        let mut result = start.clone();
        for arm in arms {
            for pattern in &arm.patterns {
                self.place = start.clone();
                self.value(pattern, context);
            }
            // An arm may follow another one without a test.
            self.place = result.clone().merge(start.clone());
            let after = self.scoped(false, |lister| lister.list(&arm.body, &inner));
            result = result.merge(after.merged());
        }
        self.place = result.clone();
        Ends::same(result)
    }

    fn function(&mut self, name: &str, body: &CommandNode, context: &Context) -> Ends {
        if SPECIAL_BUILTINS.contains(&name) {
            self.doubt(&body.span, format!("a function has the name of the built-in command `{name}`"));
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.functions.insert(name.to_owned());
        }
        let start = self.place.clone();
        self.place = if self.facts.moves_within { start.lost() } else { Place { strict: false, ..start.clone() } };
        let mut inner = context.within(RunPosition::Function(name.to_owned()));
        inner.stdin = Stdin::UnknownText;
        self.scoped(true, |lister| lister.command(body, &inner));
        self.place = start.clone();
        Ends::same(start)
    }
}

/// Says whether a pipeline is one command that `set -e` looks at.
fn is_plain(pipeline: &Pipeline) -> bool {
    !pipeline.negated && matches!(pipeline.commands.as_slice(), [only] if matches!(only.kind, Kind::Simple(_)))
}
