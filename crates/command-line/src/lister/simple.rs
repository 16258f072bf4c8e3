//! Simple commands: their words, assignments and redirections.

use std::ops::Range;

use super::place::Ends;
use super::{Context, Lister, expansion};
use crate::syntax::tree::{Atom, CommandNode, RawAssignment, RawRedirect, RawTarget, RawValue, RawWord, Simple};
use crate::{
    Redirection, RedirectionKind, RunPosition, ShellLanguage, ShellWord, Stdin, VariableAssignment, WordPart, expand,
};

/// Largest number of words of one command.
const MOST_WORDS: usize = 8_192;

/// Built-in commands whose words are assignments: their values are not split.
const DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

impl Lister<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, command: &CommandNode, context: &Context) -> Ends {
        let at = self.output.runs.len();
        let mut words: Vec<ShellWord> = Vec::new();
        let declares = self.language != ShellLanguage::Sh
            && simple.words.first().and_then(RawWord::bare).is_some_and(|name| DECLARING.contains(&name.as_str()));
        for raw in &simple.words {
            if words.len() > MOST_WORDS {
                self.doubt(&command.span, "a command has too many words");
                break;
            }
            match raw.divide().filter(|_| declares) {
                Some((name, value)) => {
                    let value = self.value(&value, context);
                    words.push(value.after(&name));
                }
                None => words.extend(self.words(raw, context)),
            }
        }
        self.check_test(&simple.words, &command.span);
        let exported = !simple.words.is_empty();
        let mut assignments = Vec::new();
        for assignment in &simple.assignments {
            let value = self.assigned(assignment, context);
            if !exported {
                self.remember_assignment(assignment, &value);
            }
            assignments.push(VariableAssignment { name: assignment.name.clone(), value, exported });
        }
        let mut inner = context.clone();
        self.redirects(&command.redirects, &mut inner);
        if self.language == ShellLanguage::Zsh && words.is_empty() && !command.redirects.is_empty() {
            self.doubt(&command.span, "zsh starts a program for a redirection alone");
        }
        let substitutions = self.output.runs.split_off(at.min(self.output.runs.len()));
        let mut run = self.run(&command.span, &inner);
        run.words = words;
        run.assignments = assignments;
        let ends = if run.words.is_empty() {
            self.push(run);
            Ends::same(self.place.clone())
        } else if let Some(name) = self.called(&run, command) {
            self.call(&name, run)
        } else {
            let checked = context.checked;
            expand::start(self, run, expand::Level { is_direct: true, checked })
        };
        self.output.runs.extend(substitutions);
        ends
    }

    /// `[ $X ]` runs `cmd` if `$X` is `-v a[$(cmd)]`.
    fn check_test(&mut self, words: &[RawWord], span: &Range<usize>) {
        if !words.first().and_then(RawWord::literal).is_some_and(|name| name == "[" || name == "test") {
            return;
        }
        let splits = |atom: &Atom| match atom {
            Atom::Variable { name, quoted: false, .. } => !self.facts.is_numeric(name) && self.value_of(name).is_none(),
            Atom::Unknown { quoted } => !quoted,
            Atom::Substitution(substitution) => !substitution.quoted,
            Atom::Operation(operation) => !operation.quoted && !operation.number,
            Atom::Bare(_) | Atom::Quoted(_) | Atom::Number | Atom::Expression(_) | Atom::Variable { .. } => false,
        };
        if words.iter().flat_map(|word| &word.atoms).any(splits) {
            self.doubt(span, "a word of `test` without quotes may be an option that evaluates the next word");
        }
    }

    /// The function that a run calls, if it does.
    fn called(&mut self, run: &crate::ProgramRun, command: &CommandNode) -> Option<String> {
        let name = run.words.first().and_then(ShellWord::text)?;
        if !self.facts.functions.contains(name) {
            return None;
        }
        if self.is_function(name) {
            return Some(name.to_owned());
        }
        self.doubt(&command.span, format!("`{name}` may be a function of the line or a program"));
        None
    }

    /// Calls a function, whose runs are listed where it is defined.
    fn call(&mut self, _name: &str, mut run: crate::ProgramRun) -> Ends {
        run.words.clear();
        if !run.assignments.is_empty() || !run.redirects.is_empty() {
            self.push(run);
        }
        if self.facts.function_moves {
            self.place = self.place.lost();
        }
        Ends::same(self.place.clone())
    }

    fn assigned(&mut self, assignment: &RawAssignment, context: &Context) -> ShellWord {
        if let Some(subscript) = &assignment.subscript {
            self.evaluate(subscript, context);
        }
        let value = match &assignment.value {
            RawValue::Word(word) => self.value(word, context),
            RawValue::Array(words) => {
                let words: Vec<ShellWord> = words.iter().flat_map(|word| self.words(word, context)).collect();
                match <[ShellWord; 1]>::try_from(words) {
                    Ok([only]) if only.text().is_some() => only,
                    Ok(_) | Err(_) => {
                        ShellWord { parts: vec![WordPart::Unknown { quoted: true }], ..ShellWord::default() }
                    }
                }
            }
        };
        self.check_integer(&assignment.name, &value);
        value
    }

    /// Notes a doubt if a value is evaluated as arithmetic.
    pub(crate) fn check_integer(&mut self, name: &str, value: &ShellWord) {
        let number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let number = value.parts.iter().all(|part| match part {
            WordPart::Literal(text) => number(text),
            WordPart::Number => true,
            WordPart::Glob(_) | WordPart::Home | WordPart::Unknown { .. } => false,
        });
        if expansion::is_integer(name) && !number {
            self.doubt(&value.span, format!("the value of `{name}` is evaluated as arithmetic"));
        }
    }

    fn remember_assignment(&mut self, assignment: &RawAssignment, value: &ShellWord) {
        let plain = assignment.subscript.is_none() && !assignment.append;
        let known = matches!(assignment.value, RawValue::Word(_)) && value.text().is_some();
        if plain && known {
            self.remember_value(&assignment.name, value);
        }
    }

    /// Remembers the value of a variable that is set at one place only.
    pub(super) fn remember_value(&mut self, name: &str, value: &ShellWord) {
        if self.facts.is_set_once(name) && !expansion::is_special(name) && value.text().is_some() {
            self.remember(name, value.parts.clone());
        }
    }

    /// Adds redirections to what surrounds a command.
    pub(super) fn redirects(&mut self, redirects: &[RawRedirect], context: &mut Context) {
        for raw in redirects {
            let span = self.span(&raw.span);
            let input = raw.descriptor.is_none_or(|descriptor| descriptor == 0);
            let (kind, target) = match &raw.target {
                RawTarget::Word(word) => {
                    let surroundings = context.without_redirects();
                    let (kind, target) = self.file(raw.kind, word, &surroundings);
                    set_input(raw, &target, input, context);
                    (kind, target)
                }
                RawTarget::HereString(word) => {
                    let value = self.value(word, &context.without_redirects());
                    if input {
                        context.stdin =
                            value.text().map_or(Stdin::UnknownText, |text| Stdin::Text(format!("{text}\n")));
                    }
                    (raw.kind, ShellWord::default())
                }
                RawTarget::Document(body) => {
                    let text = body.get().map(|body| self.document(body, context));
                    if input {
                        context.stdin = text.unwrap_or(Stdin::UnknownText);
                    }
                    (raw.kind, ShellWord::default())
                }
            };
            context.redirects.push(Redirection { kind, target, span });
        }
    }

    fn document(&mut self, body: &RawWord, context: &Context) -> Stdin {
        let fixed = self.fixed.clone();
        self.fixed = Some(self.span(&body.span));
        let inner = context.without_redirects().within(RunPosition::HereDocument);
        let value = self.value(body, &inner);
        self.fixed = fixed;
        value.text().map_or(Stdin::UnknownText, |text| Stdin::Text(text.to_owned()))
    }

    /// Expands the file of a redirection.
    fn file(&mut self, kind: RedirectionKind, raw: &RawWord, context: &Context) -> (RedirectionKind, ShellWord) {
        let words = self.words(raw, context);
        let Ok([word]) = <[ShellWord; 1]>::try_from(words) else {
            self.doubt(&raw.span, "a redirection has not exactly one file");
            let parts = vec![WordPart::Unknown { quoted: true }];
            return (kind, ShellWord { parts, span: self.span(&raw.span) });
        };
        if word.prefix().starts_with("/dev/tcp/") || word.prefix().starts_with("/dev/udp/") {
            self.doubt(&raw.span, "the shell opens a connection");
        }
        let pipe = word.parts.as_slice() == [WordPart::Literal("/dev/fd/".to_owned()), WordPart::Number];
        if pipe && matches!(kind, RedirectionKind::Write | RedirectionKind::Append) {
            return (RedirectionKind::Duplicate, ShellWord { parts: vec![WordPart::Number], ..word });
        }
        (kind, word)
    }
}

fn set_input(raw: &RawRedirect, target: &ShellWord, input: bool, context: &mut Context) {
    match raw.kind {
        RedirectionKind::Read if input && target.prefix() == "/dev/fd/" => context.stdin = Stdin::Pipe,
        RedirectionKind::Read | RedirectionKind::ReadWrite if input => context.stdin = Stdin::File,
        RedirectionKind::Duplicate if raw.descriptor == Some(0) => context.stdin = Stdin::UnknownText,
        RedirectionKind::Read
        | RedirectionKind::ReadWrite
        | RedirectionKind::Duplicate
        | RedirectionKind::Write
        | RedirectionKind::Append
        | RedirectionKind::Text => {}
    }
}
