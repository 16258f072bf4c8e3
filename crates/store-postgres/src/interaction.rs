//! Questions, their deliveries, and the values that are sealed with them.

use std::collections::BTreeSet;

use domain::interaction::Origin;
use domain::search_text::search_text;
use domain::{Delivery, Interaction, InteractionId, Question, Scope, SessionId, Timestamp};
use postgres::Row;
use serde::{Deserialize, Serialize};
use store::sql::interaction::{ARCHIVED_INTERACTION, QUESTION_INSERT, SEALED_VALUE_INSERT, SESSION_OF};
use store::sql::list::List;
use store::sql::secret::SEALED_VALUE;
use store::{Bounded, InteractionFilter, InteractionReads, InteractionWrites, Page, Sealed, StoreError, StoreResult};
use uuid::Uuid;

use crate::connection::{Executor, Values};
use crate::secret::data_key;
use crate::values::{column, json, micros, number, parse, signed};

const QUESTION: &str = "select interactions.id, questions.asked, interactions.state, interactions.revision from interactions \
                   join questions on questions.interaction = interactions.id";
/// Open questions of a session.
pub(crate) const OPEN: &str =
    "select id from interactions where session = $1 and project = $2 and status = 'pending' order by id";

/// Agents with waiting deliveries in a session.
pub(crate) const DELIVERY_AGENTS: &str =
    "select asked_by from interactions where session = $1 and project = $2 and delivery = 'waiting' and asked_by <> ''";
/// Questions of a session whose delivery is waiting.
pub(crate) const WAITING_DELIVERIES: &str =
    "select id from interactions where session = $1 and project = $2 and delivery = 'waiting' order by id";
/// Retires the waiting deliveries of a session that has ended.
pub(crate) const RETIRE: &str = "update interactions set retired_at = resolved_at \
                                 where session = $1 and project = $2 and delivery = 'waiting' and retired_at is null";
/// Locks the archive, unless another server has the lock.
const ARCHIVING: &str = "select 1 from settings where name = 'archive' for update skip locked";
/// Moves retired questions to the archive. The moved row is the locked one, not the one that the statement first saw.
pub(crate) const ARCHIVE: &str = "with old as (select id, project, session, resolved_at, revision, state from interactions \
     where retired_at is not null and retired_at <= $1 order by retired_at limit $2 for update skip locked), \
     moved as (insert into archive (interaction, project, session, resolved_at, revision, asked, state) \
     select old.id, project, session, resolved_at, revision, asked, state from old \
     join questions on questions.interaction = old.id), \
     unasked as (delete from questions using old where questions.interaction = old.id), \
     unsealed as (delete from sealed_values using old where sealed_values.interaction = old.id) \
     delete from interactions using old where interactions.id = old.id";

/// Condition on the search text. A subquery for each row searches only the questions of the list, not the questions of all projects.
const CONTAINS_TEXT: &str =
    " and (select strpos(words.search_text, ?) from questions as words where words.interaction = interactions.id) > 0";

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
         where interactions.project = $1 and asked_by = $2 and delivery = 'waiting' \
         and (sessions.paused is null or sessions.ended is not null) order by interactions.id limit $3"
    )
}

/// Waiting answers of one agent after the given question.
pub(crate) fn waiting_answers_after() -> String {
    waiting_answers().replace("order by", "and interactions.id > $4 order by")
}

/// Waiting answers of one agent that a webhook has no delivery for.
pub(crate) fn unsent_answers() -> String {
    let unsent = "and not exists (select 1 from webhook_deliveries where webhook_deliveries.webhook = $4 \
                  and webhook_deliveries.interaction = interactions.id \
                  and webhook_deliveries.revision = interactions.revision) order by";
    waiting_answers().replace("order by", unsent)
}

