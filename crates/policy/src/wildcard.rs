//! Texts with `*` and `?`, compared with texts of which some characters are not known.

/// One sign of a text: a character, or a wildcard. In a text that is compared, a wildcard stands for characters that are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sign {
    /// This character.
    Char(char),
    /// Exactly one character.
    One,
    /// Any characters, none included.
    Any,
}

/// Largest number of steps of one comparison with unknown characters. A longer comparison counts as a possible match.
const MOST_STEPS: usize = 1 << 20;

/// A text with wildcards, compared as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Wildcard {
    signs: Vec<Sign>,
    /// The text, if it has no wildcard.
    literal: Option<String>,
}

impl Wildcard {
    /// Takes the signs of a text.
    pub(crate) fn new(signs: Vec<Sign>) -> Self {
        let signs = normal(signs);
        let literal = signs.iter().map(|sign| if let Sign::Char(c) = sign { Some(*c) } else { None }).collect();
        Self { signs, literal }
    }

    /// Reads a text in which `*` and `?` are wildcards.
    pub(crate) fn parse(text: &str) -> Self {
        Self::new(signs(text))
    }

    /// The text, if it has no wildcard.
    pub(crate) fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// Says whether every text matches.
    pub(crate) fn is_everything(&self) -> bool {
        self.signs == [Sign::Any]
    }

    /// The known text at the beginning.
    pub(crate) fn prefix(&self) -> String {
        let known = self.signs.iter().map_while(|sign| if let Sign::Char(c) = sign { Some(*c) } else { None });
        known.collect()
    }

    /// Returns the pattern in lower case.
    pub(crate) fn lowered(&self) -> Self {
        let lower = |sign: &Sign| match sign {
            Sign::Char(c) => c.to_lowercase().map(Sign::Char).collect(),
            Sign::One | Sign::Any => vec![*sign],
        };
        Self::new(self.signs.iter().flat_map(lower).collect())
    }

    /// Says whether a known text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        if let Some(literal) = &self.literal {
            return literal == text;
        }
        self.is_everything() || covers(&self.signs, &text.chars().map(Sign::Char).collect::<Vec<_>>())
    }

    /// Says whether every value of a text matches. An unknown part is matched by `*` only.
    pub(crate) fn covers(&self, text: &[Sign]) -> bool {
        covers(&self.signs, &normal(text.to_vec()))
    }

    /// Says whether some value of a text may match.
    pub(crate) fn may_match(&self, text: &[Sign]) -> bool {
        may_meet(&self.signs, &normal(text.to_vec()))
    }
}

/// The signs of a text in which `*` and `?` are wildcards.
pub(crate) fn signs(text: &str) -> Vec<Sign> {
    let sign = |c| match c {
        '*' => Sign::Any,
        '?' => Sign::One,
        c => Sign::Char(c),
    };
    text.chars().map(sign).collect()
}

/// The same language with each run of wildcards written as its `?` first, then one `*`.
fn normal(signs: Vec<Sign>) -> Vec<Sign> {
    if signs.iter().all(|sign| matches!(sign, Sign::Char(_))) {
        return signs;
    }
    let mut written = Vec::with_capacity(signs.len());
    let mut any = false;
    for sign in signs {
        match sign {
            Sign::Any => any = true,
            Sign::One => written.push(Sign::One),
            Sign::Char(_) => {
                if std::mem::take(&mut any) {
                    written.push(Sign::Any);
                }
                written.push(sign);
            }
        }
    }
    if any {
        written.push(Sign::Any);
    }
    written
}

/// Says whether every text of the narrow signs is one of the wide signs. Both are in the form of [`normal`].
fn covers(wide: &[Sign], narrow: &[Sign]) -> bool {
    let (mut w, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(found) = narrow.get(n) {
        match wide.get(w) {
            Some(Sign::Any) => {
                retry = Some((w + 1, n));
                w += 1;
            }
            Some(sign) if *found != Sign::Any && (*sign == Sign::One || sign == found) => {
                w += 1;
                n += 1;
            }
            _ => {
                let Some((after, taken)) = retry else { return false };
                retry = Some((after, taken + 1));
                (w, n) = (after, taken + 1);
            }
        }
    }
    wide.get(w..).unwrap_or_default().iter().all(|sign| *sign == Sign::Any)
}

/// Says whether some text is one of both.
fn may_meet(left: &[Sign], right: &[Sign]) -> bool {
    if left.len().saturating_mul(right.len()) > MOST_STEPS {
        return true;
    }
    // `row[n]` says whether the signs of `left` so far and the first `n` signs of `right` have a text in common.
    let mut row: Vec<bool> = (0..=right.len()).map(|n| right.iter().take(n).all(|sign| *sign == Sign::Any)).collect();
    for sign in left {
        let mut next = Vec::with_capacity(row.len());
        next.push(*sign == Sign::Any && row.first() == Some(&true));
        for (n, other) in right.iter().enumerate() {
            let reached = |row: &[bool], n: usize| row.get(n).copied().unwrap_or_default();
            next.push(match (sign, other) {
                (Sign::Any, _) | (_, Sign::Any) => reached(&row, n + 1) || reached(&next, n),
                (Sign::One, _) | (_, Sign::One) => reached(&row, n),
                (Sign::Char(one), Sign::Char(two)) => reached(&row, n) && one == two,
            });
        }
        row = next;
    }
    row.last() == Some(&true)
}
