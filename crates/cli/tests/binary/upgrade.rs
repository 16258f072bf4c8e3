//! Opens databases of schema version 20 with the binary under test and brings everything in them to its end.
//! `scripts/make-fixture` made them, with one of everything in flight.
//!
//! The result does not depend on the age of the archive. Leases, claims and permits of the archive end after 95 years,
//! keys and grants never. Deadlines and short leases ended twenty seconds after the archive was made, so that every
//! start finds them over. Records that a start would forget after a day (idempotency keys, sign-ins of browsers, sign-in
//! links) are made young again before the start, in the schema of the archive. The server keeps closed questions for a
//! hundred years (`--retention-days`).

mod actions;
mod audit;
mod callers;
mod fixture;
mod hosted;
mod questions;
mod reads;
mod webhooks;

use testkit::postgres::TestPostgres;

use crate::agents::fake_model::{FakeModel, said};
use crate::webhooks::endpoint::Endpoint;
use fixture::{Fixture, Store};

/// Opens the archive of one store. The first server runs no steps, so that only timers and webhooks change data by
/// themselves. It is killed, and a second server runs the steps.
fn check_upgrade(store: Store<'_>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let endpoint = runtime.block_on(Endpoint::open());
    let model = FakeModel::start(vec![vec![said(&["Well, done."])]]);
    let fixture = Fixture::open(&store, &endpoint, &model);
    runtime.block_on(async {
        let launch = fixture.launch(0);
        let (server, upgraded) = (launch.start().await, fixture.upgraded(&launch));
        reads::everything_is_shown_as_before(&upgraded).await;
        reads::dialects_show_an_agent_that_waits(&upgraded).await;
        webhooks::due_messages_are_sent(&upgraded, &endpoint).await;
        callers::commands_are_replayed_and_people_are_known(&upgraded).await;
        questions::every_question_ends(&upgraded).await;
        actions::every_action_ends(&upgraded).await;
        server.kill();
        let launch = fixture.launch(8);
        let server = launch.start().await;
        hosted::every_session_ends(&fixture.upgraded(&launch), &fixture, &model).await;
        audit::archive_is_exported(&fixture);
        assert!(server.stop().success());
    });
    audit::trail_is_whole(&fixture);
}

#[test]
fn sqlite_database_of_schema_20_is_upgraded_and_its_work_completes() {
    check_upgrade(Store::Sqlite);
}

#[test]
fn postgres_database_of_schema_20_is_upgraded_and_its_work_completes() {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    check_upgrade(Store::Postgres(&database));
}
