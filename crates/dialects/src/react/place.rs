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
pub(super) struct Place {
    pub(super) seq: u64,
    pub(super) part: Option<usize>,
}

impl Place {
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

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            None => write!(f, "{}", self.seq),
            Some(part) => write!(f, "{}.{part}", self.seq),
        }
    }
}

impl FromStr for Place {
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
pub(super) struct Places(pub(super) BTreeMap<SessionId, Place>);

impl Places {
    /// In one session alone.
    pub(super) fn of(session: SessionId, place: Place) -> Self {
        Self(BTreeMap::from([(session, place)]))
    }

    /// Where it is in a session: before its beginning if nothing is known.
    pub(super) fn within(&self, session: SessionId) -> Place {
        self.0.get(&session).copied().unwrap_or(Place::after(0))
    }

    /// The same with this place in a session, within what can be read again. What is left out may be told once more, so that it is where the least
    /// was told.
    pub(super) fn at(&self, session: SessionId, place: Place) -> Self {
        let others = self.0.iter().filter(|(other, _)| **other != session);
        let mut others: Vec<(SessionId, Place)> = others.map(|(other, place)| (*other, *place)).collect();
        if others.len() >= MOST {
            others.sort_unstable_by_key(|(_, place)| Reverse(place.seq));
            others.truncate(MOST - 1);
        }
        Self(others.into_iter().chain([(session, place)]).collect())
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (session, place)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{}:{place}", session.uuid())?;
        }
        Ok(())
    }
}

impl FromStr for Places {
    type Err = ();

    /// A number without a session is of nobody knows which one: everything is told again.
    fn from_str(text: &str) -> Result<Self, ()> {
        if text.parse::<Place>().is_ok() {
            return Ok(Self::default());
        }
        let mut places = BTreeMap::new();
        for one in text.split(',') {
            let (session, place) = one.split_once(':').ok_or(())?;
            places.insert(session.parse().map_err(|_| ())?, place.parse()?);
        }
        if places.len() > MOST { Err(()) } else { Ok(Self(places)) }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        let [one, two] = [1, 2].map(|number| SessionId::from_uuid(Uuid::from_u128(number)));
        let mut places = Places::of(one, Place { seq: 7, part: Some(1) });
        assert_eq!(places.to_string().parse(), Ok(places.clone()));
        assert_eq!((places.within(one).before(), places.within(two).before()), (6, 0));
        places.0.insert(two, Place::after(12));
        assert_eq!(places.to_string().parse(), Ok(places));
        assert_eq!("12.1".parse(), Ok(Places::default()));
        for nothing in
            ["", "soon", "x:1", &format!("{one}:-1"), &format!("{one}:1,"), &format!("{one}:9223372036854775808")]
        {
            assert_eq!(nothing.parse::<Places>(), Err(()), "{nothing}");
        }
    }

    /// Whatever is written can be read; of many sessions those of which the least was told are left out, but for the one that is told of.
    #[test]
    fn what_is_written_can_be_read_however_many_sessions_there_are() {
        let session = |number| SessionId::from_uuid(Uuid::from_u128(number));
        for count in [1, 100, 101, 1500] {
            let places = Places((1..=count).map(|number| (session(number), Place::after(number as u64))).collect());
            for own in [1, count + 1] {
                let written = places.at(session(own), Place::after(7));
                assert_eq!(written.to_string().parse(), Ok(written.clone()));
                assert_eq!(written.0.len() as u128, count.max(own).min(100));
                assert_eq!(written.within(session(own)).seq, 7);
                assert!(count == 1 || written.within(session(count)).seq == count as u64);
            }
        }
    }
}
