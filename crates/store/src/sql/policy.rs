//! Statements about policies and drafts, with one text for both stores.

/// SQL statement of [`crate::PolicyReads::policy_state`].
pub const POLICY_STATE: &str = "select body from policy_states where project = ?1";

/// SQL statement of [`crate::PolicyReads::policy_version`].
pub const POLICY_VERSION: &str = "select body from policy_versions where project = ?1 and version = ?2";

/// SQL statement of [`crate::PolicyReads::shadow_text`].
pub const SHADOW_TEXT: &str = "select text from policy_shadows where project = ?1 and number = ?2";

/// SQL statement of [`crate::PolicyWrites::policy_save`].
pub const POLICY_SAVE: &str = "insert into policy_states (project, revision, body) values (?1, ?2, ?3) on conflict (project) \
     do update set revision = excluded.revision, body = excluded.body \
     where policy_states.revision + 1 = excluded.revision";

/// SQL statement of [`crate::PolicyWrites::policy_version_insert`].
pub const POLICY_VERSION_INSERT: &str =
    "insert into policy_versions (project, version, at, body) values (?1, ?2, ?3, ?4) on conflict do nothing";

/// SQL statement of [`crate::PolicyWrites::shadow_save`].
pub const SHADOW_SAVE: &str = "insert into policy_shadows (project, number, version, text) values (?1, ?2, ?3, ?4)";

/// SQL statement of [`crate::PolicyWrites::difference_insert`].
pub const DIFFERENCE_INSERT: &str = "insert into policy_differences (project, number, at, session, call, body) \
     values (?1, ?2, ?3, ?4, ?5, ?6)";

/// Statement of [`crate::PolicyReads::differences`]: differences of a draft, newest first.
pub const DIFFERENCES: &str = "select body from policy_differences where project = ?1 and number = ?2 \
     order by at desc, session desc, call desc limit ?3";

/// SQL statements of [`crate::PolicyWrites::shadow_delete`].
pub const SHADOW_DELETE: [&str; 3] = [
    "delete from policy_shadows where project = ?1",
    "delete from policy_differences where project = ?1",
    "delete from policy_difference_counts where project = ?1",
];

/// SQL statement of [`crate::PolicyWrites::difference_insert`].
pub const DIFFERENCE_COUNT: &str = "insert into policy_difference_counts (project, number, given, drafted, shard, count) \
     values (?1, ?2, ?3, ?4, ?5, 1) on conflict (project, number, given, drafted, shard) \
     do update set count = policy_difference_counts.count + 1";
