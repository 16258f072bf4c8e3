//! Test suite that every store passes. The tests of a store call [`conformance!`](crate::conformance!) with a function that creates an
//! empty store; each case becomes a test.
//!
//! The cases use only the traits and compare whole values. Concurrent cases use threads, as a server does.

#![expect(clippy::unwrap_used, reason = "a suite of tests: whatever goes wrong is a failure")]

mod actions;
mod audit;
mod budgets;
mod lists;
mod log;
mod nouns;
mod pages;
mod secrets;
mod steps;
mod timers;
mod transactions;
mod users;
mod walls;
mod webhooks;
mod world;

pub use actions::{
    a_policy_that_is_held_is_not_changed, actions_are_looked_back_at, actions_come_back, changes_of_policy_come_back,
    drafts_come_back, grants_are_counted, policies_come_back,
};
pub use audit::{audit_entries_come_back, chain, chains_have_no_gaps, checkpoints_come_back};
pub use budgets::{
    askers_and_tenants_are_counted_apart, many_open_at_once_are_all_counted, open_questions_are_counted,
};
pub use lists::{
    deliveries_leave_out_what_is_paused, delivery_agents_have_waiting_deliveries, lists_filter_sort_and_page,
    sessions_filter_and_page, unfiltered_lists_are_whole,
};
pub use log::{changes_are_told_once, followers_see_every_event_once, numbers_of_a_session_have_no_gaps};
pub use nouns::{
    events_come_back, every_state_comes_back, handed_over_questions_come_back,
    idempotency_keys_keep_their_first_record, keys_come_back, sealed_values_come_back, sessions_come_back,
    settings_keep_the_first,
};
pub use pages::{
    large_answers_come_in_pages, large_definitions_and_policies_come_in_pages, large_events_come_in_pages,
    large_grants_come_in_pages, large_sessions_and_steps_come_in_pages,
};
pub use secrets::{
    a_key_in_use_is_not_forgotten, kept_secrets_come_back, nothing_is_sealed_under_a_key_that_is_forgotten,
    one_master_key_is_in_force, secrets_of_commands_come_back, the_newest_data_key_seals,
};
pub use steps::{
    answers_are_counted, definitions_come_back, journals_come_back, steps_are_counted,
    steps_are_found_when_they_are_due,
};
pub use timers::{
    archived_questions_stay_readable, due_comes_in_order, figures_add_up, many_archive_at_once,
    old_idempotency_keys_are_forgotten, sealed_values_stay_as_long_as_their_session,
    untaken_answers_are_only_kept_once_their_session_has_ended,
};
pub use transactions::{
    a_panic_undoes_only_itself, a_refusal_undoes_only_itself, a_stale_revision_is_a_conflict,
    a_swallowed_conflict_is_survived, the_first_answer_wins, time_is_the_same_throughout_a_transaction,
    what_was_kept_is_told_though_nobody_waits,
};
pub use users::{
    links_are_used_once, members_belong_to_their_project, of_two_admins_one_stays, old_visits_are_forgotten,
    tickets_are_used_once, users_come_back, visits_come_back,
};
pub use walls::{nothing_is_read_from_another_project, nothing_is_written_into_another_project};
pub use webhooks::{
    answers_are_sent_once_each_time, one_of_many_gets_a_webhook, the_archive_is_read_in_order,
    webhook_deliveries_come_back, webhook_secrets_come_back, webhooks_are_held_by_one, webhooks_come_back,
};
pub use world::{Fixture, World, append};

/// Makes a test of each case. The given function creates an empty store for it.
#[macro_export]
macro_rules! conformance {
    ($make:path) => {
        $crate::conformance! {
            $make;
            a_key_in_use_is_not_forgotten,
            a_panic_undoes_only_itself,
            a_refusal_undoes_only_itself,
            a_stale_revision_is_a_conflict,
            a_swallowed_conflict_is_survived,
            actions_are_looked_back_at,
            actions_come_back,
            answers_are_counted,
            archived_questions_stay_readable,
            definitions_come_back,
            journals_come_back,
            steps_are_counted,
            steps_are_found_when_they_are_due,
            askers_and_tenants_are_counted_apart,
            audit_entries_come_back,
            chains_have_no_gaps,
            changes_are_told_once,
            checkpoints_come_back,
            deliveries_leave_out_what_is_paused,
            drafts_come_back,
            due_comes_in_order,
            events_come_back,
            every_state_comes_back,
            handed_over_questions_come_back,
            figures_add_up,
            followers_see_every_event_once,
            grants_are_counted,
            kept_secrets_come_back,
            keys_come_back,
            large_answers_come_in_pages,
            large_definitions_and_policies_come_in_pages,
            large_events_come_in_pages,
            large_grants_come_in_pages,
            large_sessions_and_steps_come_in_pages,
            links_are_used_once,
            lists_filter_sort_and_page,
            members_belong_to_their_project,
            nothing_is_sealed_under_a_key_that_is_forgotten,
            nothing_is_read_from_another_project,
            nothing_is_written_into_another_project,
            many_archive_at_once,
            many_open_at_once_are_all_counted,
            numbers_of_a_session_have_no_gaps,
            old_idempotency_keys_are_forgotten,
            of_two_admins_one_stays,
            old_visits_are_forgotten,
            idempotency_keys_keep_their_first_record,
            open_questions_are_counted,
            policies_come_back,
            changes_of_policy_come_back,
            a_policy_that_is_held_is_not_changed,
            one_master_key_is_in_force,
            sealed_values_come_back,
            sealed_values_stay_as_long_as_their_session,
            secrets_of_commands_come_back,
            sessions_come_back,
            sessions_filter_and_page,
            settings_keep_the_first,
            delivery_agents_have_waiting_deliveries,
            the_first_answer_wins,
            the_newest_data_key_seals,
            tickets_are_used_once,
            time_is_the_same_throughout_a_transaction,
            unfiltered_lists_are_whole,
            untaken_answers_are_only_kept_once_their_session_has_ended,
            users_come_back,
            visits_come_back,
            what_was_kept_is_told_though_nobody_waits,
            answers_are_sent_once_each_time,
            one_of_many_gets_a_webhook,
            the_archive_is_read_in_order,
            webhook_deliveries_come_back,
            webhook_secrets_come_back,
            webhooks_are_held_by_one,
            webhooks_come_back,
        }
    };
    ($make:path; $($case:ident,)*) => {$(
        #[test]
        fn $case() {
            $crate::conformance::$case(&$make());
        }
    )*};
}
