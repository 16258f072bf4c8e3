//! Statements about sessions and their input.

/// SQL statement of [`crate::SessionReads::session_input`].
pub const SESSION_INPUT: &str = "select session_inputs.body from session_inputs join sessions on sessions.id = session_inputs.session \
     where session_inputs.session = ?1 and sessions.project = ?2";

/// Beginning of a statement that reads sessions. A condition follows.
macro_rules! select_sessions_where {
    () => {
        "select id, agent, channel, title, step, started_by, created_at, paused, ended, waiting_on, open, last_seq, \
         agent_version, hosted, flow, flow_version, handed_from from sessions where "
    };
}

/// SQL statement of [`crate::SessionReads::session`].
pub const SESSION: &str = concat!(select_sessions_where!(), "id = ?1 and project = ?2");

/// Beginning of the list of the sessions of a project.
pub const SELECT_SESSIONS_OF_PROJECT: &str = concat!(select_sessions_where!(), "project = ?1");

/// SQL statement of [`crate::SessionWrites::session_insert`].
pub const SESSION_INSERT: &str = "insert into sessions (id, project, status, agent, channel, title, step, started_by, created_at, paused, \
     ended, waiting_on, open, last_seq, agent_version, hosted, flow, flow_version, handed_from) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19) \
     on conflict do nothing";

/// SQL statement of [`crate::SessionWrites::session_insert`].
pub const SESSION_INPUT_INSERT: &str = "insert into session_inputs (session, body) values (?1, ?2) \
     on conflict do nothing";
