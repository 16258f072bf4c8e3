//! Isolation of projects: rows of another project look absent and cannot be written.

use domain::{AgentEnvironment, Interaction, Key, KeyId, Role, Scope, Session, SessionInput, Step, StepId};
use serde_json::json;

use super::Fixture;
use super::world::{World, agent, answered, append, asked, at, fresh};
use crate::{
    Cursor, IdempotencyRecord, InteractionFilter, KeyRecord, Page, Reads, SessionFilter, Stats, StoreError, StoreResult,
};

/// Inserts one row of each kind into a project.
struct SampleProject {
    world: World,
    session: Session,
    answered: Interaction,
    key: KeyId,
}

fn sample_project(fixture: &Fixture) -> SampleProject {
    let world = World::on(&fixture.store);
    let (here, session) = (world.here, world.session());
    let open = world.ask(&session, json!({ "deadline": at(60) }));
    let asked = world.ask(&session, json!({}));
    let answered = answered(&asked, "alice", at(2));
    world.keep(&[&answered]);
    let key = Key {
        id: KeyId::from_uuid(fresh()),
        scope: here,
        role: Role::Agent,
        user: None,
        groups: Vec::new(),
        environment: AgentEnvironment::default(),
        created_at: at(0),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    };
    let record = KeyRecord { key: key.clone(), hash: [7; 32] };
    let (id, sealed) = (session.id, world.sealed(b"sealed"));
    world
        .write(move |tx| {
            tx.key_insert(&record)?;
            tx.sealed_value_insert(&here, open.id, "secrets", &sealed)?;
            tx.idempotency_insert(
                &here,
                "alice",
                "key",
                &IdempotencyRecord { digest: "d".into(), result: "r".into() },
            )?;
            append(tx, &here, id, Some(open.id)).map(drop)
        })
        .unwrap();
    SampleProject { world, session, answered, key: key.id }
}

/// Counts the rows of each kind that a scope shows.
fn seen(reads: &mut dyn Reads, scope: &Scope, session: &Session, answered: &Interaction) -> StoreResult<Vec<usize>> {
    let whole = Page { after: None, limit: 100 };
    let open = reads.open_interactions(scope, session.id)?;
    let stats = reads.stats(scope, at(0))?;
    Ok(vec![
        reads.keys_page(scope, Page { after: None, limit: 100 })?.len(),
        usize::from(reads.session(scope, session.id)?.is_some()),
        usize::from(reads.session_input(scope, session.id)?.is_some()),
        reads.sessions(scope, &SessionFilter::default(), Page { after: None, limit: 100 })?.len(),
        reads.steps(scope, session.id)?.len(),
        usize::from(reads.interaction(scope, answered.id)?.is_some()),
        usize::from(reads.session_of(scope, answered.id)?.is_some()),
        reads.interactions(scope, &InteractionFilter::default(), whole)?.len(),
        reads
            .interactions(
                scope,
                &InteractionFilter { session: Some(session.id), ..InteractionFilter::default() },
                whole,
            )?
            .len(),
        open.len(),
        reads.delivery_agents(scope, session.id)?.len(),
        reads.deliveries(scope, &agent().name, Page { after: None, limit: 100 })?.len(),
        reads.events(scope, session.id, 0, 100)?.len(),
        usize::from(reads.idempotency_record(scope, "alice", "key")?.is_some()),
        usize::from(stats != Stats::default()),
        reads.closed_interactions(scope, at(0), None, 10)?.len(),
        usize::from(reads.open_since(scope, at(0))? > 0),
    ])
}

/// A scope of another project sees no rows of a project.
pub fn nothing_is_read_from_another_project(fixture: &Fixture) {
    let SampleProject { world, session, answered, .. } = sample_project(fixture);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let look = |scope: Scope| {
        let (session, answered) = (session.clone(), answered.clone());
        world.look(move |reads| seen(reads, &scope, &session, &answered))
    };
    assert_eq!(look(here), [1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(look(elsewhere), [0; 17]);
    let id = session.id;
    let open = world.look(move |reads| reads.open_interactions(&here, id))[0];
    assert_eq!(world.look(move |reads| reads.sealed_value(&here, open, "secrets")), Some(world.sealed(b"sealed")));
    assert_eq!(world.look(move |reads| reads.sealed_value(&elsewhere, open, "secrets")), None);
    assert_eq!(world.write(move |tx| tx.session_lock(&elsewhere, id)), Ok(None));
    let log = world.look(move |reads| reads.project_events(&elsewhere, Cursor::default(), 10));
    assert_eq!((log.events, log.hidden), (Vec::new(), false));
    assert_eq!(world.look(move |reads| reads.project_head(&elsewhere)), Cursor::default());
}

/// Writes with the scope of another project conflict and change nothing.
pub fn nothing_is_written_into_another_project(fixture: &Fixture) {
    let SampleProject { world, session, answered, key } = sample_project(fixture);
    let (here, elsewhere, id) = (world.here, world.elsewhere, session.id);
    let conflict = Err(StoreError::Conflict);

    let stolen = Session { scope: elsewhere, last_seq: 50, ..session.clone() };
    assert_eq!(world.write(move |tx| tx.session_save(&stolen)), conflict);
    let twice = Session { scope: elsewhere, ..session.clone() };
    assert_eq!(world.write(move |tx| tx.session_insert(&twice, &SessionInput::default())), conflict);
    let taken = answered.clone().take(&agent(), domain::LeaseId::from_uuid(fresh()), at(3), at(30)).unwrap().0;
    let stolen = Interaction { scope: elsewhere, ..taken };
    assert_eq!(world.write(move |tx| tx.interaction_save(&stolen)), conflict);
    let smuggled = Interaction { scope: elsewhere, ..asked(&session, json!({})) };
    assert_eq!(world.write(move |tx| tx.interaction_insert(&smuggled)), conflict);
    let step = Step::begin(session.step, id, None, at(9));
    assert_eq!(world.write(move |tx| tx.step_save(&elsewhere, &step)), conflict);
    let step = Step::begin(StepId::from_uuid(fresh()), id, None, at(9));
    assert_eq!(world.write(move |tx| tx.step_insert(&elsewhere, &step)), conflict);
    let (interaction, sealed) = (answered.id, world.sealed(b"x"));
    assert_eq!(world.write(move |tx| tx.sealed_value_insert(&elsewhere, interaction, "secrets", &sealed)), conflict);
    let event = world.look(move |reads| reads.events(&here, id, 0, 1)).remove(0);
    let event = domain::Event { seq: 2, ..event };
    assert_eq!(world.write(move |tx| tx.event_append(&elsewhere, &event)), conflict);
    assert_eq!(world.write(move |tx| tx.key_revoke(&elsewhere, key, at(9))), Ok(false));
    let open = world.look(move |reads| reads.open_interactions(&here, id))[0];
    assert_eq!(world.write(move |tx| tx.sealed_values_delete(&elsewhere, open)), Ok(()));

    let (kept, as_before) = (session.clone(), answered.clone());
    let counts = world.look(move |reads| seen(reads, &here, &kept, &as_before));
    assert_eq!(counts, [1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(world.kept(answered.id), Some(answered.clone()));
    let (kept, as_before) = (session, answered);
    assert_eq!(world.look(move |reads| seen(reads, &elsewhere, &kept, &as_before)), [0; 17]);
    assert_eq!(world.look(move |reads| reads.sealed_value(&here, open, "secrets")), Some(world.sealed(b"sealed")));
    assert_eq!(world.look(move |reads| reads.key(key)).unwrap().key.revoked_at, None);
}
