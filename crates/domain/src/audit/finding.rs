//! Faults that the verification of an export finds, with their messages.

use std::fmt;

use super::export::FORMAT;

/// The first fault of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFinding {
    /// Line in the file, from 1.
    pub line: u64,
    /// Number of the entry. `None` if the fault is in a checkpoint, in the seal or in the whole file.
    pub seq: Option<u64>,
    /// Kind of the fault.
    pub fault: Fault,
}

/// Kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The content was changed.
    Changed,
    /// The entry or checkpoint was removed.
    Removed,
    /// The entry or checkpoint was added.
    Added,
    /// The entry or checkpoint is in the position of another.
    Reordered,
    /// This entry or a later one up to `upto` was changed and all hashes were recomputed, but a signed hash differs.
    Rewritten {
        /// Number of the entry whose signed hash differs.
        upto: u64,
    },
    /// The signature of a checkpoint is not valid for its text and key.
    Signature,
    /// The file is signed with another key than the demanded one.
    ForeignKey,
    /// The demanded checkpoint lies before the first entry.
    OutOfReach,
    /// An entry is shown only by its digest, although all texts were demanded.
    Hidden,
    /// An entry that was exported with its text is shown only by its digest.
    Blanked,
    /// The seal is missing, so the end of the file is not proven.
    Unsealed,
    /// The seal has another text than the signed one.
    SealChanged,
    /// The seal is not at the end of the file.
    SealReordered,
    /// The file continues after the seal.
    AfterSeal,
    /// The header was changed.
    HeaderChanged,
    /// The chain is valid, but the file is not the one that was sealed.
    NotAsSealed,
    /// The file begins after the first entry of the chain, and the reader has not accepted this.
    Partial {
        /// Number of the last missing entry.
        upto: u64,
    },
    /// The file is not an export of this format.
    NotAnExport,
}

impl fmt::Display for ExportFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, seq, fault } = self;
        let what = seq.map_or_else(|| "a checkpoint".to_owned(), |seq| format!("entry {seq}"));
        match fault {
            Fault::Changed => write!(f, "line {line}: {what} was changed"),
            Fault::Removed => write!(f, "line {line}: {what} was removed"),
            Fault::Added => write!(f, "line {line}: {what} was added"),
            Fault::Reordered => write!(f, "line {line}: {what} was reordered: another entry belongs here"),
            Fault::Rewritten { upto } => write!(
                f,
                "line {line}: {what}, or one after it up to {upto}, was changed, removed or added, and the hashes were \
                 recomputed and do not match the signed ones"
            ),
            Fault::Signature => write!(f, "line {line}: {what} was changed: its signature does not fit"),
            Fault::ForeignKey => write!(f, "line {line}: signed by another key than the one given"),
            Fault::OutOfReach => write!(f, "line {line}: the export begins after the checkpoint given"),
            Fault::Hidden => write!(f, "line {line}: {what} has only a digest"),
            Fault::Blanked => match seq {
                Some(_) => write!(f, "line {line}: {what} was changed: its text was removed"),
                None => write!(
                    f,
                    "line {line}: the text of an entry was removed: more entries have only a digest than at the export"
                ),
            },
            Fault::Unsealed => {
                write!(f, "line {line}: the seal was removed, so the end of the export cannot be proved")
            }
            Fault::SealChanged => write!(f, "line {line}: the seal was changed: its signature does not fit"),
            Fault::SealReordered => write!(f, "line {line}: the seal was reordered: it belongs at the end"),
            Fault::AfterSeal => write!(f, "line {line}: this was added: the seal must be the last line"),
            Fault::HeaderChanged => write!(f, "line {line}: the header was changed: it does not match the seal"),
            Fault::NotAsSealed => write!(f, "line {line}: this is not the file that was sealed"),
            Fault::Partial { upto } => write!(
                f,
                "line {line}: partial export: entries 1 to {upto} are not in it; give the checkpoint that you know as \
                 --from-checkpoint, or --partial"
            ),
            Fault::NotAnExport => write!(f, "line {line}: this is not an audit export ({FORMAT})"),
        }
    }
}
