//! Wraps a transaction so that it can end before any of its calls, and so that its calls can be listed.

use std::cell::{Cell, RefCell};

use domain::audit::Written;
use domain::audit::chain::{ChainHead, Checkpoint};
use domain::journal::JournalKind;
use domain::{
    Action, ActionState, DataKeyId, Definition, DefinitionKind, Difference, Event, Grant, GrantId, Interaction,
    InteractionId, KeptSecret, Key, KeyId, LeaseId, Link as SignInLink, LinkId, Membership, PolicyChange, PolicyState,
    PolicyVersion, ProjectId, Scope, SecretId, Session, SessionId, SessionInput, Shadow, SignedDuration, Status, Step,
    StepId, TenantId, Ticket, TicketId, Timestamp, User, UserId, Visit, VisitId, Webhook, WebhookDelivery,
    WebhookDeliveryId, WebhookDeliveryState, WebhookId,
};
use serde_json::{Value, json};
use store::{
    AccessReads, AccessWrites, ActionCursor, ActionHistoryFilter, ActionReads, ActionWrites, AnswerSource, AuditFilter,
    AuditReads, AuditWrites, Bounded, BudgetReads, BudgetWrites, ChainLink, ChainedEntry, ClosedInteraction, Cursor,
    DataKey, DefinitionReads, DefinitionWrites, DifferenceCount, DueAction, DueInteraction, DueStep, DueWebhook,
    EventReads, EventWrites, GrantReads, GrantWrites, IdempotencyReads, IdempotencyRecord, IdempotencySecret,
    IdempotencyWrites, InteractionFilter, InteractionReads, InteractionWrites, JournalEntry, KeptSecretValue,
    KeyRecord, LineageAdoption, LineageMismatch, LineageReads, LineageWrites, LinkRecord, OpenCount, OpenTotal,
    OpenTotals, Page, PastAction, PolicyChangeRecord, PolicyReads, PolicyWrites, ProjectEvents, Reads, Sealed,
    SealedValue, SecretReads, SecretWrites, SessionFilter, SessionReads, SessionWrites, Stats, StatsReads, StepCounts,
    StepReads, StepState, StepWrites, StoreError, StoreResult, TimerReads, TimerWrites, Topic, Tx, UnchainedEntry,
    UserReads, UserRecord, UserWrites, VisitRecord, WebhookLease, WebhookReads, WebhookSecret, WebhookWrites,
};

use crate::Sabotage;

/// Number of calls that are left, and the defect that they have.
#[derive(Default)]
pub(crate) struct CrashCountdown {
    left: Cell<Option<u32>>,
    number: u64,
    sabotage: Option<Sabotage>,
    /// Names of the methods that were called so far.
    pub(crate) called: RefCell<Vec<&'static str>>,
}

impl CrashCountdown {
    pub(crate) const fn new(calls: Option<u32>, number: u64, sabotage: Option<Sabotage>) -> Self {
        Self { left: Cell::new(calls), number, sabotage, called: RefCell::new(Vec::new()) }
    }

    fn count_call(&self, method: &'static str) -> StoreResult<()> {
        self.called.borrow_mut().push(method);
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

/// A transaction or query that fails when its countdown has used up its calls.
pub(crate) struct CrashTx<'a, T: ?Sized> {
    pub(crate) inner: &'a mut T,
    pub(crate) countdown: &'a CrashCountdown,
}

/// Methods that count a call against the countdown and then call the inner transaction.
macro_rules! methods {
    ($($name:ident($($argument:ident: $type:ty),*) -> $out:ty;)*) => {$(
        fn $name(&mut self, $($argument: $type),*) -> StoreResult<$out> {
            self.countdown.count_call(stringify!($name))?;
            self.inner.$name($($argument),*)
        }
    )*};
}

/// Implements store traits for `CrashTx` with these methods only.
macro_rules! passed_on {
    ($all:ident: $($part:ident { $($methods:tt)* })*) => {$(
        impl<T: $all + ?Sized> $part for CrashTx<'_, T> {
            methods! { $($methods)* }
        }
    )*};
}

