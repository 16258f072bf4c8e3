//! Statements about the input of sessions.

/// Statement of [`crate::SessionReads::session_input`].
pub const SESSION_INPUT: &str = "select session_inputs.body from session_inputs join sessions on sessions.id = session_inputs.session \
     where session_inputs.session = ?1 and sessions.project = ?2";
