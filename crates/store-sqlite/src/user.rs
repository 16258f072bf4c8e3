//! Users, their memberships, visits and sign-in links.

use domain::{Link, LinkId, Membership, ProjectId, Role, Scope, TenantId, Timestamp, User, UserId, Visit, VisitId};
use rusqlite::types::Type;
use rusqlite::{Params, Row, params};
use store::sql::user::{self as sql, MEMBERS, SELECT_MEMBERS, SELECT_USER_WHERE};
use store::{Bounded, LinkRecord, StoreError, StoreResult, UserReads, UserRecord, UserWrites, VisitRecord};

use crate::connection::Executor;
use crate::values::{corrupt, id, json, micros, optional_time, parse, time};

/// Admins of a project who have signed in.
pub(crate) const ADMINS: &str = "select memberships.user from memberships join users on users.id = memberships.user \
                                 where memberships.project = ?1 and users.tenant = ?2 and role = 'admin' \
                                 and disabled_at is null and signed_in_at is not null";
/// Visits that were not used for too long.
pub(crate) const UNUSED: &str = "select id from visits where seen_at < ?1 limit ?2";
/// Visits that began too long ago.
pub(crate) const AGED: &str = "select id from visits where created_at < ?1 limit ?2";

impl Executor<'_> {
    fn user_where(&self, condition: &str, values: impl Params) -> StoreResult<Option<UserRecord>> {
        let sql = format!("{SELECT_USER_WHERE}{condition}");
        let found = self.row(&sql, values, user)?;
        let Some(mut record) = found else { return Ok(None) };
        record.user.memberships = self.rows(sql::MEMBERSHIPS, [record.user.id.uuid()], |row| membership(row, 0))?;
        Ok(Some(record))
    }
}

impl UserReads for Executor<'_> {
    fn user(&mut self, tenant: TenantId, name: &str) -> StoreResult<Option<UserRecord>> {
        self.user_where("tenant = ?1 and name = ?2", params![tenant.uuid(), name])
    }

    fn user_by_folded_name(&mut self, tenant: TenantId, name: &str) -> StoreResult<Option<UserRecord>> {
        if let Some(found) = self.user(tenant, name)? {
            return Ok(Some(found));
        }
        self.user_where(&format!("id = ({})", sql::FOLDED), params![tenant.uuid(), name.to_ascii_lowercase()])
    }

    fn user_by_id(&mut self, user: UserId) -> StoreResult<Option<UserRecord>> {
        self.user_where("id = ?1", [user.uuid()])
    }

    fn user_by_subject(&mut self, tenant: TenantId, subject: &str) -> StoreResult<Option<UserRecord>> {
        self.user_where("tenant = ?1 and subject = ?2", params![tenant.uuid(), subject])
    }

    fn users_page(&mut self, scope: &Scope, after: Option<&str>, limit: u32) -> StoreResult<Bounded<User>> {
        let sql = format!(
            "{SELECT_MEMBERS} where users.id in ({MEMBERS}) and memberships.project = ?1 and (?2 is null or name > ?2) \
             order by name limit ?3"
        );
        self.bounded_rows(&sql, params![scope.project.uuid(), after, limit], limit, |row| {
            let memberships = vec![membership(row, 8)?];
            Ok(User { memberships, ..user(row)?.user })
        })
    }

    fn member_count(&mut self, scope: &Scope) -> StoreResult<u64> {
        self.one_row(sql::MEMBER_COUNT, [scope.project.uuid()], |row| row.get(0))
    }

    fn has_anybody_signed_in(&mut self) -> StoreResult<bool> {
        self.one_row(sql::HAS_ANYBODY_SIGNED_IN, [], |row| row.get(0))
    }

    fn scope_names(&mut self, scope: &Scope) -> StoreResult<Option<(String, String)>> {
        let values = [scope.project.uuid(), scope.tenant.uuid()];
        self.row(sql::SCOPE_NAMES, values, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn visit(&mut self, visit: VisitId) -> StoreResult<Option<VisitRecord>> {
        let read = |row: &Row<'_>| {
            let visit = Visit {
                id: VisitId::from_uuid(id(row.get(0)?)),
                user: UserId::from_uuid(id(row.get(1)?)),
                project: ProjectId::from_uuid(id(row.get(2)?)),
                by_link: row.get(3)?,
                created_at: time(row.get(4)?)?,
                seen_at: time(row.get(5)?)?,
            };
            Ok((visit, row.get(6)?))
        };
        let Some((visit, hash)) = self.row(sql::VISIT, [visit.uuid()], read)? else {
            return Ok(None);
        };
        Ok(self.user_by_id(visit.user)?.map(|record| VisitRecord { visit, hash, user: record.user }))
    }

    fn link(&mut self, link: LinkId) -> StoreResult<Option<LinkRecord>> {
        let read = |row: &Row<'_>| {
            let link = Link {
                id: LinkId::from_uuid(id(row.get(0)?)),
                user: UserId::from_uuid(id(row.get(1)?)),
                created_at: time(row.get(2)?)?,
                expires_at: time(row.get(3)?)?,
            };
            Ok(LinkRecord { link, hash: row.get(4)? })
        };
        self.row(sql::LINK, [link.uuid()], read)
    }
}

