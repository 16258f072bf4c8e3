//! Statements of lists that have a filter.
//!
//! A statement has conditions only for the fields of the filter that are set, so that each combination gets the index that fits it. The stores
//! give the beginning of the statement, which names the columns and the index.

use domain::search_text::{sought, sought_id};
use domain::{Actor, InteractionId, SessionId, SessionStatus, Timestamp};
use uuid::Uuid;

use crate::{AuditFilter, InteractionFilter, Page, SessionFilter, Sort, StoreError, StoreResult};

/// A statement with the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// Text of the statement.
    pub sql: String,
    /// Values of the parameters, in their order.
    pub values: Vec<Value>,
}

/// Value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Parameter that is an id.
    Uuid(Uuid),
    /// Parameter that is a text.
    Text(String),
    /// A number or a time in microseconds.
    Integer(i64),
}

impl From<Uuid> for Value {
    fn from(id: Uuid) -> Self {
        Self::Uuid(id)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl List {
    /// Begins a statement whose only parameter so far, `?1`, is a project.
    #[must_use]
    pub fn of_project(beginning: String, project: Uuid) -> Self {
        Self { sql: beginning, values: vec![project.into()] }
    }

    /// Adds a condition. Its parameter is written `?` without a number.
    fn add(&mut self, condition: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.sql.push_str(&condition.replace('?', &format!("?{}", self.values.len())));
    }

    /// Adds a condition if its value is set.
    fn add_some(&mut self, condition: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.add(condition, value);
        }
    }

    /// Adds the conditions, the order and the limit of a list of questions. `contains_text` compares the search text with a parameter.
    #[must_use]
    pub fn interactions(mut self, filter: &InteractionFilter, contains_text: &str, page: Page<InteractionId>) -> Self {
        self.add_some(" and interactions.kind = ?", filter.kind.as_ref().map(domain::Kind::name));
        self.add_some(" and interactions.session = ?", filter.session.map(SessionId::uuid));
        self.add_some(" and interactions.channel = ?", filter.channel.clone());
        self.add_some(" and interactions.agent = ?", filter.agent.clone());
        if let Some(actor) = &filter.belongs_to {
            let of_session = " and exists (select 1 from sessions where sessions.id = interactions.session and (sessions.started_by = ?";
            self.add(of_session, actor_json(actor));
            self.add(" or (sessions.agent = ? and not sessions.hosted)))", actor.name.clone());
        }
        self.add_some(" and interactions.status = 'pending' and interactions.deadline <= ?", filter.overdue_at);
        if let Some(text) = &filter.text {
            match sought_id(text) {
                Some(id) => self.add(" and ? in (interactions.id, interactions.session)", id),
                None => self.add(contains_text, sought(text)),
            }
        }
        let (after, order) = match filter.sort {
            Sort::Oldest => (" and interactions.id > ?", "interactions.id"),
            Sort::Newest => (" and interactions.id < ?", "interactions.id desc"),
            Sort::Deadline => (
                " and (interactions.deadline, interactions.id) > ((select deadline from interactions as last where last.id = ?), ?)",
                "interactions.deadline, interactions.id",
            ),
        };
        self.add_some(after, page.after.map(InteractionId::uuid));
        if let Some(status) = filter.status {
            // A literal lets the planner use partial indexes.
            self.sql.push_str(&format!(" and interactions.status = '{}'", status.name()));
        }
        if filter.closed {
            self.sql.push_str(" and interactions.status <> 'pending'");
        }
        if filter.sort == Sort::Deadline {
            self.sql.push_str(" and interactions.status = 'pending' and interactions.deadline is not null");
        }
        self.sql.push_str(&format!(" order by {order} limit {}", page.limit));
        self
    }

    /// Adds the conditions, the order and the limit of a list of sessions.
    #[must_use]
    pub fn sessions(mut self, filter: &SessionFilter, page: Page<SessionId>) -> Self {
        self.add_some(" and id < ?", page.after.map(SessionId::uuid));
        self.add_some(" and status = ?", filter.status.map(SessionStatus::name));
        self.add_some(" and agent = ?", filter.agent.clone());
        self.add_some(" and channel = ?", filter.channel.clone());
        if let Some(actor) = &filter.belongs_to {
            self.add(" and (started_by = ?", actor_json(actor));
            self.add(" or (agent = ? and not hosted))", actor.name.clone());
        }
        if filter.live || filter.status.is_some_and(SessionStatus::is_alive) {
            // The partial index on live sessions then applies, and ended sessions cost nothing.
            self.sql.push_str(" and ended is null");
        }
        self.sql.push_str(&format!(" order by id desc limit {}", page.limit));
        self
    }

    /// Adds the conditions, the order and the limit of a list of audit entries.
    pub fn audit(mut self, filter: &AuditFilter, page: Page<u64>) -> StoreResult<Self> {
        let after = page.after.map(i64::try_from).transpose();
        let after = after.map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let (after_condition, order) = if filter.newest {
            (" and audit_chain.seq < ?", "audit_chain.seq desc")
        } else {
            (" and audit_chain.seq > ?", "audit_chain.seq")
        };
        self.add_some(after_condition, after);
        self.add_some(" and audit_chain.session = ?", filter.session.map(SessionId::uuid));
        self.add_some(" and audit.interaction = ?", filter.interaction.map(InteractionId::uuid));
        self.add_some(" and audit.type = ?", filter.name.clone());
        self.add_some(" and audit.by = ?", filter.by.clone());
        self.add_some(" and audit.at >= ?", filter.since.map(Timestamp::as_microsecond));
        self.add_some(" and audit.at < ?", filter.until.map(Timestamp::as_microsecond));
        self.sql.push_str(&format!(" order by {order} limit {}", page.limit));
        Ok(self)
    }
}

/// Returns the stored form of the actor who opened a session.
fn actor_json(actor: &Actor) -> String {
    // An actor that cannot be serialised was never stored; an empty text finds nothing.
    serde_json::to_string(actor).unwrap_or_default()
}
