//! Tests the secrets that commands return: random, identical for a repeated command within a day, and never stored in plain text.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::{Caller, Role, WebhookId};
use holdpoint_engine::{Error, Idempotency, NewKey, NewUser};

use crate::engine::both::{Fixture, on_both};
use crate::engine::webhooks::{URL, all_events, new};

fn idempotency(key: &str) -> Option<Idempotency> {
    Some(Idempotency::new(key.into(), "POST /v1/test", b"{}"))
}

/// Every command that returns a secret.
const COMMANDS: [&str; 5] = ["key", "link", "ticket", "webhook", "rotation"];

/// Runs a command under its idempotency key, and returns the text with the secret.
async fn run_command(fixture: &Fixture, root: &Caller, webhook: WebhookId, command: &str) -> String {
    let (engine, idempotency) = (&fixture.world.engine, idempotency(command));
    match command {
        "key" => {
            let new = NewKey::named(Role::Viewer, "dora");
            engine.key_create(root, new, idempotency).await.unwrap().1
        }
        "link" => engine.user_link(root, "carol", idempotency).await.unwrap().0,
        "ticket" => engine.ticket_create(root, idempotency).await.unwrap().0,
        "webhook" => engine.webhook_create(root, new(URL, all_events()), idempotency).await.unwrap().1,
        "rotation" => engine.webhook_rotate(root, webhook, None, idempotency).await.unwrap().1,
        other => unreachable!("{other}"),
    }
}

async fn prepare_root_and_webhook(fixture: &Fixture) -> (Caller, WebhookId) {
    let engine = &fixture.world.engine;
    let root = fixture.world.caller(Role::Admin, "root").await;
    let carol =
        NewUser { name: "carol".into(), display: None, role: Role::Viewer, groups: Vec::new(), join_keys: false };
    engine.user_create(&root, carol, None).await.unwrap();
    let (webhook, _) = engine.webhook_create(&root, new(URL, all_events()), None).await.unwrap();
    (root, webhook.id)
}

/// Secret part of a credential.
fn secret(text: &str) -> &str {
    text.rsplit('_').next().unwrap()
}

#[test]
fn repeated_command_returns_its_secret_for_a_day_and_then_a_new_one() {
    on_both(async |fixture| {
        let (root, webhook) = prepare_root_and_webhook(fixture).await;
        for command in COMMANDS {
            let first = run_command(fixture, &root, webhook, command).await;
            assert_eq!(run_command(fixture, &root, webhook, command).await, first, "{command}: repeated");
            // Housekeeping deletes the records after a day.
            fixture.raw.execute("delete from idempotency_records");
            let second = run_command(fixture, &root, webhook, command).await;
            assert_ne!(secret(&second), secret(&first), "{command}: given anew");
            assert_eq!(run_command(fixture, &root, webhook, command).await, second, "{command}: repeated");
        }
        fixture.pass(24 * 3600 + 1);
        fixture.world.engine.run_housekeeping_once().await.unwrap();
        assert_eq!(
            fixture.raw.texts("select result from idempotency_records"),
            [""; 0],
            "the sealed secret is deleted with its record"
        );
    });
}

/// A repeated command after a day creates a key with another secret, so that a leaked and revoked secret does not become valid again.
#[test]
fn recreated_key_has_a_new_secret() {
    on_both(async |fixture| {
        let (root, webhook) = prepare_root_and_webhook(fixture).await;
        let leaked = run_command(fixture, &root, webhook, "key").await;
        fixture.raw.execute("delete from idempotency_records");
        let fresh = run_command(fixture, &root, webhook, "key").await;
        let forged = format!("{}_{}", fresh.rsplit_once('_').unwrap().0, secret(&leaked));
        assert_eq!(fixture.world.engine.authenticate(&forged).await.err(), Some(Error::Unauthenticated));
        assert_eq!(fixture.world.engine.authenticate(&fresh).await.unwrap().actor.name, "dora");
    });
}

#[test]
fn idempotency_records_contain_no_secret_in_plain_text() {
    on_both(async |fixture| {
        let (root, webhook) = prepare_root_and_webhook(fixture).await;
        let mut texts = Vec::new();
        for command in COMMANDS {
            texts.push(run_command(fixture, &root, webhook, command).await);
        }
        let raw = &fixture.raw;
        let mut kept = raw.texts(raw.either(
            "select lower(hex(secret)) from idempotency_records",
            "select encode(secret, 'hex') from idempotency_records",
        ));
        assert_eq!(kept.len(), COMMANDS.len());
        kept.extend(raw.texts("select actor || key || digest || result from idempotency_records"));
        for text in &texts {
            let bytes = BASE64_STANDARD.decode(secret(text)).unwrap_or_default();
            let plain = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            for kept in &kept {
                let shown = kept.contains(secret(text)) || (!plain.is_empty() && kept.contains(&plain));
                assert!(!shown, "{text} is in {kept}");
            }
        }
        // The sealed secret is bound to its record: moved to another record, it cannot be unsealed.
        let moved = "update idempotency_records set secret = (select other.secret from idempotency_records as other where other.key = 'link') \
                     where key = 'ticket'";
        raw.execute(moved);
        assert_eq!(fixture.world.engine.ticket_create(&root, idempotency("ticket")).await, Err(Error::Sealed));
    });
}

/// A record of an earlier version has no stored secret: the repeated command derives the secret from the command, as that version did.
#[test]
fn record_of_an_earlier_version_still_returns_its_secret() {
    on_both(async |fixture| {
        let (root, webhook) = prepare_root_and_webhook(fixture).await;
        run_command(fixture, &root, webhook, "ticket").await;
        fixture.raw.execute("update idempotency_records set data_key = null, secret = null");
        let first = run_command(fixture, &root, webhook, "ticket").await;
        assert_eq!(run_command(fixture, &root, webhook, "ticket").await, first);
    });
}