passed_on! { Reads:
    AccessReads {
        setting(name: &str) -> Option<String>;
        project_settings(scope: &Scope) -> Option<String>;
        key(id: KeyId) -> Option<KeyRecord>;
        has_key_named(tenant: TenantId, name: &str) -> bool;
        has_ticket(id: TicketId, hash: &[u8; 32]) -> bool;
        scope(tenant: &str, project: &str) -> Option<Scope>;
        scopes() -> Vec<Scope>;
        keys_page(scope: &Scope, page: Page<KeyId>) -> Bounded<Key>;
        keys_of_people(scope: &Scope, now: Timestamp, page: Page<KeyId>) -> Bounded<Key>;
        key_count(scope: &Scope) -> u64;
        keys_named(scope: &Scope, name: &str) -> Vec<Key>;
    }
    SessionReads {
        session(scope: &Scope, id: SessionId) -> Option<Session>;
        session_input(scope: &Scope, id: SessionId) -> Option<SessionInput>;
        sessions(scope: &Scope, filter: &SessionFilter, page: Page<SessionId>) -> Bounded<Session>;
        steps(scope: &Scope, session: SessionId) -> Vec<Step>;
        steps_page(scope: &Scope, session: SessionId, page: Page<StepId>) -> Bounded<Step>;
    }
    InteractionReads {
        interaction(scope: &Scope, id: InteractionId) -> Option<Interaction>;
        session_of(scope: &Scope, id: InteractionId) -> Option<SessionId>;
        interactions(scope: &Scope, filter: &InteractionFilter, page: Page<InteractionId>) -> Bounded<Interaction>;
        archived_interactions(scope: &Scope, page: Page<InteractionId>) -> Bounded<Interaction>;
        archived_interactions_newest(scope: &Scope, page: Page<InteractionId>) -> Bounded<Interaction>;
        open_interactions(scope: &Scope, session: SessionId) -> Vec<InteractionId>;
        delivery_agents(scope: &Scope, session: SessionId) -> Vec<String>;
        waiting_deliveries(scope: &Scope, session: SessionId) -> Vec<InteractionId>;
        deliveries(scope: &Scope, asked_by: &str, page: Page<InteractionId>) -> Bounded<Interaction>;
        sealed_value(scope: &Scope, id: InteractionId, name: &str) -> Option<Sealed>;
    }
    EventReads {
        events(scope: &Scope, session: SessionId, after: u64, limit: u32) -> Bounded<Event>;
        events_about(scope: &Scope, session: SessionId, about: InteractionId, page: Page<u64>) -> Bounded<Event>;
        project_events(scope: &Scope, after: Cursor, limit: u32) -> ProjectEvents;
        project_head(scope: &Scope) -> Cursor;
        changed_topics(after: Option<Cursor>) -> (Vec<Topic>, Cursor);
    }
    ActionReads {
        action(scope: &Scope, session: SessionId, call: &str) -> Option<Action>;
        actions(scope: &Scope, session: SessionId, after: &str, limit: u32) -> Bounded<Action>;
        action_history(scope: &Scope, filter: &ActionHistoryFilter, before: Option<&ActionCursor>, limit: u32) -> Bounded<PastAction>;
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
        policy_changes(scope: &Scope, version: Option<&str>, page: Page<u64>) -> Bounded<PolicyChangeRecord>;
        shadow_text(scope: &Scope, number: u64) -> Option<String>;
        differences(scope: &Scope, number: u64, limit: u32) -> Bounded<Difference>;
        difference_counts(scope: &Scope, number: u64) -> Vec<DifferenceCount>;
    }
    BudgetReads {
        open_totals(scope: &Scope) -> Vec<(String, OpenTotal)>;
        open_totals_computed(scope: &Scope) -> Vec<(String, OpenTotal)>;
    }
    IdempotencyReads {
        idempotency_record(scope: &Scope, actor: &str, key: &str) -> Option<IdempotencyRecord>;
        idempotency_secret(scope: &Scope, actor: &str, key: &str) -> Option<Sealed>;
        idempotency_secrets_under(key: DataKeyId, limit: u32) -> Vec<IdempotencySecret>;
    }
    StatsReads {
        stats(scope: &Scope, since: Timestamp) -> Stats;
        closed_interactions(scope: &Scope, since: Timestamp, after: Option<(Timestamp, InteractionId)>, limit: u32) -> Bounded<ClosedInteraction>;
        open_since(scope: &Scope, since: Timestamp) -> u64;
        delivery_backlog() -> (u64, Option<Timestamp>);
        step_counts(now: Timestamp) -> StepCounts;
        open_counts() -> Vec<OpenCount>;
    }
    AuditReads {
        tenant(name: &str) -> Option<TenantId>;
        first_project(tenant: TenantId) -> Option<ProjectId>;
        audit_unchained_entries(limit: u32) -> Vec<UnchainedEntry>;
        audit_head(tenant: TenantId) -> ChainHead;
        audit_unsigned_tenants(before: Timestamp) -> Vec<TenantId>;
        audit_entries(scope: &Scope, filter: &AuditFilter, page: Page<u64>) -> Bounded<ChainedEntry>;
        audit_chain(tenant: TenantId, page: Page<u64>) -> Bounded<ChainedEntry>;
        audit_checkpoints(tenant: TenantId, page: Page<u64>) -> Vec<Checkpoint>;
    }
    SecretReads {
        data_keys(tenant: TenantId) -> Vec<DataKey>;
        tenants_under_other_master_keys(master: &str, limit: u32) -> Vec<TenantId>;
        fence() -> u64;
        is_fence_passed(fence: u64) -> bool;
        data_keys_outdated(limit: u32) -> Vec<DataKey>;
        sealed_values_under(key: DataKeyId, limit: u32) -> Vec<SealedValue>;
        kept_secrets_under(key: DataKeyId, limit: u32) -> Vec<KeptSecretValue>;
        kept_secrets_for(scope: &Scope, agent: &str) -> Vec<KeptSecretValue>;
        kept_secrets(scope: &Scope, page: Page<SecretId>) -> Vec<KeptSecret>;
    }
    StepReads {
        step(scope: &Scope, id: StepId) -> Option<Step>;
        steps_due(now: Timestamp, limit: u32) -> Vec<DueStep>;
        next_step_due() -> Option<Timestamp>;
        step_state(scope: &Scope, id: StepId) -> Option<StepState>;
        interactions_with_sealed_value(scope: &Scope, session: SessionId, name: &str) -> Vec<InteractionId>;
        journal(scope: &Scope, step: StepId, page: Page<u64>) -> Bounded<JournalEntry>;
    }
    DefinitionReads {
        definition(scope: &Scope, kind: DefinitionKind, name: &str, version: &str) -> Option<Definition>;
        definition_newest(scope: &Scope, kind: DefinitionKind, name: &str) -> Option<Definition>;
        definitions(scope: &Scope, kind: DefinitionKind, page: Page<(String, String)>) -> Bounded<Definition>;
        frequent_answers(scope: &Scope, place: &AnswerSource, limit: u32) -> Vec<(Value, u64)>;
    }
    UserReads {
        user(tenant: TenantId, name: &str) -> Option<UserRecord>;
        user_by_folded_name(tenant: TenantId, name: &str) -> Option<UserRecord>;
        user_by_id(id: UserId) -> Option<UserRecord>;
        user_by_subject(tenant: TenantId, subject: &str) -> Option<UserRecord>;
        users_page(scope: &Scope, after: Option<&str>, limit: u32) -> Bounded<User>;
        member_count(scope: &Scope) -> u64;
        has_anybody_signed_in() -> bool;
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
            scope: &Scope, webhook: WebhookId, state: Option<WebhookDeliveryState>, page: Page<WebhookDeliveryId>
        ) -> Vec<WebhookDelivery>;
        webhook_delivery(scope: &Scope, webhook: WebhookId, id: WebhookDeliveryId) -> Option<WebhookDelivery>;
        webhook_deliveries_due(webhook: WebhookId, now: Timestamp, limit: u32) -> Vec<WebhookDelivery>;
        webhook_backlog(webhook: WebhookId) -> (u64, Option<Timestamp>);
        answers_unsent(scope: &Scope, webhook: WebhookId, agent: &str, limit: u32) -> Bounded<Interaction>;
        webhook_secrets(scope: &Scope, webhook: WebhookId) -> Vec<WebhookSecret>;
        webhook_secrets_under(key: DataKeyId, limit: u32) -> Vec<WebhookSecret>;
    }
    LineageReads {
        lineage_mismatch() -> Option<LineageMismatch>;
        audit_skipped_count() -> u64;
    }
}

