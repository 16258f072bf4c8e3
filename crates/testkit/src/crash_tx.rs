//! A transaction that can end before any of its calls.

use std::cell::Cell;

use domain::audit::Written;
use domain::audit::chain::{ChainHead, Checkpoint};
use domain::{
    Action, ActionState, DataKeyId, Definition, DefinitionKind, Difference, Event, Grant, GrantId, Interaction,
    InteractionId, KeptSecret, Key, KeyId, LeaseId, Link as SignInLink, LinkId, Membership, PolicyChange, PolicyState,
    PolicyVersion, ProjectId, Scope, SecretId, Session, SessionId, SessionInput, Shadow, SignedDuration, Status, Step,
    StepId, TenantId, Ticket, TicketId, Timestamp, User, UserId, Visit, VisitId, Webhook, WebhookDelivery,
    WebhookDeliveryId, WebhookId,
};
use serde_json::Value;
use store::{
    AccessReads, AccessWrites, ActionPlace, Adopted, AnswerPlace, AuditFilter, AuditReads, AuditWrites, Bounded,
    BudgetReads, BudgetWrites, Chained, Closed, Cursor, DataKey, DefinitionReads, DefinitionWrites, DifferenceCount,
    DriveReads, DriveWrites, Due, DueAction, DueStep, DueWebhook, EventReads, EventWrites, GrantReads, GrantWrites,
    Hold, InteractionFilter, InteractionReads, InteractionWrites, JournalEntry, KeptValue, KeyRecord, KnownChange,
    LineageReads, LineageWrites, Link, LinkRecord, Loose, Misfit, Once, OnceReads, OnceSecret, OnceWrites, OpenCount,
    OpenTotal, OpenTotals, Page, PastAction, PastFilter, PolicyReads, PolicyWrites, ProjectEvents, ProposalReads,
    ProposalWrites, Reads, Sealed, SealedAt, SecretReads, SecretWrites, SessionFilter, SessionReads, SessionWrites,
    Stats, StatsReads, StepCounts, StepState, StoreError, Stored, TimerReads, TimerWrites, Topic, Tx, UserReads,
    UserRecord, UserWrites, VisitRecord, WebhookReads, WebhookSecret, WebhookWrites,
};

use crate::Sabotage;

/// How many calls are left, and what is wrong with them.
pub(crate) struct Fuse {
    left: Cell<Option<u32>>,
    number: u64,
    sabotage: Option<Sabotage>,
}

impl Fuse {
    pub(crate) const fn new(calls: Option<u32>, number: u64, sabotage: Option<Sabotage>) -> Self {
        Self { left: Cell::new(calls), number, sabotage }
    }

    fn burn(&self) -> Stored<()> {
        match self.left.get() {
            None => Ok(()),
            Some(0) => Err(StoreError::Closed),
            Some(left) => {
                self.left.set(Some(left - 1));
                Ok(())
            }
        }
    }
}

/// What a use case sees of a transaction, or of a query, that may end early.
pub(crate) struct Face<'a, T: ?Sized> {
    pub(crate) inner: &'a mut T,
    pub(crate) fuse: &'a Fuse,
}

/// Each call burns the fuse first and is then passed on.
macro_rules! passed_on {
    ($all:ident: $($part:ident { $($name:ident($($argument:ident: $type:ty),*) -> $out:ty;)* })*) => {$(
        impl<T: $all + ?Sized> $part for Face<'_, T> {
            $(fn $name(&mut self, $($argument: $type),*) -> Stored<$out> {
                self.fuse.burn()?;
                self.inner.$name($($argument),*)
            })*
        }
    )*};
}

