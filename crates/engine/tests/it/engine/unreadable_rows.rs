//! Tests rows that cannot be processed: they are postponed, and the timers process all other rows.

use std::time::Duration;

use domain::{ActionState, Call, Caller, InteractionId, Session, Status};
use holdpoint_engine::Propose;
use serde_json::{Value, json};

use crate::engine::both::{Fixture, Raw, on_both};

const MONTH: i64 = 30 * 24 * 3600;

/// Formats identifiers as a list in a statement.
fn listed(raw: &Raw, ids: &[InteractionId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| raw.id(id.uuid())).collect();
    ids.join(", ")
}

/// Makes the states of questions unreadable, and saves the old states in a table.
fn damage(raw: &Raw, ids: &[InteractionId]) {
    raw.execute("create table whole as select id, state from interactions");
    raw.execute(&format!("update interactions set state = 'nonsense' where id in ({})", listed(raw, ids)));
}

/// Restores the states from that table.
fn repair(raw: &Raw) {
    let whole = "update interactions set state = (select whole.state from whole where whole.id = interactions.id) \
                 where id in (select id from whole)";
    raw.execute(whole);
}

async fn asked(fixture: &Fixture, agent: &Caller, session: &Session, count: usize) -> Vec<InteractionId> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(fixture.world.ask(agent, session, json!({ "deadline_seconds": 30 })).await.id);
    }
    ids
}

/// The unreadable questions are more than one batch, and all of them are due before the readable one.
#[test]
fn unreadable_questions_do_not_stop_other_deadlines() {
    on_both(async |fixture| {
        let world = &fixture.world;
        let agent = world.agent().await;
        let (session, other) = (world.session(&agent).await, world.session(&agent).await);
        let unreadable = asked(fixture, &agent, &session, 70).await;
        damage(&fixture.raw, &unreadable);
        fixture.pass(1);
        let whole = asked(fixture, &agent, &other, 1).await[0];
        fixture.pass(30);
        world.engine.fire_due().await.unwrap();
        assert_eq!(world.now(&agent, whole).await.status(), Status::Expired);
        let put_off = "select cast(count(*) as text) from interactions where wake_at > deadline";
        assert_eq!(fixture.raw.texts(put_off), ["70"]);
        repair(&fixture.raw);
        fixture.pass(3600);
        world.engine.fire_due().await.unwrap();
        for id in unreadable {
            assert_eq!(world.now(&agent, id).await.status(), Status::Expired, "the row is tried again");
        }
    });
}

fn read_file(call: &str) -> Propose {
    Propose {
        call_id: call.into(),
        call: Call { tool: "read_file".into(), arguments: json!({}) },
        context: Value::Null,
        expected_content: None,
        traceparent: None,
        repeatable: false,
        client: false,
        deadline_seconds: None,
    }
}

#[test]
fn unreadable_action_does_not_stop_other_leases() {
    on_both(async |fixture| {
        let (world, engine) = (&fixture.world, &fixture.world.engine);
        let agent = world.agent().await;
        let session = world.session(&agent).await;
        for call in ["a", "b"] {
            let acted = engine.action_propose(&agent, session.id, read_file(call), None).await.unwrap();
            let name = (session.id, call.to_owned());
            engine.action_start(&agent, name, acted.permit.unwrap(), Some(60), None).await.unwrap();
        }
        let question = asked(fixture, &agent, &session, 1).await;
        damage(&fixture.raw, &question);
        fixture.raw.execute("update actions set body = 'nonsense' where call = 'a'");
        fixture.pass(60);
        engine.fire_due().await.unwrap();
        let acted = engine.action_get(&agent, session.id, "b".into(), Duration::ZERO).await.unwrap();
        assert!(matches!(acted.action.state, ActionState::Unknown { .. }), "{:?}", acted.action.state);
    });
}

#[test]
fn question_that_cannot_be_archived_does_not_stop_others() {
    on_both(async |fixture| {
        let (world, raw) = (&fixture.world, &fixture.raw);
        let agent = world.agent().await;
        let session = world.session(&agent).await;
        let ids = asked(fixture, &agent, &session, 60).await;
        for id in &ids {
            world.engine.interaction_cancel(&agent, *id, None, None).await.unwrap();
        }
        // The archive already has a row with this identifier.
        let stuck = raw.id(ids[3].uuid());
        raw.execute(&format!(
            "insert into archive (interaction, project, session, resolved_at, revision, asked, state) \
             select id, project, session, 0, 1, '{{}}', '{{}}' from interactions where id = {stuck}"
        ));
        fixture.pass(MONTH);
        world.engine.fire_due().await.unwrap();
        let left = raw.texts("select status from interactions");
        assert_eq!(left, ["cancelled"], "all but one are archived");
        raw.execute(&format!("delete from archive where interaction = {stuck}"));
        fixture.pass(3600);
        world.engine.fire_due().await.unwrap();
        assert_eq!(raw.texts("select status from interactions"), [""; 0], "the row is tried again");
    });
}
