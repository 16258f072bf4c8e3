//! The event log. SQLite has one writer, so that the order of `position` is the order of commits.

use domain::{Event, EventId, InteractionId, ProjectId, Scope, SessionId, StepId};
use rusqlite::{Row, params};
use store::{Bounded, Cursor, EventReads, EventWrites, Page, ProjectEvents, StoreResult, Topic};
use uuid::Uuid;

use crate::connection::Executor;
use crate::values::{id, json, parse, time};

const COLUMNS: &str = "id, session, seq, type, at, step, interaction, data, position";

/// Events of a session after a number.
pub(crate) fn session_events() -> String {
    format!("select {COLUMNS} from events where session = ?1 and seq > ?2 and project = ?3 order by seq limit ?4")
}

/// Events of a project after a position.
pub(crate) fn project_events() -> String {
    format!("select {COLUMNS} from events where project = ?1 and position > ?2 order by position limit ?3")
}

impl EventReads for Executor<'_> {
    fn events(&mut self, scope: &Scope, session: SessionId, after: u64, limit: u32) -> StoreResult<Bounded<Event>> {
        self.bounded_rows(&session_events(), params![session.uuid(), after, scope.project.uuid(), limit], limit, read)
    }

    fn events_about(
        &mut self,
        scope: &Scope,
        session: SessionId,
        about: InteractionId,
        page: Page<u64>,
    ) -> StoreResult<Bounded<Event>> {
        let sql = format!(
            "select {COLUMNS} from events where session = ?1 and +project = ?2 and interaction = ?3 and seq > ?4 \
             order by seq limit ?5"
        );
        let after = page.after.unwrap_or(0);
        let row = params![session.uuid(), scope.project.uuid(), about.uuid(), after, page.limit];
        self.bounded_rows(&sql, row, page.limit, read)
    }

    fn project_events(&mut self, scope: &Scope, after: Cursor, limit: u32) -> StoreResult<ProjectEvents> {
        let placed = |row: &Row<'_>| Ok((Cursor { major: 0, minor: row.get(8)? }, read(row)?));
        let row = params![scope.project.uuid(), after.minor, limit];
        let found = self.bounded_rows(&project_events(), row, limit, placed)?;
        Ok(ProjectEvents { more: found.more, events: found.into_vec(), hidden: false })
    }

    fn project_head(&mut self, scope: &Scope) -> StoreResult<Cursor> {
        let sql = "select coalesce(max(position), 0) from events where project = ?1";
        self.one_row(sql, [scope.project.uuid()], |row| Ok(Cursor { major: 0, minor: row.get(0)? }))
    }

    fn changed_topics(&mut self, after: Option<Cursor>) -> StoreResult<(Vec<Topic>, Cursor)> {
        let head = self.one_row("select coalesce(max(position), 0) from events", [], |row| row.get(0))?;
        let after = after.map_or(head, |cursor| cursor.minor);
        let sql = "select distinct events.project, events.session, sessions.channel from events \
                   join sessions on sessions.id = events.session where position > ?1 and position <= ?2";
        let topics = |row: &Row<'_>| {
            let project = ProjectId::from_uuid(id(row.get(0)?));
            Ok([
                Topic::Project(project),
                Topic::Session(SessionId::from_uuid(id(row.get(1)?))),
                Topic::Channel(project, row.get(2)?),
            ])
        };
        let changed: Vec<[Topic; 3]> = self.rows(sql, [after, head], topics)?;
        Ok((changed.into_iter().flatten().collect(), Cursor { major: 0, minor: head }))
    }
}

impl EventWrites for Executor<'_> {
    fn event_append(&mut self, scope: &Scope, event: &Event) -> StoreResult<()> {
        let sql = "insert into events (id, project, session, seq, type, at, step, interaction, data) \
                   select ?1, project, id, ?4, ?5, ?6, ?7, ?8, ?9 from sessions where id = ?3 and project = ?2";
        let row = params![
            event.id.uuid(),
            scope.project.uuid(),
            event.session.uuid(),
            event.seq,
            event.name,
            event.at.as_microsecond(),
            event.step.map(StepId::uuid),
            event.interaction.map(InteractionId::uuid),
            json(&event.data)?,
        ];
        self.guarded(sql, row)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        id: EventId::from_uuid(id(row.get(0)?)),
        session: SessionId::from_uuid(id(row.get(1)?)),
        seq: row.get(2)?,
        name: row.get(3)?,
        at: time(row.get(4)?)?,
        step: row.get::<_, Option<Uuid>>(5)?.map(StepId::from_uuid),
        interaction: row.get::<_, Option<Uuid>>(6)?.map(InteractionId::from_uuid),
        data: parse(&row.get::<_, String>(7)?)?,
    })
}
