//! Statements about questions that are not on the hot path.

/// Statement of [`crate::InteractionReads::interaction`] for a question in the archive.
pub const ARCHIVED_INTERACTION: &str =
    "select interaction, asked, state, revision from archive where interaction = ?1 and project = ?2";

/// SQL statement of [`crate::InteractionReads::session_of`].
pub const SESSION_OF: &str = "select session from interactions where id = ?1 and project = ?2";

/// SQL statement of [`crate::InteractionWrites::interaction_insert`].
pub const QUESTION_INSERT: &str = "insert into questions (interaction, title, asked, search_text) \
     values (?1, ?2, ?3, ?4) on conflict do nothing";

/// SQL statement of [`crate::InteractionWrites::sealed_value_insert`].
pub const SEALED_VALUE_INSERT: &str = "insert into sealed_values (interaction, name, data_key, body) \
     select id, ?2, ?3, ?4 from interactions where id = ?1 and project = ?5 on conflict do nothing";
