//! Where a reader of a stream is. What it was told last names the session of each event: another session has events of the same numbers.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use domain::SessionId;

/// In how many sessions it is said where a reader is: a header has to hold it.
pub(super) const MOST: usize = 100;

/// A place in a session. An event of ours can be several of this wire: all but the last of them have a part as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) seq: u64,
    pub(super) part: Option<usize>,
}

impl Position {
    /// After everything that is said of an event.
    pub(super) const fn after(seq: u64) -> Self {
        Self { seq, part: None }
    }

    /// The number of the event of which everything was said.
    pub(super) const fn before(self) -> u64 {
        match self.part {
            None => self.seq,
            Some(_) => self.seq.saturating_sub(1),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            None => write!(f, "{}", self.seq),
            Some(part) => write!(f, "{}.{part}", self.seq),
        }
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (seq, part) = text.split_once('.').map_or((text, None), |(seq, part)| (seq, Some(part)));
        let seq: u64 = seq.parse().map_err(|_| ())?;
        // Stores count in 63 bits.
        i64::try_from(seq).map_err(|_| ())?;
        let part = part.map(str::parse).transpose().map_err(|_| ())?;
        Ok(Self { seq, part })
    }
}

/// Where a reader is, in every session that it was told of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Positions(pub(super) BTreeMap<SessionId, Position>);

impl Positions {
    /// In one session alone.
    pub(super) fn of(session: SessionId, position: Position) -> Self {
        Self(BTreeMap::from([(session, position)]))
    }

    /// Where it is in a session: before its beginning if nothing is known.
    pub(super) fn within(&self, session: SessionId) -> Position {
        self.0.get(&session).copied().unwrap_or(Position::after(0))
    }

    /// The same with this place in a session, within what can be read again. What is left out may be told once more, so that it is where the least
    /// was told.
    pub(super) fn at(&self, session: SessionId, position: Position) -> Self {
        let others = self.0.iter().filter(|(other, _)| **other != session);
        let mut others: Vec<(SessionId, Position)> = others.map(|(other, position)| (*other, *position)).collect();
        if others.len() >= MOST {
            others.sort_unstable_by_key(|(_, position)| Reverse(position.seq));
            others.truncate(MOST - 1);
        }
        Self(others.into_iter().chain([(session, position)]).collect())
    }
}

impl fmt::Display for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (session, position)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}:{position}", session.uuid())?;
        }
        Ok(())
    }
}

impl FromStr for Positions {
    type Err = ();

    /// A number without a session is of nobody knows which one: everything is told again.
    fn from_str(text: &str) -> Result<Self, ()> {
        if text.parse::<Position>().is_ok() {
            return Ok(Self::default());
        }
        let mut positions = BTreeMap::new();
        for one in text.split(',') {
            let (session, position) = one.split_once(':').ok_or(())?;
            positions.insert(session.parse().map_err(|_| ())?, position.parse()?);
        }
        if positions.len() > MOST { Err(()) } else { Ok(Self(positions)) }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        let [one, two] = [1, 2].map(|number| SessionId::from_uuid(Uuid::from_u128(number)));
        let mut positions = Positions::of(one, Position { seq: 7, part: Some(1) });
        assert_eq!(positions.to_string().parse(), Ok(positions.clone()));
        assert_eq!((positions.within(one).before(), positions.within(two).before()), (6, 0));
        positions.0.insert(two, Position::after(12));
        assert_eq!(positions.to_string().parse(), Ok(positions));
        assert_eq!("12.1".parse(), Ok(Positions::default()));
        for nothing in
            ["", "soon", "x:1", &format!("{one}:-1"), &format!("{one}:1,"), &format!("{one}:9223372036854775808")]
        {
            assert_eq!(nothing.parse::<Positions>(), Err(()), "{nothing}");
        }
    }

    /// Whatever is written can be read; of many sessions those of which the least was told are left out, but for the one that is told of.
    #[test]
    fn what_is_written_can_be_read_however_many_sessions_there_are() {
        let session = |number| SessionId::from_uuid(Uuid::from_u128(number));
        for count in [1, 100, 101, 1500] {
            let positions =
                Positions((1..=count).map(|number| (session(number), Position::after(number as u64))).collect());
            for own in [1, count + 1] {
                let written = positions.at(session(own), Position::after(7));
                assert_eq!(written.to_string().parse(), Ok(written.clone()));
                assert_eq!(written.0.len() as u128, count.max(own).min(100));
                assert_eq!(written.within(session(own)).seq, 7);
                assert!(count == 1 || written.within(session(count)).seq == count as u64);
            }
        }
    }
}
