//! A pattern of paths: `src/**`, `/tmp/*.log`, `~/notes/**`.

use std::collections::HashSet;

use crate::{
    answer::MatchAnswer,
    location::{Base, Component, Location},
    why::Why,
    wildcard::Wildcard,
};

/// Longest pattern, in bytes.
pub(crate) const LONGEST: usize = 1024;

/// A pattern of paths, component by component.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PathPattern {
    base: Base,
    components: Vec<PatternComponent>,
    lowered: Vec<PatternComponent>,
}

/// One component of a pattern.
#[derive(Debug, Clone, PartialEq)]
enum PatternComponent {
    /// `**`: any number of components.
    Deep,
    /// One component.
    One(Wildcard),
}

impl PathPattern {
    /// Reads a pattern, or gives the reason why the text is not one.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("is empty, so that it matches nothing".into());
        }
        if text.len() > LONGEST {
            return Err(format!("is longer than {LONGEST} bytes"));
        }
        if text.contains(['\\', '$', '`']) || text.chars().any(char::is_control) {
            return Err("contains a character that no path has here: write `/` between components".into());
        }
        if text.contains(['{', '}']) {
            return Err("has braces, which stand for themselves in no path: write one pattern for each path".into());
        }
        let (base, rest) = base(text)?;
        if rest.ends_with('/') {
            return Err(format!("ends in a slash: write `{text}**` for everything in the directory"));
        }
        let mut components = Vec::new();
        for component in rest.split('/').filter(|one| !matches!(*one, "" | ".")) {
            components.push(match component {
                ".." => return Err("goes up by `..`: write the path from its start".into()),
                "**" => PatternComponent::Deep,
                one if one.contains("**") => {
                    return Err("has `**` beside other characters: it stands alone between slashes".into());
                }
                one => PatternComponent::One(Wildcard::parse(one)),
            });
        }
        components.dedup_by(|one, other| *one == PatternComponent::Deep && *other == PatternComponent::Deep);
        let lowered = components.iter().map(PatternComponent::lowered).collect();
        Ok(Self { base, components, lowered })
    }

    /// Says whether the pattern matches every value of a path. Files that steer programs are written only if a component names them literally.
    pub(crate) fn covers(&self, path: &Location, session: &Location, written: bool) -> bool {
        let Some(own) = self.own(path, session) else { return false };
        if path.components.iter().any(|one| one.text == ".." && !one.wild) {
            return false;
        }
        Matcher { written: written && path.steers, ..Matcher::default() }.covers(&self.components, own)
    }

    /// Whether the pattern matches a path, for a rule that asks or denies. Letters are compared in lower case.
    ///
    /// A relative pattern that begins with `**` is found anywhere. The home directory is one of the usual ones.
    pub(crate) fn finds(&self, path: &Location, session: &Location, why: impl Fn() -> Why) -> MatchAnswer {
        let below = || path.components.strip_prefix(session.components.as_slice()).map(<[Component]>::to_vec);
        let whole = || path.components.clone();
        match (&self.base, &path.base) {
            (_, Base::Session) if path.escapes => MatchAnswer::Maybe(why()),
            (Base::Session, base) if *base == session.base && below().is_some() => {
                self.compare(&below().unwrap_or_default(), why)
            }
            (Base::Session, _) if self.lowered.first() == Some(&PatternComponent::Deep) => self.compare(&whole(), why),
            (one, two) if one == two && *one != Base::Session => self.compare(&whole(), why),
            (Base::Root, Base::Home) => {
                let homes = homes().map(|home| self.compare(&[home, whole()].concat(), &why));
                MatchAnswer::any(homes, &why).at_most_maybe(why)
            }
            (Base::Home, Base::Root) => {
                let rests = homes().filter_map(|home| {
                    let (start, rest) = path.components.split_at_checked(home.len())?;
                    let same =
                        home.iter().zip(start).all(|(home, one)| home.wild || home.text == one.text.to_lowercase());
                    same.then(|| self.compare(rest, &why))
                });
                MatchAnswer::any(rests.collect::<Vec<_>>(), &why).at_most_maybe(why)
            }
            _ => MatchAnswer::No(why()),
        }
    }

    /// Compares the components of the pattern and of a path in lower case.
    fn compare(&self, path: &[Component], why: impl Fn() -> Why) -> MatchAnswer {
        let lower = |one: &Component| Component { text: one.text.to_lowercase(), wild: one.wild };
        let path: Vec<Component> = path.iter().map(lower).collect();
        if Matcher::default().covers(&self.lowered, &path) {
            MatchAnswer::Yes
        } else if Matcher::default().may_match(&self.lowered, &path) {
            MatchAnswer::Maybe(why())
        } else {
            MatchAnswer::No(why())
        }
    }

    /// The components that the pattern is compared with. A relative pattern starts at the root of the session.
    fn own<'l>(&self, path: &'l Location, session: &Location) -> Option<&'l [Component]> {
        match (&self.base, &path.base) {
            (Base::Session, _) if path.escapes => None,
            (Base::Session, base) => {
                (*base == session.base).then(|| path.components.strip_prefix(session.components.as_slice()))?
            }
            (one, two) => {
                (one == two && (!path.escapes || path.base != Base::Session)).then_some(path.components.as_slice())
            }
        }
    }
}

