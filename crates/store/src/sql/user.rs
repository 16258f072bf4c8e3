//! Statements about users, visits and sign-in links.

/// SQL statement of [`crate::UserReads::member_count`].
pub const MEMBER_COUNT: &str = "select count(*) from memberships where project = ?1 and disabled_at is null";

/// SQL statement of [`crate::UserReads::has_anybody_signed_in`].
pub const HAS_ANYBODY_SIGNED_IN: &str = "select exists (select 1 from users where signed_in_at is not null)";

/// SQL statement of [`crate::UserReads::scope_names`].
pub const SCOPE_NAMES: &str = "select tenants.name, projects.name from projects join tenants on tenants.id = projects.tenant \
     where projects.id = ?1 and tenants.id = ?2";

/// SQL statement of [`crate::UserReads::visit`].
pub const VISIT: &str = "select id, \"user\", project, by_link, created_at, seen_at, hash from visits where id = ?1";

/// SQL statement of [`crate::UserReads::link`].
pub const LINK: &str = "select id, \"user\", created_at, expires_at, hash from links where id = ?1";

/// SQL statement of [`crate::UserWrites::membership_save`].
pub const MEMBERSHIP_SAVE: &str = "insert into memberships (\"user\", project, role, groups, disabled_at) \
     select users.id, projects.id, ?4, ?5, ?6 from users join projects on projects.tenant = users.tenant \
     where users.id = ?1 and projects.id = ?2 and projects.tenant = ?3 on conflict (\"user\", project) \
     do update set role = excluded.role, groups = excluded.groups, disabled_at = excluded.disabled_at";

/// SQL statement of [`crate::UserWrites::user_mark_signed_in`].
pub const USER_MARK_SIGNED_IN: &str = "update users set signed_in_at = ?2 where id = ?1";

/// SQL statement of [`crate::UserWrites::password_save`].
pub const PASSWORD_SAVE: &str = "update users set password = ?2 where id = ?1";

/// SQL statement of [`crate::UserWrites::visit_set_project`].
pub const VISIT_SET_PROJECT: &str = "update visits set project = ?2 where id = ?1";

/// SQL statement of [`crate::UserWrites::visit_end`].
pub const VISIT_END: &str = "delete from visits where id = ?1";

/// Statement of [`crate::UserWrites::visits_purge`] that deletes the visits that another statement selects.
#[must_use]
pub fn visits_delete(selected: &str) -> String {
    format!("delete from visits where id in ({selected})")
}

/// SQL statement of [`crate::UserWrites::link_redeem`].
pub const LINK_REDEEM: &str = "delete from links where id = ?1";

/// SQL statement of [`crate::UserWrites::links_delete`].
pub const LINKS_DELETE: &str = "delete from links where \"user\" = ?1";

/// Columns of a user.
macro_rules! user {
    () => {
        "users.id, tenant, name, display, subject, created_at, signed_in_at, password"
    };
}

/// Columns of a membership.
macro_rules! membership {
    () => {
        "memberships.project, role, groups, disabled_at"
    };
}

/// Beginning of a list of the members of a project, with the columns of the user and then the columns of the membership.
pub const SELECT_MEMBERS: &str =
    concat!("select ", user!(), ", ", membership!(), " from users join memberships on memberships.\"user\" = users.id");

/// Beginning of a statement that reads a user without the memberships. A condition follows.
pub const SELECT_USER_WHERE: &str = concat!("select ", user!(), " from users where ");

/// Memberships of a user.
pub const MEMBERSHIPS: &str =
    concat!("select ", membership!(), " from memberships where \"user\" = ?1 order by project");

/// User with a folded name. An older user whose name differs only by case may have no folded name.
pub const FOLDED: &str = "select id from users where tenant = ?1 and folded = ?2";

/// SQL statement of [`crate::UserWrites::user_insert`].
pub const USER_INSERT: &str = "insert into users (id, tenant, name, display, subject, created_at, signed_in_at, folded) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) on conflict do nothing";

/// SQL statement of [`crate::UserWrites::visit_insert`].
pub const VISIT_INSERT: &str = "insert into visits (id, \"user\", project, hash, by_link, created_at, seen_at) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict do nothing";

/// SQL statement of [`crate::UserWrites::link_insert`].
pub const LINK_INSERT: &str = "insert into links (id, \"user\", hash, created_at, expires_at) \
     values (?1, ?2, ?3, ?4, ?5) on conflict do nothing";

/// Members of a project.
pub const MEMBERS: &str = "select \"user\" from memberships where project = ?1";
