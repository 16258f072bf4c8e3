//! Reads the contents of the store directly, without the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::{
    Action, Delivery, Event, Grant, GrantId, Interaction, InteractionId, PolicyState, Scope, Session, SessionId,
    SignedDuration, Step, Timestamp,
};
use futures::executor::block_on;
use store::{Cost, Cursor, InteractionFilter, OpenTotal, Page, SessionFilter, Store, StoreError, read};

/// Retention of closed questions.
pub(crate) const RETENTION: SignedDuration = SignedDuration::from_hours(2);

/// Open totals by asker.
type Open = Vec<(String, OpenTotal)>;

/// Contents of the store for one tenant.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoreContents {
    pub sessions: BTreeMap<SessionId, Session>,
    pub steps: BTreeMap<SessionId, Vec<Step>>,
    pub questions: BTreeMap<InteractionId, Interaction>,
    pub actions: BTreeMap<(SessionId, String), Action>,
    pub grants: BTreeMap<GrantId, Grant>,
    pub policy: Option<PolicyState>,
    /// Open totals by asker: as counted by the store, and as computed from the questions.
    pub open: (Open, Open),
    /// Identifiers of the archived questions.
    pub archived: BTreeSet<InteractionId>,
    /// Event log in commit order.
    pub log: Vec<(Cursor, Arc<Event>)>,
}

impl StoreContents {
    /// Reads the contents again: the log from its known end, or with `whole_log` from its beginning.
    pub(crate) fn read(&self, store: &dyn Store, scope: Scope, whole_log: bool) -> Self {
        let known: Vec<InteractionId> = self.questions.keys().copied().collect();
        let mut log = if whole_log { Vec::new() } else { self.log.clone() };
        let after = log.last().map_or_else(Cursor::default, |(cursor, _)| *cursor);
        let page = 10_000;
        let (sessions, steps) = (self.sessions.clone(), self.steps.clone());
        // Steps and actions change only together with their session.
        let changed = move |session: &Session| whole_log || sessions.get(&session.id) != Some(session);
        let found = read::<_, StoreError, _>(store, Cost::Point, move |reads| {
            let sessions = reads.sessions(&scope, &SessionFilter::default(), Page { after: None, limit: page })?;
            let (mut steps, mut actions) = (BTreeMap::new(), Vec::new());
            for session in sessions.iter().filter(|session| changed(session)) {
                steps.insert(session.id, reads.steps(&scope, session.id)?);
                actions.extend(reads.actions(&scope, session.id, "", page)?);
            }
            let grants = reads.grants(&scope, true, Page { after: None, limit: page })?;
            let open = (reads.open_totals(&scope)?, reads.open_totals_computed(&scope)?);
            let acting = (actions, grants, reads.policy_state(&scope)?, open);
            let hot = reads.interactions(&scope, &InteractionFilter::default(), Page { after: None, limit: page })?;
            let hot: BTreeMap<_, _> = hot.into_iter().map(|question| (question.id, question)).collect();
            let mut archived = Vec::new();
            for id in known.iter().filter(|id| !hot.contains_key(id)) {
                archived.extend(reads.interaction(&scope, *id)?);
            }
            Ok((sessions, steps, hot, archived, acting, reads.project_events(&scope, after, page)?.events))
        });
        // Unconstrained: tokio would make a task that reads this often yield, and there is no other task to yield to.
        let (sessions, changed, mut questions, archive, acting, more) =
            block_on(tokio::task::unconstrained(found)).unwrap();
        let (actions, grants, policy, open) = acting;
        let actions = actions.into_iter().map(|action| ((action.session, action.call_id.clone()), action));
        let archived = archive.iter().map(|question| question.id).collect();
        questions.extend(archive.into_iter().map(|question| (question.id, question)));
        log.extend(more.into_iter().map(|(cursor, event)| (cursor, Arc::new(event))));
        Self {
            sessions: sessions.into_iter().map(|session| (session.id, session)).collect(),
            steps: steps.into_iter().chain(changed).collect(),
            questions,
            actions: self.actions.clone().into_iter().chain(actions).collect(),
            grants: grants.into_iter().map(|grant| (grant.id, grant)).collect(),
            policy,
            open,
            archived,
            log,
        }
    }

    /// Questions whose retention is over: closed long enough ago, and delivered or in a session that has ended.
    pub(crate) fn past_retention(&self, now: Timestamp) -> impl Iterator<Item = &Interaction> {
        self.questions.values().filter(move |question| {
            let ended = || self.sessions.get(&question.origin.session).is_some_and(|session| session.ended.is_some());
            let idle = match question.delivery() {
                Some(Delivery::Waiting { .. }) => ended(),
                Some(delivery) => delivery.is_over(),
                None => false,
            };
            idle && question.resolved_at().is_some_and(|at| at + RETENTION <= now)
        })
    }

    /// Events of one session, in the order of the log.
    pub(crate) fn events(&self, session: SessionId) -> Vec<&Event> {
        self.log.iter().map(|(_, event)| event.as_ref()).filter(|event| event.session == session).collect()
    }
}