passed_on! { Tx:
    TimerWrites {
        interaction_postpone(due: &DueInteraction, until: Timestamp) -> ();
        action_postpone(due: &DueAction, until: Timestamp) -> ();
        archive_postpone(until: Timestamp, to: Timestamp) -> Option<InteractionId>;
    }
    LineageWrites {
        lineage_adopt() -> LineageAdoption;
    }
    BudgetWrites {
        interaction_add_bytes(scope: &Scope, id: InteractionId, more: u64) -> ();
        open_totals_update(scope: &Scope, opened: &[InteractionId], closed: &[InteractionId]) -> OpenTotals;
        open_totals_recount() -> ();
    }
    AccessWrites {
        setting_ensure(name: &str, value: &str) -> String;
        project_settings_save(scope: &Scope, settings: &str) -> ();
        scope_ensure(tenant: &str, project: &str, fresh: Scope) -> Scope;
        key_insert(record: &KeyRecord) -> ();
        key_revoke(scope: &Scope, id: KeyId, at: Timestamp) -> bool;
        key_mark_used(id: KeyId, at: Timestamp) -> ();
        ticket_insert(ticket: &Ticket, hash: &[u8; 32]) -> ();
        ticket_redeem(id: TicketId, hash: &[u8; 32]) -> Option<Ticket>;
        tickets_purge(before: Timestamp, limit: u32) -> u64;
    }
    SessionWrites {
        session_insert(session: &Session, session_input: &SessionInput) -> ();
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
        policy_lock_shared(scope: &Scope) -> Option<PolicyState>;
        policy_save(scope: &Scope, state: &PolicyState) -> ();
        policy_version_insert(scope: &Scope, version: &PolicyVersion) -> bool;
        policy_change_insert(scope: &Scope, change: &PolicyChange) -> ();
        shadow_save(scope: &Scope, shadow: &Shadow, text: &str) -> ();
        shadow_delete(scope: &Scope) -> ();
        difference_insert(scope: &Scope, number: u64, difference: &Difference) -> ();
        differences_purge(most: u32, limit: u32) -> u64;
    }
    SecretWrites {
        master_key_lock(fresh: &str) -> String;
        master_key_change(from: &str, to: &str) -> ();
        data_key_newest(tenant: TenantId) -> Option<DataKey>;
        data_key_insert(key: &DataKey) -> bool;
        data_key_rewrap(from: &str, key: &DataKey) -> ();
        data_key_delete(key: DataKeyId) -> bool;
        sealed_value_reseal(from: DataKeyId, at: &SealedValue, to: DataKeyId) -> ();
        kept_secret_reseal(from: DataKeyId, kept: &KeptSecretValue) -> ();
        kept_secret_save(kept: &KeptSecretValue) -> ();
        kept_secret_mark_used(scope: &Scope, id: SecretId, at: Timestamp) -> bool;
        kept_secret_delete(scope: &Scope, id: SecretId) -> bool;
    }
    DefinitionWrites {
        definition_insert(scope: &Scope, definition: &Definition) -> bool;
        definition_retire(scope: &Scope, kind: DefinitionKind, version: (&str, &str), at: Timestamp) -> bool;
        answer_count_increment(scope: &Scope, place: &AnswerSource, digest: &str, answer: &Value, at: Timestamp) -> ();
    }
    UserWrites {
        user_insert(user: &User) -> ();
        membership_save(scope: &Scope, user: UserId, membership: &Membership) -> ();
        admins_lock(scope: &Scope) -> Vec<UserId>;
        names_lock(tenant: TenantId) -> ();
        user_mark_signed_in(id: UserId, at: Timestamp) -> ();
        password_save(id: UserId, password: Option<&str>) -> ();
        visit_insert(visit: &Visit, hash: &[u8; 32]) -> ();
        visit_mark_used(id: VisitId, at: Timestamp) -> ();
        visit_set_project(id: VisitId, project: ProjectId) -> bool;
        visit_consume_link(id: VisitId) -> bool;
        visit_end(id: VisitId) -> bool;
        visits_end(user: UserId, but: Option<VisitId>) -> ();
        visits_purge(seen: Timestamp, created: Timestamp, limit: u32) -> u64;
        link_insert(link: &SignInLink, hash: &[u8; 32]) -> ();
        link_redeem(id: LinkId) -> bool;
        links_delete(user: UserId) -> ();
        links_purge(before: Timestamp, limit: u32) -> u64;
    }
    WebhookWrites {
        webhook_insert(webhook: &Webhook, cursor: Cursor) -> ();
        webhook_lock(scope: &Scope, id: WebhookId) -> Option<Webhook>;
        webhook_save(webhook: &Webhook) -> ();
        webhook_delete(scope: &Scope, id: WebhookId, now: Timestamp) -> bool;
        webhook_wake(scope: &Scope, id: WebhookId, now: Timestamp) -> ();
        webhook_claim(due: &DueWebhook, hold: &WebhookLease, now: Timestamp) -> bool;
        webhook_lease_extend(due: &DueWebhook, hold: &WebhookLease) -> Option<(Webhook, Cursor)>;
        webhook_cursor_save(due: &DueWebhook, cursor: Cursor) -> ();
        webhook_release(due: &DueWebhook, lease: LeaseId, at: Option<Timestamp>, held_back: bool) -> ();
        webhook_delivery_insert(scope: &Scope, delivery: &WebhookDelivery) -> ();
        webhook_delivery_save(scope: &Scope, delivery: &WebhookDelivery) -> ();
        webhook_deliveries_purge(before: Timestamp, limit: u32) -> u64;
        webhook_secret_insert(secret: &WebhookSecret) -> ();
        webhook_secrets_expire(scope: &Scope, webhook: WebhookId, until: Timestamp) -> ();
        webhook_secrets_purge(now: Timestamp, limit: u32) -> u64;
        webhook_secret_reseal(from: DataKeyId, secret: &WebhookSecret) -> ();
    }
}