impl InteractionReads for Executor<'_> {
    fn interaction(&mut self, scope: &Scope, interaction: InteractionId) -> StoreResult<Option<Interaction>> {
        let (id, project) = (interaction.uuid(), scope.project.uuid());
        let sql = format!("{QUESTION} where interactions.id = $1 and interactions.project = $2");
        if let Some(hot) = self.row(&sql, &[&id, &project])? {
            return read(scope, &hot).map(Some);
        }
        self.row(ARCHIVED_INTERACTION, &[&id, &project])?.map(|row| read(scope, &row)).transpose()
    }

    fn session_of(&mut self, scope: &Scope, interaction: InteractionId) -> StoreResult<Option<SessionId>> {
        let found = self.row(SESSION_OF, &[&interaction.uuid(), &scope.project.uuid()])?;
        found.map(|row| Ok(SessionId::from_uuid(column(&row, 0)?))).transpose()
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
                   where project = $1 and ($2::uuid is null or interaction > $2) order by interaction limit $3";
        let after = page.after.map(InteractionId::uuid);
        let values: Values<'_> = &[&scope.project.uuid(), &after, &i64::from(page.limit)];
        self.bounded_list(sql, values, page.limit, |row| read(scope, row))
    }

    fn archived_interactions_newest(
        &mut self,
        scope: &Scope,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>> {
        let sql = "select interaction, asked, state, revision from archive \
                   where project = $1 and ($2::uuid is null or interaction < $2) order by interaction desc limit $3";
        let before = page.after.map(InteractionId::uuid);
        let values: Values<'_> = &[&scope.project.uuid(), &before, &i64::from(page.limit)];
        self.bounded_list(sql, values, page.limit, |row| read(scope, row))
    }

    fn open_interactions(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<InteractionId>> {
        let open = self.rows(OPEN, &[&session.uuid(), &scope.project.uuid()])?;
        open.iter().map(|row| Ok(InteractionId::from_uuid(column(row, 0)?))).collect()
    }

    fn waiting_deliveries(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<InteractionId>> {
        let waiting = self.rows(WAITING_DELIVERIES, &[&session.uuid(), &scope.project.uuid()])?;
        waiting.iter().map(|row| Ok(InteractionId::from_uuid(column(row, 0)?))).collect()
    }

    fn delivery_agents(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<String>> {
        let agents = self.rows(DELIVERY_AGENTS, &[&session.uuid(), &scope.project.uuid()])?;
        let agents: BTreeSet<String> = agents.iter().map(|row| column(row, 0)).collect::<StoreResult<_>>()?;
        Ok(agents.into_iter().collect())
    }

    fn deliveries(
        &mut self,
        scope: &Scope,
        asked_by: &str,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>> {
        let after = page.after.map_or(Uuid::nil(), InteractionId::uuid);
        let values: Values<'_> = &[&scope.project.uuid(), &asked_by, &i64::from(page.limit), &after];
        self.bounded_rows(&waiting_answers_after(), values, page.limit, |row| read(scope, row))
    }

    fn sealed_value(&mut self, scope: &Scope, interaction: InteractionId, name: &str) -> StoreResult<Option<Sealed>> {
        let found = self.row(SEALED_VALUE, &[&interaction.uuid(), &name, &scope.project.uuid()])?;
        found.map(|row| Ok(Sealed { key: data_key(&row)?, body: column(&row, 5)? })).transpose()
    }
}

impl InteractionWrites for Executor<'_> {
    fn interaction_insert(&mut self, interaction: &Interaction) -> StoreResult<()> {
        let Interaction { id, scope, origin, question, state, revision } = interaction;
        let asked = json(&StoredQuestion { origin, question })?;
        let sql = "insert into interactions (id, project, session, kind, status, channel, agent, asked_by, created_at, \
                   deadline, wake_at, revision, state, delivery, resolved_at, retired_at, asker, weight) \
                   select $1, project, id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18 from sessions \
                   where id = $3 and project = $2 on conflict do nothing \
                   returning (select title from sessions where id = $3)";
        let kept = self.row(
            sql,
            &[
                &id.uuid(),
                &scope.project.uuid(),
                &origin.session.uuid(),
                &question.kind.name(),
                &interaction.status().name(),
                &origin.channel,
                &origin.agent,
                &interaction.taker().unwrap_or_default(),
                &origin.at.as_microsecond(),
                &micros(question.deadline),
                &micros(interaction.wake_at()),
                &signed(*revision)?,
                &json(state)?,
                &interaction.delivery().map(Delivery::name),
                &micros(interaction.resolved_at()),
                &micros(interaction.retired_at()),
                &origin.asked_by.asker(),
                &signed(asked.len() as u64)?,
            ],
        )?;
        let session: Option<String> = column(&kept.ok_or(StoreError::Conflict)?, 0)?;
        let said = search_text(interaction, session.as_deref());
        self.guarded(QUESTION_INSERT, &[&id.uuid(), &question.title, &asked, &said])
    }

    fn interaction_save(&mut self, interaction: &Interaction) -> StoreResult<()> {
        let sql = "update interactions set status = $4, delivery = $5, resolved_at = $6, wake_at = $7, revision = $3, \
                   state = $8, retired_at = $9 where id = $1 and project = $2 and revision = $3::bigint - 1";
        self.guarded(
            sql,
            &[
                &interaction.id.uuid(),
                &interaction.scope.project.uuid(),
                &signed(interaction.revision)?,
                &interaction.status().name(),
                &interaction.delivery().map(Delivery::name),
                &micros(interaction.resolved_at()),
                &micros(interaction.wake_at()),
                &json(&interaction.state)?,
                &micros(interaction.retired_at()),
            ],
        )
    }

    fn sealed_value_insert(
        &mut self,
        scope: &Scope,
        interaction: InteractionId,
        name: &str,
        sealed: &Sealed,
    ) -> StoreResult<()> {
        let key = sealed.key.id.uuid();
        self.guarded(SEALED_VALUE_INSERT, &[&interaction.uuid(), &name, &key, &sealed.body, &scope.project.uuid()])
    }

    fn sealed_values_delete(&mut self, scope: &Scope, interaction: InteractionId) -> StoreResult<()> {
        let sql = "delete from sealed_values using interactions \
                   where sealed_values.interaction = $1 and interactions.id = $1 and interactions.project = $2";
        self.change(sql, &[&interaction.uuid(), &scope.project.uuid()]).map(drop)
    }

    fn waiting_deliveries_retire(&mut self, scope: &Scope, session: SessionId) -> StoreResult<()> {
        self.change(RETIRE, &[&session.uuid(), &scope.project.uuid()]).map(drop)
    }

    /// One server archives at a time; a second one moves nothing and does not wait.
    fn archive(&mut self, until: Timestamp, limit: u32) -> StoreResult<u64> {
        if self.row(ARCHIVING, &[])?.is_none() {
            return Ok(0);
        }
        self.change(ARCHIVE, &[&until.as_microsecond(), &i64::from(limit)])
    }
}

/// Statement of a list.
pub(crate) fn list(scope: &Scope, filter: &InteractionFilter, page: Page<InteractionId>) -> List {
    let beginning = format!("{QUESTION} where interactions.project = ?1");
    List::of_project(beginning, scope.project.uuid()).interactions(filter, CONTAINS_TEXT, page)
}

pub(crate) fn read(scope: &Scope, row: &Row) -> StoreResult<Interaction> {
    let asked: StoredQuestion<Origin, Question> = parse(column(row, 1)?)?;
    Ok(Interaction {
        id: InteractionId::from_uuid(column(row, 0)?),
        scope: *scope,
        origin: asked.origin,
        question: asked.question,
        state: parse(column(row, 2)?)?,
        revision: number(row, 3)?,
    })
}
