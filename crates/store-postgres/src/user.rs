//! Users, their memberships, visits and sign-in links.

use domain::{Link, LinkId, Membership, ProjectId, Role, Scope, TenantId, Timestamp, User, UserId, Visit, VisitId};
use postgres::Row;
use store::sql::user::{self as sql, MEMBERS, SELECT_MEMBERS, SELECT_USER_WHERE};
use store::{Bounded, LinkRecord, StoreError, StoreResult, UserReads, UserRecord, UserWrites, VisitRecord};

use crate::connection::{Executor, Values};
use crate::values::{column, corrupt, json, micros, number, optional_time, parse, time};

/// Admins of a project who have signed in.
pub(crate) const ADMINS: &str = "select memberships.\"user\" from memberships join users on users.id = memberships.\"user\" \
                                 where memberships.project = $1 and users.tenant = $2 and role = 'admin' \
                                 and disabled_at is null and signed_in_at is not null \
                                 order by memberships.\"user\" for update of memberships";
/// Visits that were not used for too long.
pub(crate) const UNUSED: &str = "select id from visits where seen_at < $1 limit $2 for update skip locked";
/// Visits that began too long ago.
pub(crate) const AGED: &str = "select id from visits where created_at < $1 limit $2 for update skip locked";

impl Executor<'_> {
    fn user_where(&mut self, condition: &str, values: Values<'_>) -> StoreResult<Option<UserRecord>> {
        let found = self.row(&format!("{SELECT_USER_WHERE}{condition}"), values)?;
        let Some(mut record) = found.as_ref().map(user).transpose()? else { return Ok(None) };
        let rows = self.rows(sql::MEMBERSHIPS, &[&record.user.id.uuid()])?;
        record.user.memberships = rows.iter().map(|row| membership(row, 0)).collect::<StoreResult<_>>()?;
        Ok(Some(record))
    }
}

impl UserReads for Executor<'_> {
    fn user(&mut self, tenant: TenantId, name: &str) -> StoreResult<Option<UserRecord>> {
        self.user_where("tenant = $1 and name = $2", &[&tenant.uuid(), &name])
    }

    fn user_by_folded_name(&mut self, tenant: TenantId, name: &str) -> StoreResult<Option<UserRecord>> {
        if let Some(found) = self.user(tenant, name)? {
            return Ok(Some(found));
        }
        self.user_where(&format!("id = ({})", sql::FOLDED), &[&tenant.uuid(), &name.to_ascii_lowercase()])
    }

    fn user_by_id(&mut self, user: UserId) -> StoreResult<Option<UserRecord>> {
        self.user_where("id = $1", &[&user.uuid()])
    }

    fn user_by_subject(&mut self, tenant: TenantId, subject: &str) -> StoreResult<Option<UserRecord>> {
        self.user_where("tenant = $1 and subject = $2", &[&tenant.uuid(), &subject])
    }

    fn users_page(&mut self, scope: &Scope, after: Option<&str>, limit: u32) -> StoreResult<Bounded<User>> {
        let sql = format!(
            "{SELECT_MEMBERS} where users.id in ({MEMBERS}) and memberships.project = $1 \
             and ($2::text is null or name collate \"C\" > $2) order by name collate \"C\" limit $3"
        );
        let one = |row: &Row| Ok(User { memberships: vec![membership(row, 8)?], ..user(row)?.user });
        self.bounded_list(&sql, &[&scope.project.uuid(), &after, &i64::from(limit)], limit, one)
    }

    fn member_count(&mut self, scope: &Scope) -> StoreResult<u64> {
        self.row(sql::MEMBER_COUNT, &[&scope.project.uuid()])?.map_or(Ok(0), |row| number(&row, 0))
    }

    fn has_anybody_signed_in(&mut self) -> StoreResult<bool> {
        let found = self.row(sql::HAS_ANYBODY_SIGNED_IN, &[])?;
        found.map_or(Ok(false), |row| column(&row, 0))
    }

    fn scope_names(&mut self, scope: &Scope) -> StoreResult<Option<(String, String)>> {
        let found = self.row(sql::SCOPE_NAMES, &[&scope.project.uuid(), &scope.tenant.uuid()])?;
        found.map(|row| Ok((column(&row, 0)?, column(&row, 1)?))).transpose()
    }

    fn visit(&mut self, visit: VisitId) -> StoreResult<Option<VisitRecord>> {
        let Some(row) = self.row(sql::VISIT, &[&visit.uuid()])? else { return Ok(None) };
        let visit = Visit {
            id: VisitId::from_uuid(column(&row, 0)?),
            user: UserId::from_uuid(column(&row, 1)?),
            project: ProjectId::from_uuid(column(&row, 2)?),
            by_link: column(&row, 3)?,
            created_at: time(column(&row, 4)?)?,
            seen_at: time(column(&row, 5)?)?,
        };
        let hash = hash(&row, 6)?;
        Ok(self.user_by_id(visit.user)?.map(|record| VisitRecord { visit, hash, user: record.user }))
    }

    fn link(&mut self, link: LinkId) -> StoreResult<Option<LinkRecord>> {
        let Some(row) = self.row(sql::LINK, &[&link.uuid()])? else { return Ok(None) };
        let link = Link {
            id: LinkId::from_uuid(column(&row, 0)?),
            user: UserId::from_uuid(column(&row, 1)?),
            created_at: time(column(&row, 2)?)?,
            expires_at: time(column(&row, 3)?)?,
        };
        Ok(Some(LinkRecord { link, hash: hash(&row, 4)? }))
    }
}