impl<T: Reads + ?Sized> TimerReads for CrashTx<'_, T> {
    fn now(&mut self) -> StoreResult<Timestamp> {
        self.countdown.count_call("now")?;
        let now = self.inner.now()?;
        let ahead = self.countdown.sabotage == Some(Sabotage::ClockAhead) && self.countdown.number.is_multiple_of(3);
        Ok(if ahead { now.saturating_add(SignedDuration::from_hours(1)).unwrap_or(now) } else { now })
    }

    methods! {
        interactions_due(now: Timestamp, limit: u32) -> Vec<DueInteraction>;
        next_interaction_due() -> Option<Timestamp>;
        oldest_retired() -> Option<Timestamp>;
    }
}

impl<T: Tx + ?Sized> EventWrites for CrashTx<'_, T> {
    fn event_append(&mut self, scope: &Scope, event: &Event) -> StoreResult<()> {
        self.countdown.count_call("event_append")?;
        if self.countdown.sabotage == Some(Sabotage::DropsEvents) && event.seq.is_multiple_of(7) {
            return Ok(());
        }
        self.inner.event_append(scope, event)
    }
}

impl<T: Tx + ?Sized> AuditWrites for CrashTx<'_, T> {
    fn audit_append(&mut self, written: &Written) -> StoreResult<()> {
        self.countdown.count_call("audit_append")?;
        let seventh = written.entry.event.is_some_and(|event| event.is_multiple_of(7));
        if self.countdown.sabotage == Some(Sabotage::DropsEntries) && seventh {
            return Ok(());
        }
        self.inner.audit_append(written)
    }

    methods! {
        audit_lock() -> ();
        audit_chain_append(tenant: TenantId, links: &[ChainLink]) -> ();
        audit_chained_upto_save(upto: Cursor) -> ();
        audit_sign(tenant: TenantId, checkpoint: &Checkpoint, now: Timestamp) -> ();
    }
}

