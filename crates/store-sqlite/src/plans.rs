//! Checks the indexes that frequent statements use.

use std::sync::Arc;

use domain::{InteractionId, Kind, ProjectId, Scope, SessionId, SessionStatus, Status, TenantId};
use rusqlite::{Connection, StatementStatus, params_from_iter};
use store::{AuditFilter, InteractionFilter, Page, SessionFilter, Sort, SystemClock, sql};
use uuid::Uuid;

use crate::connection::open_reader;
use crate::{
    SqliteOptions, SqliteStore, access, action, audit, event, interaction, policy, session, step, user, webhook,
};

fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("explain query plan {sql}")).unwrap();
    let values = vec![rusqlite::types::Null; statement.parameter_count()];
    let lines = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
    lines.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
}

fn check(connection: &Connection, sql: &str, index: &str) {
    let plan = plan(connection, sql);
    assert!(plan.contains(index), "{sql}\n{plan}");
    for bad in ["SCAN", "TEMP B-TREE"] {
        assert!(!plan.contains(bad), "{sql}\n{plan}");
    }
}

#[test]
fn hot_statements_use_their_indexes() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).unwrap();
    let connection = Connection::open(store.path()).unwrap();
    let check = |sql: &str, index: &str| check(&connection, sql, index);
    check(&event::session_events(), "events USING INDEX events_of_session (session=? AND seq>?)");
    check(&event::project_events(), "events USING INDEX events_of_project (project=? AND position>?)");
    check(interaction::OPEN, "interactions USING INDEX interactions_alive (session=?)");
    check(interaction::DELIVERY_AGENTS, "interactions USING INDEX interactions_alive (session=?)");
    check(interaction::WAITING_DELIVERIES, "interactions USING INDEX interactions_alive (session=?)");
    check(interaction::RETIRE, "interactions USING INDEX interactions_alive (session=?)");
    check(step::RETIRE, "interactions USING INDEX interactions_of_session (session=?)");
    check(interaction::RETIRED, "interactions USING INDEX interactions_retired (retired_at>? AND retired_at<?)");
    check(sql::timers::NEXT_INTERACTION_DUE, "interactions USING COVERING INDEX interactions_due (wake_at>?)");
    check(sql::timers::OLDEST_RETIRED, "interactions USING COVERING INDEX interactions_retired (retired_at>?)");
    check(
        &interaction::waiting_answers(),
        "interactions USING INDEX interactions_to_deliver (project=? AND asked_by=?)",
    );
    for (asked, index) in [(false, "actions_by_age"), (true, "actions_asked")] {
        let index = format!("actions USING INDEX {index} (project=? AND at>? AND (at,session,call)<(?,?,?))");
        check(&action::history(asked), &index);
    }
    check(sql::policy::DIFFERENCES, "policy_differences USING PRIMARY KEY (project=? AND number=?)");
    check(policy::CHANGES, "policy_changes USING PRIMARY KEY (project=? AND number<?)");
    check(sql::timers::INTERACTIONS_DUE, "interactions USING INDEX interactions_due (wake_at>? AND wake_at<?)");
    check(
        sql::webhook::WEBHOOK_DELIVERIES_DUE,
        "webhook_deliveries USING INDEX webhook_deliveries_due (webhook=? AND due_at>? AND due_at<?)",
    );
    check(
        sql::webhook::WEBHOOK_BACKLOG,
        "webhook_deliveries USING COVERING INDEX webhook_deliveries_due (webhook=? AND due_at>?)",
    );
    check(
        sql::webhook::WEBHOOK_DELIVERIES_SETTLED,
        "webhook_deliveries USING COVERING INDEX webhook_deliveries_settled",
    );
    check(
        &interaction::unsent_answers(),
        "interactions USING INDEX interactions_to_deliver (project=? AND asked_by=?)",
    );
    let due = plan(&connection, webhook::DUE);
    assert!(due.contains("events USING COVERING INDEX events_of_project (project=? AND position>?)"), "{due}");
    check(sql::user::MEMBERS, "memberships USING COVERING INDEX memberships_of_project (project=?)");
    check(user::ADMINS, "memberships USING INDEX memberships_of_project (project=?)");
    check(sql::user::FOLDED, "users USING COVERING INDEX users_by_folded (tenant=? AND folded=?)");
    check(access::NAMED, "keys USING INDEX keys_by_user (<expr>=?)");
    check(&access::keys_named(), "keys USING INDEX keys_by_user (<expr>=?)");
    check(user::UNUSED, "visits USING COVERING INDEX visits_by_use (seen_at<?)");
    check(user::AGED, "visits USING COVERING INDEX visits_by_age (created_at<?)");
    check_lists_of_sessions(&connection);
}