passed_on! { Reads:
    AccessReads {
        setting(name: &str) -> Option<String>;
        project_settings(scope: &Scope) -> Option<String>;
        key(id: KeyId) -> Option<KeyRecord>;
        key_named(tenant: TenantId, name: &str) -> bool;
        ticket_exists(id: TicketId, hash: &[u8; 32]) -> bool;
        scope(tenant: &str, project: &str) -> Option<Scope>;
        scopes() -> Vec<Scope>;
        keys_page(scope: &Scope, page: Page<KeyId>) -> Bounded<Key>;
        keys_of_people(scope: &Scope, now: Timestamp, page: Page<KeyId>) -> Bounded<Key>;
        key_count(scope: &Scope) -> u64;
        keys_of_name(scope: &Scope, name: &str) -> Vec<Key>;
    }
    SessionReads {
        session(scope: &Scope, id: SessionId) -> Option<Session>;
        luggage(scope: &Scope, id: SessionId) -> Option<SessionInput>;
        sessions(scope: &Scope, filter: &SessionFilter, page: Page<SessionId>) -> Bounded<Session>;
        steps(scope: &Scope, session: SessionId) -> Vec<Step>;
        steps_page(scope: &Scope, session: SessionId, page: Page<StepId>) -> Bounded<Step>;
    }
    InteractionReads {
        interaction(scope: &Scope, id: InteractionId) -> Option<Interaction>;
        session_of(scope: &Scope, id: InteractionId) -> Option<SessionId>;
        interactions(scope: &Scope, filter: &InteractionFilter, page: Page<InteractionId>) -> Bounded<Interaction>;
        archived(scope: &Scope, page: Page<InteractionId>) -> Bounded<Interaction>;
        archived_newest(scope: &Scope, page: Page<InteractionId>) -> Bounded<Interaction>;
        open_of(scope: &Scope, session: SessionId) -> Vec<InteractionId>;
        takers(scope: &Scope, session: SessionId) -> Vec<String>;
        untaken_of(scope: &Scope, session: SessionId) -> Vec<InteractionId>;
        deliveries(scope: &Scope, asked_by: &str, page: Page<InteractionId>) -> Bounded<Interaction>;
        sealed(scope: &Scope, id: InteractionId, name: &str) -> Option<Sealed>;
    }
    EventReads {
        events(scope: &Scope, session: SessionId, after: u64, limit: u32) -> Bounded<Event>;
        events_about(scope: &Scope, session: SessionId, about: InteractionId, page: Page<u64>) -> Bounded<Event>;
        project_events(scope: &Scope, after: Cursor, limit: u32) -> ProjectEvents;
        project_head(scope: &Scope) -> Cursor;
        changed_since(after: Option<Cursor>) -> (Vec<Topic>, Cursor);
    }
    ProposalReads {
        proposal(scope: &Scope, session: SessionId, call: &str) -> Option<Action>;
        proposals(scope: &Scope, session: SessionId, after: &str, limit: u32) -> Bounded<Action>;
        past_actions(scope: &Scope, filter: &PastFilter, before: Option<&ActionPlace>, limit: u32) -> Bounded<PastAction>;
        actions_due(now: Timestamp, limit: u32) -> Vec<DueAction>;
        next_action_due() -> Option<Timestamp>;
    }
    GrantReads {
        grant(scope: &Scope, id: GrantId) -> Option<Grant>;
        grants(scope: &Scope, over: bool, page: Page<GrantId>) -> Bounded<Grant>;
        grants_for(scope: &Scope, tool: &str, now: Timestamp, page: Page<GrantId>) -> Bounded<Grant>;
    }
    PolicyReads {
        policy_state(scope: &Scope) -> Option<PolicyState>;
        policy_states(places: &[Scope]) -> Vec<Option<PolicyState>>;
        policy_version(scope: &Scope, version: &str) -> Option<PolicyVersion>;
        policy_changes(scope: &Scope, version: Option<&str>, page: Page<u64>) -> Bounded<KnownChange>;
        shadow_text(scope: &Scope, number: u64) -> Option<String>;
        differences(scope: &Scope, number: u64, limit: u32) -> Bounded<Difference>;
        difference_counts(scope: &Scope, number: u64) -> Vec<DifferenceCount>;
    }
    BudgetReads {
        open_counted(scope: &Scope) -> Vec<(String, OpenTotal)>;
        open_found(scope: &Scope) -> Vec<(String, OpenTotal)>;
    }
    OnceReads {
        once(scope: &Scope, actor: &str, key: &str) -> Option<Once>;
        once_secret(scope: &Scope, actor: &str, key: &str) -> Option<Sealed>;
        once_secrets_under(key: DataKeyId, limit: u32) -> Vec<OnceSecret>;
    }
    StatsReads {
        stats(scope: &Scope, since: Timestamp) -> Stats;
        closed(scope: &Scope, since: Timestamp, after: Option<(Timestamp, InteractionId)>, limit: u32) -> Bounded<Closed>;
        open_since(scope: &Scope, since: Timestamp) -> u64;
        backlog() -> (u64, Option<Timestamp>);
        step_counts(now: Timestamp) -> StepCounts;
        open_counts() -> Vec<OpenCount>;
    }
    AuditReads {
        tenant(name: &str) -> Option<TenantId>;
        first_project(tenant: TenantId) -> Option<ProjectId>;
        audit_loose(limit: u32) -> Vec<Loose>;
        audit_head(tenant: TenantId) -> ChainHead;
        audit_unsigned(before: Timestamp) -> Vec<TenantId>;
        audit_entries(scope: &Scope, filter: &AuditFilter, page: Page<u64>) -> Bounded<Chained>;
        audit_chain(tenant: TenantId, page: Page<u64>) -> Bounded<Chained>;
        audit_checkpoints(tenant: TenantId, page: Page<u64>) -> Vec<Checkpoint>;
    }
    SecretReads {
        data_keys(tenant: TenantId) -> Vec<DataKey>;
        tenants_not_under(master: &str, limit: u32) -> Vec<TenantId>;
        fence() -> u64;
        fence_passed(fence: u64) -> bool;
        data_keys_outdated(limit: u32) -> Vec<DataKey>;
        sealed_under(key: DataKeyId, limit: u32) -> Vec<SealedAt>;
        kept_under(key: DataKeyId, limit: u32) -> Vec<KeptValue>;
        kept_for(scope: &Scope, agent: &str) -> Vec<KeptValue>;
        kept(scope: &Scope, page: Page<SecretId>) -> Vec<KeptSecret>;
    }
    DriveReads {
        step(scope: &Scope, id: StepId) -> Option<Step>;
        steps_due(now: Timestamp, limit: u32) -> Vec<DueStep>;
        next_step_due() -> Option<Timestamp>;
        step_state(scope: &Scope, id: StepId) -> Option<StepState>;
        sealed_of(scope: &Scope, session: SessionId, name: &str) -> Vec<InteractionId>;
        journal(scope: &Scope, step: StepId, after: u64, limit: u32) -> Vec<JournalEntry>;
    }
    DefinitionReads {
        definition(scope: &Scope, kind: DefinitionKind, name: &str, version: &str) -> Option<Definition>;
        definition_newest(scope: &Scope, kind: DefinitionKind, name: &str) -> Option<Definition>;
        definitions(scope: &Scope, kind: DefinitionKind, page: Page<(String, String)>) -> Bounded<Definition>;
        frequent_answers(scope: &Scope, place: &AnswerPlace, limit: u32) -> Vec<(Value, u64)>;
    }
    UserReads {
        user(tenant: TenantId, name: &str) -> Option<UserRecord>;
        user_alike(tenant: TenantId, name: &str) -> Option<UserRecord>;
        user_by_id(id: UserId) -> Option<UserRecord>;
        user_by_subject(tenant: TenantId, subject: &str) -> Option<UserRecord>;
        users_page(scope: &Scope, after: Option<&str>, limit: u32) -> Bounded<User>;
        member_count(scope: &Scope) -> u64;
        anybody_signed_in() -> bool;
        scope_names(scope: &Scope) -> Option<(String, String)>;
        visit(id: VisitId) -> Option<VisitRecord>;
        link(id: LinkId) -> Option<LinkRecord>;
    }
    WebhookReads {
        webhook(scope: &Scope, id: WebhookId) -> Option<Webhook>;
        webhooks(scope: &Scope, page: Page<WebhookId>) -> Bounded<Webhook>;
        webhook_count(scope: &Scope) -> u64;
        webhooks_due(now: Timestamp, limit: u32) -> Vec<DueWebhook>;
        webhook_deliveries(
            scope: &Scope, webhook: WebhookId, state: Option<&str>, page: Page<WebhookDeliveryId>
        ) -> Vec<WebhookDelivery>;
        webhook_delivery(scope: &Scope, webhook: WebhookId, id: WebhookDeliveryId) -> Option<WebhookDelivery>;
        webhook_deliveries_due(webhook: WebhookId, now: Timestamp, limit: u32) -> Vec<WebhookDelivery>;
        webhook_backlog(webhook: WebhookId) -> (u64, Option<Timestamp>);
        answers_unsent(scope: &Scope, webhook: WebhookId, agent: &str, limit: u32) -> Bounded<Interaction>;
        webhook_secrets(scope: &Scope, webhook: WebhookId) -> Vec<WebhookSecret>;
        webhook_secrets_under(key: DataKeyId, limit: u32) -> Vec<WebhookSecret>;
    }
    LineageReads {
        misfit() -> Option<Misfit>;
        audit_unchained() -> u64;
    }
}

