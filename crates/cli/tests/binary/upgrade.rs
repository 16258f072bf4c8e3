//! Opens databases of schema version 20 with the binary under test and brings everything in them to its end. `scripts/make-fixture` made
//! them, with one of everything in flight.
//!
//! The result does not depend on the age of the archive. Leases, claims and permits of the archive end after 95 years, keys and grants
//! never. Deadlines and short leases ended twenty seconds after the archive was made, so that every start finds them over. Records that a
//! start would forget after a day (idempotency keys, browser sessions, sign-in links) are made young again before the start, in the schema
//! of the archive. The server keeps closed questions for a hundred years (`--retention-days`).

mod actions;
mod audit;
mod callers;
mod fixture;
mod hosted;
mod questions;
mod reads;
mod webhooks;

use testkit::postgres::TestPostgres;

use crate::agents::played::{PlayedModel, said};
use crate::webhooks::endpoint::Endpoint;
use fixture::{Fixture, Store};

/// Opens the archive of one store. The first server runs no steps, so that only timers and webhooks change data by themselves.
/// It is killed, and a second server runs the steps.
fn story(store: Store<'_>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let endpoint = runtime.block_on(Endpoint::open());
    let model = PlayedModel::start(vec![vec![said(&["Well, done."])]]);
    let fixture = Fixture::open(&store, &endpoint, &model);
    runtime.block_on(async {
        let launch = fixture.launch(0);
        let (server, cast) = (launch.start().await, fixture.cast(&launch));
        reads::everything_is_shown_as_before(&cast).await;
        webhooks::due_messages_are_sent(&cast, &endpoint).await;
        callers::commands_are_replayed_and_people_are_known(&cast).await;
        questions::every_question_ends(&cast).await;
        actions::every_action_ends(&cast).await;
        server.kill();
        let launch = fixture.launch(8);
        let server = launch.start().await;
        hosted::every_session_ends(&fixture.cast(&launch), &fixture, &model).await;
        audit::archive_is_exported(&fixture);
        assert!(server.stop().success());
    });
    audit::trail_is_whole(&fixture);
}

#[test]
fn a_sqlite_database_of_schema_20_is_driven_to_its_end() {
    story(Store::Sqlite);
}

#[test]
fn a_postgres_database_of_schema_20_is_driven_to_its_end() {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    story(Store::Postgres(&database));
}
