//! Lists the runs of a tree: expands words, follows the directory and the variables whose values the text tells.

pub(crate) mod arithmetic;
mod braces;
mod builtins;
mod conditions;
mod expansion;
pub(crate) mod facts;
mod loops;
pub(crate) mod place;
mod simple;
mod walk;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::syntax::tree::List;
use crate::{Directory, Doubt, Line, ProgramRun, Redirection, RunPosition, ShellLanguage, Stdin, WordPart};
use facts::Facts;
use place::Place;

/// Largest number of runs.
const MOST_RUNS: usize = 256;

/// Largest number of doubts.
const MOST_DOUBTS: usize = 64;

/// Largest number of commands that are visited, those of loops once for each word.
const MOST_STEPS: usize = 4_096;

/// Deepest nesting of texts and wrappers.
pub(crate) const DEEPEST: usize = 24;

/// What has been listed.
#[derive(Default)]
pub(crate) struct Output {
    runs: Vec<ProgramRun>,
    doubts: Vec<Doubt>,
    steps: usize,
    is_full: bool,
}

impl Output {
    pub(crate) fn into_line(self) -> Line {
        Line { runs: self.runs, doubts: self.doubts }
    }
}

/// What surrounds a command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    pub(crate) position: Vec<RunPosition>,
    pub(crate) redirects: Vec<Redirection>,
    pub(crate) stdin: Stdin,
    /// `set -e` does not stop at a failure here.
    pub(crate) checked: bool,
}

impl Context {
    /// The surroundings of what stands inside a word.
    pub(crate) fn without_redirects(&self) -> Self {
        let (position, stdin) = (self.position.clone(), self.stdin.clone());
        Self { position, redirects: Vec::new(), stdin, checked: false }
    }

    /// Returns these surroundings with one more position inside.
    pub(crate) fn within(&self, position: RunPosition) -> Self {
        let mut inner = self.clone();
        inner.position.push(position);
        inner
    }
}

/// Variables and functions that are known in a part of the text.
#[derive(Default)]
struct VariableScope {
    values: HashMap<String, Vec<WordPart>>,
    functions: HashSet<String>,
    /// Values outside are not known here.
    is_barrier: bool,
}

/// The walk over one text.
pub(crate) struct Lister<'o> {
    pub(crate) output: &'o mut Output,
    pub(crate) language: ShellLanguage,
    pub(crate) facts: Facts,
    scopes: Vec<VariableScope>,
    pub(crate) place: Place,
    /// The span of everything, in a text inside a word.
    pub(crate) fixed: Option<Range<usize>>,
    pub(crate) depth: usize,
    /// `exec` has changed the standard input or output of all later commands.
    pub(crate) is_redirected: bool,
}

impl<'o> Lister<'o> {
    /// Begins the walk over a tree in a shell of its own.
    pub(crate) fn new(output: &'o mut Output, language: ShellLanguage, list: &List, directory: Directory) -> Self {
        let facts = Facts::of(list);
        let place = Place::start(directory);
        Self {
            output,
            language,
            facts,
            scopes: vec![VariableScope::default()],
            place,
            fixed: None,
            depth: 0,
            is_redirected: false,
        }
    }

    /// The span to report for a part of the text.
    pub(crate) fn span(&self, span: &Range<usize>) -> Range<usize> {
        self.fixed.clone().unwrap_or_else(|| span.clone())
    }

    pub(crate) fn doubt(&mut self, span: &Range<usize>, reason: impl Into<String>) {
        let doubt = Doubt { span: self.span(span), reason: reason.into() };
        if self.output.doubts.len() < MOST_DOUBTS && !self.output.doubts.contains(&doubt) {
            self.output.doubts.push(doubt);
        }
    }

    pub(crate) fn add_doubts(&mut self, doubts: Vec<Doubt>) {
        doubts.into_iter().for_each(|doubt| self.doubt(&doubt.span, doubt.reason));
    }

    /// Lists a run. The same run of another round of a loop is listed once.
    pub(crate) fn push(&mut self, run: ProgramRun) {
        if self.output.runs.contains(&run) {
            return;
        }
        if self.output.runs.len() >= MOST_RUNS {
            self.stop(&run.span);
        } else {
            self.output.runs.push(run);
        }
    }

    /// Counts the bytes of a text that is read once more.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.output.steps += bytes / 256;
    }

    fn stop(&mut self, span: &Range<usize>) {
        if !self.output.is_full {
            self.output.is_full = true;
            let span = self.span(span);
            self.output.doubts.push(Doubt { span, reason: "the line has too many commands".to_owned() });
        }
    }

    /// Counts a command. Returns `false` if there are too many.
    fn step(&mut self, span: &Range<usize>) -> bool {
        self.charge(span.len() + 256);
        if self.output.steps > MOST_STEPS {
            self.stop(span);
        }
        !self.output.is_full
    }

    /// Walks a part of the text whose variables and functions are not known after it.
    fn scoped<T>(&mut self, is_barrier: bool, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(VariableScope { is_barrier, ..VariableScope::default() });
        let result = walk(self);
        self.scopes.pop();
        result
    }

    fn value_of(&self, name: &str) -> Option<&Vec<WordPart>> {
        for scope in self.scopes.iter().rev() {
            if let Some(value) = scope.values.get(name) {
                return Some(value);
            }
            if scope.is_barrier {
                return None;
            }
        }
        None
    }

    fn remember(&mut self, name: &str, value: Vec<WordPart>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.values.insert(name.to_owned(), value);
        }
    }

    fn is_function(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.functions.contains(name))
    }

    /// The directory of the commands at this point.
    pub(crate) fn directory(&self) -> Directory {
        if self.place.reachable { self.place.directory.clone() } else { Directory::Unknown }
    }
}
