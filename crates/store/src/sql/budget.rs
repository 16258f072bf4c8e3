//! Statements about the totals of open questions.

/// SQL statement of [`crate::BudgetReads::open_totals`].
pub const OPEN_TOTALS: &str = "select asker, questions, bytes from open_counts where project = ?1 and (questions <> 0 or bytes <> 0) \
     order by asker";

/// SQL statement of [`crate::BudgetWrites::interaction_add_bytes`].
pub const INTERACTION_ADD_BYTES: &str = "update interactions set weight = weight + ?3 where id = ?1 and project = ?2";

/// SQL statement of [`crate::BudgetWrites::open_totals_recount`].
pub const OPEN_COUNTS_CLEAR: &str = "delete from open_counts";

/// SQL statement of [`crate::BudgetWrites::open_totals_recount`].
pub const TENANT_OPEN_COUNTS_CLEAR: &str = "delete from tenant_open_counts";

/// SQL statement of [`crate::BudgetWrites::open_totals_recount`].
pub const OPEN_COUNTS_FILL: &str = "insert into open_counts (project, asker, questions, bytes) select project, asker, count(*), sum(weight) \
     from interactions where status = 'pending' and asker <> '' group by project, asker";
