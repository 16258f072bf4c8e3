//! Reads an export and says that it is whole, or names the first entry that was changed, removed, added or reordered.
//!
//! Whoever tampers with a file can make its hashes anew, but not its signatures. Then what can be said is between which two
//! checkpoints it was done.

use std::fmt;

use super::chain::{Checkpoint, PublicKey, link};
use super::export::{CheckpointLine, EntryLine, FORMAT, Header};
use crate::Digest;

/// What a reader wants to be sure of beside the chain itself.
#[derive(Debug, Clone, Default)]
pub struct Demands {
    /// The checkpoints are signed by this key, in hexadecimal.
    pub public_key: Option<String>,
    /// The chain has this hash at this number: a checkpoint that was kept elsewhere.
    pub checkpoint: Option<(u64, String)>,
    /// Every entry is shown, none by its digest alone.
    pub whole: bool,
}

/// What was found whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How many entries.
    pub entries: u64,
    /// How many of them are shown by their digest alone.
    pub digests_only: u64,
    /// How many checkpoints.
    pub checkpoints: u64,
    /// The last entry's number and hash.
    pub last: (u64, String),
    /// The key that has signed, in hexadecimal.
    pub public_key: String,
}

/// The first thing that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line in the file, from 1.
    pub line: u64,
    /// The number of the entry; none where it is a checkpoint, or the whole file.
    pub seq: Option<u64>,
    /// What was done to it.
    pub fault: Fault,
}

/// What was done to an entry or a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It says something else than it did.
    Changed,
    /// It is not there.
    Removed,
    /// It was not there.
    Added,
    /// It stands in another's place.
    Reordered,
    /// This entry, or one after it up to this number, was tampered with and all hashes were made anew: a signed one differs.
    Rewritten {
        /// The number of the entry whose signed hash differs.
        upto: u64,
    },
    /// A checkpoint whose signature is not of this key and this text.
    Signature,
    /// Signed by another key than the one demanded.
    ForeignKey,
    /// The checkpoint demanded lies before the first entry.
    OutOfReach,
    /// Shown by its digest alone where all were demanded.
    Hidden,
    /// Not an export of this form.
    NotAnExport,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, seq, fault } = self;
        let what = seq.map_or_else(|| "a checkpoint".to_owned(), |seq| format!("entry {seq}"));
        match fault {
            Fault::Changed => write!(f, "line {line}: {what} was changed"),
            Fault::Removed => write!(f, "line {line}: {what} was removed"),
            Fault::Added => write!(f, "line {line}: {what} was added"),
            Fault::Reordered => write!(f, "line {line}: {what} was reordered: another belongs here"),
            Fault::Rewritten { upto } => write!(
                f,
                "line {line}: {what}, or one after it up to {upto}, was changed, removed or added, and the hashes were \
                 made anew: they are not the ones that were signed"
            ),
            Fault::Signature => write!(f, "line {line}: {what} was changed: its signature does not fit"),
            Fault::ForeignKey => write!(f, "line {line}: signed by another key than the one given"),
            Fault::OutOfReach => write!(f, "line {line}: the export begins after the checkpoint given"),
            Fault::Hidden => write!(f, "line {line}: {what} is shown by its digest alone"),
            Fault::NotAnExport => write!(f, "line {line}: this is not an audit export ({FORMAT})"),
        }
    }
}

/// Reads the lines of an export, each with its end.
pub fn verify(mut lines: impl Iterator<Item = Vec<u8>>, demands: &Demands) -> Result<Report, Finding> {
    let header = lines.next().and_then(|line| serde_json::from_str::<Header>(whole(&line)?).ok());
    let mut reading = Reading::begin(header, demands)?;
    while let Some(line) = lines.next() {
        reading.line += 1;
        match read(&line) {
            Some(Line::Entry(entry)) if reading.fits(&entry) => reading.entry(&entry, demands)?,
            Some(Line::Entry(entry)) => return Err(reading.blame(&entry, &mut lines)),
            Some(Line::Checkpoint(checkpoint)) => reading.checkpoint(&checkpoint, &mut lines)?,
            None => return Err(reading.unreadable(&mut lines)),
        }
    }
    reading.end(demands)
}

