//! Where a reader of a stream is. What it was told last names the session of each event: another session has events of the same numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use domain::SessionId;

/// How many sessions one reader can be in.
const MOST: usize = 100;

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
}
