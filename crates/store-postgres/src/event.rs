//! The log. Readers follow it by transaction, and only below the oldest one that is still under way: what commits later
//! than something they have read always comes after it.

use domain::{Event, EventId, InteractionId, ProjectId, Scope, SessionId, StepId};
use postgres::Row;
use store::{Bounded, Cursor, EventReads, EventWrites, Page, ProjectEvents, StoreError, StoreResult, Topic};

use crate::connection::{Executor, Values};
use crate::values::{column, corrupt, json, number, parse, signed, time};

const COLUMNS: &str = "id, session, seq, type, at, step, interaction, data";
/// Below this no transaction is under way. A database that was restored into another cluster raises that cluster's transaction ids
/// by `lineage.raised`, so that they come after those that it has recorded.
pub(crate) const SETTLED: &str =
    "xid < (select (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + raised)::text::xid8 from lineage)";
/// The own transaction as it is recorded.
pub(crate) const OWN: &str = "(select (pg_current_xact_id()::text::bigint + raised)::text::xid8 from lineage)";

/// Events of a session after a number.
pub(crate) fn session_events() -> String {
    format!("select {COLUMNS} from events where session = $1 and seq > $2 and project = $3 order by seq limit $4")
}

/// Events of a project after a cursor. One statement, so that what is settled and what is not come from one snapshot; and by
/// `events.xid`, because `xid` alone would be the text of it that is given back, which sorts 1000 before 999.
pub(crate) fn project_events() -> String {
    format!(
        "select {COLUMNS}, xid::text, position, {SETTLED} from events \
         where project = $1 and (xid, position) > ($2::text::xid8, $3) order by events.xid, position limit $4"
    )
}

/// The cursor behind everything that is settled.
pub(crate) fn head() -> String {
    format!("select xid::text, position from events where {SETTLED} order by events.xid desc, position desc limit 1")
}

/// What has changed after a cursor, and which agents have answers waiting there.
pub(crate) const CHANGED: &str = "select distinct events.project, events.session, interactions.asked_by, \
                                  sessions.channel from events join sessions on sessions.id = events.session \
                                  left join interactions on interactions.session = events.session \
                                  and interactions.delivery = 'waiting' \
                                  where (events.xid, events.position) > ($1::text::xid8, $2)";

impl EventReads for Executor<'_> {
    fn events(&mut self, scope: &Scope, session: SessionId, after: u64, limit: u32) -> StoreResult<Bounded<Event>> {
        let values: Values<'_> = &[&session.uuid(), &signed(after)?, &scope.project.uuid(), &i64::from(limit)];
        self.bounded_rows(&session_events(), values, limit, read)
    }

    fn events_about(
        &mut self,
        scope: &Scope,
        session: SessionId,
        about: InteractionId,
        page: Page<u64>,
    ) -> StoreResult<Bounded<Event>> {
        let sql = format!(
            "select {COLUMNS} from events where session = $1 and project = $2 and interaction = $3 and seq > $4 \
             order by seq limit $5"
        );
        let (after, limit) = (signed(page.after.unwrap_or(0))?, i64::from(page.limit));
        let values: Values<'_> = &[&session.uuid(), &scope.project.uuid(), &about.uuid(), &after, &limit];
        self.bounded_rows(&sql, values, page.limit, read)
    }

    fn project_events(&mut self, scope: &Scope, after: Cursor, limit: u32) -> StoreResult<ProjectEvents> {
        let (xid, position) = (after.major.to_string(), signed(after.minor)?);
        let values: Values<'_> = &[&scope.project.uuid(), &xid, &position, &i64::from(limit)];
        let placed = |row: &Row| Ok((column::<bool>(row, 10)?, cursor(row, 8)?, read(row)?));
        let found = self.bounded_rows(&project_events(), values, limit, placed)?;
        let mut part = ProjectEvents { more: found.more, ..ProjectEvents::default() };
        for (shown, cursor, event) in found {
            if !shown {
                (part.hidden, part.more) = (true, false);
                break;
            }
            part.events.push((cursor, event));
        }
        Ok(part)
    }

    fn project_head(&mut self, scope: &Scope) -> StoreResult<Cursor> {
        let sql = format!(
            "select xid::text, position from events where project = $1 and {SETTLED} \
             order by events.xid desc, position desc limit 1"
        );
        self.row(&sql, &[&scope.project.uuid()])?.map_or(Ok(Cursor::default()), |row| cursor(&row, 0))
    }

    /// Tells also of what is not settled yet, and does not move past it, so that it may be told twice.
    fn changed_topics(&mut self, after: Option<Cursor>) -> StoreResult<(Vec<Topic>, Cursor)> {
        let head = self.row(&head(), &[])?.map_or(Ok(Cursor::default()), |row| cursor(&row, 0))?;
        let Some(after) = after else { return Ok((Vec::new(), head)) };
        let changed = self.rows(CHANGED, &[&after.major.to_string(), &signed(after.minor)?])?;
        let mut topics = Vec::new();
        for row in &changed {
            let project = ProjectId::from_uuid(column(row, 0)?);
            let agent: Option<String> = column(row, 2)?;
            topics.push(Topic::Session(SessionId::from_uuid(column(row, 1)?)));
            topics.push(Topic::Project(project));
            topics.push(Topic::Channel(project, column(row, 3)?));
            topics.extend(agent.map(|agent| Topic::Agent(project, agent)));
        }
        let mut told = std::collections::HashSet::new();
        topics.retain(|topic| told.insert(topic.clone()));
        Ok((topics, head.max(after)))
    }
}

impl EventWrites for Executor<'_> {
    /// A transaction may have got its number before it got the session's lock, and others theirs and the lock in between. An
    /// event is therefore never numbered lower than the one before it in its session. It is still numbered no lower than its
    /// own transaction, and that is all that readers rely on.
    fn event_append(&mut self, scope: &Scope, event: &Event) -> StoreResult<()> {
        let sql = format!(
            "insert into events (id, project, session, seq, type, at, step, interaction, data, xid) \
             select $1, project, id, $4, $5, $6, $7, $8, $9, greatest({OWN}, \
             (select xid from events where session = $3 and seq = $4::bigint - 1)) \
             from sessions where id = $3 and project = $2 on conflict do nothing"
        );
        self.guarded(
            &sql,
            &[
                &event.id.uuid(),
                &scope.project.uuid(),
                &event.session.uuid(),
                &signed(event.seq)?,
                &event.name,
                &event.at.as_microsecond(),
                &event.step.map(StepId::uuid),
                &event.interaction.map(InteractionId::uuid),
                &json(&event.data)?,
            ],
        )
    }
}

pub(crate) fn cursor(row: &Row, at: usize) -> StoreResult<Cursor> {
    let major: &str = column(row, at)?;
    Ok(Cursor { major: major.parse().map_err(|_| unknown(major))?, minor: number(row, at + 1)? })
}

fn unknown(transaction: &str) -> StoreError {
    corrupt(format!("`{transaction}` is no transaction"))
}

fn read(row: &Row) -> StoreResult<Event> {
    Ok(Event {
        id: EventId::from_uuid(column(row, 0)?),
        session: SessionId::from_uuid(column(row, 1)?),
        seq: number(row, 2)?,
        name: column(row, 3)?,
        at: time(column(row, 4)?)?,
        step: column::<Option<_>>(row, 5)?.map(StepId::from_uuid),
        interaction: column::<Option<_>>(row, 6)?.map(InteractionId::from_uuid),
        data: parse(column(row, 7)?)?,
    })
}
