//! Reads one word from its nodes in the syntax tree.

use tree_sitter::Node;

use super::guard::refused;
use super::reader::{Reader, children, is_word};
use super::word::{Word, ansi_c};
use crate::Unparsed;

impl Reader<'_> {
    /// Reads one word, and every command substitution in it.
    pub(super) fn read_word(&mut self, node: Node<'_>) -> Result<Word, Unparsed> {
        let mut word = Word::default();
        self.piece(node, &mut word)?;
        Ok(word.finish())
    }

    fn piece(&mut self, node: Node<'_>, word: &mut Word) -> Result<(), Unparsed> {
        self.enter()?;
        let raw = self.raw(node).to_owned();
        match node.kind() {
            "raw_string" => word.push_quoted(between(&raw, "'", "'")?),
            "ansi_c_string" => {
                let text = ansi_c(between(&raw, "$'", "'")?).ok_or_else(|| refused("`$'…'` has an unknown escape"))?;
                word.push_quoted(&text);
            }
            "string" => self.double_quoted(node, word)?,
            "concatenation" => self.concatenation(node, word)?,
            "simple_expansion" if matches!(raw.as_str(), "$?" | "$#" | "$$" | "$!") => {
                // The value is a number. It is accepted as an argument, as a pattern is, and nowhere else.
                word.glob = true;
                word.push_quoted(&raw);
            }
            "number" if node.named_child_count() > 0 => {
                self.inside(node)?;
                word.push_dynamic(&raw);
            }
            "simple_expansion" | "expansion" | "arithmetic_expansion" | "brace_expression" | "translated_string" => {
                self.inside(node)?;
                word.push_dynamic(&raw);
            }
            "command_substitution" | "process_substitution" => {
                self.substitution(node)?;
                word.push_dynamic(&raw);
            }
            // The parser has its own rules for the end of a pattern, and may read past the end of the command.
            "extglob_pattern" if !raw.contains([' ', '\t', '\n', ';', '&', '<', '>', '\'', '"', '`', '$', '\\']) => {
                self.inside(node)?;
                word.glob = true;
                word.push_bare(&raw);
            }
            kind if kind == "word" || kind == "number" || kind.ends_with("variable_name") || !node.is_named() => {
                plain(&raw)?;
                word.push_bare(&raw);
            }
            kind => return Err(refused(format!("`{kind}` is not supported in a word"))),
        }
        self.depth -= 1;
        Ok(())
    }

    fn double_quoted(&mut self, node: Node<'_>, word: &mut Word) -> Result<(), Unparsed> {
        let misread = || refused("a quoted word cannot be read");
        let range = node.byte_range();
        if !self.raw(node).starts_with('"') {
            return Err(misread());
        }
        let mut at = range.start + 1;
        let end = range.end.checked_sub(1).filter(|end| *end >= at).ok_or_else(misread)?;
        for child in children(node) {
            if !is_word(child.kind()) {
                continue;
            }
            let before = self.source.get(at..child.start_byte()).ok_or_else(misread)?;
            if !word.push_double_quoted(before) {
                return Err(misread());
            }
            self.piece(child, word)?;
            at = child.end_byte();
        }
        let rest = self.source.get(at..end).ok_or_else(misread)?;
        if word.push_double_quoted(rest) { Ok(()) } else { Err(misread()) }
    }

    fn concatenation(&mut self, node: Node<'_>, word: &mut Word) -> Result<(), Unparsed> {
        let mut at = node.start_byte();
        for child in children(node) {
            let gap = self.source.get(at..child.start_byte()).unwrap_or(" ");
            if !gap.replace("\\\n", "").is_empty() {
                return Err(refused("the parts of a word do not touch"));
            }
            let mut part = Word::default();
            self.piece(child, &mut part)?;
            word.glob |= part.glob;
            word.append(&part);
            at = child.end_byte();
        }
        Ok(())
    }

    /// Reads the commands in `$( )`, backquotes, `<( )` and `>( )`.
    pub(super) fn substitution(&mut self, node: Node<'_>) -> Result<(), Unparsed> {
        self.collector.shell.substitutions = true;
        for child in children(node) {
            match child.kind() {
                "&" => self.collector.shell.background = true,
                "file_redirect" => {
                    if let Some(target) = child.child_by_field_name("destination") {
                        let target = self.read_word(target)?;
                        self.collector.shell.reads.push(target.text);
                    }
                }
                _ if child.is_named() => self.statement(child)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads only the substitutions in a node.
    pub(super) fn inside(&mut self, node: Node<'_>) -> Result<(), Unparsed> {
        self.enter()?;
        for child in children(node) {
            match child.kind() {
                "command_substitution" | "process_substitution" => self.substitution(child)?,
                _ => self.inside(child)?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads the words of an expression, and says whether all of them are known.
    pub(super) fn constant(&mut self, node: Node<'_>) -> Result<bool, Unparsed> {
        self.enter()?;
        let mut known = true;
        for child in children(node) {
            known &= if is_word(child.kind()) { !self.read_word(child)?.dynamic } else { self.constant(child)? };
        }
        self.depth -= 1;
        Ok(known)
    }
}

fn between<'a>(raw: &'a str, open: &str, close: &str) -> Result<&'a str, Unparsed> {
    raw.strip_prefix(open)
        .and_then(|raw| raw.strip_suffix(close))
        .ok_or_else(|| refused("a quoted word cannot be read"))
}

/// Refuses a bare word with a character that would end it or expand.
fn plain(raw: &str) -> Result<(), Unparsed> {
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        let wrong = match c {
            '\\' => {
                chars.next();
                false
            }
            // A dollar sign that expands nothing here may still open `$"…"` with what follows.
            '$' | '\'' | '"' | '`' | ' ' | '\t' | '\n' | ';' | '&' | '|' => true,
            _ => false,
        };
        if wrong {
            return Err(refused(format!("the word `{raw}` cannot be read")));
        }
    }
    Ok(())
}
