//! Webhooks: leases, due deliveries, and the record of deliveries.

use domain::webhook::delivery::{About, Attempt};
use domain::webhook::{Disabled, Subject};
use domain::{
    ActorKind, DataKeyId, LeaseId, SignedDuration, Timestamp, Webhook, WebhookDelivery, WebhookDeliveryId,
    WebhookDeliveryState, WebhookId,
};
use serde_json::json;

use super::world::{Fixture, World, actor, agent, answered, append, at, fresh};
use crate::{Cursor, DataKey, DueWebhook, Page, Sealed, StoreError, WebhookLease, WebhookSecret};

impl World {
    fn webhook(&self) -> Webhook {
        let webhook = Webhook {
            id: WebhookId::from_uuid(fresh()),
            scope: self.here,
            url: "https://hooks.example.com/".into(),
            subject: Subject::Events { types: vec!["*".into()], agent: Some("deployer".into()), session: None },
            description: Some("A line".into()),
            created_by: actor(ActorKind::User, "root"),
            created_at: at(0),
            disabled: None,
            failures: 3,
        };
        let (kept, here) = (webhook.clone(), self.here);
        self.write(move |tx| {
            let head = tx.project_head(&here)?;
            tx.webhook_insert(&kept, head)
        })
        .unwrap();
        webhook
    }

    fn delivery(&self, webhook: &Webhook, about: About, second: i64) -> WebhookDelivery {
        let id = WebhookDeliveryId::from_uuid(fresh());
        let delivery = WebhookDelivery::new(id, webhook.id, "webhook.test".into(), about, at(second));
        let (kept, here) = (delivery.clone(), self.here);
        self.write(move |tx| tx.webhook_delivery_insert(&here, &kept)).unwrap();
        delivery
    }

    fn due(&self, now: Timestamp) -> Vec<WebhookId> {
        let due = self.look(move |reads| reads.webhooks_due(now, 10));
        assert!(due.iter().all(|due| due.scope == self.here));
        due.into_iter().map(|due| due.webhook).collect()
    }

    fn pending(&self, webhook: &Webhook) -> (u64, Option<Timestamp>) {
        let id = webhook.id;
        self.look(move |reads| reads.webhook_backlog(id))
    }
}

fn whole<I>() -> Page<I> {
    Page { after: None, limit: 100 }
}

fn hold(second: i64) -> WebhookLease {
    WebhookLease { lease: LeaseId::from_uuid(fresh()), until: at(second) }
}

/// Webhooks are listed, saved and deleted, only in their project.
pub fn webhooks_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let (first, second) = (world.webhook(), world.webhook());
    let twice = first.clone();
    assert!(world.write(move |tx| tx.webhook_insert(&twice, Cursor::default())).is_err());
    assert_eq!(world.look(move |reads| reads.webhooks(&here, whole())), [second.clone(), first.clone()]);
    let (id, after) = (first.id, Some(second.id));
    assert_eq!(world.look(move |reads| reads.webhooks(&here, Page { after, limit: 5 })), std::slice::from_ref(&first));
    assert_eq!(world.look(move |reads| reads.webhook_count(&here)), 2);
    let there = move |reads: &mut dyn crate::Reads| {
        Ok((
            reads.webhooks(&elsewhere, whole())?.into_vec(),
            reads.webhook(&elsewhere, id)?,
            reads.webhook_count(&elsewhere)?,
        ))
    };
    assert_eq!(world.look(there), (vec![], None, 0));

    let disabled = Some(Disabled { at: at(9), reason: "gone".into() });
    let changed = Webhook { disabled, failures: 0, ..first };
    let saved = changed.clone();
    world.write(move |tx| tx.webhook_save(&saved)).unwrap();
    assert_eq!(world.write(move |tx| tx.webhook_lock(&here, id)), Ok(Some(changed.clone())));
    assert_eq!(world.due(at(100)), [second.id], "a disabled webhook is not due");
    let stolen = Webhook { scope: elsewhere, ..changed };
    assert_eq!(world.write(move |tx| tx.webhook_save(&stolen)), Err(StoreError::Conflict));
    assert_eq!(world.write(move |tx| tx.webhook_delete(&elsewhere, id, at(10))), Ok(false));
    assert_eq!(world.write(move |tx| tx.webhook_delete(&here, id, at(10))), Ok(true));
    assert_eq!(world.write(move |tx| tx.webhook_delete(&here, id, at(10))), Ok(false));
    assert_eq!(world.look(move |reads| reads.webhook(&here, id)), None);
}

