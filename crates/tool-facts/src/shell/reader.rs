//! Reads simple commands from the syntax tree. Every accepted kind of node is named here; any other kind is refused.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

use super::collector::{Argv, Collector, CommandContext, Stdin};
use super::guard::{self, refused};
use super::strict::StatedCommand;
use super::word::Word;
use super::{Assignment, Redirect, agreement, builtin, redirect};
use crate::Unparsed;

/// Deepest nesting of the tree.
const DEEPEST: usize = 150;

/// Number of progress reports after which the parser is stopped: a bound on its work that needs no clock.
const MOST_WORK: usize = 20_000;

/// Parses a text and gives every simple command in it to the collector.
pub(super) fn read(collector: &mut Collector, text: &str, context: &CommandContext) -> Result<(), Unparsed> {
    guard::check(text)?;
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .map_err(|_| refused("the grammar does not fit the parser"))?;
    let mut work = 0_usize;
    let mut progress = |_: &ParseState| {
        work += 1;
        if work > MOST_WORK { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
    let tree = tree.ok_or_else(|| refused("the command takes too long to read"))?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(refused("the shell command cannot be parsed"));
    }
    if !accounted(root, text) {
        return Err(refused("the parser skipped a part of the command"));
    }
    let before = collector.shell.commands.len();
    let mut reader = Reader { source: text, collector, context, depth: 0, stated: Vec::new() };
    reader.statement(root)?;
    let stated = reader.stated;
    if let Some(reason) = agreement::find_doubt(text, root, stated) {
        collector.add_doubt(reason);
    }
    if collector.shell.commands.len() == before {
        return Err(refused("the text contains no command"));
    }
    Ok(())
}

/// Says whether the leaves of a tree cover the whole text except for blanks. An escaped blank, which the parser drops too, is not
/// accepted: it belongs to a word.
fn accounted(root: Node<'_>, text: &str) -> bool {
    let blank = |from: usize, to: usize| {
        let written = text.get(from..to).unwrap_or("?");
        let gap = written.replace("\\\n", "");
        // An escaped line end without a blank joins two words that the tree has as separate leaves.
        gap.chars().all(|c| matches!(c, ' ' | '\t' | '\n')) && (written.is_empty() || !gap.is_empty())
    };
    let mut cursor = root.walk();
    let mut end = 0;
    loop {
        let node = cursor.node();
        // The text of a here-document is one leaf.
        if node.kind() != "heredoc_body" && cursor.goto_first_child() {
            continue;
        }
        if node.start_byte() > end && !blank(end, node.start_byte()) {
            return false;
        }
        if node.kind() == "comment" && !begins_comment(text.get(..node.start_byte()).unwrap_or("?")) {
            return false;
        }
        end = end.max(node.end_byte());
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return blank(end, text.len());
            }
        }
    }
}

/// Says whether a `#` after this text begins a comment. In the middle of a word it does not, although the parser may say so.
fn begins_comment(before: &str) -> bool {
    let escaped = before.ends_with("\\ ") || before.ends_with("\\\t") || before.ends_with("\\\n");
    !escaped && before.chars().next_back().is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')'))
}

/// Parts that follow a command in the tree and belong to it.
#[derive(Default)]
pub(super) struct TrailingParts<'t> {
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) stdin: Vec<Stdin>,
    /// Statements after the command that the tree has inside the redirection of a here-document.
    pub(super) after: Vec<Node<'t>>,
}

pub(super) struct Reader<'r> {
    pub(super) source: &'r str,
    pub(super) collector: &'r mut Collector,
    pub(super) context: &'r CommandContext,
    pub(super) depth: usize,
    /// The simple commands so far, to be compared with the strict reading.
    stated: Vec<StatedCommand>,
}