impl PatternComponent {
    fn lowered(&self) -> Self {
        match self {
            Self::Deep => Self::Deep,
            Self::One(one) => Self::One(one.lowered()),
        }
    }
}

/// Says whether a component may be one that a pattern matches. A leading wildcard of a shell stands for no leading dot.
fn may_name(pattern: &Wildcard, component: &Component) -> bool {
    let hidden = component.wild && component.text.starts_with(['*', '?']) && pattern.prefix().starts_with('.');
    !hidden && pattern.may_match(&component.signs())
}

/// The usual home directories, in lower case.
fn homes() -> impl Iterator<Item = Vec<Component>> {
    const HOMES: [&[&str]; 7] =
        [&["root"], &["home", "*"], &["users", "*"], &["var", "*"], &["var", "lib", "*"], &["opt", "*"], &["srv", "*"]];
    let component = |text: &&str| Component { text: (*text).to_owned(), wild: *text == "*" };
    HOMES.into_iter().map(move |home| home.iter().map(component).collect())
}

/// Compares the components of a pattern with those of a path.
#[derive(Default)]
struct Matcher {
    /// The path is written, and may have a component that steers programs.
    written: bool,
    /// Pairs of positions that were compared without success.
    seen: HashSet<(usize, usize)>,
}

impl Matcher {
    fn covers(&mut self, pattern: &[PatternComponent], path: &[Component]) -> bool {
        let place = (pattern.len(), path.len());
        if self.seen.contains(&place) {
            return false;
        }
        let covers = match (pattern.split_first(), path.split_first()) {
            (None, None) => true,
            (Some((PatternComponent::Deep, rest)), None) => self.covers(rest, path),
            (Some((PatternComponent::Deep, rest)), Some((first, below))) => {
                self.covers(rest, path) || (!self.steers(first) && self.covers(pattern, below))
            }
            (Some((PatternComponent::One(one), rest)), Some((first, below))) => {
                !first.is_deep()
                    && (one.literal().is_some() || !self.steers(first))
                    && one.covers(&first.signs())
                    && self.covers(rest, below)
            }
            _ => false,
        };
        if !covers {
            self.seen.insert(place);
        }
        covers
    }

    fn may_match(&mut self, pattern: &[PatternComponent], path: &[Component]) -> bool {
        let place = (pattern.len(), path.len());
        if self.seen.contains(&place) {
            return false;
        }
        let may = match (pattern.split_first(), path.split_first()) {
            (None, None) => true,
            (Some((PatternComponent::Deep, rest)), None) => self.may_match(rest, path),
            (Some((PatternComponent::Deep, rest)), Some((_, below))) => {
                self.may_match(rest, path) || self.may_match(pattern, below)
            }
            (_, Some((first, below))) if first.is_deep() => {
                self.may_match(pattern, below)
                    || pattern.split_first().is_some_and(|(_, rest)| self.may_match(rest, path))
            }
            (Some((PatternComponent::One(one), rest)), Some((first, below))) => {
                may_name(one, first) && self.may_match(rest, below)
            }
            _ => false,
        };
        if !may {
            self.seen.insert(place);
        }
        may
    }

    fn steers(&self, component: &Component) -> bool {
        self.written && tool_facts::may_steer(&component.text)
    }
}

/// Splits a pattern into its start and the rest.
fn base(text: &str) -> Result<(Base, &str), String> {
    let mut chars = text.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':');
    if let Some(rest) = text.strip_prefix('/') {
        return Ok((Base::Root, rest));
    }
    if text == "~" {
        return Ok((Base::Home, ""));
    }
    if let Some(rest) = text.strip_prefix("~/") {
        return Ok((Base::Home, rest));
    }
    if text.starts_with('~') {
        return Err("names the home directory of another user, which is not known".into());
    }
    if drive {
        let (drive, rest) = text.split_at(2);
        let rest = rest.strip_prefix('/').ok_or("depends on the current directory of its drive")?;
        return Ok((Base::Volume(format!("{}/", drive.to_lowercase())), rest));
    }
    Ok((Base::Session, text))
}