/// One node at a time has the lease of a webhook; the webhook is due at its time, or when there are new events.
pub fn webhook_lease_has_one_holder(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, webhook, session) = (world.here, world.webhook(), world.session());
    let due = DueWebhook { scope: here, webhook: webhook.id };
    assert_eq!((world.due(at(-1)), world.due(at(0))), (vec![], vec![webhook.id]));
    let (mine, theirs) = (hold(60), hold(70));
    assert_eq!(world.write(move |tx| tx.webhook_claim(&due, &mine, at(1))), Ok(true));
    assert_eq!(world.write(move |tx| tx.webhook_claim(&due, &theirs, at(59))), Ok(false));
    assert_eq!(world.due(at(59)), []);
    assert_eq!(world.due(at(60)), [webhook.id], "a webhook with an expired lease is due");
    let held = |hold| world.write(move |tx| tx.webhook_lease_extend(&due, &hold)).unwrap();
    assert_eq!(held(theirs), None);
    assert_eq!(held(WebhookLease { until: at(65), ..mine }), Some((webhook.clone(), Cursor::default())));
    assert_eq!(world.write(move |tx| tx.webhook_claim(&due, &theirs, at(64))), Ok(false));
    assert_eq!(world.write(move |tx| tx.webhook_claim(&due, &theirs, at(65))), Ok(true));
    assert_eq!(held(mine), None, "the lease was lost");

    let id = session.id;
    world.write(move |tx| append(tx, &here, id, None)).unwrap();
    let release = |at, back| world.write(move |tx| tx.webhook_release(&due, theirs.lease, at, back)).unwrap();
    let claim = || assert_eq!(world.write(move |tx| tx.webhook_claim(&due, &theirs, at(80))), Ok(true));
    release(None, false);
    assert_eq!(world.due(at(1)), [webhook.id], "the webhook is due after a new event");
    claim();
    release(Some(at(90)), true);
    assert_eq!((world.due(at(89)), world.due(at(90))), (vec![], vec![webhook.id]));
    world.write(move |tx| tx.webhook_wake(&here, due.webhook, at(40))).unwrap();
    assert_eq!((world.due(at(39)), world.due(at(40))), (vec![], vec![webhook.id]));
    claim();
    let moved = || {
        world.write(move |tx| {
            let (_, cursor) = tx.webhook_lease_extend(&due, &theirs)?.ok_or(StoreError::Conflict)?;
            assert_eq!(cursor, Cursor::default());
            let events = tx.project_events(&here, cursor, 10)?.events;
            let Some((last, _)) = events.last() else { return Ok(false) };
            tx.webhook_cursor_save(&due, *last)?;
            Ok(true)
        })
    };
    // While another transaction runs on the server, committed events may stay hidden.
    while !moved().unwrap() {
        std::thread::yield_now();
    }
    release(None, false);
    assert_eq!(world.due(at(1000)), [], "a webhook without new events is not due");
    world.write(move |tx| append(tx, &here, id, None)).unwrap();
    assert_eq!(world.due(at(1000)), [webhook.id]);
    assert_eq!(held(theirs), None, "the lease was released");
}

/// One of many nodes that claim the same webhook gets it.
pub fn one_of_six_concurrent_claims_gets_a_webhook(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    for _ in 0..10 {
        let due = DueWebhook { scope: world.here, webhook: world.webhook().id };
        let claimed: Vec<bool> = std::thread::scope(|threads| {
            let node = || world.write(move |tx| tx.webhook_claim(&due, &hold(60), at(1))).unwrap();
            let nodes: Vec<_> = (0..6).map(|_| threads.spawn(node)).collect();
            nodes.into_iter().map(|node| node.join().unwrap()).collect()
        });
        assert_eq!(claimed.iter().filter(|claimed| **claimed).count(), 1);
    }
}

