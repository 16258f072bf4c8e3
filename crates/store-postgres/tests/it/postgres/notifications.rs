//! Notifications between two stores on one database.

use std::sync::Arc;

use crate::postgres::common::{database, open, until};
use domain::{InteractionId, ProjectId, SessionId};
use holdpoint_store_postgres::PostgresOptions;
use parking_lot::Mutex;
use serde_json::json;
use store::conformance::{World, append};
use store::{Store, Topic};
use uuid::Uuid;

type ReceivedTopics = Arc<Mutex<Vec<Topic>>>;

fn listen(store: &Arc<dyn Store>) -> ReceivedTopics {
    let heard = ReceivedTopics::default();
    let ear = Arc::clone(&heard);
    store.listen(Arc::new(move |topic| ear.lock().push(topic)));
    heard
}

fn everythings(heard: &ReceivedTopics) -> usize {
    heard.lock().iter().filter(|topic| **topic == Topic::Everything).count()
}

#[test]
fn notification_reaches_other_stores() {
    let database = database();
    let (one, other) = (open(&database, &PostgresOptions::default()), open(&database, &PostgresOptions::default()));
    assert!(one.is_shared());
    let (own, heard) = (listen(&one), listen(&other));
    until("both listen and sweep", || everythings(&heard) >= 2 && everythings(&own) >= 2);
    let session = Topic::Session(SessionId::from_uuid(Uuid::from_u128(1)));
    let agent = Topic::Agent(ProjectId::from_uuid(Uuid::from_u128(2)), "two\nlines".into());
    one.publish(&[session.clone(), agent.clone(), session.clone(), Topic::Timers]);
    let all = [session.clone(), agent, Topic::Timers];
    until("all of it is heard", || all.iter().all(|topic| heard.lock().contains(topic)));
    assert_eq!(heard.lock().iter().filter(|topic| **topic == session).count(), 1, "gathered");

    let (before, mut client) = (everythings(&heard), database.connect().unwrap());
    let sql = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
               where datname = current_database() and pid <> pg_backend_pid()";
    client.query_one(sql, &[]).unwrap();
    until("whoever was cut off looks at everything", || everythings(&heard) > before);
    let later = Topic::Session(SessionId::from_uuid(Uuid::from_u128(3)));
    until("bells ring again", || {
        one.publish(std::slice::from_ref(&later));
        heard.lock().contains(&later)
    });
}

#[test]
fn changes_are_found_without_notifications() {
    let database = database();
    let silent = PostgresOptions { bells: false, ..PostgresOptions::default() };
    let (one, other) = (open(&database, &silent), open(&database, &silent));
    let world = World::on(&one);
    let heard = listen(&other);
    until("it sweeps", || everythings(&heard) >= 1);
    let (here, session) = (world.here, world.session());
    let asked = world.ask(&session, json!({}));
    let cancelled = asked.clone().cancel(domain::Actor::system(), "no".into(), asked.origin.at).unwrap().0;
    let (id, about): (SessionId, InteractionId) = (session.id, asked.id);
    world
        .write(move |tx| {
            append(tx, &here, id, Some(about))?;
            tx.interaction_save(&cancelled)
        })
        .unwrap();
    one.publish(&[Topic::Session(SessionId::from_uuid(Uuid::from_u128(9)))]);
    let agent = Topic::Agent(here.project, asked.origin.asked_by.name);
    let all = [Topic::Session(id), Topic::Project(here.project), Topic::Timers, agent];
    until("all of it is found", || all.iter().all(|topic| heard.lock().contains(topic)));
    assert_eq!(everythings(&heard), 1);
}