passed_on! { Tx:
    TimerWrites {
        due_put_off(due: &Due, until: Timestamp) -> ();
        action_put_off(due: &DueAction, until: Timestamp) -> ();
        archive_put_off(until: Timestamp, to: Timestamp) -> Option<InteractionId>;
    }
    LineageWrites {
        adopt() -> Adopted;
    }
    BudgetWrites {
        interaction_weighs(scope: &Scope, id: InteractionId, more: u64) -> ();
        open_changed(scope: &Scope, opened: &[InteractionId], closed: &[InteractionId]) -> OpenTotals;
        open_recount() -> ();
    }
    AccessWrites {
        setting_ensure(name: &str, value: &str) -> String;
        project_settings_put(scope: &Scope, settings: &str) -> ();
        scope_ensure(tenant: &str, project: &str, fresh: Scope) -> Scope;
        key_insert(record: &KeyRecord) -> ();
        key_revoke(scope: &Scope, id: KeyId, at: Timestamp) -> bool;
        key_used(id: KeyId, at: Timestamp) -> ();
        ticket_insert(ticket: &Ticket, hash: &[u8; 32]) -> ();
        ticket_take(id: TicketId, hash: &[u8; 32]) -> Option<Ticket>;
        tickets_purge(before: Timestamp, limit: u32) -> u64;
    }
    SessionWrites {
        session_insert(session: &Session, luggage: &SessionInput) -> ();
        session_lock(scope: &Scope, id: SessionId) -> Option<Session>;
        session_save(session: &Session) -> ();
        step_insert(scope: &Scope, step: &Step) -> ();
        step_save(scope: &Scope, step: &Step) -> ();
    }
    GrantWrites {
        grant_insert(grant: &Grant) -> ();
        grant_use(scope: &Scope, id: GrantId, now: Timestamp) -> bool;
        grant_revoke(grant: &Grant) -> bool;
    }
    PolicyWrites {
        policy_held(scope: &Scope) -> Option<PolicyState>;
        policy_save(scope: &Scope, state: &PolicyState) -> ();
        policy_keep(scope: &Scope, version: &PolicyVersion) -> bool;
        policy_changed(scope: &Scope, change: &PolicyChange) -> ();
        shadow_keep(scope: &Scope, shadow: &Shadow, text: &str) -> ();
        shadow_forget(scope: &Scope) -> ();
        difference_insert(scope: &Scope, number: u64, difference: &Difference) -> ();
        differences_purge(most: u32, limit: u32) -> u64;
    }
    SecretWrites {
        master_held(fresh: &str) -> String;
        master_change(from: &str, to: &str) -> ();
        data_key_newest(tenant: TenantId) -> Option<DataKey>;
        data_key_insert(key: &DataKey) -> bool;
        data_key_rewrap(from: &str, key: &DataKey) -> ();
        data_key_forget(key: DataKeyId) -> bool;
        sealed_again(from: DataKeyId, at: &SealedAt, to: DataKeyId) -> ();
        kept_again(from: DataKeyId, kept: &KeptValue) -> ();
        kept_put(kept: &KeptValue) -> ();
        kept_used(scope: &Scope, id: SecretId, at: Timestamp) -> bool;
        kept_forget(scope: &Scope, id: SecretId) -> bool;
    }
    DefinitionWrites {
        definition_insert(scope: &Scope, definition: &Definition) -> bool;
        definition_retire(scope: &Scope, kind: DefinitionKind, version: (&str, &str), at: Timestamp) -> bool;
        answer_count(scope: &Scope, place: &AnswerPlace, digest: &str, answer: &Value, at: Timestamp) -> ();
    }
    UserWrites {
        user_insert(user: &User) -> ();
        membership_put(scope: &Scope, user: UserId, membership: &Membership) -> ();
        admins_lock(scope: &Scope) -> Vec<UserId>;
        names_lock(tenant: TenantId) -> ();
        user_signed_in(id: UserId, at: Timestamp) -> ();
        password_put(id: UserId, password: Option<&str>) -> ();
        visit_insert(visit: &Visit, hash: &[u8; 32]) -> ();
        visit_seen(id: VisitId, at: Timestamp) -> ();
        visit_move(id: VisitId, project: ProjectId) -> bool;
        visit_settle(id: VisitId) -> bool;
        visit_end(id: VisitId) -> bool;
        visits_end(user: UserId, but: Option<VisitId>) -> ();
        visits_purge(seen: Timestamp, created: Timestamp, limit: u32) -> u64;
        link_insert(link: &SignInLink, hash: &[u8; 32]) -> ();
        link_take(id: LinkId) -> bool;
        links_drop(user: UserId) -> ();
        links_purge(before: Timestamp, limit: u32) -> u64;
    }
    WebhookWrites {
        webhook_insert(webhook: &Webhook, cursor: Cursor) -> ();
        webhook_lock(scope: &Scope, id: WebhookId) -> Option<Webhook>;
        webhook_save(webhook: &Webhook) -> ();
        webhook_delete(scope: &Scope, id: WebhookId, now: Timestamp) -> bool;
        webhook_wake(scope: &Scope, id: WebhookId, now: Timestamp) -> ();
        webhook_claim(due: &DueWebhook, hold: &Hold, now: Timestamp) -> bool;
        webhook_hold(due: &DueWebhook, hold: &Hold) -> Option<(Webhook, Cursor)>;
        webhook_move(due: &DueWebhook, cursor: Cursor) -> ();
        webhook_release(due: &DueWebhook, lease: LeaseId, at: Option<Timestamp>, held_back: bool) -> ();
        webhook_delivery_insert(scope: &Scope, delivery: &WebhookDelivery) -> ();
        webhook_delivery_save(scope: &Scope, delivery: &WebhookDelivery) -> ();
        webhook_deliveries_purge(before: Timestamp, limit: u32) -> u64;
        webhook_secret_insert(secret: &WebhookSecret) -> ();
        webhook_secrets_end(scope: &Scope, webhook: WebhookId, until: Timestamp) -> ();
        webhook_secrets_purge(now: Timestamp, limit: u32) -> u64;
        webhook_secret_again(from: DataKeyId, secret: &WebhookSecret) -> ();
    }
}

