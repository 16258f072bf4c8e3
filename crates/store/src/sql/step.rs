//! Statements about steps and their journals.

/// SQL statement of [`crate::StepReads::step`].
pub const STEP: &str = "select body from steps where id = ?1 and project = ?2";

/// SQL statement of [`crate::StepReads::next_step_due`].
pub const NEXT_STEP_DUE: &str = "select min(due) from steps where due is not null";

/// SQL statement of [`crate::StepReads::step_state`].
pub const STEP_STATE: &str = "select upto, step_states.body from step_states join steps on steps.id = step \
     where step = ?1 and project = ?2";

/// SQL statement of [`crate::StepReads::interactions_with_sealed_value`].
pub const INTERACTIONS_WITH_SEALED_VALUE: &str = "select interaction from interactions join sealed_values on interaction = interactions.id \
     where session = ?1 and project = ?2 and name = ?3 order by interaction";

/// SQL statement of [`crate::StepReads::journal`].
pub const JOURNAL: &str = "select seq, at, journal.body from journal join steps on steps.id = step \
     where step = ?1 and seq > ?3 and project = ?2 order by seq limit ?4";

/// SQL statement of [`crate::StepWrites::step_state_save`].
pub const STEP_STATE_SAVE: &str = "insert into step_states (step, upto, body) select id, ?3, ?4 from steps where id = ?1 and project = ?2 \
     on conflict (step) do update set upto = excluded.upto, body = excluded.body";

/// SQL statement of [`crate::StepWrites::session_sealed_values_delete`].
pub const SESSION_SEALED_VALUES_DELETE: &str = "delete from sealed_values where interaction in (select id from interactions \
     where session = ?1 and project = ?2)";

/// Statement of [`crate::StepReads::steps_due`], earliest first.
pub const STEPS_DUE: &str = "select projects.tenant, steps.project, session, steps.id from steps \
     join projects on projects.id = steps.project where due is not null and due <= ?1 order by due limit ?2";

/// SQL statement of [`crate::SessionReads::steps`].
pub const STEPS: &str = "select body from steps where session = ?1 and project = ?2 order by id";

/// SQL statement of [`crate::SessionWrites::step_insert`].
pub const STEP_INSERT: &str = "insert into steps (id, session, project, body, due) \
     select ?1, id, project, ?4, ?5 from sessions where id = ?2 and project = ?3 on conflict do nothing";

/// SQL statement of [`crate::SessionWrites::step_save`].
pub const STEP_SAVE: &str = "update steps set body = ?3, due = ?4 where id = ?1 and project = ?2";

/// SQL statement of [`crate::StepWrites::journal_append`].
pub const JOURNAL_APPEND: &str = "insert into journal (step, seq, at, body) \
     select id, ?3, ?4, ?5 from steps where id = ?1 and project = ?2 \
     and ?3 = 1 + (select coalesce(max(seq), 0) from journal where step = ?1) on conflict do nothing";
