//! Verifies an export: it is complete, or the first entry that was changed, removed, added or reordered is named.
//!
//! An attacker who changes a file can recompute its hashes, but not its signatures. The fault can then be located only between two
//! checkpoints. An attacker who cuts the file or removes the text of an entry leaves all hashes and checkpoints valid; the seal, signed at
//! the time of the export, reveals it.

use super::chain::{Checkpoint, PublicKey, link};
use super::export::{CheckpointLine, EntryLine, FORMAT, Header, SealLine, seal_line};
use super::seal::{Seal, SealCounts};
use crate::Digest;

pub use super::finding::{ExportFinding, Fault};

/// Largest number of an entry, because stores count in 63 bits.
const MOST: u64 = u64::MAX >> 1;

/// Demands of a reader in addition to a valid chain.
#[derive(Debug, Clone, Default)]
pub struct Demands {
    /// Public key in hexadecimal that must have signed the checkpoints and the seal.
    pub public_key: Option<String>,
    /// Number and hash of a checkpoint that the reader has kept elsewhere. The chain must have this hash at this number.
    pub checkpoint: Option<(u64, String)>,
    /// Whether every entry must be shown with its text.
    pub whole: bool,
    /// Whether the file may begin after the first entry of the chain even if no checkpoint is given.
    pub partial: bool,
}

/// Result of a successful verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Number of the first entry.
    pub first: u64,
    /// Number of entries in the export.
    pub entries: u64,
    /// Number of entries that are shown only by their digest.
    pub digests_only: u64,
    /// Number of checkpoints in the export.
    pub checkpoints: u64,
    /// Number and hash of the last entry.
    pub last: (u64, String),
    /// Project whose entries are shown, or [`ALL`](super::seal::ALL).
    pub shown: String,
    /// Time of the export.
    pub at: String,
    /// Public key in hexadecimal that verified the signatures.
    pub public_key: String,
}

/// Verifies the lines of an export, each including its line end.
pub fn verify(mut lines: impl Iterator<Item = Vec<u8>>, demands: &Demands) -> Result<Report, ExportFinding> {
    let header = lines.next().unwrap_or_default();
    let mut reading = Reading::begin(&header, demands)?;
    while let Some(line) = lines.next() {
        reading.line += 1;
        match read(&line) {
            Some(Line::Entry(entry)) if reading.fits(&entry) => reading.entry(&entry, demands)?,
            Some(Line::Entry(entry)) => return Err(reading.blame(&entry, &mut lines)),
            Some(Line::Checkpoint(checkpoint)) => reading.checkpoint(&checkpoint, &mut lines)?,
            Some(Line::Seal(seal)) => return reading.seal(seal, &mut lines, demands),
            None => return Err(reading.unreadable(&mut lines)),
        }
        reading.tally.line(&line);
    }
    Err(reading.unsealed())
}

enum Line<'a> {
    Entry(EntryLine<'a>),
    Checkpoint(Checkpoint),
    Seal(Seal),
}

/// Returns the line without its line end, if it begins and ends as one JSON object does.
fn whole(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    (line.starts_with('{') && line.ends_with('}')).then_some(line)
}

fn read(line: &[u8]) -> Option<Line<'_>> {
    let line = whole(line)?;
    if let Ok(CheckpointLine { checkpoint }) = serde_json::from_str(line) {
        return Some(Line::Checkpoint(checkpoint));
    }
    if let Ok(SealLine { seal }) = serde_json::from_str(line) {
        let spelled = seal_line(&seal).strip_suffix('\n') == Some(line);
        return spelled.then_some(Line::Seal(seal));
    }
    serde_json::from_str(line).ok().map(Line::Entry)
}

/// Number, digest and hash of the next readable entry.
fn next_entry(mut rest: &mut dyn Iterator<Item = Vec<u8>>) -> Option<(u64, String, String)> {
    Iterator::find_map(&mut rest, |line| match read(&line)? {
        Line::Entry(entry) => Some((entry.seq, entry.digest.to_owned(), entry.hash.to_owned())),
        Line::Checkpoint(_) | Line::Seal(_) => None,
    })
}