impl<T: Reads + ?Sized> TimerReads for Face<'_, T> {
    fn now(&mut self) -> Stored<Timestamp> {
        self.fuse.burn()?;
        let now = self.inner.now()?;
        let ahead = self.fuse.sabotage == Some(Sabotage::ClockAhead) && self.fuse.number.is_multiple_of(3);
        Ok(if ahead { now.saturating_add(SignedDuration::from_hours(1)).unwrap_or(now) } else { now })
    }

    fn due(&mut self, now: Timestamp, limit: u32) -> Stored<Vec<Due>> {
        self.fuse.burn()?;
        self.inner.due(now, limit)
    }

    fn next_due(&mut self) -> Stored<Option<Timestamp>> {
        self.fuse.burn()?;
        self.inner.next_due()
    }

    fn oldest_retired(&mut self) -> Stored<Option<Timestamp>> {
        self.fuse.burn()?;
        self.inner.oldest_retired()
    }
}

impl<T: Tx + ?Sized> EventWrites for Face<'_, T> {
    fn event_append(&mut self, scope: &Scope, event: &Event) -> Stored<()> {
        self.fuse.burn()?;
        if self.fuse.sabotage == Some(Sabotage::DropsEvents) && event.seq.is_multiple_of(7) {
            return Ok(());
        }
        self.inner.event_append(scope, event)
    }
}

