//! Reads the words of a run from left to right, by the rows of its program.

use super::operands::{OperandKind, add_operand, add_project};
use super::options::{Opt, OptEffect, Shape};
use super::tables::{self, Node, ReadsHere, Style};
use super::{patterns, special, word_after};
use crate::{Effects, HazardKind, ProgramRun, ShellWord, Stdin, WordPart, WordRole};

/// An option that was read.
#[derive(Debug)]
pub(super) struct GivenOption {
    /// Its name, with the dashes.
    pub(super) name: String,
    /// Its value, if it has one.
    pub(super) value: Option<ShellWord>,
    /// Index of its word.
    pub(super) at: usize,
}

/// The state of reading a run.
pub(super) struct Scan<'a> {
    /// The words of the run.
    pub(super) words: &'a [ShellWord],
    /// The row of the program.
    program: &'a Node,
    /// The program, and below it the subcommands that were read.
    nodes: Vec<&'a Node>,
    /// Index of the word of the last node.
    pub(super) node_at: usize,
    /// Effects of the words that were read so far.
    pub(super) effects: Effects,
    /// Indices of the operands of the last node.
    pub(super) operands: Vec<usize>,
    /// Options that were read for the last node, with their values.
    pub(super) options: Vec<GivenOption>,
    /// No option follows.
    pub(super) options_ended: bool,
    /// A word may have been an option, a value, an operand or several of them.
    uncertain: bool,
    /// An option makes the program write what it otherwise reads.
    pub(super) writing: bool,
    /// The subcommand is not known, so the words after it are not read.
    pub(super) lost: bool,
}

/// Reads the words of a run of a known program.
pub(super) fn scan(row: &'static Node, run: &ProgramRun, effects: Effects) -> Effects {
    let words = special::readable_words(row, &run.words);
    let mut scan = Scan {
        words: &words,
        program: row,
        nodes: vec![row],
        node_at: 0,
        effects,
        operands: Vec::new(),
        options: Vec::new(),
        options_ended: row.style == Style::Text,
        uncertain: false,
        writing: false,
        lost: false,
    };
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at = scan.read_word(at, word);
    }
    let named = scan.effects.reads.len();
    scan.finish();
    if scan.effects.reads.len() == named && scan.reads_here(run) {
        add_operand(&mut scan.effects, OperandKind::Read, 0, &ShellWord::literal("."), scan.writing);
    }
    scan.effects
}