impl<T: Tx + ?Sized> IdempotencyWrites for CrashTx<'_, T> {
    fn idempotency_insert(
        &mut self,
        scope: &Scope,
        actor: &str,
        key: &str,
        idempotency: &IdempotencyRecord,
    ) -> StoreResult<()> {
        self.countdown.count_call("idempotency_insert")?;
        if self.countdown.sabotage == Some(Sabotage::ForgetsKeys) {
            return Ok(());
        }
        self.inner.idempotency_insert(scope, actor, key, idempotency)
    }

    fn idempotency_result_save(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> StoreResult<()> {
        self.countdown.count_call("idempotency_result_save")?;
        if self.countdown.sabotage == Some(Sabotage::ForgetsKeys) {
            return Ok(());
        }
        self.inner.idempotency_result_save(scope, actor, key, result)
    }

    fn idempotency_secret_save(&mut self, scope: &Scope, actor: &str, key: &str, sealed: &Sealed) -> StoreResult<()> {
        self.countdown.count_call("idempotency_secret_save")?;
        if self.countdown.sabotage == Some(Sabotage::ForgetsKeys) {
            return Ok(());
        }
        self.inner.idempotency_secret_save(scope, actor, key, sealed)
    }

    methods! {
        idempotency_secret_reseal(from: DataKeyId, secret: &IdempotencySecret) -> ();
        idempotency_purge(before: Timestamp, limit: u32) -> u64;
    }
}

