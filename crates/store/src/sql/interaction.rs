//! Statements about questions that are not on the hot path.

/// Statement of [`crate::InteractionReads::interaction`] for a question in the archive.
pub const ARCHIVED_INTERACTION: &str =
    "select interaction, asked, state, revision from archive where interaction = ?1 and project = ?2";

/// SQL statement of [`crate::InteractionReads::session_of`].
pub const SESSION_OF: &str = "select session from interactions where id = ?1 and project = ?2";
