//! Statements about definitions and counted answers.

/// SQL statement of [`crate::DefinitionReads::definition`].
pub const DEFINITION: &str =
    "select body, retired_at from definitions where project = ?1 and kind = ?2 and name = ?3 and version = ?4";

/// SQL statement of [`crate::DefinitionReads::definition_newest`].
pub const DEFINITION_NEWEST: &str = "select body, retired_at from definitions where project = ?1 and kind = ?2 and name = ?3 \
     and retired_at is null order by at desc, version desc limit 1";

/// SQL statement of [`crate::DefinitionReads::definitions`].
pub const DEFINITIONS: &str = "select body, retired_at from definitions where project = ?1 and kind = ?2 and (name, version) > (?3, ?4) \
     order by name, version limit ?5";

/// SQL statement of [`crate::DefinitionReads::frequent_answers`].
pub const FREQUENT_ANSWERS: &str = "select body, count from answer_counts where project = ?1 and place = ?2 and kind = ?3 \
     order by count desc, at desc limit ?4";

/// SQL statement of [`crate::DefinitionWrites::definition_insert`].
pub const DEFINITION_INSERT: &str = "insert into definitions (project, kind, name, version, at, retired_at, body) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict do nothing";

/// SQL statement of [`crate::DefinitionWrites::definition_retire`].
pub const DEFINITION_RETIRE: &str = "update definitions set retired_at = ?5 where project = ?1 and kind = ?2 and name = ?3 and version = ?4 \
     and retired_at is null";

/// SQL statement of [`crate::DefinitionWrites::answer_count_increment`].
pub const ANSWER_COUNT_ADD: &str = "insert into answer_counts (project, place, kind, digest, count, at, body) \
     values (?1, ?2, ?3, ?4, 1, ?5, ?6) on conflict (project, place, kind, digest) \
     do update set count = answer_counts.count + 1, at = excluded.at";