impl<T: Tx + ?Sized> AuditWrites for Face<'_, T> {
    fn audit_append(&mut self, written: &Written) -> Stored<()> {
        self.fuse.burn()?;
        let seventh = written.entry.event.is_some_and(|event| event.is_multiple_of(7));
        if self.fuse.sabotage == Some(Sabotage::DropsEntries) && seventh {
            return Ok(());
        }
        self.inner.audit_append(written)
    }

    fn audit_lock(&mut self) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.audit_lock()
    }

    fn audit_link(&mut self, tenant: TenantId, links: &[Link]) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.audit_link(tenant, links)
    }

    fn audit_linked(&mut self, upto: Cursor) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.audit_linked(upto)
    }

    fn audit_sign(&mut self, tenant: TenantId, checkpoint: &Checkpoint, now: Timestamp) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.audit_sign(tenant, checkpoint, now)
    }
}

impl<T: Tx + ?Sized> OnceWrites for Face<'_, T> {
    fn once_insert(&mut self, scope: &Scope, actor: &str, key: &str, once: &Once) -> Stored<()> {
        self.fuse.burn()?;
        if self.fuse.sabotage == Some(Sabotage::ForgetsKeys) {
            return Ok(());
        }
        self.inner.once_insert(scope, actor, key, once)
    }

    fn once_fill(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> Stored<()> {
        self.fuse.burn()?;
        if self.fuse.sabotage == Some(Sabotage::ForgetsKeys) {
            return Ok(());
        }
        self.inner.once_fill(scope, actor, key, result)
    }

    fn once_seal(&mut self, scope: &Scope, actor: &str, key: &str, sealed: &Sealed) -> Stored<()> {
        self.fuse.burn()?;
        if self.fuse.sabotage == Some(Sabotage::ForgetsKeys) {
            return Ok(());
        }
        self.inner.once_seal(scope, actor, key, sealed)
    }

    fn once_secret_again(&mut self, from: DataKeyId, secret: &OnceSecret) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.once_secret_again(from, secret)
    }

    fn once_purge(&mut self, before: Timestamp, limit: u32) -> Stored<u64> {
        self.fuse.burn()?;
        self.inner.once_purge(before, limit)
    }
}