impl Reader<'_> {
    pub(super) fn statement(&mut self, node: Node<'_>) -> Result<(), Unparsed> {
        self.statement_with(node, TrailingParts::default())
    }

    pub(super) fn statement_with<'t>(&mut self, node: Node<'t>, extra: TrailingParts<'t>) -> Result<(), Unparsed> {
        self.enter()?;
        let after = extra.after.clone();
        match node.kind() {
            "command" => self.command(node, extra)?,
            "redirected_statement" => self.redirected(node, extra)?,
            "variable_assignment" | "variable_assignments" => self.assignments(node, extra)?,
            "declaration_command" | "unset_command" | "test_command" => self.builtin(node, extra)?,
            "negated_command" if !self.raw(node).starts_with("! ") => {
                return Err(refused("a `!` touches another word"));
            }
            "list" | "pipeline" | "negated_command" => self.read_list(node, extra)?,
            "compound_statement" if self.raw(node).starts_with("((") => self.arithmetic(node, extra)?,
            "compound_statement" if !grouped(self.raw(node)) => {
                return Err(refused("a group of commands cannot be read"));
            }
            kind if kind == "program" || is_group(kind) => {
                self.redirects_of_group(extra)?;
                self.parts(node)?;
            }
            "comment" => {}
            kind => return Err(refused(format!("`{kind}` is not supported"))),
        }
        for statement in after {
            self.statement(statement)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads the parts of a compound statement, in order.
    fn parts(&mut self, node: Node<'_>) -> Result<(), Unparsed> {
        if node.kind() == "function_definition"
            && let Some(name) = node.child_by_field_name("name")
        {
            let name = self.raw(name).to_owned();
            self.collector.shell.functions.push(name);
        }
        for child in children(node) {
            self.part(node, child)?;
        }
        Ok(())
    }

    fn part(&mut self, parent: Node<'_>, child: Node<'_>) -> Result<(), Unparsed> {
        match child.kind() {
            "&" => self.collector.shell.background = true,
            "|" | "|&" if parent.kind() == "pipeline" => self.collector.shell.pipes = true,
            _ if !child.is_named() => {}
            "variable_name" => {
                let name = self.raw(child).to_owned();
                self.collector.check_variable(&name, "");
            }
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                let mut extra = TrailingParts::default();
                redirect::read(self, child, &mut extra)?;
                self.redirects_of_group(extra)?;
            }
            kind if is_statement(kind) && parent.kind() != "c_style_for_statement" => self.statement(child)?,
            kind if is_word(kind) && parent.kind() != "c_style_for_statement" => {
                let word = self.read_word(child)?;
                self.collector.shell.dynamic |= word.dynamic;
                self.collector.shell.globs |= word.glob && parent.kind() == "for_statement";
            }
            "do_group" | "compound_statement" => self.statement(child)?,
            _ => {
                self.collector.shell.dynamic = true;
                self.inside(child)?;
            }
        }
        Ok(())
    }

    /// Reads a list or a pipeline. The trailing parts belong to its last command.
    fn read_list<'t>(&mut self, node: Node<'t>, mut extra: TrailingParts<'t>) -> Result<(), Unparsed> {
        extra.after.clear();
        let all: Vec<Node<'t>> = children(node).collect();
        let last = all.iter().rposition(|child| child.is_named() && child.kind() != "comment");
        let mut extra = Some(extra);
        for (at, child) in all.into_iter().enumerate() {
            match extra.take_if(|_| Some(at) == last) {
                Some(extra) if is_statement(child.kind()) => self.statement_with(child, extra)?,
                Some(_) => return Err(refused(format!("`{}` is not supported", child.kind()))),
                None => self.part(node, child)?,
            }
        }
        Ok(())
    }

    fn redirected<'t>(&mut self, node: Node<'t>, outer: TrailingParts<'t>) -> Result<(), Unparsed> {
        let body = node.child_by_field_name("body");
        let mut extra = TrailingParts::default();
        for child in children(node) {
            if body.is_some_and(|body| body.id() == child.id()) {
                continue;
            }
            redirect::read(self, child, &mut extra)?;
        }
        extra.words.extend(outer.words);
        extra.redirects.extend(outer.redirects);
        extra.stdin.extend(outer.stdin);
        if let Some(body) = body {
            self.statement_with(body, extra)
        } else {
            let after = std::mem::take(&mut extra.after);
            self.hand_over(Vec::new(), Vec::new(), extra)?;
            after.into_iter().try_for_each(|statement| self.statement(statement))
        }
    }

    fn command<'t>(&mut self, node: Node<'t>, extra: TrailingParts<'t>) -> Result<(), Unparsed> {
        let (mut words, mut assignments) = (Vec::new(), Vec::new());
        let mut own = TrailingParts::default();
        let mut end = None;
        for child in children(node) {
            let is_redirect = child.kind().ends_with("_redirect");
            if let Some(end) = end
                && !is_redirect
            {
                self.require_blank(end, child.start_byte())?;
            }
            end = Some(child.end_byte());
            match child.kind() {
                "variable_assignment" => assignments.push(self.assignment(child)?),
                kind if kind.ends_with("_redirect") => {
                    redirect::read(self, child, &mut own)?;
                    if words.is_empty() && !own.words.is_empty() {
                        return Err(refused("words follow a redirection that comes before the program"));
                    }
                    words.append(&mut own.words);
                }
                "command_name" => {
                    let name = child.child(0).ok_or_else(|| refused("a command has no name"))?;
                    words.push(self.read_word(name)?);
                }
                // After `=~` the parser reads a pattern, which may run past the end of the command.
                kind if !child.is_named() && kind != "$" => {
                    return Err(refused(format!("`{kind}` is not supported in a command")));
                }
                _ => words.push(self.read_word(child)?),
            }
        }
        own.words = words;
        own.words.extend(extra.words);
        own.redirects.extend(extra.redirects);
        own.stdin.extend(extra.stdin);
        let words = std::mem::take(&mut own.words);
        let after = std::mem::take(&mut own.after);
        self.hand_over(words, assignments, own)?;
        after.into_iter().try_for_each(|statement| self.statement(statement))
    }

    /// Refuses two words without a blank between them. The parser accepts a line end there, and a shell does not.
    pub(super) fn require_blank(&self, end: usize, start: usize) -> Result<(), Unparsed> {
        let gap = self.source.get(end..start).unwrap_or_default().replace("\\\n", "");
        if gap.is_empty() || !gap.chars().all(|c| c == ' ' || c == '\t') {
            return Err(refused("two words are not separated by a blank"));
        }
        Ok(())
    }

    fn assignments<'t>(&mut self, node: Node<'t>, extra: TrailingParts<'t>) -> Result<(), Unparsed> {
        let mut assignments = Vec::new();
        if node.kind() == "variable_assignment" {
            assignments.push(self.assignment(node)?);
        } else {
            for child in children(node) {
                assignments.push(self.assignment(child)?);
            }
        }
        if !extra.words.is_empty() {
            return Err(refused("the words after an assignment are ambiguous"));
        }
        self.hand_over(Vec::new(), assignments, extra)
    }

    fn assignment(&mut self, node: Node<'_>) -> Result<Assignment, Unparsed> {
        if node.kind() != "variable_assignment" || children(node).count() > 3 {
            return Err(refused("an assignment has more than a name and a value"));
        }
        let name = node.child_by_field_name("name").ok_or_else(|| refused("an assignment has no name"))?;
        if name.kind() != "variable_name" {
            self.collector.shell.dynamic = true;
            self.inside(name)?;
        }
        let value = match node.child_by_field_name("value") {
            None => Word::default(),
            Some(value) if value.kind() == "array" => {
                self.collector.shell.dynamic = true;
                self.inside(value)?;
                Word::literal(self.raw(value))
            }
            Some(value) => self.read_word(value)?,
        };
        self.collector.shell.dynamic |= value.dynamic;
        let name = self.raw(name).split('[').next().unwrap_or_default().to_owned();
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !letters {
            return Err(refused(format!("`{name}` is not the name of a variable")));
        }
        Ok(Assignment { name, value: value.text })
    }

    /// Reads `export`, `declare`, `unset`, `[ … ]` and `[[ … ]]`.
    fn builtin<'t>(&mut self, node: Node<'t>, extra: TrailingParts<'t>) -> Result<(), Unparsed> {
        if !extra.words.is_empty() {
            return Err(refused("the words after a built-in command are ambiguous"));
        }
        if node.kind() == "test_command" && self.raw(node).contains("=~") {
            return Err(refused("a test with `=~`, whose pattern may be read too far"));
        }
        let (mut words, mut assignments) = (Vec::new(), Vec::new());
        for child in children(node) {
            match child.kind() {
                "variable_assignment" => {
                    let assignment = self.assignment(child)?;
                    words.push(Word::literal(&format!("{}={}", assignment.name, assignment.value)));
                    assignments.push(assignment);
                }
                kind if is_word(kind) || !child.is_named() => words.push(self.read_word(child)?),
                _ => {
                    let known = self.constant(child)?;
                    self.collector.shell.dynamic |= !known;
                    words.push(Word::literal(self.raw(child)));
                }
            }
        }
        if node.kind() != "test_command" {
            self.collector.check_named_variables(&words);
        }
        self.record(words, assignments, extra);
        Ok(())
    }

    /// Reads `(( … ))`. The values of variables in it are evaluated again.
    fn arithmetic<'t>(&mut self, node: Node<'t>, extra: TrailingParts<'t>) -> Result<(), Unparsed> {
        self.collector.shell.dynamic = true;
        self.inside(node)?;
        let words = vec![Word::literal("(("), Word::literal(self.raw(node))];
        self.record(words, Vec::new(), extra);
        Ok(())
    }

    /// Adds a built-in command to the list, without looking for a program in it.
    fn record(&mut self, words: Vec<Word>, assignments: Vec<Assignment>, extra: TrailingParts<'_>) {
        self.note(&extra.redirects);
        for assignment in &assignments {
            self.collector.check_variable(&assignment.name, &assignment.value);
        }
        let argv = Argv { words, assignments, redirects: extra.redirects, stdin: Stdin::Other };
        self.stated.push(StatedCommand { assignments: Vec::new(), ..agreement::state_command(&argv) });
        let name = argv.words.first().map(|word| word.text.as_str()).unwrap_or_default();
        builtin::inspect(self.collector, name, &argv.words);
        self.collector.add_command(&argv, self.context);
    }

    fn hand_over(
        &mut self,
        words: Vec<Word>,
        assignments: Vec<Assignment>,
        extra: TrailingParts<'_>,
    ) -> Result<(), Unparsed> {
        self.note(&extra.redirects);
        let mut stdin = extra.stdin;
        let stdin = match stdin.len() {
            0 => Stdin::Inherited,
            1 => stdin.remove(0),
            _ => Stdin::Other,
        };
        let argv = Argv { words, assignments, redirects: extra.redirects, stdin };
        self.stated.push(agreement::state_command(&argv));
        self.collector.run(argv, self.context)
    }

    fn redirects_of_group(&mut self, extra: TrailingParts<'_>) -> Result<(), Unparsed> {
        if !extra.words.is_empty() {
            return Err(refused("words follow a group of commands"));
        }
        self.note(&extra.redirects);
        Ok(())
    }

    /// Adds the files that redirections read and write to the facts of the whole text.
    fn note(&mut self, redirects: &[Redirect]) {
        for redirect in redirects.iter().filter(|redirect| !redirect.is_harmless()) {
            match redirect.kind {
                "read" => self.collector.shell.reads.push(redirect.target.clone()),
                "write" | "append" | "read_write" => self.collector.shell.writes.push(redirect.target.clone()),
                _ => {}
            }
        }
    }

    pub(super) fn enter(&mut self) -> Result<(), Unparsed> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(refused("the command is nested too deep")) } else { Ok(()) }
    }

    pub(super) fn raw(&self, node: Node<'_>) -> &str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }
}

