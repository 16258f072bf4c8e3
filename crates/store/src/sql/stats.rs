//! Statements that count questions and deliveries, with one text for both stores.

/// SQL statement of [`crate::StatsReads::stats`].
pub const STATS_OPEN: &str =
    "select kind, count(*) from interactions where project = ?1 and status = 'pending' group by kind";

/// SQL statement of [`crate::StatsReads::stats`].
pub const STATS_CLOSED: &str = "select status, count(*) from interactions where resolved_at is not null and resolved_at >= ?2 \
     and project = ?1 group by status";

/// SQL statement of [`crate::StatsReads::stats`].
pub const STATS_WAITS: &str = "select resolved_at - created_at from interactions \
     where resolved_at is not null and resolved_at >= ?2 and project = ?1 and status = 'answered'";

/// SQL statement of [`crate::StatsReads::stats`].
pub const STATS_DELIVERIES_WAITING: &str =
    "select count(*) from interactions where project = ?1 and delivery = 'waiting'";

/// SQL statement of [`crate::StatsReads::open_since`].
pub const OPEN_SINCE: &str =
    "select count(*) from interactions where project = ?1 and status = 'pending' and created_at >= ?2";

/// SQL statement of [`crate::StatsReads::delivery_backlog`].
pub const DELIVERY_BACKLOG: &str = "select count(*), min(resolved_at) from interactions where delivery = 'waiting'";

/// SQL statement of [`crate::StatsReads::open_counts`].
pub const OPEN_COUNTS: &str = "select projects.tenant, project, kind, count(*) from interactions \
     join projects on projects.id = interactions.project where status = 'pending' \
     group by projects.tenant, project, kind";