impl<T: Tx + ?Sized> InteractionWrites for Face<'_, T> {
    fn interaction_insert(&mut self, interaction: &Interaction) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.interaction_insert(interaction)
    }

    fn interaction_save(&mut self, interaction: &Interaction) -> Stored<()> {
        self.fuse.burn()?;
        if self.fuse.sabotage == Some(Sabotage::LeavesQuestions) && interaction.status() == Status::Cancelled {
            return Ok(());
        }
        self.inner.interaction_save(interaction)
    }

    fn sealed_put(&mut self, scope: &Scope, id: InteractionId, name: &str, sealed: &Sealed) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.sealed_put(scope, id, name, sealed)
    }

    fn sealed_drop(&mut self, scope: &Scope, id: InteractionId) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.sealed_drop(scope, id)
    }

    fn untaken_retire(&mut self, scope: &Scope, session: SessionId) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.untaken_retire(scope, session)
    }

    fn archive(&mut self, until: Timestamp, limit: u32) -> Stored<u64> {
        self.fuse.burn()?;
        self.inner.archive(until, limit)
    }
}

impl<T: Tx + ?Sized> ProposalWrites for Face<'_, T> {
    fn proposal_insert(&mut self, proposal: &Action) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.proposal_insert(proposal)
    }

    fn proposal_save(&mut self, proposal: &Action) -> Stored<()> {
        self.fuse.burn()?;
        let started = matches!(proposal.state, ActionState::Started { .. });
        if self.fuse.sabotage == Some(Sabotage::ForgetsStarts) && started {
            return Ok(());
        }
        self.inner.proposal_save(proposal)
    }
}

impl<T: Tx + ?Sized> DriveWrites for Face<'_, T> {
    fn journal_append(&mut self, scope: &Scope, step: StepId, entry: &JournalEntry) -> Stored<()> {
        self.fuse.burn()?;
        let third = entry.body["input"] == "settled" && entry.seq.is_multiple_of(3);
        if self.fuse.sabotage == Some(Sabotage::LosesResults) && third {
            return Ok(());
        }
        self.inner.journal_append(scope, step, entry)
    }

    fn step_state_save(&mut self, scope: &Scope, step: StepId, state: &StepState) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.step_state_save(scope, step, state)
    }

    fn sealed_retire(&mut self, scope: &Scope, session: SessionId, at: Option<Timestamp>) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.sealed_retire(scope, session, at)
    }

    fn sealed_drop_of(&mut self, scope: &Scope, session: SessionId) -> Stored<()> {
        self.fuse.burn()?;
        self.inner.sealed_drop_of(scope, session)
    }
}