enum Line<'a> {
    Entry(EntryLine<'a>),
    Checkpoint(Checkpoint),
}

/// A line without its end, if it is one object and nothing else.
fn whole(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    (line.starts_with('{') && line.ends_with('}')).then_some(line)
}

fn read(line: &[u8]) -> Option<Line<'_>> {
    let line = whole(line)?;
    if let Ok(CheckpointLine { checkpoint }) = serde_json::from_str(line) {
        return Some(Line::Checkpoint(checkpoint));
    }
    serde_json::from_str(line).ok().map(Line::Entry)
}

/// Number, digest and hash of the next entry that can be read.
fn next_entry(mut rest: &mut dyn Iterator<Item = Vec<u8>>) -> Option<(u64, String, String)> {
    Iterator::find_map(&mut rest, |line| match read(&line)? {
        Line::Entry(entry) => Some((entry.seq, entry.digest.to_owned(), entry.hash.to_owned())),
        Line::Checkpoint(_) => None,
    })
}

struct Reading {
    header: Header,
    key: PublicKey,
    line: u64,
    /// The last entry's number and hash.
    seq: u64,
    hash: String,
    /// The hash before it.
    before: String,
    /// The line that it stands in.
    stood: u64,
    /// What the last checkpoint covers.
    signed: Option<u64>,
    report: Report,
}

impl Reading {
    fn begin(header: Option<Header>, demands: &Demands) -> Result<Self, Finding> {
        let at_header = |fault| Finding { line: 1, seq: None, fault };
        let header = header.filter(|header| header.format == FORMAT).ok_or(at_header(Fault::NotAnExport))?;
        let key = PublicKey::read(&header.public_key).ok_or(at_header(Fault::NotAnExport))?;
        if demands.public_key.as_ref().is_some_and(|wanted| *wanted != header.public_key) {
            return Err(at_header(Fault::ForeignKey));
        }
        match &demands.checkpoint {
            Some((seq, _)) if *seq < header.after => return Err(at_header(Fault::OutOfReach)),
            Some((seq, hash)) if *seq == header.after && *hash != header.hash => {
                return Err(at_header(Fault::Rewritten { upto: *seq }));
            }
            _ => {}
        }
        let report = Report {
            entries: 0,
            digests_only: 0,
            checkpoints: 0,
            last: (header.after, header.hash.clone()),
            public_key: header.public_key.clone(),
        };
        let (seq, hash) = report.last.clone();
        Ok(Self { header, key, line: 1, seq, before: hash.clone(), hash, stood: 1, signed: None, report })
    }

    fn found(&self, seq: Option<u64>, fault: Fault) -> Finding {
        Finding { line: self.line, seq, fault }
    }

    fn links(&self, seq: u64, before: &str, digest: &str, hash: &str) -> bool {
        link(&self.header.tenant, seq, before, digest).to_string() == hash
    }

    /// Whether a line is the next entry as it was written.
    fn fits(&self, entry: &EntryLine<'_>) -> bool {
        let said = entry.entry.is_none_or(|text| Digest::of_bytes(text.get().as_bytes()).to_string() == entry.digest);
        entry.seq == self.seq + 1 && said && self.links(entry.seq, &self.hash, entry.digest, entry.hash)
    }

    fn entry(&mut self, entry: &EntryLine<'_>, demands: &Demands) -> Result<(), Finding> {
        self.seq = entry.seq;
        self.stood = self.line;
        self.before = std::mem::replace(&mut self.hash, entry.hash.to_owned());
        self.report.entries += 1;
        if entry.entry.is_none() {
            self.report.digests_only += 1;
            if demands.whole {
                return Err(self.found(Some(self.seq), Fault::Hidden));
            }
        }
        match &demands.checkpoint {
            Some((seq, hash)) if *seq == self.seq && *hash != self.hash => {
                Err(self.found(Some(self.header.after + 1), Fault::Rewritten { upto: *seq }))
            }
            _ => Ok(()),
        }
    }