struct Reading {
    header: Header,
    key: PublicKey,
    line: u64,
    /// Number of the last entry.
    seq: u64,
    hash: String,
    /// Hash before the last entry.
    before: String,
    /// Line of the last entry.
    stood: u64,
    /// Number that the last checkpoint covers.
    signed: Option<u64>,
    /// Line and number of the first entry that is shown only by its digest.
    hidden: Option<(u64, u64)>,
    tally: SealCounts,
    report: Report,
}

impl Reading {
    fn begin(line: &[u8], demands: &Demands) -> Result<Self, ExportFinding> {
        let at_header = |fault| ExportFinding { line: 1, seq: None, fault };
        let header = whole(line).and_then(|line| serde_json::from_str::<Header>(line).ok());
        let ours = |header: &Header| header.format == FORMAT && header.after <= MOST && header.last <= MOST;
        let header = header.filter(ours).ok_or(at_header(Fault::NotAnExport))?;
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
            first: header.after.saturating_add(1),
            entries: 0,
            digests_only: 0,
            checkpoints: 0,
            last: (header.after, header.hash.clone()),
            shown: String::new(),
            at: String::new(),
            public_key: header.public_key.clone(),
        };
        let (seq, hash) = report.last.clone();
        let tally = SealCounts::begin(&header, line);
        let before = hash.clone();
        Ok(Self { header, key, line: 1, seq, before, hash, stood: 1, signed: None, hidden: None, tally, report })
    }

    fn found(&self, seq: Option<u64>, fault: Fault) -> ExportFinding {
        ExportFinding { line: self.line, seq, fault }
    }

    fn links(&self, seq: u64, before: &str, digest: &str, hash: &str) -> bool {
        link(&self.header.tenant, seq, before, digest).to_string() == hash
    }

    /// Whether a line is the next entry and is unchanged.
    fn fits(&self, entry: &EntryLine<'_>) -> bool {
        let said = entry.entry.is_none_or(|text| Digest::of_bytes(text.get().as_bytes()).to_string() == entry.digest);
        !entry.changed
            && said
            && entry.seq == self.seq + 1
            && self.links(entry.seq, &self.hash, entry.digest, entry.hash)
    }

    fn entry(&mut self, entry: &EntryLine<'_>, demands: &Demands) -> Result<(), ExportFinding> {
        self.seq = entry.seq;
        self.stood = self.line;
        self.before = std::mem::replace(&mut self.hash, entry.hash.to_owned());
        self.report.entries += 1;
        self.tally.entry(self.seq, self.hash.clone(), entry.entry.is_none());
        if entry.entry.is_none() {
            self.report.digests_only += 1;
            self.hidden = self.hidden.or(Some((self.line, self.seq)));
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

    /// Determines the fault of an entry that does not fit, as far as the following lines allow.
    fn blame(&self, entry: &EntryLine<'_>, rest: &mut dyn Iterator<Item = Vec<u8>>) -> ExportFinding {
        let expected = self.seq + 1;
        if self.links(expected, &self.hash, entry.digest, entry.hash) {
            // The entry belongs here, but its number or its text was changed.
            return self.found(Some(expected), Fault::Changed);
        }
        if entry.seq == expected {
            let belongs = |(_, digest, hash): &(u64, String, String)| self.links(expected, &self.hash, digest, hash);
            let next = next_entry(rest);
            let real = next.as_ref().is_some_and(|next| next.0 == expected && belongs(next));
            // The entry that belongs here comes later under another number: two entries were swapped.
            let swapped = || next.into_iter().chain(std::iter::from_fn(|| next_entry(rest))).any(|one| belongs(&one));
            let fault = match real {
                true => Fault::Added,
                false if swapped() => Fault::Reordered,
                false => Fault::Changed,
            };
            return self.found(Some(expected), fault);
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
        // If two entries have one number, the entry to which the rest is linked is the original one.
        let line = if follows && entry.hash != self.hash { self.stood } else { self.line };
        ExportFinding { line, seq: Some(entry.seq), fault: Fault::Added }
    }

    /// Determines the fault of an unreadable line. The line was the missing entry, or else a checkpoint or the seal.
    fn unreadable(&self, rest: &mut dyn Iterator<Item = Vec<u8>>) -> ExportFinding {
        let expected = self.seq + 1;
        let there = match next_entry(rest) {
            Some((seq, digest, hash)) => seq == expected && self.links(expected, &self.hash, &digest, &hash),
            None => self.seq == self.header.last,
        };
        if there && self.seq == self.header.last && self.signed == Some(self.seq) {
            return self.found(None, Fault::SealChanged);
        }
        self.found((!there).then_some(expected), Fault::Changed)
    }

    fn checkpoint(
        &mut self,
        checkpoint: &Checkpoint,
        rest: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> Result<(), ExportFinding> {
        if !checkpoint.is_signed_by(&self.key, &self.header.tenant) {
            return Err(self.found(None, Fault::Signature));
        }
        if checkpoint.seq > self.seq {
            let expected = self.seq + 1;
            let later = std::iter::from_fn(|| next_entry(rest)).any(|(seq, ..)| seq == expected);
            return Err(if later {
                self.found(None, Fault::Reordered)
            } else {
                self.found(Some(expected), Fault::Removed)
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

    /// Determines the fault of a file without a seal, whose end is missing.
    fn unsealed(mut self) -> ExportFinding {
        self.line += 1;
        match self.ends_at(self.header.last) {
            Err(finding) => finding,
            Ok(()) => self.found(None, Fault::Unsealed),
        }
    }

    /// Checks that the last entry has this number and that a checkpoint covers it.
    fn ends_at(&self, last: u64) -> Result<(), ExportFinding> {
        if self.seq < last {
            return Err(self.found(Some(self.seq + 1), Fault::Removed));
        }
        if self.seq > last {
            return Err(self.found(Some(last + 1), Fault::Added));
        }
        if self.signed != Some(self.seq) {
            return Err(self.found(None, Fault::Removed));
        }
        Ok(())
    }

    /// Compares the file with its seal. Nothing may follow the seal.
    fn seal(
        mut self,
        seal: Seal,
        rest: &mut dyn Iterator<Item = Vec<u8>>,
        demands: &Demands,
    ) -> Result<Report, ExportFinding> {
        if !seal.is_signed_by(&self.key) {
            return Err(self.found(None, Fault::SealChanged));
        }
        if let Some(line) = rest.next() {
            let early = self.seq < seal.to || self.signed != Some(seal.to);
            let sealed = !matches!(read(&line), Some(Line::Seal(_)));
            return Err(if early && sealed {
                self.found(None, Fault::SealReordered)
            } else {
                ExportFinding { line: self.line + 1, seq: None, fault: Fault::AfterSeal }
            });
        }
        let first = self.report.first;
        if seal.from != first {
            let fault = if seal.from < first { Fault::Removed } else { Fault::Added };
            return Err(ExportFinding { line: 2, seq: Some(seal.from.min(first)), fault });
        }
        self.ends_at(seal.to)?;
        if self.header.last != seal.to {
            return Err(ExportFinding { line: 1, seq: None, fault: Fault::HeaderChanged });
        }
        self.as_sealed(&seal)?;
        if demands.checkpoint.as_ref().is_some_and(|(seq, _)| *seq > self.seq) {
            return Err(self.found(Some(self.seq + 1), Fault::Removed));
        }
        if self.header.after > 0 && demands.checkpoint.is_none() && !demands.partial {
            return Err(ExportFinding { line: 1, seq: None, fault: Fault::Partial { upto: self.header.after } });
        }
        self.report.last = (self.seq, self.hash);
        (self.report.shown, self.report.at) = (seal.shown, seal.at);
        Ok(self.report)
    }

    /// Checks that the file shows the sealed entries and that every byte is equal.
    fn as_sealed(&self, seal: &Seal) -> Result<(), ExportFinding> {
        if self.tally.agrees(seal) {
            return Ok(());
        }
        if self.report.digests_only <= seal.digests_only {
            return Err(self.found(None, Fault::NotAsSealed));
        }
        // If the export contained no entry without text, the first such entry is the changed one. Otherwise it is one of several and cannot
        // be named.
        let named = self.hidden.filter(|_| seal.digests_only == 0);
        let (line, seq) = named.map_or((self.line, None), |(line, seq)| (line, Some(seq)));
        Err(ExportFinding { line, seq, fault: Fault::Blanked })
    }
}