/// Deliveries are due in order, and are settled, listed and purged.
pub fn webhook_deliveries_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, webhook) = (world.here, world.elsewhere, world.webhook());
    let id = webhook.id;
    let (late, early) = (world.delivery(&webhook, About::Test, 20), world.delivery(&webhook, About::Test, 10));
    world.delivery(&world.webhook(), About::Test, 1);
    assert_eq!(world.pending(&webhook), (2, Some(at(10))));
    let due = |second, limit| world.look(move |reads| reads.webhook_deliveries_due(id, at(second), limit));
    assert_eq!((due(9, 5), due(10, 5)), (vec![], vec![early.clone()]));
    assert_eq!((due(20, 5), due(20, 1)), (vec![early.clone(), late.clone()], vec![early.clone()]));

    let attempt = Attempt { at: at(11), status: Some(200), note: "fine".into(), millis: 7 };
    let done = early.record_attempt(attempt, None, 0, at(12));
    let saved = done.clone();
    world.write(move |tx| tx.webhook_delivery_save(&here, &saved)).unwrap();
    let stolen = done.clone();
    assert_eq!(world.write(move |tx| tx.webhook_delivery_save(&elsewhere, &stolen)), Err(StoreError::Conflict));
    let smuggled = WebhookDelivery { id: WebhookDeliveryId::from_uuid(fresh()), ..late.clone() };
    assert_eq!(world.write(move |tx| tx.webhook_delivery_insert(&elsewhere, &smuggled)), Err(StoreError::Conflict));
    assert_eq!(world.pending(&webhook), (1, Some(at(20))));
    let listed = |state, page| world.look(move |reads| reads.webhook_deliveries(&here, id, state, page));
    assert_eq!(listed(None, whole()), [done.clone(), late.clone()]);
    assert_eq!(listed(None, Page { after: Some(done.id), limit: 1 }), std::slice::from_ref(&late));
    assert_eq!(
        (listed(Some(WebhookDeliveryState::Delivered), whole()), listed(Some(WebhookDeliveryState::Dead), whole())),
        (vec![done.clone()], vec![])
    );
    assert_eq!(world.look(move |reads| reads.webhook_deliveries(&elsewhere, id, None, whole())), []);
    let one = |scope, of| world.look(move |reads| reads.webhook_delivery(&scope, id, of));
    assert_eq!((one(here, done.id), one(elsewhere, done.id)), (Some(done.clone()), None));

    let purge = |second| world.write(move |tx| tx.webhook_deliveries_purge(at(second), 10)).unwrap();
    assert_eq!((purge(11), purge(12), purge(12)), (0, 1, 0));
    assert_eq!(listed(None, whole()), [late], "pending deliveries are not purged");
    assert_eq!(world.write(move |tx| tx.webhook_delete(&here, id, at(30))), Ok(true));
    assert_eq!(world.pending(&webhook), (0, None));
    assert_eq!((purge(29), purge(30)), (0, 1));
}

/// An answer gets one delivery each time that it is offered, and none while its session is paused.
pub fn answer_gets_one_delivery_each_time_it_is_offered(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, webhook, session) = (world.here, world.webhook(), world.session());
    let waiting = answered(&world.ask(&session, json!({})), "alice", at(5));
    world.keep(&[&waiting]);
    world.ask(&session, json!({}));
    let (id, name) = (webhook.id, agent().name);
    let unsent = |of: &str| {
        let of = of.to_owned();
        world.look(move |reads| reads.answers_unsent(&here, id, &of, 10))
    };
    assert_eq!(unsent(&name), std::slice::from_ref(&waiting));
    assert_eq!(unsent("other"), []);
    let about = |revision| About::Answer { interaction: waiting.id, revision, lease: LeaseId::from_uuid(fresh()) };
    world.delivery(&webhook, about(waiting.revision), 6);
    assert_eq!(unsent(&name), []);
    let again = WebhookDelivery::new(
        WebhookDeliveryId::from_uuid(fresh()),
        id,
        "answer.waiting".into(),
        about(waiting.revision),
        at(7),
    );
    assert!(world.write(move |tx| tx.webhook_delivery_insert(&here, &again)).is_err());
    let other = world.webhook().id;
    let theirs = name.clone();
    assert_eq!(world.look(move |reads| reads.answers_unsent(&here, other, &theirs, 10)).len(), 1);

    let lease = LeaseId::from_uuid(fresh());
    let taken = waiting.clone().take(&agent(), lease, at(8), at(80)).unwrap().0;
    let offered = taken.clone().fail(lease, "no luck".into(), true, at(9)).unwrap().0;
    world.keep(&[&taken, &offered]);
    assert_eq!(unsent(&name), [offered], "the answer is offered again");
    let pause = domain::session::Note { by: agent(), at: at(10), reason: None };
    let kept = world.look({
        let id = session.id;
        move |reads| reads.session(&here, id)
    });
    let paused = kept.unwrap().control(domain::Command::Pause, pause).unwrap().0;
    world.write(move |tx| tx.session_save(&paused)).unwrap();
    assert_eq!(unsent(&name), []);
}