fn check_lists_of_sessions(connection: &Connection) {
    let nobody = Scope { tenant: TenantId::from_uuid(Uuid::nil()), project: ProjectId::from_uuid(Uuid::nil()) };
    for (status, index) in [
        (None, "sessions_of_project"),
        (Some(SessionStatus::Completed), "sessions_of_project"),
        (Some(SessionStatus::WaitingUserInput), "sessions_live"),
    ] {
        for (after, bound) in [(None, "project=?"), (Some(SessionId::from_uuid(Uuid::nil())), "project=? AND id<?")] {
            let filter = SessionFilter { status, ..SessionFilter::default() };
            let sql = session::list(&nobody, &filter, Page { after, limit: 20 }).sql;
            check(connection, &sql, &format!("sessions USING INDEX {index} ({bound})"));
        }
    }
    for live in [false, true] {
        let filter = SessionFilter { channel: Some("chat-1".into()), live, ..SessionFilter::default() };
        let sql = session::list(&nobody, &filter, Page { after: None, limit: 1 }).sql;
        check(connection, &sql, "sessions USING INDEX sessions_by_channel (project=? AND channel=?)");
    }
}

#[test]
fn lists_use_the_index_of_their_filter() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).unwrap();
    let connection = Connection::open(store.path()).unwrap();
    let scope = Scope { tenant: TenantId::from_uuid(Uuid::nil()), project: ProjectId::from_uuid(Uuid::nil()) };
    let all = InteractionFilter::default;
    let open = || InteractionFilter { status: Some(Status::Pending), ..all() };
    let session = Some(SessionId::from_uuid(Uuid::nil()));
    let overdue = InteractionFilter { overdue_at: Some(0), sort: Sort::Deadline, ..all() };
    let rows = [
        (all(), "interactions_of_project (project=?"),
        (InteractionFilter { sort: Sort::Newest, ..all() }, "interactions_of_project (project=?"),
        (open(), "interactions_by_status (project=? AND status=?"),
        (InteractionFilter { sort: Sort::Newest, ..open() }, "interactions_by_status (project=? AND status=?"),
        (InteractionFilter { kind: Some(Kind::Form), ..open() }, "interactions_open (project=? AND kind=?"),
        (InteractionFilter { sort: Sort::Deadline, ..open() }, "interactions_by_deadline (project=?"),
        (overdue, "interactions_by_deadline (project=? AND "),
        (InteractionFilter { session, ..all() }, "interactions_of_session (session=?"),
        (InteractionFilter { session, ..open() }, "interactions_alive (session=?"),
        (InteractionFilter { session, kind: Some(Kind::Form), ..open() }, "interactions_alive (session=?"),
        (InteractionFilter { session, status: Some(Status::Expired), ..all() }, "interactions_of_session (session=?"),
        (InteractionFilter { channel: Some("chat-1".into()), ..all() }, "interactions_of_project (project=?"),
        (InteractionFilter { kind: Some(Kind::Form), ..all() }, "interactions_of_project (project=?"),
        (InteractionFilter { text: Some("rm -rf".into()), ..open() }, "interactions_by_status (project=? AND status=?"),
        (
            InteractionFilter { text: Some(Uuid::nil().to_string()), ..open() },
            "interactions_by_status (project=? AND status=?",
        ),
    ];
    for (filter, index) in rows {
        for after in [None, Some(InteractionId::from_uuid(Uuid::nil()))] {
            let sql = interaction::list(&scope, &filter, Page { after, limit: 50 }).sql;
            check(&connection, &sql, index);
        }
    }
}

#[test]
fn audit_statements_use_their_indexes() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).unwrap();
    let connection = Connection::open(store.path()).unwrap();
    let loose = plan(&connection, audit::UNCHAINED_ENTRIES);
    assert!(loose.contains("SEARCH audit USING INTEGER PRIMARY KEY (rowid>?)") && !loose.contains("TEMP"), "{loose}");
    check(&connection, audit::CHAIN, "audit_chain USING PRIMARY KEY (tenant=? AND seq>?)");
    let scope = Scope { tenant: TenantId::from_uuid(Uuid::nil()), project: ProjectId::from_uuid(Uuid::nil()) };
    let session = Some(SessionId::from_uuid(Uuid::nil()));
    let page = Page { after: Some(1), limit: 50 };
    for (filter, index) in [
        (AuditFilter::default(), "audit_of_project (project=? AND seq>?)"),
        (AuditFilter { by: Some("alice".into()), ..AuditFilter::default() }, "audit_of_project (project=? AND seq>?)"),
        (AuditFilter { session, ..AuditFilter::default() }, "audit_of_session (session=? AND seq>?)"),
        (AuditFilter { newest: true, ..AuditFilter::default() }, "audit_of_project (project=? AND seq<?)"),
        (AuditFilter { session, newest: true, ..AuditFilter::default() }, "audit_of_session (session=? AND seq<?)"),
    ] {
        check(&connection, &audit::list(&scope, &filter, page).unwrap().sql, index);
    }
}

/// SQLite recompiles a statement whose plan may depend on bound values, unless the connection declares that plans do not.
#[test]
fn cached_statements_are_compiled_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).unwrap();
    let connection = open_reader(store.path()).unwrap();
    let sql = format!("{} where interactions.id = ?1 and interactions.project = ?2", interaction::QUESTION);
    for number in 0..10 {
        let mut statement = connection.prepare_cached(&sql).unwrap();
        assert!(!statement.exists([Uuid::from_u128(number), Uuid::nil()]).unwrap());
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "run {number}");
    }
}
