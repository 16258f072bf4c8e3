//! Test suite that every store passes. The tests of a store call [`conformance!`](crate::conformance!) with a function that creates an
//! empty store; each case becomes a test.
//!
//! The cases use only the traits and compare whole values. Concurrent cases use threads, as a server does.

#![expect(clippy::unwrap_used, reason = "these are tests: every error is a failure")]

mod actions;
mod audit;
mod isolation;
mod lists;
mod log;
mod open_totals;
mod pages;
mod round_trips;
mod secrets;
mod steps;
mod timers;
mod transactions;
pub mod upgrade;
mod users;
mod webhooks;
mod world;

pub use actions::{
    action_history_lists_actions_by_age, actions_are_read_back, differences_of_a_draft_are_read_back,
    grants_end_by_time_by_uses_and_by_revocation, policy_change_waits_for_shared_locks,
    policy_changes_are_listed_in_order, policy_states_and_versions_are_read_back,
};
pub use audit::{audit_chains_have_no_gaps, audit_entries_are_read_back, chain, checkpoints_are_read_back};
pub use isolation::{nothing_is_read_from_another_project, nothing_is_written_into_another_project};
pub use lists::{
    deliveries_of_paused_sessions_are_not_listed, delivery_agents_returns_each_waiting_agent_once,
    lists_filter_sort_and_page, sessions_filter_and_page, unfiltered_list_equals_single_reads,
};
pub use log::{
    changed_topics_are_returned_once, event_numbers_of_a_session_have_no_gaps, followers_see_every_event_once,
};
pub use open_totals::{
    askers_and_tenants_have_separate_totals, concurrent_questions_are_all_counted, open_questions_are_counted,
};
pub use pages::{
    large_answers_come_in_pages, large_definitions_and_policies_come_in_pages, large_events_come_in_pages,
    large_grants_come_in_pages, large_sessions_and_steps_come_in_pages,
};
pub use round_trips::{
    events_are_read_back, handed_over_questions_are_read_back, idempotency_keys_keep_their_first_record,
    keys_are_read_back, questions_in_every_state_are_read_back, sealed_values_are_read_back, sessions_are_read_back,
    settings_keep_their_first_value,
};
pub use secrets::{
    data_key_in_use_is_not_deleted, kept_secrets_are_read_back, newest_data_key_has_the_highest_number,
    nothing_is_sealed_under_a_deleted_data_key, one_master_key_is_in_force,
    secrets_of_idempotency_records_are_read_back,
};
pub use steps::{
    definitions_are_read_back, equal_answers_are_counted, journals_are_read_back, steps_are_counted_by_state,
    steps_are_found_when_they_are_due,
};
pub use timers::{
    archived_questions_stay_readable, concurrent_archiving_moves_each_question_once, due_questions_are_listed_by_time,
    old_idempotency_records_are_purged, open_questions_are_counted_by_kind,
    sealed_values_stay_as_long_as_their_session, stats_count_questions_by_state_and_kind,
    waiting_deliveries_are_archived_after_their_session_has_ended,
};
pub use transactions::{
    a_stale_revision_is_a_conflict, effects_of_a_commit_run_after_its_caller_has_gone,
    panicking_use_case_rolls_back_only_itself, refused_use_case_rolls_back_only_itself, the_first_answer_wins,
    time_is_constant_within_a_transaction, use_case_can_commit_after_a_handled_conflict,
};
pub use users::{
    concurrent_removals_leave_one_admin, links_are_used_once, members_belong_to_their_project, old_visits_are_purged,
    tickets_are_used_once, user_names_and_subjects_are_unique, users_are_read_back, visits_are_read_back,
};
pub use webhooks::{
    answer_gets_one_delivery_each_time_it_is_offered, archived_questions_are_listed_in_order,
    one_of_six_concurrent_claims_gets_a_webhook, webhook_deliveries_are_read_back, webhook_lease_has_one_holder,
    webhook_secrets_are_read_back, webhooks_are_read_back,
};
pub use world::{Fixture, World, append};

/// Makes a test of each case. The given function creates an empty store for it.
#[macro_export]
macro_rules! conformance {
    ($make:path) => {
        $crate::conformance! {
            $make;
            data_key_in_use_is_not_deleted,
            panicking_use_case_rolls_back_only_itself,
            refused_use_case_rolls_back_only_itself,
            a_stale_revision_is_a_conflict,
            use_case_can_commit_after_a_handled_conflict,
            action_history_lists_actions_by_age,
            actions_are_read_back,
            equal_answers_are_counted,
            archived_questions_stay_readable,
            definitions_are_read_back,
            journals_are_read_back,
            steps_are_counted_by_state,
            steps_are_found_when_they_are_due,
            askers_and_tenants_have_separate_totals,
            audit_entries_are_read_back,
            audit_chains_have_no_gaps,
            changed_topics_are_returned_once,
            checkpoints_are_read_back,
            deliveries_of_paused_sessions_are_not_listed,
            differences_of_a_draft_are_read_back,
            due_questions_are_listed_by_time,
            events_are_read_back,
            questions_in_every_state_are_read_back,
            handed_over_questions_are_read_back,
            open_questions_are_counted_by_kind,
            stats_count_questions_by_state_and_kind,
            followers_see_every_event_once,
            grants_end_by_time_by_uses_and_by_revocation,
            kept_secrets_are_read_back,
            keys_are_read_back,
            large_answers_come_in_pages,
            large_definitions_and_policies_come_in_pages,
            large_events_come_in_pages,
            large_grants_come_in_pages,
            large_sessions_and_steps_come_in_pages,
            links_are_used_once,
            lists_filter_sort_and_page,
            members_belong_to_their_project,
            nothing_is_sealed_under_a_deleted_data_key,
            nothing_is_read_from_another_project,
            nothing_is_written_into_another_project,
            concurrent_archiving_moves_each_question_once,
            concurrent_questions_are_all_counted,
            event_numbers_of_a_session_have_no_gaps,
            old_idempotency_records_are_purged,
            concurrent_removals_leave_one_admin,
            old_visits_are_purged,
            idempotency_keys_keep_their_first_record,
            open_questions_are_counted,
            policy_states_and_versions_are_read_back,
            policy_changes_are_listed_in_order,
            policy_change_waits_for_shared_locks,
            one_master_key_is_in_force,
            sealed_values_are_read_back,
            sealed_values_stay_as_long_as_their_session,
            secrets_of_idempotency_records_are_read_back,
            sessions_are_read_back,
            sessions_filter_and_page,
            settings_keep_their_first_value,
            delivery_agents_returns_each_waiting_agent_once,
            the_first_answer_wins,
            newest_data_key_has_the_highest_number,
            tickets_are_used_once,
            time_is_constant_within_a_transaction,
            unfiltered_list_equals_single_reads,
            waiting_deliveries_are_archived_after_their_session_has_ended,
            users_are_read_back,
            user_names_and_subjects_are_unique,
            visits_are_read_back,
            effects_of_a_commit_run_after_its_caller_has_gone,
            answer_gets_one_delivery_each_time_it_is_offered,
            one_of_six_concurrent_claims_gets_a_webhook,
            archived_questions_are_listed_in_order,
            webhook_deliveries_are_read_back,
            webhook_secrets_are_read_back,
            webhook_lease_has_one_holder,
            webhooks_are_read_back,
        }
    };
    ($make:path; $($case:ident,)*) => {$(
        #[test]
        fn $case() {
            $crate::conformance::$case(&$make());
        }
    )*};
}