impl<'a> Scan<'a> {
    /// The program or the subcommand whose words are read.
    pub(super) fn node(&self) -> &'a Node {
        self.nodes.last().copied().unwrap_or(self.program)
    }

    /// Says whether one of these options was read.
    pub(super) fn has_option(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.contains(&option.name.as_str()))
    }

    /// Reads one word and gives the index of the next.
    fn read_word(&mut self, at: usize, word: &ShellWord) -> usize {
        let node = self.node();
        if self.lost {
            return at + 1;
        }
        if let Some(separator) = self.begins_rest(word)
            && let Some(next) = self.read_rest(at + separator)
        {
            return next;
        }
        if !self.options_ended {
            if word.text() == Some("--") {
                self.set_role(at, WordRole::Option);
                self.options_ended = true;
                return at + 1;
            }
            if word.prefix().starts_with('-') && word.text() != Some("-") {
                self.set_role(at, WordRole::Option);
                return if word.is_one() { self.read_option(at, word) } else { self.doubt_word(at) };
            }
            if let Some(next) = self.read_listed_word(at, word) {
                return next;
            }
            if self.may_become_option(word) {
                self.doubt_word(at);
            }
        }
        if !node.subcommands.is_empty() && self.operands.is_empty() && self.read_subcommand(at, word) {
            return at + 1;
        }
        if node.operands.at(self.operands.len()) == Some(OperandKind::Tool) {
            return self.read_tool(at, word);
        }
        if node.operands.is_command(self.operands.len()) {
            self.operands.push(at);
            return self.words.len();
        }
        self.operands.push(at);
        self.options_ended |= node.style == Style::Posix;
        at + 1
    }

    /// Says whether the shell may make an option of a word that does not begin with a dash in the text.
    fn may_become_option(&self, word: &ShellWord) -> bool {
        let unquoted = word.parts.iter().any(|part| matches!(part, WordPart::Unknown { quoted: false }));
        if unquoted || !word.may_be_option() || word.text().is_some() {
            return unquoted;
        }
        // An option that is a whole word has no slash, unless it is glued to a value.
        let slash = word.parts.iter().any(|part| matches!(part, WordPart::Literal(text) if text.contains('/')));
        !(slash && self.node().style == Style::Words && self.node().all_options_are_words())
    }

    /// Notes that a word may be an option that the text does not show.
    fn doubt_word(&mut self, at: usize) -> usize {
        let node = self.node();
        if !node.all_options_harmless {
            self.effects.add_hazard(HazardKind::Unknown, at);
        } else if node.options.may_read()
            && let Some(word) = self.words.get(at)
        {
            self.effects.add_read(word.clone());
        }
        self.uncertain = true;
        at + 1
    }

    /// Reads a word as a subcommand. False if it is an operand.
    fn read_subcommand(&mut self, at: usize, word: &ShellWord) -> bool {
        let node = self.node();
        if let Some(name) = word.text()
            && let Some(subcommand) = node.subcommands.get(name)
            && !self.options_ended
        {
            self.set_role(at, WordRole::Subcommand);
            self.effects.subcommand.push(name.to_owned());
            self.nodes.push(subcommand);
            self.node_at = at;
            if let Some(kind) = subcommand.does
                && subcommand.checking.is_empty()
            {
                self.effects.add_hazard(kind, at);
            }
            self.options.clear();
            self.options_ended = subcommand.style == Style::Text;
            return true;
        }
        if node.operands.is_empty() || word.text().is_none() {
            self.effects.add_hazard(HazardKind::Unknown, at);
            self.lost = true;
            return true;
        }
        false
    }

    /// Reads a word that begins with a dash.
    fn read_option(&mut self, at: usize, word: &ShellWord) -> usize {
        let prefix = word.prefix();
        let (name, value) = match prefix.find('=') {
            Some(equals) => (prefix.get(..equals).unwrap_or_default(), Some(word_after(word, equals + 1))),
            None => (prefix, None),
        };
        let whole = value.is_some() || word.text().is_some();
        let style = self.node().style;
        let short = name.strip_prefix('-').filter(|short| style == Style::Words && short.starts_with('-'));
        let name = short.filter(|_| self.find(name).is_none()).unwrap_or(name);
        let long = prefix.starts_with("--") || style == Style::Words;
        // In `-o=out`, the value of the letter is `=out`.
        if whole
            && (long || name.chars().count() > 2)
            && let Some(option) = self.find(name)
        {
            return self.apply_whole(at, name, &option, value);
        }
        let beginning = self.nodes().find_map(|node| node.options.prefix_of(prefix));
        if style == Style::Words
            && let Some(beginning) = beginning
        {
            if let Some(option) = self.find(beginning) {
                self.apply(at, beginning, &option, Some(word_after(word, beginning.len())));
            }
            return at + 1;
        }
        match (long, whole) {
            (true, true) => self.doubt_option(at),
            (true, false) => self.doubt_word(at),
            (false, _) => self.read_letters(at, word),
        }
    }

    /// Applies an option that is a word of its own, apart from a value after `=`.
    fn apply_whole(&mut self, at: usize, name: &str, option: &Opt, value: Option<ShellWord>) -> usize {
        match (option.shape, value) {
            (Shape::None, Some(_)) if !matches!(option.effect, OptEffect::Hazard(_)) => self.doubt_option(at),
            (Shape::Required, None) => self.apply_next(at, name, option),
            (Shape::Until, None) => self.apply_until(at, name, option),
            (Shape::Pair, None) => {
                self.set_role(at + 1, WordRole::Value);
                if self.words.get(at + 1).is_some_and(|word| !word.is_one()) {
                    self.doubt_word(at + 1);
                }
                self.apply_next(at + 1, name, option)
            }
            (Shape::Pair | Shape::Until, Some(_)) => self.doubt_option(at),
            (_, value) => {
                self.apply(at, name, option, value);
                at + 1
            }
        }
    }

    /// Reads a word such as `-rn` or `-ofile` letter by letter.
    fn read_letters(&mut self, at: usize, word: &ShellWord) -> usize {
        let prefix = word.prefix();
        for (start, letter) in prefix.char_indices().skip(1) {
            if letter.is_ascii_digit()
                && self.nodes().any(|node| node.options.numbers)
                && self.find(&format!("-{letter}")).is_none()
            {
                continue;
            }
            let name = format!("-{letter}");
            let Some(option) = self.find(&name) else { return self.doubt_option(at) };
            let rest = word_after(word, start + letter.len_utf8());
            match option.shape {
                Shape::None => self.apply(at, &name, &option, None),
                Shape::Required if rest.parts.is_empty() => return self.apply_next(at, &name, &option),
                Shape::Until => return self.apply_until(at, &name, &option),
                Shape::Pair => return self.doubt_option(at),
                Shape::Required | Shape::Attached => {
                    let value = Some(rest).filter(|rest| !rest.parts.is_empty());
                    return self.apply_glued(at, &name, &option, value);
                }
            }
        }
        if word.text().is_none() { self.doubt_word(at) } else { at + 1 }
    }

    /// Applies an option that is a letter, with the rest of the word as its value. Some programs do not count a `=` as a part of the value.
    fn apply_glued(&mut self, at: usize, name: &str, option: &Opt, value: Option<ShellWord>) -> usize {
        let node = self.node();
        if node.glues_no_values && value.is_some() {
            return self.doubt_option(at);
        }
        let equals = node.guards_values && value.as_ref().is_some_and(|value| value.prefix().starts_with('='));
        if equals && !matches!(option.effect, OptEffect::Harmless | OptEffect::Choice(_)) {
            self.effects.add_hazard(HazardKind::Unknown, at);
        }
        let value = value.map(|value| if equals { word_after(&value, 1) } else { value });
        self.apply(at, name, option, value);
        at + 1
    }

    /// Applies an option whose value is the next word.
    fn apply_next(&mut self, at: usize, name: &str, option: &Opt) -> usize {
        let Some(value) = self.words.get(at + 1) else {
            self.effects.add_hazard(HazardKind::Unknown, at);
            return at + 1;
        };
        self.set_role(at + 1, WordRole::Value);
        let number =
            value.prefix().get(1..).is_some_and(|digits| digits.starts_with(|digit: char| digit.is_ascii_digit()));
        if self.node().guards_values && value.may_be_option() && value.text() != Some("-") && !number {
            self.effects.add_hazard(HazardKind::Unknown, at + 1);
        }
        self.apply(at, name, option, Some(value.clone()));
        if !value.is_one() {
            self.doubt_word(at + 1);
        }
        at + 2
    }

    /// Applies an option whose value is a command that ends with `;` or `{} +`.
    fn apply_until(&mut self, at: usize, name: &str, option: &Opt) -> usize {
        self.apply(at, name, option, None);
        for next in at + 1..self.words.len() {
            let Some(word) = self.words.get(next) else { break };
            let plus = word.text() == Some("+") && self.words.get(next - 1).and_then(ShellWord::text) == Some("{}");
            if word.text() == Some(";") || plus {
                return next + 1;
            }
            self.set_role(next, WordRole::Value);
            // A word that may be `;` may end the command, and options of the program would follow.
            if word.text().is_none() && (word.prefix().is_empty() || !word.is_one()) {
                self.effects.add_hazard(HazardKind::Unknown, next);
            }
        }
        self.words.len()
    }

    /// Adds the effect of an option.
    fn apply(&mut self, at: usize, name: &str, option: &Opt, value: Option<ShellWord>) {
        self.options.push(GivenOption { name: name.to_owned(), value: value.clone(), at });
        let value = value.unwrap_or_default();
        if !option.exceptions.is_empty() && patterns::is_exception(&option.exceptions, &value) {
            self.effects.add_hazard(HazardKind::Unknown, at);
        }
        match &option.effect {
            OptEffect::Harmless => {}
            OptEffect::Reads => add_operand(&mut self.effects, OperandKind::Read, at, &value, false),
            OptEffect::Project => add_project(&mut self.effects, at, &value, false),
            OptEffect::Module => self.enter_module(at, &value),
            OptEffect::Writes if matches!(value.text(), Some("-" | "/dev/null" | "/dev/stdout" | "/dev/stderr")) => {}
            OptEffect::Writes => self.effects.add_write(at, value),
            OptEffect::Directory => self.effects.set_directory(value),
            OptEffect::Contacts => self.effects.add_contact(at, value),
            OptEffect::Setting => super::git::add_setting(&mut self.effects, at, &value),
            OptEffect::Choice(words) => match value.text() {
                Some(text) if words.iter().any(|word| patterns::matches(word, text)) => {}
                Some(_) => self.effects.add_hazard(HazardKind::Runs, at),
                None => self.effects.add_hazard(HazardKind::Unknown, at),
            },
            OptEffect::Hazard(kind) => {
                self.writing |= *kind == HazardKind::Writes;
                self.effects.add_hazard(*kind, at);
            }
        }
    }

    /// Notes an option that the tables do not list.
    fn doubt_option(&mut self, at: usize) -> usize {
        self.effects.add_hazard(HazardKind::Unknown, at);
        self.uncertain = true;
        at + 1
    }

    /// The nodes whose options count: the last one, and those above it if the tables do not say otherwise.
    fn nodes(&self) -> impl Iterator<Item = &'a Node> + use<'a> {
        let node = self.node();
        let above = if node.own_options_only { 0 } else { self.nodes.len() - 1 };
        std::iter::once(node).chain(self.nodes.clone().into_iter().take(above).rev())
    }

    fn find(&self, name: &str) -> Option<Opt> {
        self.nodes().find_map(|node| node.options.find(name)).cloned()
    }

    /// Reads a word without a dash that the tables list as an option, such as `+nightly` of cargo.
    fn read_listed_word(&mut self, at: usize, word: &ShellWord) -> Option<usize> {
        let text = word.text()?;
        let name = text.split('=').next().unwrap_or(text);
        let option = self.find(name)?;
        self.set_role(at, WordRole::Option);
        let value = (name.len() < text.len()).then(|| word_after(word, name.len() + 1));
        Some(self.apply_whole(at, name, &option, value))
    }

    /// Leaves the words that follow to the table with this name.
    pub(super) fn enter(&mut self, name: &str, at: usize) {
        let Some(node) = tables::program(name) else {
            self.effects.add_hazard(HazardKind::Unknown, at);
            self.lost = true;
            return;
        };
        self.nodes = vec![node];
        self.node_at = at;
        self.operands.clear();
        self.options.clear();
        self.options_ended = node.style == Style::Text;
        self.writing = false;
    }

    pub(super) fn set_role(&mut self, at: usize, role: WordRole) {
        if let Some(place) = self.effects.roles.get_mut(at) {
            *place = role;
        }
    }

    /// Adds the effects of the operands, and those of the plain use.
    pub(super) fn finish(&mut self) {
        let node = self.node();
        if self.lost {
            return;
        }
        if !node.subcommands.is_empty() && self.operands.is_empty() && !node.bare && !self.only_informs() {
            self.effects.add_hazard(HazardKind::Unknown, 0);
        }
        self.add_own_hazard();
        if let Some(kind) = node.alone
            && self.operands.is_empty()
            && !self.has_option_of(&node.information)
            && !self.has_option_of(&node.instead_of_first)
        {
            self.effects.add_hazard(kind, self.node_at);
        }
        if special::judge(self) {
            return;
        }
        let skip_first = self.has_option_of(&node.instead_of_first);
        let mut several: Vec<bool> =
            self.operands.iter().map(|at| self.words.get(*at).is_some_and(|word| !word.is_one())).collect();
        if self.uncertain
            && let Some(first) = several.first_mut()
        {
            *first = true;
        }
        let checks = self.has_option_of(&node.checking);
        let kinds = node.operands.assign(&several, skip_first);
        for (at, kinds) in self.operands.iter().zip(kinds) {
            let Some(word) = self.words.get(*at) else { continue };
            if patterns::is_exception(&node.operand_exceptions, word) {
                self.effects.add_hazard(HazardKind::Unknown, *at);
            }
            for kind in kinds {
                let kind = if kind == OperandKind::Write && checks { OperandKind::Read } else { kind };
                add_operand(&mut self.effects, kind, *at, word, self.writing);
            }
        }
    }

    /// Says whether the program reads the working directory if no operand names what it reads.
    fn reads_here(&self, run: &ProgramRun) -> bool {
        match self.node().reads_here {
            None => false,
            Some(ReadsHere::Always) => true,
            Some(ReadsHere::Alone) => run.stdin == Stdin::Inherited,
            Some(ReadsHere::Recursive) => {
                let recursive = ["-r", "-R", "--recursive", "--dereference-recursive", "-d", "--directories"];
                self.has_option(&recursive) || self.effects.name.starts_with('r')
            }
        }
    }

    /// Says whether the options only ask for help or the version.
    fn only_informs(&self) -> bool {
        let informs = |name: &str| matches!(name, "--help" | "--version" | "-h" | "-V" | "-v" | "-version");
        self.options.iter().any(|option| informs(&option.name))
    }
}