    /// Says what was done to an entry that does not fit, as far as what follows it tells.
    fn blame(&self, entry: &EntryLine<'_>, rest: &mut dyn Iterator<Item = Vec<u8>>) -> Finding {
        let expected = self.seq + 1;
        if self.links(expected, &self.hash, entry.digest, entry.hash) {
            // It is the one that belongs here: its number or its text differs.
            return self.found(Some(expected), Fault::Changed);
        }
        if entry.seq == expected {
            let real = next_entry(rest)
                .is_some_and(|(seq, digest, hash)| seq == expected && self.links(expected, &self.hash, &digest, &hash));
            return self.found(Some(expected), if real { Fault::Added } else { Fault::Changed });
        }
        if entry.seq > expected {
            let later = std::iter::from_fn(|| next_entry(rest)).any(|(seq, ..)| seq == expected);
            return if later {
                self.found(Some(entry.seq), Fault::Reordered)
            } else {
                self.found(Some(expected), Fault::Removed)
            };
        }
        let twin = entry.seq == self.seq && self.links(entry.seq, &self.before, entry.digest, entry.hash);
        let next = if twin { next_entry(rest) } else { None };
        let follows = next.is_some_and(|(seq, digest, hash)| {
            seq == expected && self.links(expected, entry.hash, &digest, &hash) && hash != entry.hash
        });
        // Where two claim one number, the one that the rest is linked to is the real one.
        let line = if follows && entry.hash != self.hash { self.stood } else { self.line };
        Finding { line, seq: Some(entry.seq), fault: Fault::Added }
    }

    /// A line that cannot be read was the entry that is missing now, or else a checkpoint.
    fn unreadable(&self, rest: &mut dyn Iterator<Item = Vec<u8>>) -> Finding {
        let expected = self.seq + 1;
        let there = match next_entry(rest) {
            Some((seq, digest, hash)) => seq == expected && self.links(expected, &self.hash, &digest, &hash),
            None => self.seq == self.header.last,
        };
        self.found((!there).then_some(expected), Fault::Changed)
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint, rest: &mut dyn Iterator<Item = Vec<u8>>) -> Result<(), Finding> {
        if !checkpoint.signed_by(&self.key, &self.header.tenant) {
            return Err(self.found(None, Fault::Signature));
        }
        if checkpoint.seq > self.seq {
            let expected = self.seq + 1;
            let later = std::iter::from_fn(|| next_entry(rest)).any(|(seq, ..)| seq == expected);
            return Err(match later {
                true => self.found(None, Fault::Reordered),
                false => self.found(Some(expected), Fault::Removed),
            });
        }
        if checkpoint.seq < self.seq || self.signed == Some(checkpoint.seq) {
            let again = self.signed.is_some_and(|signed| checkpoint.seq <= signed);
            return Err(self.found(None, if again { Fault::Added } else { Fault::Reordered }));
        }
        let begins = self.signed.unwrap_or(self.header.after);
        if checkpoint.hash != self.hash {
            return Err(self.found(Some(begins + 1), Fault::Rewritten { upto: checkpoint.seq }));
        }
        let follows = match self.signed {
            Some(signed) => checkpoint.previous == signed,
            None => checkpoint.previous <= self.header.after,
        };
        if !follows {
            return Err(self.found(None, Fault::Removed));
        }
        self.signed = Some(checkpoint.seq);
        self.report.checkpoints += 1;
        Ok(())
    }

    fn end(mut self, demands: &Demands) -> Result<Report, Finding> {
        self.line += 1;
        let short = demands.checkpoint.as_ref().is_some_and(|(seq, _)| *seq > self.seq);
        if self.seq < self.header.last || short {
            return Err(self.found(Some(self.seq + 1), Fault::Removed));
        }
        if self.seq > self.header.last {
            return Err(self.found(Some(self.header.last + 1), Fault::Added));
        }
        if self.signed != Some(self.seq) {
            return Err(self.found(None, Fault::Removed));
        }
        self.report.last = (self.seq, self.hash);
        Ok(self.report)
    }
}
