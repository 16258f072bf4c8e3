//! Questions, their deliveries, and the values that are sealed with them.

use std::collections::BTreeSet;

use domain::interaction::Origin;
use domain::search_text::search_text;
use domain::{Delivery, Interaction, InteractionId, Question, Scope, SessionId, Timestamp};
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use store::sql::interaction::{ARCHIVED_INTERACTION, QUESTION_INSERT, SEALED_VALUE_INSERT, SESSION_OF};
use store::sql::list::List;
use store::sql::secret::SEALED_VALUE;
use store::{Bounded, InteractionFilter, InteractionReads, InteractionWrites, Page, Sealed, StoreResult};
use uuid::Uuid;

use crate::connection::Executor;
use crate::secret::data_key;
use crate::values::{id, json, micros, parse};

pub(crate) const QUESTION: &str = "select interactions.id, questions.asked, interactions.state, interactions.revision from interactions \
                   join questions on questions.interaction = interactions.id";

/// Open questions of a session. The plus keeps SQLite from reading all open questions of the project.
pub(crate) const OPEN: &str = "select id from interactions indexed by interactions_alive \
                               where session = ?1 and +project = ?2 and status = 'pending' order by id";
/// Agents with waiting deliveries in a session.
pub(crate) const DELIVERY_AGENTS: &str = "select asked_by from interactions indexed by interactions_alive \
                                 where session = ?1 and +project = ?2 and delivery = 'waiting' and asked_by <> ''";
/// Questions of a session whose delivery is waiting.
pub(crate) const WAITING_DELIVERIES: &str = "select id from interactions indexed by interactions_alive \
                                  where session = ?1 and +project = ?2 and delivery = 'waiting' order by id";
/// Retires the waiting deliveries of a session that has ended.
pub(crate) const RETIRE: &str = "update interactions indexed by interactions_alive set retired_at = resolved_at \
                                 where session = ?1 and +project = ?2 and delivery = 'waiting' and retired_at is null";
/// Retired questions to archive, oldest first.
pub(crate) const RETIRED: &str =
    "select id from interactions where retired_at is not null and retired_at <= ?1 order by retired_at limit ?2";

/// The part of a question that never changes, as stored in `asked`.
#[derive(Serialize, Deserialize)]
struct StoredQuestion<O, Q> {
    origin: O,
    question: Q,
}

/// Waiting answers of one agent.
pub(crate) fn waiting_answers() -> String {
    format!(
        "{QUESTION} join sessions on sessions.id = interactions.session \
         where interactions.project = ?1 and asked_by = ?2 and delivery = 'waiting' \
         and (sessions.paused is null or sessions.ended is not null) order by interactions.id limit ?3"
    )
}

/// Waiting answers of one agent after the given question.
pub(crate) fn waiting_answers_after() -> String {
    waiting_answers().replace("order by", "and interactions.id > ?4 order by")
}

/// Waiting answers of one agent that a webhook has no delivery for.
pub(crate) fn unsent_answers() -> String {
    let unsent = "and not exists (select 1 from webhook_deliveries where webhook_deliveries.webhook = ?4 \
                  and webhook_deliveries.interaction = interactions.id \
                  and webhook_deliveries.revision = interactions.revision) order by";
    waiting_answers().replace("order by", unsent)
}