/// Secrets are found by webhook and by data key, expire, and keep their data key from being deleted.
pub fn webhook_secrets_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, webhook) = (world.here, world.elsewhere, world.webhook());
    let id = webhook.id;
    let sealed = world.sealed(b"first");
    let old = sealed.key.id;
    let secret = |number, sealed| WebhookSecret { scope: here, webhook: id, number, until: None, sealed };
    let (first, second) = (secret(1, sealed), secret(2, world.sealed(b"second")));
    let (one, two) = (first.clone(), second.clone());
    world
        .write(move |tx| {
            tx.webhook_secret_insert(&one)?;
            tx.webhook_secrets_expire(&elsewhere, id, at(1))?;
            tx.webhook_secrets_expire(&here, id, at(50))?;
            tx.webhook_secrets_expire(&here, id, at(60))?;
            tx.webhook_secret_insert(&two)
        })
        .unwrap();
    let ended = WebhookSecret { until: Some(at(50)), ..first };
    let secrets = |scope| world.look(move |reads| reads.webhook_secrets(&scope, id));
    assert_eq!((secrets(here), secrets(elsewhere)), (vec![second.clone(), ended.clone()], vec![]));
    let under = |key: DataKeyId| world.look(move |reads| reads.webhook_secrets_under(key, 10));
    assert_eq!(under(old), [ended, second.clone()]);

    let purge = |second| world.write(move |tx| tx.webhook_secrets_purge(at(second), 10)).unwrap();
    assert_eq!((purge(49), purge(50)), (0, 1));
    let key = DataKey { id: DataKeyId::from_uuid(fresh()), number: 2, ..second.sealed.key.clone() };
    let (kept, new) = (key.clone(), key.id);
    assert_eq!(world.write(move |tx| tx.data_key_insert(&kept)), Ok(true));
    let forget = || world.write(move |tx| tx.data_key_delete(old)).unwrap();
    assert!(!forget(), "a secret is sealed under the key");
    let again = WebhookSecret { sealed: Sealed { key, body: b"again".to_vec() }, ..second };
    let moved = again.clone();
    world.write(move |tx| tx.webhook_secret_reseal(old, &moved)).unwrap();
    assert_eq!((under(old), under(new)), (vec![], vec![again]));
    assert!(forget());
    assert_eq!(world.write(move |tx| tx.webhook_delete(&here, id, at(60))), Ok(true));
    assert_eq!(secrets(here), []);
}

/// The archive lists all questions in both directions, each with its events.
pub fn archived_questions_are_listed_in_order(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, session) = (world.here, world.elsewhere, world.session());
    let withdrawn = |second| {
        let asked = world.ask(&session, json!({}));
        let (id, about) = (session.id, asked.id);
        world.write(move |tx| append(tx, &here, id, Some(about))).unwrap();
        let after = asked.cancel(agent(), "no".into(), at(5) + SignedDuration::from_secs(second)).unwrap().0;
        world.keep(&[&after]);
        after
    };
    let [first, second, third] = [3, 2, 1].map(withdrawn);
    world.write(|tx| tx.archive(at(100), 10)).unwrap();
    let open = world.ask(&session, json!({}));
    let read = |scope, page| world.look(move |reads| reads.archived_interactions(&scope, page));
    assert_eq!(read(here, whole()), [first.clone(), second.clone(), third.clone()]);
    assert_eq!(read(here, Page { after: Some(first.id), limit: 1 }), std::slice::from_ref(&second));
    assert_eq!(read(here, Page { after: Some(third.id), limit: 10 }), []);
    assert_eq!(read(elsewhere, whole()), []);
    let back = |scope, page| world.look(move |reads| reads.archived_interactions_newest(&scope, page));
    assert_eq!(back(here, whole()), [third.clone(), second.clone(), first.clone()]);
    assert_eq!(back(here, Page { after: Some(third.id), limit: 1 }), std::slice::from_ref(&second));
    assert_eq!(back(here, Page { after: Some(first.id), limit: 10 }), []);
    assert_eq!(back(elsewhere, whole()), []);
    let (id, about, none) = (session.id, second.id, open.id);
    let events = |scope, about| world.look(move |reads| reads.events_about(&scope, id, about, whole()));
    assert_eq!(
        events(here, about).iter().map(|event| (event.seq, event.interaction)).collect::<Vec<_>>(),
        [(2, Some(about))]
    );
    assert_eq!(events(here, none), []);
    assert_eq!(events(elsewhere, about), []);
    assert_eq!(world.look(move |reads| reads.events_about(&here, id, about, Page { after: Some(2), limit: 9 })), []);
}
