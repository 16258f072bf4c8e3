//! Words of a run that are read by another table: the words after `--`, those after `python -m MODULE`, and those after `npx TOOL`.

use super::operands::{OperandKind, add_operand};
use super::scan::Scan;
use super::tables::{self, Rest};
use crate::{HazardKind, ShellWord, WordRole};

impl Scan<'_> {
    /// Reads the words from `at` on as the rest of the run, if the table says how.
    pub(super) fn read_rest(&mut self, at: usize) -> Option<usize> {
        match self.node().rest.as_ref()? {
            Rest::Kind(kind) => {
                let writing = self.writing;
                let words = self.words.iter().enumerate().skip(at);
                words.for_each(|(at, word)| add_operand(&mut self.effects, *kind, at, word, writing));
                Some(self.words.len())
            }
            Rest::Table(name) => {
                let name = name.clone();
                self.finish();
                self.enter(&name, at);
                Some(at)
            }
        }
    }

    /// Says whether a word begins the rest of the run: 1 if the word itself is `--` and does not belong to the rest, 0 if it does.
    pub(super) fn begins_rest(&self, word: &ShellWord) -> Option<usize> {
        let node = self.node();
        let separator = usize::from(word.text() == Some("--"));
        let by_table = matches!(node.rest.as_ref()?, Rest::Table(_));
        let is_next = node.operands.at(self.operands.len()) == Some(OperandKind::Rest);
        let is_option = word.may_be_option();
        let begins = (separator == 1 && !self.options_ended)
            || (is_next && (by_table || !self.operands.is_empty() || !is_option));
        begins.then_some(separator)
    }

    /// Reads a word that names a tool, and leaves the words after it to the table of the tool.
    pub(super) fn read_tool(&mut self, at: usize, word: &ShellWord) -> usize {
        self.finish();
        let name = word.text().map(|name| format!("npx {name}")).filter(|name| tables::program(name).is_some());
        let Some(name) = name else {
            self.effects.add_hazard(HazardKind::Runs, at);
            self.lost = true;
            return self.words.len();
        };
        self.set_role(at, WordRole::Subcommand);
        self.effects.subcommand.extend(word.text().map(str::to_owned));
        self.enter(&name, at);
        at + 1
    }

    /// Leaves the words after `-m MODULE` to the table of the module.
    pub(super) fn enter_module(&mut self, at: usize, module: &ShellWord) {
        self.add_own_hazard();
        let name = module.text().map(|name| format!("python -m {name}"));
        if let Some(name) = name.filter(|name| tables::program(name).is_some()) {
            self.enter(&name, at);
        } else {
            self.effects.add_hazard(HazardKind::Runs, at);
            self.lost = true;
        }
    }

    /// Adds what the program or subcommand does in its plain use, unless an option says that it does nothing.
    pub(super) fn add_own_hazard(&mut self) {
        let node = self.node();
        let checks = self.has_option_of(&node.checking);
        if let Some(kind) = node.does
            && !(checks && kind == HazardKind::Writes)
            && !self.has_option_of(&node.information)
        {
            self.effects.add_hazard(kind, self.node_at);
        }
    }

    /// Says whether one of some options was read.
    pub(super) fn has_option_of(&self, names: &[String]) -> bool {
        self.options.iter().any(|option| names.contains(&option.name))
    }
}