impl InteractionReads for Executor<'_> {
    fn interaction(&mut self, scope: &Scope, interaction: InteractionId) -> StoreResult<Option<Interaction>> {
        let key = [interaction.uuid(), scope.project.uuid()];
        let sql = format!("{QUESTION} where interactions.id = ?1 and interactions.project = ?2");
        let hot = self.row(&sql, key, |row| read(scope, row))?;
        if hot.is_some() {
            return Ok(hot);
        }
        self.row(ARCHIVED_INTERACTION, key, |row| read(scope, row))
    }

    fn session_of(&mut self, scope: &Scope, interaction: InteractionId) -> StoreResult<Option<SessionId>> {
        let session = |row: &Row<'_>| Ok(SessionId::from_uuid(id(row.get(0)?)));
        self.row(SESSION_OF, [interaction.uuid(), scope.project.uuid()], session)
    }

    fn interactions(
        &mut self,
        scope: &Scope,
        filter: &InteractionFilter,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>> {
        self.list(&list(scope, filter, page), page.limit, |row| read(scope, row))
    }

    fn archived_interactions(&mut self, scope: &Scope, page: Page<InteractionId>) -> StoreResult<Bounded<Interaction>> {
        let sql = "select interaction, asked, state, revision from archive \
                   where project = ?1 and (?2 is null or interaction > ?2) order by interaction limit ?3";
        let after = page.after.map(InteractionId::uuid);
        self.bounded_rows(sql, params![scope.project.uuid(), after, page.limit], page.limit, |row| read(scope, row))
    }

    fn archived_interactions_newest(
        &mut self,
        scope: &Scope,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>> {
        let sql = "select interaction, asked, state, revision from archive \
                   where project = ?1 and (?2 is null or interaction < ?2) order by interaction desc limit ?3";
        let before = page.after.map(InteractionId::uuid);
        self.bounded_rows(sql, params![scope.project.uuid(), before, page.limit], page.limit, |row| read(scope, row))
    }

    fn open_interactions(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<InteractionId>> {
        self.ids_of(OPEN, scope, session)
    }

    fn waiting_deliveries(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<InteractionId>> {
        self.ids_of(WAITING_DELIVERIES, scope, session)
    }

    fn delivery_agents(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<String>> {
        let key = [session.uuid(), scope.project.uuid()];
        let agents: BTreeSet<String> = self.rows(DELIVERY_AGENTS, key, |row| row.get(0))?.into_iter().collect();
        Ok(agents.into_iter().collect())
    }

    fn deliveries(
        &mut self,
        scope: &Scope,
        asked_by: &str,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>> {
        let after = page.after.map_or(Uuid::nil(), InteractionId::uuid);
        let row = params![scope.project.uuid(), asked_by, page.limit, after];
        self.bounded_rows(&waiting_answers_after(), row, page.limit, |row| read(scope, row))
    }

    fn sealed_value(&mut self, scope: &Scope, interaction: InteractionId, name: &str) -> StoreResult<Option<Sealed>> {
        let row = params![interaction.uuid(), name, scope.project.uuid()];
        self.row(SEALED_VALUE, row, |row| Ok(Sealed { key: data_key(row)?, body: row.get(5)? }))
    }
}

impl InteractionWrites for Executor<'_> {
    fn interaction_insert(&mut self, interaction: &Interaction) -> StoreResult<()> {
        let Interaction { id, scope, origin, question, state, revision } = interaction;
        let session = self.title_of(scope, origin.session)?;
        let asked = json(&StoredQuestion { origin, question })?;
        let row = params![id.uuid(), question.title, asked, search_text(interaction, session.as_deref())];
        self.guarded(QUESTION_INSERT, row)?;
        let sql = "insert into interactions (id, project, session, kind, status, channel, agent, asked_by, created_at, \
                   deadline, wake_at, revision, state, delivery, resolved_at, retired_at, asker, weight) \
                   select ?1, project, id, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18 from sessions \
                   where id = ?3 and project = ?2";
        let row = params![
            id.uuid(),
            scope.project.uuid(),
            origin.session.uuid(),
            question.kind.name(),
            interaction.status().name(),
            origin.channel,
            origin.agent,
            interaction.taker().unwrap_or_default(),
            origin.at.as_microsecond(),
            micros(question.deadline),
            micros(interaction.wake_at()),
            revision,
            json(state)?,
            interaction.delivery().map(Delivery::name),
            micros(interaction.resolved_at()),
            micros(interaction.retired_at()),
            origin.asked_by.asker(),
            asked.len() as u64,
        ];
        self.guarded(sql, row)
    }

    fn interaction_save(&mut self, interaction: &Interaction) -> StoreResult<()> {
        let sql = "update interactions set status = ?4, delivery = ?5, resolved_at = ?6, wake_at = ?7, revision = ?3, \
                   state = ?8, retired_at = ?9 where id = ?1 and project = ?2 and revision = ?3 - 1";
        let row = params![
            interaction.id.uuid(),
            interaction.scope.project.uuid(),
            interaction.revision,
            interaction.status().name(),
            interaction.delivery().map(Delivery::name),
            micros(interaction.resolved_at()),
            micros(interaction.wake_at()),
            json(&interaction.state)?,
            micros(interaction.retired_at()),
        ];
        self.guarded(sql, row)
    }

    fn sealed_value_insert(
        &mut self,
        scope: &Scope,
        interaction: InteractionId,
        name: &str,
        sealed: &Sealed,
    ) -> StoreResult<()> {
        let row = params![interaction.uuid(), name, sealed.key.id.uuid(), sealed.body, scope.project.uuid()];
        self.guarded(SEALED_VALUE_INSERT, row)
    }

    fn sealed_values_delete(&mut self, scope: &Scope, interaction: InteractionId) -> StoreResult<()> {
        let sql = "delete from sealed_values where interaction = ?1 \
                   and exists (select 1 from interactions where id = ?1 and project = ?2)";
        let row = [interaction.uuid(), scope.project.uuid()];
        self.change(sql, row).map(drop)
    }

    fn waiting_deliveries_retire(&mut self, scope: &Scope, session: SessionId) -> StoreResult<()> {
        let row = [session.uuid(), scope.project.uuid()];
        self.change(RETIRE, row).map(drop)
    }

    fn archive(&mut self, until: Timestamp, limit: u32) -> StoreResult<u64> {
        let old: Vec<[u8; 16]> = self.rows(RETIRED, params![until.as_microsecond(), limit], |row| row.get(0))?;
        for interaction in &old {
            let sql = "insert into archive (interaction, project, session, resolved_at, revision, asked, state) \
                       select id, project, session, resolved_at, revision, asked, state \
                       from interactions join questions on questions.interaction = interactions.id where id = ?1";
            self.change(sql, [interaction])?;
            for sql in [
                "delete from interactions where id = ?1",
                "delete from questions where interaction = ?1",
                "delete from sealed_values where interaction = ?1",
            ] {
                self.change(sql, [interaction])?;
            }
        }
        Ok(old.len() as u64)
    }
}

impl Executor<'_> {
    fn title_of(&self, scope: &Scope, session: SessionId) -> StoreResult<Option<String>> {
        let sql = "select title from sessions where id = ?1 and project = ?2";
        let title = self.row(sql, [session.uuid(), scope.project.uuid()], |row| row.get(0))?;
        Ok(title.flatten())
    }

    fn ids_of(&self, sql: &str, scope: &Scope, session: SessionId) -> StoreResult<Vec<InteractionId>> {
        let interaction = |row: &Row<'_>| Ok(InteractionId::from_uuid(id(row.get(0)?)));
        self.rows(sql, [session.uuid(), scope.project.uuid()], interaction)
    }
}

/// Condition on the search text.
const CONTAINS_TEXT: &str = " and instr(questions.search_text, ?) > 0";

/// Statement of a list.
pub(crate) fn list(scope: &Scope, filter: &InteractionFilter, page: Page<InteractionId>) -> List {
    // With a session in the filter, the plus makes SQLite use the index of the session, not the one of all questions of the project.
    let plus = if filter.session.is_some() { "+" } else { "" };
    let beginning = format!("{QUESTION} where {plus}interactions.project = ?1");
    List::of_project(beginning, scope.project.uuid()).interactions(filter, CONTAINS_TEXT, page)
}

pub(crate) fn read(scope: &Scope, row: &Row<'_>) -> rusqlite::Result<Interaction> {
    let asked: StoredQuestion<Origin, Question> = parse(row.get_ref(1)?.as_str()?)?;
    Ok(Interaction {
        id: InteractionId::from_uuid(id(row.get(0)?)),
        scope: *scope,
        origin: asked.origin,
        question: asked.question,
        state: parse(row.get_ref(2)?.as_str()?)?,
        revision: row.get(3)?,
    })
}
