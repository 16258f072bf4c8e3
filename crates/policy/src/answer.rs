//! The answer of a pattern: yes, no, or perhaps.

use crate::why::Why;

/// Whether a pattern matches a part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MatchAnswer {
    /// It matches for every value of what is not known.
    Yes,
    /// It may match, which is not known for this reason.
    Maybe(Why),
    /// It matches for no value, for this reason.
    No(Why),
}

impl MatchAnswer {
    /// Both must hold. The first reason is kept.
    pub(crate) fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No(why) => Self::No(why),
            Self::Yes => other(),
            Self::Maybe(why) => match other() {
                Self::No(why) => Self::No(why),
                Self::Yes | Self::Maybe(_) => Self::Maybe(why),
            },
        }
    }

    /// The best of several answers: yes, then perhaps, then the no that came closest.
    pub(crate) fn any(answers: impl IntoIterator<Item = Self>, none: impl FnOnce() -> Why) -> Self {
        let mut best: Option<Self> = None;
        for answer in answers {
            if answer == Self::Yes {
                return Self::Yes;
            }
            if best.as_ref().is_none_or(|best| best.rank() < answer.rank()) {
                best = Some(answer);
            }
        }
        best.unwrap_or_else(|| Self::No(none()))
    }

    /// The answer, unless it is yes.
    pub(crate) fn unless_yes(self) -> Option<Self> {
        if self == Self::Yes { None } else { Some(self) }
    }

    /// A yes that is only guessed is a perhaps.
    pub(crate) fn at_most_maybe(self, why: impl FnOnce() -> Why) -> Self {
        if self == Self::Yes { Self::Maybe(why()) } else { self }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Yes => u8::MAX,
            Self::Maybe(why) => 100 + why.closeness(),
            Self::No(why) => why.closeness(),
        }
    }
}
