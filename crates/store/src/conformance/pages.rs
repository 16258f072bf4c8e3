//! Lists of large rows: a page ends at its byte limit, and its cursor leads to every row once.

use domain::grant::Covers;
use domain::webhook::Subject;
use domain::{
    ActorKind, Definition, DefinitionKind, EventId, Grant, GrantId, InteractionId, PolicySource, PolicyVersion,
    Session, Step, StepId, Webhook, WebhookId,
};
use serde_json::{Value, json};

use super::Fixture;
use super::world::{World, actor, agent, answered, at, fresh, message, session};
use crate::{Bounded, Cursor, PAGE_BYTES, Page, SessionFilter};

/// Number of rows of each list. Two of them fit on a page.
const MANY: usize = 5;
/// Limit above the number of rows of each list.
const LIMIT: u32 = 200;

fn large() -> String {
    "x".repeat(PAGE_BYTES * 2 / 5)
}

/// Follows a list by its cursor to its end. The byte limit splits it into several pages.
fn walked<T, C: Clone>(mut page: impl FnMut(Option<C>) -> Bounded<T>, cursor: impl Fn(&T) -> C) -> Vec<C> {
    let (mut all, mut pages) = (Vec::new(), 0);
    loop {
        let found = page(all.last().cloned());
        assert!(found.bytes <= PAGE_BYTES, "a page of {} bytes", found.bytes);
        pages += 1;
        all.extend(found.iter().map(&cursor));
        if !found.more {
            assert!(pages > 1, "the list has only one page");
            return all;
        }
    }
}

/// Sessions with long reasons of their end, and steps with long outputs.
pub fn large_sessions_and_steps_come_in_pages(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let kept = [(); MANY].map(|()| {
        let note = domain::session::Note { by: agent(), at: at(1), reason: Some(large()) };
        let fresh = session(here, "chat-1", None);
        world.keep_session(fresh.control(domain::Command::Pause, note).unwrap().0)
    });
    let page =
        |after| world.look(move |reads| reads.sessions(&here, &SessionFilter::default(), Page { after, limit: LIMIT }));
    let newest: Vec<_> = kept.iter().rev().map(|session| session.id).collect();
    assert_eq!(walked(page, |session| session.id), newest);

    let Session { id, step: first, .. } = world.session();
    let mut steps = vec![first];
    for _ in 0..MANY {
        let mut step = Step::begin(StepId::from_uuid(fresh()), id, None, at(1));
        step.shared = json!({ "padding": large() });
        steps.insert(0, step.id);
        world.write(move |tx| tx.step_insert(&here, &step)).unwrap();
    }
    let page = |after| world.look(move |reads| reads.steps_page(&here, id, Page { after, limit: LIMIT }));
    assert_eq!(walked(page, |step| step.id), steps);
    let elsewhere = world.elsewhere;
    assert_eq!(world.look(move |reads| reads.steps_page(&elsewhere, id, Page::first(LIMIT))), []);
}

/// Grants with long arguments, in the list and by tool.
pub fn large_grants_come_in_pages(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let given = [(); MANY].map(|()| Grant {
        id: GrantId::from_uuid(fresh()),
        scope: here,
        session: None,
        agent: "deployer".into(),
        hosted: Some(false),
        tool: "write_file".into(),
        rule: None,
        arguments: Covers::Pattern { named: [].into(), rest: json!({ "padding": large() }) },
        until: None,
        most_uses: None,
        uses: 0,
        by: actor(ActorKind::User, "alice"),
        at: at(1),
        interaction: InteractionId::from_uuid(fresh()),
        revoked: None,
    });
    let mut ids: Vec<GrantId> = given.iter().map(|grant| grant.id).collect();
    for grant in given {
        world.write(move |tx| tx.grant_insert(&grant)).unwrap();
    }
    let page =
        |after| world.look(move |reads| reads.grants_for(&here, "write_file", at(2), Page { after, limit: LIMIT }));
    assert_eq!(walked(page, |grant| grant.id), ids);
    ids.reverse();
    let page = |after| world.look(move |reads| reads.grants(&here, false, Page { after, limit: LIMIT }));
    assert_eq!(walked(page, |grant| grant.id), ids);
}

