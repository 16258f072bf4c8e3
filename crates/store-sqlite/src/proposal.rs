//! Actions that agents proposed.

use domain::{Action, ProjectId, Scope, SessionId, TenantId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};
use store::{ActionPlace, Bounded, DueAction, PastAction, PastFilter, ProposalReads, ProposalWrites, Stored};
use uuid::Uuid;

use crate::connection::Face;
use crate::error::Told;
use crate::session::guarded;
use crate::timers::readable;
use crate::values::{id, json, micros, parsed, time, time_if};

/// What is due, the earliest first.
pub(crate) const DUE: &str = "select projects.tenant, proposals.project, session, call from proposals \
                              join projects on projects.id = proposals.project \
                              where wake_at is not null and wake_at <= ?1 order by wake_at limit ?2";

/// The actions of a project, the newest first.
pub(crate) fn past(asked: bool) -> String {
    let asked = if asked { "and proposals.asked " } else { "" };
    format!(
        "select proposals.at, proposals.session, proposals.call, proposals.body, sessions.started_by \
         from proposals join sessions on sessions.id = proposals.session \
         where proposals.project = ?1 and proposals.at >= ?2 {asked}\
         and (proposals.at, proposals.session, proposals.call) < (?3, ?4, ?5) \
         order by proposals.at desc, proposals.session desc, proposals.call desc limit ?6"
    )
}

impl ProposalReads for Face<'_> {
    fn proposal(&mut self, scope: &Scope, session: SessionId, call: &str) -> Stored<Option<Action>> {
        let sql = "select body from proposals where session = ?1 and call = ?2 and project = ?3";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row(params![session.uuid(), call, scope.project.uuid()], body).optional().told()
    }

    fn proposals(&mut self, scope: &Scope, session: SessionId, after: &str, limit: u32) -> Stored<Bounded<Action>> {
        let sql = "select body from proposals where session = ?1 and call > ?2 and project = ?3 order by call limit ?4";
        self.bounded(sql, params![session.uuid(), after, scope.project.uuid(), limit], limit, body)
    }

    fn past_actions(
        &mut self,
        scope: &Scope,
        filter: &PastFilter,
        before: Option<&ActionPlace>,
        limit: u32,
    ) -> Stored<Bounded<PastAction>> {
        let since = micros(filter.since).unwrap_or(i64::MIN);
        let (at, session, call) = before.map_or((i64::MAX, Uuid::max(), ""), |place| {
            (place.at.as_microsecond(), place.session.uuid(), place.call.as_str())
        });
        let action = |row: &Row<'_>| {
            let place = ActionPlace {
                at: time(row.get(0)?)?,
                session: SessionId::from_uuid(id(row.get(1)?)),
                call: row.get(2)?,
            };
            let started_by = parsed(&row.get::<_, String>(4)?)?;
            Ok(PastAction { place, proposal: parsed(&row.get::<_, String>(3)?)?, started_by })
        };
        let row = params![scope.project.uuid(), since, at, session, call, limit];
        self.bounded(&past(filter.asked), row, limit, action)
    }

    fn actions_due(&mut self, now: Timestamp, limit: u32) -> Stored<Vec<DueAction>> {
        let mut statement = self.connection.prepare_cached(DUE).told()?;
        let due = |row: &Row<'_>| {
            Ok(DueAction {
                scope: Scope {
                    tenant: TenantId::from_uuid(id(row.get(0)?)),
                    project: ProjectId::from_uuid(id(row.get(1)?)),
                },
                session: SessionId::from_uuid(id(row.get(2)?)),
                call: row.get(3)?,
            })
        };
        let found = statement.query_map(params![now.as_microsecond(), limit], due).told()?;
        Ok(found.filter_map(readable).collect())
    }

    fn next_action_due(&mut self) -> Stored<Option<Timestamp>> {
        let sql = "select min(wake_at) from proposals where wake_at is not null";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row([], |row| time_if(row.get(0)?)).told()
    }
}

impl ProposalWrites for Face<'_> {
    fn proposal_insert(&mut self, proposal: &Action) -> Stored<()> {
        let sql = "insert into proposals (session, call, project, wake_at, revision, body, at, asked) \
                   select id, ?2, project, ?4, ?5, ?6, ?7, ?8 from sessions where id = ?1 and project = ?3 \
                   on conflict do nothing";
        let row = params![
            proposal.session.uuid(),
            proposal.call_id,
            proposal.scope.project.uuid(),
            micros(proposal.wake_at()),
            proposal.revision,
            json(proposal)?,
            proposal.at.as_microsecond(),
            !proposal.asked.is_empty(),
        ];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn proposal_save(&mut self, proposal: &Action) -> Stored<()> {
        let sql = "update proposals set wake_at = ?4, revision = ?5, body = ?6, asked = ?7 \
                   where session = ?1 and call = ?2 and project = ?3 and revision + 1 = ?5";
        let row = params![
            proposal.session.uuid(),
            proposal.call_id,
            proposal.scope.project.uuid(),
            micros(proposal.wake_at()),
            proposal.revision,
            json(proposal)?,
            !proposal.asked.is_empty(),
        ];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }
}

fn body(row: &Row<'_>) -> rusqlite::Result<Action> {
    parsed(&row.get::<_, String>(0)?)
}