impl UserWrites for Executor<'_> {
    fn user_insert(&mut self, user: &User) -> StoreResult<()> {
        self.guarded(
            sql::USER_INSERT,
            &[
                &user.id.uuid(),
                &user.tenant.uuid(),
                &user.name,
                &user.display,
                &user.subject,
                &user.created_at.as_microsecond(),
                &micros(user.signed_in_at),
                &user.name.to_ascii_lowercase(),
            ],
        )
    }

    fn membership_save(&mut self, scope: &Scope, user: UserId, membership: &Membership) -> StoreResult<()> {
        self.guarded(
            sql::MEMBERSHIP_SAVE,
            &[
                &user.uuid(),
                &scope.project.uuid(),
                &scope.tenant.uuid(),
                &membership.role.name(),
                &json(&membership.groups)?,
                &micros(membership.disabled_at),
            ],
        )
    }

    fn admins_lock(&mut self, scope: &Scope) -> StoreResult<Vec<UserId>> {
        let found = self.rows(ADMINS, &[&scope.project.uuid(), &scope.tenant.uuid()])?;
        found.iter().map(|row| Ok(UserId::from_uuid(column(row, 0)?))).collect()
    }

    fn names_lock(&mut self, tenant: TenantId) -> StoreResult<()> {
        self.rows("select 1 from tenants where id = $1 for no key update", &[&tenant.uuid()]).map(drop)
    }

    fn user_mark_signed_in(&mut self, user: UserId, at: Timestamp) -> StoreResult<()> {
        self.guarded(sql::USER_MARK_SIGNED_IN, &[&user.uuid(), &at.as_microsecond()])
    }

    fn password_save(&mut self, user: UserId, password: Option<&str>) -> StoreResult<()> {
        self.guarded(sql::PASSWORD_SAVE, &[&user.uuid(), &password])
    }

    fn visit_insert(&mut self, visit: &Visit, hash: &[u8; 32]) -> StoreResult<()> {
        self.guarded(
            sql::VISIT_INSERT,
            &[
                &visit.id.uuid(),
                &visit.user.uuid(),
                &visit.project.uuid(),
                &hash.as_slice(),
                &visit.by_link,
                &visit.created_at.as_microsecond(),
                &visit.seen_at.as_microsecond(),
            ],
        )
    }

    fn visit_mark_used(&mut self, visit: VisitId, at: Timestamp) -> StoreResult<()> {
        let sql = "update visits set seen_at = greatest(seen_at, $2) where id = $1";
        self.change(sql, &[&visit.uuid(), &at.as_microsecond()]).map(drop)
    }

    fn visit_set_project(&mut self, visit: VisitId, project: ProjectId) -> StoreResult<bool> {
        Ok(self.change(sql::VISIT_SET_PROJECT, &[&visit.uuid(), &project.uuid()])? == 1)
    }

    fn visit_consume_link(&mut self, visit: VisitId) -> StoreResult<bool> {
        Ok(self.change("update visits set by_link = false where id = $1 and by_link", &[&visit.uuid()])? == 1)
    }

    fn visit_end(&mut self, visit: VisitId) -> StoreResult<bool> {
        Ok(self.change(sql::VISIT_END, &[&visit.uuid()])? == 1)
    }

    fn visits_end(&mut self, user: UserId, but: Option<VisitId>) -> StoreResult<()> {
        let but = but.map(VisitId::uuid);
        let sql = "delete from visits where \"user\" = $1 and id is distinct from $2";
        self.change(sql, &[&user.uuid(), &but]).map(drop)
    }

    fn visits_purge(&mut self, seen: Timestamp, created: Timestamp, limit: u32) -> StoreResult<u64> {
        let mut gone = 0;
        for (old, before) in [(UNUSED, seen), (AGED, created)] {
            gone += self.change(&sql::visits_delete(old), &[&before.as_microsecond(), &i64::from(limit)])?;
        }
        Ok(gone)
    }

    fn link_insert(&mut self, link: &Link, hash: &[u8; 32]) -> StoreResult<()> {
        let (created_at, expires_at) = (link.created_at.as_microsecond(), link.expires_at.as_microsecond());
        self.guarded(
            sql::LINK_INSERT,
            &[&link.id.uuid(), &link.user.uuid(), &hash.as_slice(), &created_at, &expires_at],
        )
    }

    fn link_redeem(&mut self, link: LinkId) -> StoreResult<bool> {
        Ok(self.change(sql::LINK_REDEEM, &[&link.uuid()])? == 1)
    }

    fn links_delete(&mut self, user: UserId) -> StoreResult<()> {
        self.change(sql::LINKS_DELETE, &[&user.uuid()]).map(drop)
    }

    fn links_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = "delete from links where id in \
                   (select id from links where expires_at < $1 limit $2 for update skip locked)";
        self.change(sql, &[&before.as_microsecond(), &i64::from(limit)])
    }
}

fn user(row: &Row) -> StoreResult<UserRecord> {
    let user = User {
        id: UserId::from_uuid(column(row, 0)?),
        tenant: TenantId::from_uuid(column(row, 1)?),
        name: column(row, 2)?,
        display: column(row, 3)?,
        subject: column(row, 4)?,
        memberships: Vec::new(),
        created_at: time(column(row, 5)?)?,
        signed_in_at: optional_time(column(row, 6)?)?,
    };
    Ok(UserRecord { user, password: column(row, 7)? })
}

fn membership(row: &Row, first: usize) -> StoreResult<Membership> {
    let role: &str = column(row, first + 1)?;
    Ok(Membership {
        project: ProjectId::from_uuid(column(row, first)?),
        role: Role::named(role).ok_or_else(|| StoreError::Corrupt(format!("the role `{role}`")))?,
        groups: parse(column(row, first + 2)?)?,
        disabled_at: optional_time(column(row, first + 3)?)?,
    })
}

fn hash(row: &Row, index: usize) -> StoreResult<[u8; 32]> {
    <[u8; 32]>::try_from(column::<&[u8]>(row, index)?).map_err(corrupt)
}