impl UserWrites for Executor<'_> {
    fn user_insert(&mut self, user: &User) -> StoreResult<()> {
        let row = params![
            user.id.uuid(),
            user.tenant.uuid(),
            user.name,
            user.display,
            user.subject,
            user.created_at.as_microsecond(),
            micros(user.signed_in_at),
            user.name.to_ascii_lowercase(),
        ];
        self.guarded(sql::USER_INSERT, row)
    }

    fn membership_save(&mut self, scope: &Scope, user: UserId, membership: &Membership) -> StoreResult<()> {
        let row = params![
            user.uuid(),
            scope.project.uuid(),
            scope.tenant.uuid(),
            membership.role.name(),
            json(&membership.groups)?,
            micros(membership.disabled_at),
        ];
        self.guarded(sql::MEMBERSHIP_SAVE, row)
    }

    fn admins_lock(&mut self, scope: &Scope) -> StoreResult<Vec<UserId>> {
        // SQLite has one writer.
        self.rows(ADMINS, [scope.project.uuid(), scope.tenant.uuid()], |row| Ok(UserId::from_uuid(id(row.get(0)?))))
    }

    fn names_lock(&mut self, _: TenantId) -> StoreResult<()> {
        // SQLite has one writer.
        Ok(())
    }

    fn user_mark_signed_in(&mut self, user: UserId, at: Timestamp) -> StoreResult<()> {
        self.guarded(sql::USER_MARK_SIGNED_IN, params![user.uuid(), at.as_microsecond()])
    }

    fn password_save(&mut self, user: UserId, password: Option<&str>) -> StoreResult<()> {
        self.guarded(sql::PASSWORD_SAVE, params![user.uuid(), password])
    }

    fn visit_insert(&mut self, visit: &Visit, hash: &[u8; 32]) -> StoreResult<()> {
        let row = params![
            visit.id.uuid(),
            visit.user.uuid(),
            visit.project.uuid(),
            hash,
            visit.by_link,
            visit.created_at.as_microsecond(),
            visit.seen_at.as_microsecond(),
        ];
        self.guarded(sql::VISIT_INSERT, row)
    }

    fn visit_mark_used(&mut self, visit: VisitId, at: Timestamp) -> StoreResult<()> {
        let sql = "update visits set seen_at = max(seen_at, ?2) where id = ?1";
        self.change(sql, params![visit.uuid(), at.as_microsecond()]).map(drop)
    }

    fn visit_set_project(&mut self, visit: VisitId, project: ProjectId) -> StoreResult<bool> {
        Ok(self.change(sql::VISIT_SET_PROJECT, [visit.uuid(), project.uuid()])? == 1)
    }

    fn visit_consume_link(&mut self, visit: VisitId) -> StoreResult<bool> {
        Ok(self.change("update visits set by_link = 0 where id = ?1 and by_link", [visit.uuid()])? == 1)
    }

    fn visit_end(&mut self, visit: VisitId) -> StoreResult<bool> {
        Ok(self.change(sql::VISIT_END, [visit.uuid()])? == 1)
    }

    fn visits_end(&mut self, user: UserId, but: Option<VisitId>) -> StoreResult<()> {
        let but = but.map(VisitId::uuid);
        self.change("delete from visits where user = ?1 and id is not ?2", params![user.uuid(), but]).map(drop)
    }

    fn visits_purge(&mut self, seen: Timestamp, created: Timestamp, limit: u32) -> StoreResult<u64> {
        let mut gone = 0;
        for (old, before) in [(UNUSED, seen), (AGED, created)] {
            gone += self.change(&sql::visits_delete(old), params![before.as_microsecond(), limit])?;
        }
        Ok(gone)
    }

    fn link_insert(&mut self, link: &Link, hash: &[u8; 32]) -> StoreResult<()> {
        let (created_at, expires_at) = (link.created_at.as_microsecond(), link.expires_at.as_microsecond());
        self.guarded(sql::LINK_INSERT, params![link.id.uuid(), link.user.uuid(), hash, created_at, expires_at])
    }

    fn link_redeem(&mut self, link: LinkId) -> StoreResult<bool> {
        Ok(self.change(sql::LINK_REDEEM, [link.uuid()])? == 1)
    }

    fn links_delete(&mut self, user: UserId) -> StoreResult<()> {
        self.change(sql::LINKS_DELETE, [user.uuid()]).map(drop)
    }

    fn links_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = "delete from links where id in (select id from links where expires_at < ?1 limit ?2)";
        self.change(sql, params![before.as_microsecond(), limit])
    }
}

fn user(row: &Row<'_>) -> rusqlite::Result<UserRecord> {
    let user = User {
        id: UserId::from_uuid(id(row.get(0)?)),
        tenant: TenantId::from_uuid(id(row.get(1)?)),
        name: row.get(2)?,
        display: row.get(3)?,
        subject: row.get(4)?,
        memberships: Vec::new(),
        created_at: time(row.get(5)?)?,
        signed_in_at: optional_time(row.get(6)?)?,
    };
    Ok(UserRecord { user, password: row.get(7)? })
}

fn membership(row: &Row<'_>, first: usize) -> rusqlite::Result<Membership> {
    let role: String = row.get(first + 1)?;
    Ok(Membership {
        project: ProjectId::from_uuid(id(row.get(first)?)),
        role: Role::named(&role).ok_or_else(|| corrupt(Type::Text, StoreError::Corrupt(role)))?,
        groups: parse(&row.get::<_, String>(first + 2)?)?,
        disabled_at: optional_time(row.get(first + 3)?)?,
    })
}
