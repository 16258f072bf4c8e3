//! Where a path of a call leads, as far as its text tells.

use command_line::{Directory, ShellWord, WordPart};
use tool_facts::PathFacts;

use crate::wildcard::{Sign, signs};

/// Where a path starts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Base {
    /// At the root of the file system.
    Root,
    /// At this drive or share of Windows.
    Volume(String),
    /// At the home directory.
    Home,
    /// At the root of the session, which is not known.
    Session,
}

/// One component of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Component {
    /// The text, in which `*` and `?` stand for characters that are not known if it is wild.
    pub(crate) text: String,
    /// Some characters are not known.
    pub(crate) wild: bool,
}

impl Component {
    /// The component as signs.
    pub(crate) fn signs(&self) -> Vec<Sign> {
        if self.wild { signs(&self.text) } else { self.text.chars().map(Sign::Char).collect() }
    }

    /// Says whether the component stands for any number of components.
    pub(crate) fn is_deep(&self) -> bool {
        self.wild && self.text == "**"
    }
}

/// Where a path leads. `..` is resolved by the text alone; symbolic links are not followed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Location {
    /// Where it starts.
    pub(crate) base: Base,
    /// The components after the start. The first ones are `..` only if the path leaves a session whose root is not known.
    pub(crate) components: Vec<Component>,
    /// Number of the first components that are the root of the session, if the path is a relative one.
    floor: usize,
    /// The path as written leaves the root of the session.
    pub(crate) escapes: bool,
    /// The path has a component from which programs take what they run, or may have one.
    pub(crate) steers: bool,
}

impl Location {
    /// The root of the session: its path, if it is known and absolute.
    pub(crate) fn of_root(root: Option<&str>) -> Self {
        let facts = root.and_then(|root| PathFacts::parse(root).ok()).filter(|facts| facts.absolute);
        facts.map_or_else(
            || Self::of_base(Base::Session),
            |facts| Self { steers: false, floor: facts.components.len(), ..Self::of_facts(&facts, None) },
        )
    }

    const fn of_base(base: Base) -> Self {
        Self { base, components: Vec::new(), floor: 0, escapes: false, steers: false }
    }

    /// Where a parsed path leads from a directory. A relative path starts there.
    fn of_facts(facts: &PathFacts, from: Option<&Self>) -> Self {
        let component = |text: &String| Component { text: text.clone(), wild: false };
        let base = match (facts.absolute, facts.windows) {
            (true, false) => Base::Root,
            (true, true) => {
                let rest = facts.components.join("/");
                Base::Volume(facts.canonical.strip_suffix(&rest).unwrap_or(&facts.canonical).to_lowercase())
            }
            (false, _) => Base::Session,
        };
        let own: Vec<Component> = facts.components.iter().map(component).collect();
        let Some(from) = from.filter(|_| !facts.absolute) else {
            return Self { components: own, escapes: facts.escapes, steers: facts.steers, ..Self::of_base(base) };
        };
        from.joined(own, facts.steers)
    }

    /// The location of these components below this one. `..` goes up.
    fn joined(&self, own: Vec<Component>, steers: bool) -> Self {
        let mut joined = Self { steers: self.steers || steers, ..self.clone() };
        for component in own {
            if component.text != ".." || component.wild {
                joined.components.push(component);
                continue;
            }
            joined.escapes |= joined.components.len() <= self.floor && self.base != Base::Session;
            match joined.components.last() {
                Some(last) if last.text != ".." => drop(joined.components.pop()),
                _ if joined.base == Base::Root => {}
                _ => joined.components.push(component),
            }
        }
        joined.escapes |= joined.components.first().is_some_and(|first| first.text == "..");
        joined
    }

    /// Where a path text of a call leads.
    pub(crate) fn of_path(facts: &PathFacts, session: &Self) -> Self {
        Self::of_facts(facts, Some(session))
    }

