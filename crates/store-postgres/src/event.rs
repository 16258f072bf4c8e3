//! The event log. Events are ordered by transaction id, and readers see them only up to the oldest transaction that is still running, so
//! that an event that commits later always comes after the events that a reader has seen.

use domain::{Event, EventId, InteractionId, ProjectId, Scope, SessionId, StepId};
use postgres::Row;
use store::{Bounded, Cursor, EventReads, EventWrites, Page, ProjectEvents, StoreError, StoreResult, Topic};

use crate::connection::{Executor, Values};
use crate::values::{column, corrupt, json, number, parse, signed, time};

const COLUMNS: &str = "id, session, seq, type, at, step, interaction, data";
/// Condition on events before the oldest running transaction. `lineage.raised` is added to the ids of a cluster that a dump was
/// restored into, so that new ids are above those in the dump.
pub(crate) const SETTLED: &str =
    "xid < (select (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + raised)::text::xid8 from lineage)";
/// Id of the current transaction, as it is recorded.
pub(crate) const OWN: &str = "(select (pg_current_xact_id()::text::bigint + raised)::text::xid8 from lineage)";

/// Events of a session after a number.
pub(crate) fn session_events() -> String {
    format!("select {COLUMNS} from events where session = $1 and seq > $2 and project = $3 order by seq limit $4")
}

/// Events of a project after a cursor, each with a column that says whether readers can see it, so that both come from one snapshot.
/// The order is by `events.xid`: a bare `xid` would mean the output column, which is text and sorts 1000 before 999.
pub(crate) fn project_events() -> String {
    format!(
        "select {COLUMNS}, xid::text, position, {SETTLED} from events \
         where project = $1 and (xid, position) > ($2::text::xid8, $3) order by events.xid, position limit $4"
    )
}

/// Cursor of the last event that readers can see.
pub(crate) fn head() -> String {
    format!("select xid::text, position from events where {SETTLED} order by events.xid desc, position desc limit 1")
}

/// Topics of the events after a cursor, and the agents with waiting deliveries there.
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

    /// Includes events of transactions that other readers cannot see yet. The cursor does not move past them, so that a topic may repeat.
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
        let mut seen = std::collections::HashSet::new();
        topics.retain(|topic| seen.insert(topic.clone()));
        Ok((topics, head.max(after)))
    }
}

impl EventWrites for Executor<'_> {
    /// A transaction may get its id before it gets the lock of the session, and other transactions may get both in between. The recorded
    /// id is therefore the higher one of the transaction and of the session's last event. Readers only rely on the recorded id not being
    /// lower than that of the transaction.
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
    corrupt(format!("`{transaction}` is not a transaction id"))
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
