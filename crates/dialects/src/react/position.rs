//! Position of a reader in a stream, as `Last-Event-ID` carries it. Events are numbered within a session, so that a
//! position names the session.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use domain::SessionId;

/// Maximum number of sessions in a position, which has to fit into a header.
pub(super) const MOST: usize = 100;

/// Position in a session. One event of the session can become several events of this dialect; all but the last of them carry a part number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) seq: u64,
    pub(super) part: Option<usize>,
}

impl Position {
    /// Position after all parts of an event.
    pub(super) const fn after(seq: u64) -> Self {
        Self { seq, part: None }
    }

    /// Number of the last event that was sent completely.
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
        // Stores hold signed 64-bit integers.
        i64::try_from(seq).map_err(|_| ())?;
        let part = part.map(str::parse).transpose().map_err(|_| ())?;
        Ok(Self { seq, part })
    }
}

/// Position of a reader in each session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Positions(pub(super) BTreeMap<SessionId, Position>);

impl Positions {
    /// Position in one session.
    pub(super) fn of(session: SessionId, position: Position) -> Self {
        Self(BTreeMap::from([(session, position)]))
    }

    /// Position in a session; before the first event if unknown.
    pub(super) fn within(&self, session: SessionId) -> Position {
        self.0.get(&session).copied().unwrap_or(Position::after(0))
    }

    /// Replaces the position in one session and drops others beyond the maximum. Events of a dropped session may be
    /// sent again, so that those with the fewest events are dropped.
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

    /// A number without a session cannot be attributed: the stream starts from the beginning.
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
    fn positions_are_parsed_as_they_are_written() {
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

    /// Every position that is written can be parsed. Of many sessions, those with the fewest events are dropped, except the current one.
    #[test]
    fn positions_of_many_sessions_can_be_parsed_and_are_bounded() {
        let session = |number| SessionId::from_uuid(Uuid::from_u128(number));
        for count in [1, 100, 101, 1500] {
            let positions = Positions(
                (1..=count).map(|number| (session(number), Position::after(u64::try_from(number).unwrap()))).collect(),
            );
            for own in [1, count + 1] {
                let written = positions.at(session(own), Position::after(7));
                assert_eq!(written.to_string().parse(), Ok(written.clone()));
                assert_eq!(written.0.len() as u128, count.max(own).min(100));
                assert_eq!(written.within(session(own)).seq, 7);
                assert!(count == 1 || written.within(session(count)).seq == u64::try_from(count).unwrap());
            }
        }
    }
}
