//! Built-in commands: those that set variables, change the directory, or evaluate their words once more.

use super::Lister;
use super::place::{Ends, join};
use crate::expand::as_assignment;
use crate::{Directory, ProgramRun, ShellLanguage, ShellWord, VariableAssignment, WordPart};

/// Built-in commands that change what later words mean, or run their words.
const DOUBTFUL: &[&str] = &[
    "autoload", "bind", "compgen", "compopt", "coproc", "disable", "emulate", "enable", "fc", "float", "history",
    "integer", "let", "private", "sched", "setopt", "shopt", "unalias", "unhash", "unsetopt", "vared", "zcompile",
    "zle", "zmodload",
];

/// Options of `set` that only make a shell stricter or more verbose.
const SETTINGS: &[&str] = &["errexit", "errtrace", "nounset", "pipefail", "verbose", "xtrace", "functrace"];

/// Letters of options of `set` that only make a shell stricter or more verbose.
const LETTERS: &str = "euxvET";

impl Lister<'_> {
    /// Lists a run that may be a built-in command. Returns the states of the shell after it.
    pub(crate) fn builtin(&mut self, mut run: ProgramRun, name: &str) -> Ends {
        let mut ends = Ends::same(self.place.clone());
        match name {
            "cd" | "chdir" | "pushd" | "popd" => ends = self.change(&run, name),
            "exit" | "return" | "logout" => ends = Ends::same(self.place.unreachable()),
            "export" | "readonly" => self.declare(&mut run, name == "export", true),
            "local" | "declare" | "typeset" => self.declare(&mut run, false, false),
            "read" => self.read(&mut run),
            "mapfile" | "readarray" => self.fill(&mut run, "MAPFILE", "dnOstuCc"),
            "getopts" => self.fill(&mut run, "OPTARG", ""),
            "printf" => self.print(&mut run),
            "set" => ends = self.set(&run),
            "test" | "[" => self.examine(&run),
            "alias" if self.language != ShellLanguage::Bash && run.words.len() > 1 => {
                self.doubt(&run.span.clone(), "an alias changes what later words mean");
            }
            "unset" | "wait" | "jobs" | "hash" | "source" | "." | "print" => self.check_names(&run, name),
            _ => {}
        }
        let program =
            matches!(name, "compgen" | "compopt" | "fc" | "history" | "bind") && self.language == ShellLanguage::Sh;
        if DOUBTFUL.contains(&name) && !program && !is_globstar(&run) {
            self.doubt(&run.span.clone(), format!("`{name}` may run its words, or change what later words mean"));
        }
        self.push(run);
        self.place = ends.good.clone().merge(ends.bad.clone());
        ends
    }

    /// Follows a change of the directory.
    fn change(&mut self, run: &ProgramRun, name: &str) -> Ends {
        let place = self.place.clone();
        if self.language == ShellLanguage::Sh && name != "cd" {
            return Ends::same(place.lost());
        }
        let mut words = run.words.get(1..).unwrap_or_default();
        while let [first, rest @ ..] = words
            && name == "cd"
            && matches!(first.text(), Some("-L" | "-P" | "--"))
        {
            words = rest;
        }
        let guided =
            run.assignments.iter().any(|assignment| matches!(assignment.name.as_str(), "CDPATH" | "HOME" | "OLDPWD"))
                || !self.facts.is_never_set("CDPATH") && !self.facts.opaque
                || self.facts.opaque && self.language == ShellLanguage::Zsh;
        let good = match (name, words) {
            _ if guided => place.lost(),
            ("popd", []) => {
                let mut stack = place.stack.clone();
                let directory = stack.pop().unwrap_or(Directory::Unknown);
                super::place::Place { stack, ..place.moved(directory) }
            }
            ("cd" | "chdir" | "pushd", [only]) => match only.text() {
                Some("-") if name == "cd" => place.moved(place.previous.clone()),
                Some(text) if text.starts_with(['-', '+']) => place.lost(),
                Some(text) => {
                    let mut after = place.moved(join(&place.directory, text));
                    if name == "pushd" {
                        after.stack.push(place.directory.clone());
                    }
                    after
                }
                None => place.lost(),
            },
            _ => place.lost(),
        };
        Ends { good, bad: place }
    }

    /// `export NAME=value` and the like.
    fn declare(&mut self, run: &mut ProgramRun, exported: bool, keeps: bool) {
        let span = run.span.clone();
        let mut assignments = Vec::new();
        for word in run.words.iter().skip(1) {
            if let Some(mut assignment) = as_assignment(word) {
                assignment.exported = exported;
                self.check_integer(&assignment.name, &assignment.value);
                if keeps {
                    self.remember_value(&assignment.name, &assignment.value);
                }
                assignments.push(assignment);
                continue;
            }
            let allowed = if keeps { "pfn" } else { "xrgaAp" };
            match word.text() {
                Some(text) if is_name(text) => {}
                Some(text)
                    if text.starts_with('-') && text.trim_start_matches('-').chars().all(|c| allowed.contains(c)) =>
                {
                    if text.contains('f') || (text.contains('x') && !keeps) {
                        self.doubt(&span, format!("`{text}` changes what programs see"));
                    }
                }
                _ => self.doubt(&span, "a word that sets a variable is not certain"),
            }
        }
        let splits = self.language == ShellLanguage::Sh && run.words.iter().any(|word| !word.is_one());
        if splits {
            self.doubt(&span, "shells that are called `sh` may split a value");
        }
        run.assignments.extend(assignments);
    }

    /// `read NAME…`
    fn read(&mut self, run: &mut ProgramRun) {
        // For `read` alone, `IFS` only says how the line is split.
        run.assignments.retain(|assignment| assignment.name != "IFS");
        let span = run.span.clone();
        let unknown = ShellWord { parts: vec![WordPart::Unknown { quoted: true }], span: span.clone() };
        let mut names = Vec::new();
        let mut words = run.words.iter().skip(1);
        while let Some(word) = words.next() {
            match word.text() {
                Some(text) if is_name(text) => names.push(text.to_owned()),
                Some(text) if text.starts_with('-') && text.len() > 1 => {
                    let letters = text.trim_start_matches('-');
                    let takes_value = letters.ends_with(['d', 'i', 'n', 'N', 'p', 't', 'u']);
                    if takes_value {
                        words.next();
                    }
                    let known = letters.chars().all(|c| "rsedinNptuaA".contains(c)) && !text.starts_with("--");
                    if !known {
                        self.doubt(&span, "an option of `read` is not certain");
                    }
                }
                _ => self.doubt(&span, "a word of `read` is not certain"),
            }
        }
        if names.is_empty() {
            names.push("REPLY".to_owned());
        }
        for name in names {
            self.check_integer(&name, &unknown);
            run.assignments.push(VariableAssignment { name, value: unknown.clone(), exported: false });
        }
    }

    /// Built-in commands that fill variables.
    fn fill(&mut self, run: &mut ProgramRun, default: &str, letters: &str) {
        let span = run.span.clone();
        let value = ShellWord { parts: vec![WordPart::Unknown { quoted: true }], span: span.clone() };
        let mut names = Vec::new();
        for word in run.words.iter().skip(1) {
            match word.text() {
                Some(text) if text.starts_with('-') => {
                    // `-C` names a command that is run for each line.
                    if !text.chars().skip(1).all(|c| letters.contains(c)) || text.contains(['C', 'c']) {
                        self.doubt(&span, "an option is not certain");
                    }
                }
                Some(text) if is_name(text) => names.push(text.to_owned()),
                Some(text) if !text.contains(['[', '$', '`']) => {}
                Some(_) | None => self.doubt(&span, "a word that sets a variable is not certain"),
            }
        }
        if names.is_empty() {
            names.push(default.to_owned());
        }
        run.assignments.extend(names.into_iter().map(|name| VariableAssignment {
            name,
            value: value.clone(),
            exported: false,
        }));
    }

    /// `printf -v NAME` sets a variable.
    fn print(&mut self, run: &mut ProgramRun) {
        let span = run.span.clone();
        let first = run.words.get(1);
        let text = first.and_then(ShellWord::text);
        if text == Some("-v") {
            let value = ShellWord { parts: vec![WordPart::Unknown { quoted: true }], span: span.clone() };
            match run.words.get(2).and_then(ShellWord::text).filter(|name| is_name(name)) {
                Some(name) => {
                    let name = name.to_owned();
                    self.check_integer(&name, &value);
                    run.assignments.push(VariableAssignment { name, value, exported: false });
                }
                None => self.doubt(&span, "a word that sets a variable is not certain"),
            }
            return;
        }
        let option = first.is_some_and(|word| {
            if text.is_none() { word.may_be_option() } else { text.is_some_and(|text| text.starts_with("-v")) }
        });
        let sets = text.is_some_and(|format| {
            format.split('%').skip(1).any(|rest| {
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #'.*$hljztL".contains(c)).starts_with('n')
            })
        });
        let evaluates = self.language == ShellLanguage::Zsh
            && text.is_none_or(|text| {
                text.split('%').skip(1).any(|rest| !rest.is_empty() && !rest.starts_with(['s', 'b', 'q', 'c', '-']))
            });
        if option || sets || (evaluates && run.words.len() > 2) {
            self.doubt(&span, "`printf` may set a variable or evaluate its words");
        }
    }

    /// `set -e` and the like.
    fn set(&mut self, run: &ProgramRun) -> Ends {
        let mut strict = self.place.strict;
        let mut words = run.words.iter().skip(1).map(|word| word.text());
        while let Some(word) = words.next() {
            let Some(text) = word else {
                self.doubt(&run.span, "a word of `set` is not known");
                break;
            };
            if text == "--" || text == "-" {
                break;
            }
            let on = text.starts_with('-');
            let Some(letters) = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else { break };
            let plain = letters.strip_suffix('o').unwrap_or(letters);
            if plain.contains('e') {
                strict = on;
            }
            let mut known = plain.chars().all(|letter| LETTERS.contains(letter));
            if letters.ends_with('o') {
                let setting = words.next().flatten();
                known &= setting.is_some_and(|setting| SETTINGS.contains(&setting));
                if setting == Some("errexit") {
                    strict = on;
                }
            }
            if !known {
                self.doubt(&run.span, format!("`set {text}` changes what later words mean"));
            }
        }
        Ends::same(super::place::Place { strict, ..self.place.clone() })
    }

    /// `test -v 'a[$(cmd)]'` runs `cmd`.
    fn examine(&mut self, run: &ProgramRun) {
        let risky = run.words.windows(2).any(|pair| {
            let [option, operand] = pair else { return false };
            let variable = matches!(option.text(), Some("-v" | "-R"))
                || option.text().is_none() && option.may_be_option() && !option.is_one();
            variable && operand.text().is_none_or(|text| text.contains('['))
        });
        let numbers = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        let arithmetic = run.words.iter().any(|word| word.text().is_some_and(|text| numbers.contains(&text)));
        let plain = |word: &ShellWord| {
            word.text().is_some_and(|text| !text.contains(['[', '$', '`']))
                || word.parts.as_slice() == [WordPart::Number]
        };
        let evaluated = self.language == ShellLanguage::Zsh && arithmetic && !run.words.iter().skip(1).all(plain);
        if risky || evaluated {
            self.doubt(&run.span, "`test` may evaluate a word once more");
        }
    }

    /// Built-in commands that may evaluate a name.
    fn check_names(&mut self, run: &ProgramRun, name: &str) {
        let safe = |word: &ShellWord| match (name, word.text()) {
            ("unset", Some(text)) => is_name(text) || text == "-v",
            ("wait", Some(text)) => text.trim_start_matches('%').chars().all(|c| c.is_ascii_digit()) || text == "-n",
            ("wait", None) => matches!(word.parts.as_slice(), [WordPart::Number | WordPart::Unknown { quoted: true }]),
            ("jobs", Some(text)) => !text.contains('x'),
            ("hash", Some(text)) => !text.contains(['p', '=', 'd']) || !text.starts_with('-'),
            ("print", Some(text)) => !text.starts_with('-') || text.chars().skip(1).all(|c| "rnl".contains(c)),
            ("print", None) => self.language != ShellLanguage::Zsh,
            (_, text) => text.is_none_or(|text| !text.contains(['[', '`']) && !text.contains("$(")),
        };
        if !run.words.iter().skip(1).all(safe) {
            self.doubt(&run.span.clone(), format!("`{name}` may evaluate a word once more"));
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

fn is_globstar(run: &ProgramRun) -> bool {
    let words: Vec<Option<&str>> = run.words.iter().map(ShellWord::text).collect();
    words == [Some("shopt"), Some("-s"), Some("globstar")]
}