impl<T: Tx + ?Sized> InteractionWrites for CrashTx<'_, T> {
    fn interaction_save(&mut self, interaction: &Interaction) -> StoreResult<()> {
        self.countdown.count_call("interaction_save")?;
        if self.countdown.sabotage == Some(Sabotage::LeavesQuestions) && interaction.status() == Status::Cancelled {
            return Ok(());
        }
        self.inner.interaction_save(interaction)
    }

    methods! {
        interaction_insert(interaction: &Interaction) -> ();
        sealed_value_insert(scope: &Scope, id: InteractionId, name: &str, sealed: &Sealed) -> ();
        sealed_values_delete(scope: &Scope, id: InteractionId) -> ();
        waiting_deliveries_retire(scope: &Scope, session: SessionId) -> ();
        archive(until: Timestamp, limit: u32) -> u64;
    }
}

impl<T: Tx + ?Sized> ActionWrites for CrashTx<'_, T> {
    fn action_save(&mut self, action: &Action) -> StoreResult<()> {
        self.countdown.count_call("action_save")?;
        let started = matches!(action.state, ActionState::Started { .. });
        if self.countdown.sabotage == Some(Sabotage::ForgetsStarts) && started {
            return Ok(());
        }
        self.inner.action_save(action)
    }

    methods! {
        action_insert(action: &Action) -> ();
    }
}

impl<T: Tx + ?Sized> StepWrites for CrashTx<'_, T> {
    fn journal_append(&mut self, scope: &Scope, step: StepId, entry: &JournalEntry) -> StoreResult<()> {
        self.countdown.count_call("journal_append")?;
        let third = entry.body["input"] == json!(JournalKind::Settled) && entry.seq.is_multiple_of(3);
        if self.countdown.sabotage == Some(Sabotage::LosesResults) && third {
            return Ok(());
        }
        self.inner.journal_append(scope, step, entry)
    }

    methods! {
        step_state_save(scope: &Scope, step: StepId, state: &StepState) -> ();
        session_sealed_values_retire(scope: &Scope, session: SessionId, at: Option<Timestamp>) -> ();
        session_sealed_values_delete(scope: &Scope, session: SessionId) -> ();
    }
}