    /// Where a text leads from a directory. `None` if that is not known.
    pub(crate) fn of_text(text: &str, from: Option<&Self>) -> Option<Self> {
        let facts = PathFacts::parse(text).ok()?;
        if facts.absolute { Some(Self::of_facts(&facts, None)) } else { Some(Self::of_facts(&facts, Some(from?))) }
    }

    /// Where a word leads from a directory. `None` if that is not known.
    pub(crate) fn of_word(word: &ShellWord, from: Option<&Self>) -> Option<Self> {
        if let Some(text) = word.text() {
            return Self::of_text(text, from);
        }
        let (home, parts) = match word.parts.split_first() {
            Some((WordPart::Home, rest)) => (true, rest),
            _ => (false, word.parts.as_slice()),
        };
        let text = glob_text(parts)?;
        if home {
            let home = Self::of_base(Base::Home);
            let rest = match text.strip_prefix('/') {
                Some(rest) => rest.trim_start_matches('/'),
                None if text.is_empty() => "",
                // `~ann` is the home of another user.
                None => return None,
            };
            let below = if rest.is_empty() { home } else { Self::of_glob(rest, Some(&home))? };
            return Some(below).filter(|below| !below.components.iter().any(|one| one.text == ".."));
        }
        Self::of_glob(&text, from)
    }

    /// Where a pattern over file names leads.
    fn of_glob(text: &str, from: Option<&Self>) -> Option<Self> {
        let facts = PathFacts::parse(text).ok().filter(|_| !text.contains(['(', '{', '!']))?;
        let of_glob = |text: &String| {
            // A class stands for one character; `*` stands for at least as much.
            let wild = text.contains(['*', '?', '[']);
            Component { text: if wild { classless(text) } else { text.clone() }, wild }
        };
        let own: Vec<Component> = facts.components.iter().map(of_glob).collect();
        // A component that begins with a dot could become `..`, and one that begins with a class is read differently.
        if own.iter().any(|one| one.wild && one.text.starts_with('.')) {
            return None;
        }
        let wild_steers = own.iter().any(|one| one.wild && tool_facts::may_steer(&one.text));
        let plain = Self::of_facts(&facts, None);
        let steers = facts.steers || wild_steers;
        Some(if facts.absolute { Self { components: own, steers, ..plain } } else { from?.joined(own, steers) })
    }

    /// Where the directory of a run leads from the start of its line.
    pub(crate) fn of_directory(directory: &Directory, start: Option<&Self>) -> Option<Self> {
        match directory {
            Directory::Start => start.cloned(),
            Directory::At(path) if path.starts_with("~/") || path == "~" => {
                let rest = path.trim_start_matches('~').trim_start_matches('/');
                let home = Self::of_base(Base::Home);
                if rest.is_empty() { Some(home) } else { Self::of_text(rest, Some(&home)) }
            }
            Directory::At(path) => Self::of_text(path, start),
            Directory::Unknown => None,
        }
    }

    /// Says whether the location is a directory or lies in it, and the path to it did not leave the session on the way.
    pub(crate) fn is_within(&self, directory: &Self) -> bool {
        !self.escapes
            && self.base == directory.base
            && self.components.starts_with(&directory.components)
            && !self.components.iter().any(|one| one.text == "..")
    }
}

/// The text of parts that are known or patterns over file names. `None` if a part is not known.
fn glob_text(parts: &[WordPart]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            WordPart::Literal(literal) => text.push_str(literal),
            WordPart::Glob(glob) => text.push_str(glob),
            WordPart::Number => text.push('*'),
            WordPart::Home | WordPart::Unknown { .. } => return None,
        }
    }
    Some(text)
}

/// A component in which every class of characters (`[a-z]`) is a `*`.
fn classless(text: &str) -> String {
    let mut rest = text;
    let mut written = String::new();
    while let Some((before, class)) = rest.split_once('[') {
        written.push_str(before);
        written.push('*');
        rest = class.get(1..).and_then(|inner| inner.split_once(']')).map_or("", |(_, after)| after);
    }
    written.push_str(rest);
    written
}
