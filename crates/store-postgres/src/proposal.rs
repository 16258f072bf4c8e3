//! Actions that agents proposed.

use domain::{Action, Scope, SessionId, Timestamp};
use postgres::Row;
use store::{ActionPlace, Bounded, DueAction, PastAction, PastFilter, ProposalReads, ProposalWrites, Stored};
use uuid::Uuid;

use crate::access::scope as scope_of;
use crate::connection::{Face, Values};
use crate::values::{column, json, micros, parsed, signed, time, time_if};

/// What is due, the earliest first.
pub(crate) const DUE: &str = "select projects.tenant, proposals.project, session, call from proposals \
                              join projects on projects.id = proposals.project \
                              where wake_at is not null and wake_at <= $1 order by wake_at limit $2";

/// The actions of a project, the newest first.
pub(crate) fn past(asked: bool) -> String {
    let asked = if asked { "and proposals.asked " } else { "" };
    format!(
        "select proposals.at, proposals.session, proposals.call, proposals.body, sessions.started_by \
         from proposals join sessions on sessions.id = proposals.session \
         where proposals.project = $1 and proposals.at >= $2 {asked}\
         and (proposals.at, proposals.session, proposals.call) < ($3, $4, $5) \
         order by proposals.at desc, proposals.session desc, proposals.call desc limit $6"
    )
}

impl ProposalReads for Face<'_> {
    fn proposal(&mut self, scope: &Scope, session: SessionId, call: &str) -> Stored<Option<Action>> {
        let sql = "select body from proposals where session = $1 and call = $2 and project = $3";
        let found = self.row(sql, &[&session.uuid(), &call, &scope.project.uuid()])?;
        found.map(|row| parsed(column(&row, 0)?)).transpose()
    }

    fn proposals(&mut self, scope: &Scope, session: SessionId, after: &str, limit: u32) -> Stored<Bounded<Action>> {
        let sql = "select body from proposals where session = $1 and call > $2 and project = $3 order by call limit $4";
        let values: Values<'_> = &[&session.uuid(), &after, &scope.project.uuid(), &i64::from(limit)];
        self.bounded_rows(sql, values, limit, |row| parsed(column(row, 0)?))
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
        let action = |row: &Row| {
            let place = ActionPlace {
                at: time(column(row, 0)?)?,
                session: SessionId::from_uuid(column(row, 1)?),
                call: column(row, 2)?,
            };
            Ok(PastAction { place, proposal: parsed(column(row, 3)?)?, started_by: parsed(column(row, 4)?)? })
        };
        let project = scope.project.uuid();
        let values: Values<'_> = &[&project, &since, &at, &session, &call, &i64::from(limit)];
        self.bounded_rows(&past(filter.asked), values, limit, action)
    }

    fn actions_due(&mut self, now: Timestamp, limit: u32) -> Stored<Vec<DueAction>> {
        let found = self.rows(DUE, &[&now.as_microsecond(), &i64::from(limit)])?;
        let due = |row| {
            Ok(DueAction {
                scope: scope_of(row, 0, 1)?,
                session: SessionId::from_uuid(column(row, 2)?),
                call: column(row, 3)?,
            })
        };
        found.iter().map(due).collect()
    }

    fn next_action_due(&mut self) -> Stored<Option<Timestamp>> {
        let row = self.row("select min(wake_at) from proposals where wake_at is not null", &[])?;
        time_if(row.map(|row| column(&row, 0)).transpose()?.flatten())
    }
}

impl ProposalWrites for Face<'_> {
    fn proposal_insert(&mut self, proposal: &Action) -> Stored<()> {
        let sql = "insert into proposals (session, call, project, wake_at, revision, body, at, asked) \
                   select id, $2, project, $4, $5, $6, $7, $8 from sessions where id = $1 and project = $3 \
                   on conflict do nothing";
        self.guarded(
            sql,
            &[
                &proposal.session.uuid(),
                &proposal.call_id,
                &proposal.scope.project.uuid(),
                &micros(proposal.wake_at()),
                &signed(proposal.revision)?,
                &json(proposal)?,
                &proposal.at.as_microsecond(),
                &!proposal.asked.is_empty(),
            ],
        )
    }

    fn proposal_save(&mut self, proposal: &Action) -> Stored<()> {
        let sql = "update proposals set wake_at = $4, revision = $5, body = $6, asked = $7 \
                   where session = $1 and call = $2 and project = $3 and revision + 1 = $5";
        self.guarded(
            sql,
            &[
                &proposal.session.uuid(),
                &proposal.call_id,
                &proposal.scope.project.uuid(),
                &micros(proposal.wake_at()),
                &signed(proposal.revision)?,
                &json(proposal)?,
                &!proposal.asked.is_empty(),
            ],
        )
    }
}