/// Agents with long instructions, and policies with long texts.
pub fn large_definitions_and_policies_come_in_pages(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    for number in 0..MANY {
        let definition = Definition {
            kind: DefinitionKind::Agent,
            name: "guide".into(),
            version: number.to_string(),
            body: Value::from(large()),
            by: actor(ActorKind::User, "alice"),
            at: at(1),
            retired_at: None,
        };
        let version = PolicyVersion {
            version: number.to_string(),
            text: large(),
            source: PolicySource::Project,
            by: actor(ActorKind::User, "alice"),
            at: at(1),
            before: None,
        };
        world
            .write(move |tx| {
                tx.definition_insert(&here, &definition)?;
                tx.policy_version_insert(&here, &version)?;
                tx.policy_change_insert(&here, &version.change(None))
            })
            .unwrap();
    }
    let page = |after: Option<(String, String)>| {
        let wanted = move || Page { after: after.clone(), limit: LIMIT };
        world.look(move |reads| reads.definitions(&here, DefinitionKind::Agent, wanted()))
    };
    let versions: Vec<_> = (0..MANY).map(|number| ("guide".to_owned(), number.to_string())).collect();
    assert_eq!(walked(page, |one| (one.name.clone(), one.version.clone())), versions);
    let page = |after| world.look(move |reads| reads.policy_changes(&here, None, Page { after, limit: LIMIT }));
    assert_eq!(walked(page, |known| known.number), (1..=MANY as u64).rev().collect::<Vec<_>>());
}

/// Long events, by question and by project.
pub fn large_events_come_in_pages(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, Session { id, .. }) = (world.here, world.session());
    let about = InteractionId::from_uuid(fresh());
    for _ in 0..MANY {
        world
            .write(move |tx| {
                let mut session = tx.session_lock(&here, id)?.ok_or(crate::StoreError::Conflict)?;
                let event = session.record(EventId::from_uuid(fresh()), &message(large()), Some(about), at(1));
                tx.session_save(&session)?;
                tx.event_append(&here, &event)
            })
            .unwrap();
    }
    let page = |after| world.look(move |reads| reads.events_about(&here, id, about, Page { after, limit: LIMIT }));
    let about_it = walked(page, |event| event.seq);
    assert_eq!(about_it.len(), MANY);
    assert!(about_it.is_sorted());

    let (mut after, mut seen) = (Cursor::default(), Vec::new());
    while seen.len() < MANY {
        let part = world.look(move |reads| reads.project_events(&here, after, LIMIT));
        assert!(part.events.len() <= 2, "{} large events at once", part.events.len());
        // Another transaction on the same server may hold the events back.
        let Some((last, _)) = part.events.last() else { continue };
        assert!(part.more || part.hidden || seen.len() + part.events.len() == MANY);
        after = *last;
        seen.extend(part.events.iter().map(|(_, event)| event.seq));
    }
    assert_eq!(seen, about_it);
}

/// Long answers, in the unsent answers of a webhook and in the statistics.
pub fn large_answers_come_in_pages(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, session) = (world.here, world.session());
    let webhook = Webhook {
        id: WebhookId::from_uuid(fresh()),
        scope: here,
        url: "https://hooks.example.com/".into(),
        subject: Subject::Answers { agent: agent().name },
        description: Some(large()),
        created_by: actor(ActorKind::User, "root"),
        created_at: at(0),
        disabled: None,
        failures: 0,
    };
    let mut hooks = Vec::new();
    for _ in 0..MANY {
        let kept = Webhook { id: WebhookId::from_uuid(fresh()), ..webhook.clone() };
        hooks.insert(0, kept.id);
        world.write(move |tx| tx.webhook_insert(&kept, Cursor::default())).unwrap();
    }
    let page = |after| world.look(move |reads| reads.webhooks(&here, Page { after, limit: LIMIT }));
    assert_eq!(walked(page, |webhook| webhook.id), hooks);

    let answers = [(); MANY].map(|()| {
        let asked = world.ask(&session, json!({ "kind": "question", "context": { "padding": large() } }));
        let mut answer = answered(&asked, "alice", at(5));
        if let domain::State::Resolved { resolution: domain::Resolution::Answered { answer, .. }, .. } =
            &mut answer.state
        {
            answer.data = Value::from(large());
        }
        world.keep(&[&answer]);
        answer.id
    });
    let (id, name) = (hooks[0], agent().name);
    let unsent = world.look(move |reads| reads.answers_unsent(&here, id, &name, LIMIT));
    assert!(unsent.more && !unsent.is_empty() && unsent.len() < MANY, "{}", unsent.len());
    let page = |after| world.look(move |reads| reads.closed_interactions(&here, at(0), after, LIMIT));
    let closed = walked(page, |closed| (closed.resolved_at, closed.id));
    assert_eq!(closed.into_iter().map(|(_, id)| id).collect::<Vec<_>>(), answers);
}
