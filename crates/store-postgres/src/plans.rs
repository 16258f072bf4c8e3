//! Checks the indexes that frequent statements use, on tables with enough rows for the planner to need them.

use domain::{InteractionId, Kind, ProjectId, Scope, SessionId, SessionStatus, Status, TenantId};
use store::{AuditFilter, InteractionFilter, Page, SessionFilter, Sort, sql};
use testkit::postgres::{TestDatabase, TestPostgres};
use uuid::Uuid;

use crate::connection::{Connection, Values, bound};
use crate::{PostgresOptions, PostgresStore, access, action, audit, event, interaction, policy, session, user};

/// Inserts 20,000 closed questions of 2,000 sessions, 1,000 open questions and 40,000 events.
const ROWS: &str = "
    create function pg_temp.uid(number bigint) returns uuid language sql as
        $$ select lpad(to_hex(number), 32, '0')::uuid $$;
    insert into tenants select pg_temp.uid(number), number::text from generate_series(1, 2) number;
    insert into projects select pg_temp.uid(number), pg_temp.uid(number), 'default' from generate_series(1, 2) number;
    insert into sessions (id, project, status, channel, step, started_by, created_at, waiting_on, open, last_seq)
        select pg_temp.uid(number), pg_temp.uid(1 + least(number % 10, 1)), 'running', 'chat', pg_temp.uid(0), '{}', number,
            0, 0, 200
        from generate_series(1, 2000) number;
    insert into interactions (id, project, session, kind, status, channel, asked_by, delivery, created_at, deadline,
            resolved_at, retired_at, wake_at, revision, state)
        select pg_temp.uid(number), pg_temp.uid(1 + least(number % 10, 1)), pg_temp.uid(1 + number % 2000),
            case number % 4 when 0 then 'form' else 'approval' end,
            case when number % 21 = 0 then 'pending' else 'answered' end, 'chat', 'agent-' || number % 7,
            case when number % 21 = 0 then null when number % 50 = 10 then 'waiting' else 'completed' end,
            number, number + 1000, case when number % 21 = 0 then null else number end,
            case when number % 21 = 0 or number % 50 = 10 then null else number end,
            case when number % 21 = 0 then number + 1000 end, 1, '{}'
        from generate_series(1, 21000) number;
    insert into questions select pg_temp.uid(number), 'A title', '{}' from generate_series(1, 21000) number;
    insert into events (xid, id, project, session, seq, type, at, data)
        select pg_current_xact_id(), pg_temp.uid(number), pg_temp.uid(1 + least(number % 10, 1)),
            pg_temp.uid(1 + number % 200), number / 200, 'test', number, '{}'
        from generate_series(1, 40000) number;
    insert into audit (xid, tenant, project, at, type, by, session, digest, text)
        select pg_current_xact_id(), pg_temp.uid(1 + least(number % 10, 1)), pg_temp.uid(1 + least(number % 10, 1)), number,
            'test', 'agent-' || number % 7, pg_temp.uid(1 + number % 2000), '', '{}'
        from generate_series(1, 20000) number;
    insert into audit_chain (tenant, seq, project, session, xid, position, hash)
        select tenant, position, project, session, xid, position, '' from audit;
    insert into users (id, tenant, name, folded, created_at)
        select pg_temp.uid(number), pg_temp.uid(1), number::text, number::text, number from generate_series(1, 5000) number;
    insert into keys (id, project, role, \"user\", groups, hash, created_at)
        select pg_temp.uid(number), pg_temp.uid(1 + number % 2), 'viewer', number::text, '[]', '', number
        from generate_series(1, 5000) number;
    insert into memberships select pg_temp.uid(number), pg_temp.uid(number % 1000), 'viewer', '[]'
        from generate_series(1, 5000) number;
    insert into visits select pg_temp.uid(number), pg_temp.uid(number), pg_temp.uid(1), '', false, number, number
        from generate_series(1, 5000) number;
    insert into webhook_deliveries (id, webhook, state, due_at, settled_at, interaction, revision, body)
        select pg_temp.uid(number), pg_temp.uid(number % 100), 'x', case when number % 50 = 0 then number end,
            case when number % 50 <> 0 then number end, case when number % 2 = 0 then pg_temp.uid(number) end,
            case when number % 2 = 0 then 1 end, '{}'
        from generate_series(1, 10000) number;
    insert into actions (session, call, project, at, revision, body, asked)
        select pg_temp.uid(1 + number % 2000), number::text, pg_temp.uid(1 + least(number % 10, 1)), number, 1, '{}',
            number % 7 = 0
        from generate_series(1, 20000) number;
    insert into policy_differences (project, number, at, session, call, body)
        select pg_temp.uid(1 + number % 2), 1 + number % 10, number, pg_temp.uid(number), 'call', '{}'
        from generate_series(1, 20000) number;
    insert into policy_versions (project, version, at, body)
        select pg_temp.uid(1 + number % 2), number::text, number, '{}' from generate_series(1, 2000) number;
    insert into policy_changes (project, number, version, body)
        select pg_temp.uid(1 + number % 2), number, number::text, '{}' from generate_series(1, 2000) number;
    analyze";

fn filled() -> (TestDatabase, Connection) {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    drop(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    let mut connection = Connection::open(&database.url().parse().unwrap()).unwrap();
    connection.client.batch_execute(ROWS).unwrap();
    (database, connection)
}

fn check(connection: &mut Connection, sql: &str, values: Values<'_>, index: &str) {
    let lines = connection.query(&format!("explain (costs off) {sql}"), values).unwrap();
    let plan: Vec<String> = lines.iter().map(|row| row.get(0)).collect();
    let plan = plan.join("\n");
    assert!(index.split('|').any(|index| plan.contains(&format!("using {index} "))), "{sql}\n{plan}");
    for table in ["interactions", "events", "sessions", "questions", "webhook_deliveries"] {
        assert!(!plan.contains(&format!("Seq Scan on {table}")), "{sql}\n{plan}");
    }
    assert!(!plan.contains("Sort"), "{sql}\n{plan}");
}

const fn uid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

#[test]
fn hot_statements_use_their_indexes() {
    let (_database, mut connection) = filled();
    let mut check = |sql: &str, values: Values<'_>, index: &str| check(&mut connection, sql, values, index);
    let (project, some, limit) = (uid(1), uid(7), 50_i64);
    check(&event::session_events(), &[&some, &3_i64, &project, &limit], "events_pkey");
    check(&event::project_events(), &[&project, &"0", &0_i64, &limit], "events_of_project");
    check(&event::head(), &[], "events_in_order");
    check(interaction::OPEN, &[&some, &project], "interactions_alive");
    check(interaction::DELIVERY_AGENTS, &[&some, &project], "interactions_alive");
    check(interaction::RETIRE, &[&some, &project], "interactions_alive");
    check(interaction::ARCHIVE, &[&5000_i64, &limit], "interactions_retired");
    check(sql::timers::NEXT_INTERACTION_DUE, &[], "interactions_due");
    check(sql::timers::OLDEST_RETIRED, &[], "interactions_retired");
    check(&interaction::waiting_answers(), &[&project, &"agent-1", &limit], "interactions_to_deliver");
    check(&interaction::unsent_answers(), &[&project, &"agent-1", &limit, &some], "interactions_to_deliver");
    check(&interaction::unsent_answers(), &[&project, &"agent-1", &limit, &some], "webhook_deliveries_of_answer");
    check(sql::timers::INTERACTIONS_DUE, &[&5000_i64, &limit], "interactions_due");
    let newest: Values<'_> = &[&project, &0_i64, &i64::MAX, &some, &"", &limit];
    check(&action::history(false), newest, "actions_by_age");
    check(&action::history(true), newest, "actions_asked");
    check(sql::policy::DIFFERENCES, &[&project, &7_i64, &limit], "policy_differences_pkey");
    check(policy::CHANGES, &[&project, &i64::MAX, &None::<&str>, &limit], "policy_changes_pkey");
    check(sql::webhook::WEBHOOK_DELIVERIES_DUE, &[&some, &50_i64, &limit], "webhook_deliveries_due");
    check(sql::webhook::WEBHOOK_BACKLOG, &[&some], "webhook_deliveries_due");
    check(sql::webhook::WEBHOOK_DELIVERIES_SETTLED, &[&50_i64, &limit], "webhook_deliveries_settled");
    check(sql::user::MEMBERS, &[&project], "memberships_of_project");
    check(sql::user::FOLDED, &[&some, &"alice"], "users_by_folded");
    check(access::NAMED, &[&some, &"alice"], "keys_by_user");
    check(&access::keys_named(), &[&project, &"alice"], "keys_by_user");
    check(user::UNUSED, &[&50_i64, &limit], "visits_by_use");
    check(user::AGED, &[&50_i64, &limit], "visits_by_age");
}

#[test]
fn audit_statements_use_their_indexes() {
    let (_database, mut connection) = filled();
    let tenant = uid(1);
    check(&mut connection, &audit::unchained(), &[&"0", &0_i64, &50_i64], "audit_pkey");
    check(&mut connection, audit::CHAIN, &[&tenant, &7_i64, &50_i64], "audit_chain_pkey");
    let scope = Scope { tenant: TenantId::from_uuid(tenant), project: ProjectId::from_uuid(tenant) };
    let session = Some(SessionId::from_uuid(uid(7)));
    for (filter, index) in [
        (AuditFilter::default(), "audit_of_project"),
        (AuditFilter { by: Some("agent-1".into()), ..AuditFilter::default() }, "audit_of_project"),
        (AuditFilter { session, ..AuditFilter::default() }, "audit_of_session"),
        (AuditFilter { newest: true, ..AuditFilter::default() }, "audit_of_project"),
        (AuditFilter { session, newest: true, ..AuditFilter::default() }, "audit_of_session"),
    ] {
        for after in [None, Some(7)] {
            let list = audit::list(&scope, &filter, Page { after, limit: 20 }).unwrap();
            check(&mut connection, &list.sql, &bound(&list), index);
        }
    }
}

#[test]
fn lists_use_the_index_of_their_filter() {
    let (_database, mut connection) = filled();
    let scope = Scope { tenant: TenantId::from_uuid(uid(1)), project: ProjectId::from_uuid(uid(1)) };
    let all = InteractionFilter::default;
    let open = || InteractionFilter { status: Some(Status::Pending), ..all() };
    let session = Some(SessionId::from_uuid(uid(7)));
    let overdue = InteractionFilter { overdue_at: Some(5000), sort: Sort::Deadline, ..all() };
    let rows = [
        (all(), "interactions_of_project|interactions_pkey"),
        (InteractionFilter { sort: Sort::Newest, ..all() }, "interactions_of_project|interactions_pkey"),
        (open(), "interactions_by_status"),
        (InteractionFilter { sort: Sort::Newest, ..open() }, "interactions_by_status"),
        (InteractionFilter { kind: Some(Kind::Form), ..open() }, "interactions_open"),
        (InteractionFilter { sort: Sort::Deadline, ..open() }, "interactions_by_deadline"),
        (overdue, "interactions_by_deadline"),
        (InteractionFilter { session, ..all() }, "interactions_of_session"),
        (InteractionFilter { session, ..open() }, "interactions_alive"),
        (InteractionFilter { text: Some("rm -rf".into()), ..open() }, "interactions_by_status"),
    ];
    for (filter, index) in rows {
        for after in [None, Some(InteractionId::from_uuid(uid(10_500)))] {
            let list = interaction::list(&scope, &filter, Page { after, limit: 20 });
            check(&mut connection, &list.sql, &bound(&list), index);
        }
    }
    for status in [None, Some(SessionStatus::Running)] {
        for after in [None, session] {
            let filter = SessionFilter { status, ..SessionFilter::default() };
            let list = session::list(&scope, &filter, Page { after, limit: 20 });
            check(&mut connection, &list.sql, &bound(&list), "sessions_live|sessions_of_project|sessions_pkey");
        }
    }
    let filter = SessionFilter { channel: Some("nobody's".into()), ..SessionFilter::default() };
    let list = session::list(&scope, &filter, Page { after: None, limit: 1 });
    check(&mut connection, &list.sql, &bound(&list), "sessions_by_channel");
}
