//! Texts that are small programs.

pub(super) mod awk;
pub(super) mod sed;

/// What a script does beyond printing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptEffect {
    /// It starts programs.
    Runs,
    /// It reads this file.
    Reads(String),
    /// It writes this file.
    Writes(String),
    /// It is not understood.
    Unknown,
}
