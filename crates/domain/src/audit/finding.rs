//! What does not fit in an export, in words for whoever has it verified.

use std::fmt;

use super::export::FORMAT;

/// The first thing that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line in the file, from 1.
    pub line: u64,
    /// The number of the entry; none where it is a checkpoint, the seal, or the whole file.
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
    /// It was exported with its text, and is shown by its digest alone.
    Blanked,
    /// Nothing says that the file ends here: its seal is not there.
    Unsealed,
    /// The seal has another text than the one that was signed.
    SealChanged,
    /// The seal stands before what it seals.
    SealReordered,
    /// Something stands after the seal.
    AfterSeal,
    /// The header says something else than it did.
    HeaderChanged,
    /// All of it fits together, and it is not the file that was sealed.
    NotAsSealed,
    /// The entries up to this number are not in it, which nobody has said they know.
    Partial {
        /// The number of the last entry that is not in it.
        upto: u64,
    },
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
            Fault::Blanked => match seq {
                Some(_) => write!(f, "line {line}: {what} was changed: its text was taken out"),
                None => write!(
                    f,
                    "line {line}: the text of an entry was taken out: more are shown by their digest alone than were exported so"
                ),
            },
            Fault::Unsealed => write!(f, "line {line}: the seal was removed: where the export ended cannot be told"),
            Fault::SealChanged => write!(f, "line {line}: the seal was changed: its signature does not fit"),
            Fault::SealReordered => write!(f, "line {line}: the seal was reordered: it belongs at the end"),
            Fault::AfterSeal => write!(f, "line {line}: this was added: nothing stands after the seal"),
            Fault::HeaderChanged => write!(f, "line {line}: the header was changed: the seal says otherwise"),
            Fault::NotAsSealed => write!(f, "line {line}: this is not the file that was sealed"),
            Fault::Partial { upto } => write!(
                f,
                "line {line}: this is a part: entries 1 to {upto} are not in it; give the checkpoint that you know as \
                 --from-checkpoint, or --partial"
            ),
            Fault::NotAnExport => write!(f, "line {line}: this is not an audit export ({FORMAT})"),
        }
    }
}
