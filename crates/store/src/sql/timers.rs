//! Statements about what is due.

/// SQL statement of [`crate::TimerReads::interactions_due`].
pub const INTERACTIONS_DUE: &str = "select projects.tenant, interactions.project, session, interactions.id from interactions \
     join projects on projects.id = interactions.project \
     where wake_at is not null and wake_at <= ?1 order by wake_at limit ?2";

/// SQL statement of [`crate::TimerReads::next_interaction_due`].
pub const NEXT_INTERACTION_DUE: &str = "select min(wake_at) from interactions where wake_at is not null";

/// SQL statement of [`crate::TimerReads::oldest_retired`].
pub const OLDEST_RETIRED: &str = "select min(retired_at) from interactions where retired_at is not null";

/// SQL statement of [`crate::TimerWrites::interaction_postpone`].
pub const INTERACTION_POSTPONE: &str =
    "update interactions set wake_at = ?3 where id = ?1 and project = ?2 and wake_at <= ?4";

/// SQL statement of [`crate::ActionReads::actions_due`].
pub const ACTIONS_DUE: &str = "select projects.tenant, actions.project, session, call from actions \
     join projects on projects.id = actions.project \
     where wake_at is not null and wake_at <= ?1 order by wake_at limit ?2";

/// SQL statement of [`crate::ActionReads::next_action_due`].
pub const NEXT_ACTION_DUE: &str = "select min(wake_at) from actions where wake_at is not null";

/// SQL statement of [`crate::TimerWrites::action_postpone`].
pub const ACTION_POSTPONE: &str =
    "update actions set wake_at = ?4 where session = ?1 and call = ?2 and project = ?3 and wake_at <= ?5";