pub(super) fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    std::iter::from_fn(move || {
        let node = more.then(|| cursor.node());
        more = more && cursor.goto_next_sibling();
        node
    })
}

/// Says whether a brace begins a group of commands: a blank follows it. Otherwise it is part of a word.
fn grouped(raw: &str) -> bool {
    raw.strip_prefix('{').is_some_and(|rest| rest.starts_with([' ', '\t', '\n']))
}

fn is_statement(kind: &str) -> bool {
    matches!(
        kind,
        "command"
            | "redirected_statement"
            | "variable_assignment"
            | "variable_assignments"
            | "declaration_command"
            | "unset_command"
            | "test_command"
            | "list"
            | "pipeline"
            | "negated_command"
            | "comment"
    ) || is_group(kind)
}

/// Says whether a node of this kind contains further statements.
fn is_group(kind: &str) -> bool {
    matches!(
        kind,
        "subshell"
            | "compound_statement"
            | "do_group"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "for_statement"
            | "c_style_for_statement"
            | "case_statement"
            | "case_item"
            | "function_definition"
    )
}

pub(super) fn is_word(kind: &str) -> bool {
    matches!(
        kind,
        "word"
            | "number"
            | "string"
            | "raw_string"
            | "ansi_c_string"
            | "translated_string"
            | "concatenation"
            | "simple_expansion"
            | "expansion"
            | "arithmetic_expansion"
            | "brace_expression"
            | "command_substitution"
            | "process_substitution"
            | "extglob_pattern"
            | "regex"
            | "variable_name"
            | "special_variable_name"
    )
}
