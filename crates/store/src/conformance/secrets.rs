//! Data keys, sealed values and kept secrets.

use domain::{ActorKind, DataKeyId, KeptSecret, SecretId, TenantId};
use serde_json::json;

use super::world::{Fixture, World, actor, at, fresh};
use crate::{DataKey, IdempotencyRecord, IdempotencySecret, KeptSecretValue, Page, Sealed, SealedValue, StoreError};

/// Creates a data key of a tenant.
fn data_key(tenant: TenantId, number: u32) -> DataKey {
    let id = DataKeyId::from_uuid(fresh());
    DataKey { id, tenant, number, master: "first".into(), wrapped: format!("wrapped {number}") }
}

impl World {
    fn keep_data_key(&self, number: u32) -> DataKey {
        let key = data_key(self.here.tenant, number);
        let kept = key.clone();
        assert_eq!(self.write(move |tx| tx.data_key_insert(&kept)), Ok(true));
        key
    }

    /// Creates a value under the newest key of the tenant, and inserts a key if there is none.
    pub(crate) fn sealed(&self, body: &[u8]) -> Sealed {
        let tenant = self.here.tenant;
        let newest = self.look(move |reads| reads.data_keys(tenant)).into_iter().next();
        Sealed { key: newest.unwrap_or_else(|| self.keep_data_key(1)), body: body.to_vec() }
    }

    fn kept_value(&self, agent: &str, name: &str, second: i64) -> KeptSecretValue {
        let secret = KeptSecret {
            id: SecretId::from_uuid(fresh()),
            scope: self.here,
            agent: agent.into(),
            hosted: Some(false),
            name: name.into(),
            kept_by: actor(ActorKind::User, "alice"),
            kept_at: at(second),
            used_at: None,
        };
        KeptSecretValue { secret, sealed: self.sealed(format!("{agent} {name} {second}").as_bytes()) }
    }

    fn put(&self, kept: &KeptSecretValue) {
        let kept = kept.clone();
        self.write(move |tx| tx.kept_secret_save(&kept)).unwrap();
    }
}

/// One master key is in force, and changes only from the expected one.
pub fn one_master_key_is_in_force(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    assert_eq!(world.write(|tx| tx.master_key_lock("first")), Ok("first".into()));
    assert_eq!(world.write(|tx| tx.master_key_lock("second")), Ok("first".into()));
    assert_eq!(world.write(|tx| tx.master_key_change("second", "third")), Err(StoreError::Conflict));
    world.write(|tx| tx.master_key_change("first", "second")).unwrap();
    assert_eq!(world.write(|tx| tx.master_key_lock("third")), Ok("second".into()));
}

/// The data key with the highest number is the newest, and each key is rewrapped once.
pub fn newest_data_key_has_the_highest_number(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here.tenant, world.elsewhere.tenant);
    assert_eq!(world.write(move |tx| tx.data_key_newest(here)), Ok(None));
    let (first, second) = (world.keep_data_key(1), world.keep_data_key(2));
    let (late, other) = (data_key(here, 2), data_key(elsewhere, 1));
    assert_eq!(world.write(move |tx| tx.data_key_insert(&late)), Ok(false));
    assert_eq!(world.write(move |tx| tx.data_key_insert(&other)), Ok(true));
    assert_eq!(world.write(move |tx| tx.data_key_newest(here)), Ok(Some(second.clone())));
    assert_eq!(world.look(|reads| reads.data_keys_outdated(10)), std::slice::from_ref(&first));

    let under = |master: &'static str| world.look(move |reads| reads.tenants_under_other_master_keys(master, 10));
    assert_eq!((under("first"), under("second")), (vec![], vec![here, elsewhere]));
    let rewrapped = DataKey { master: "second".into(), wrapped: "again".into(), ..first };
    let again = rewrapped.clone();
    world.write(move |tx| tx.data_key_rewrap("first", &again)).unwrap();
    let again = rewrapped.clone();
    assert_eq!(world.write(move |tx| tx.data_key_rewrap("first", &again)), Err(StoreError::Conflict));
    assert_eq!(world.look(move |reads| reads.data_keys(here)).pop(), Some(rewrapped));
    assert_eq!(under("first"), [here]);
}

/// A data key is deleted only when no value is sealed under it.
pub fn data_key_in_use_is_not_deleted(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, id) = (world.here, world.ask(&world.session(), json!({})).id);
    let (sealed, kept) = (world.sealed(b"old"), world.kept_value("deployer", "TOKEN", 1));
    let (old, body) = (sealed.key.id, kept.sealed.body.clone());
    world.write(move |tx| tx.sealed_value_insert(&here, id, "secrets", &sealed)).unwrap();
    world.put(&kept);
    let new = world.keep_data_key(2);
    let forget = || world.write(move |tx| tx.data_key_delete(old)).unwrap();
    assert!(!forget());
    let at = SealedValue { scope: here, interaction: id, name: "secrets".into(), body: b"old".to_vec() };
    assert_eq!(world.look(move |reads| reads.sealed_values_under(old, 10)), std::slice::from_ref(&at));
    let (again, to) = (SealedValue { body: b"new".to_vec(), ..at }, new.id);
    world.write(move |tx| tx.sealed_value_reseal(old, &again, to)).unwrap();
    assert_eq!(
        world.look(move |reads| reads.sealed_value(&here, id, "secrets")),
        Some(Sealed { key: new.clone(), body: b"new".to_vec() })
    );
    assert!(!forget());
    assert_eq!(world.look(move |reads| reads.kept_secrets_under(old, 10)), std::slice::from_ref(&kept));
    let again = KeptSecretValue { sealed: Sealed { key: new.clone(), body }, ..kept };
    let moved = again.clone();
    world.write(move |tx| tx.kept_secret_reseal(old, &moved)).unwrap();
    assert_eq!(world.look(move |reads| reads.kept_secrets_under(new.id, 10)), [again]);
    assert!(forget());
    assert!(!forget());
}

/// The secret of a command is stored with its idempotency record, resealed under another key, and deleted with the record.
pub fn secrets_of_idempotency_records_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, sealed) = (world.here, world.elsewhere, world.sealed(b"old"));
    let old = sealed.key.id;
    let kept = sealed.clone();
    assert_eq!(
        world.write(move |tx| tx.idempotency_secret_save(&here, "alice", "key", &kept)),
        Err(StoreError::Conflict)
    );
    let idempotency = IdempotencyRecord { digest: "sha256:1".into(), result: "1".into() };
    world.write(move |tx| tx.idempotency_insert(&here, "alice", "key", &idempotency)).unwrap();
    assert_eq!(world.look(move |reads| reads.idempotency_secret(&here, "alice", "key")), None);
    let (kept, stolen) = (sealed.clone(), sealed.clone());
    assert_eq!(
        world.write(move |tx| tx.idempotency_secret_save(&elsewhere, "alice", "key", &stolen)),
        Err(StoreError::Conflict)
    );
    world.write(move |tx| tx.idempotency_secret_save(&here, "alice", "key", &kept)).unwrap();
    assert_eq!(world.look(move |reads| reads.idempotency_secret(&here, "alice", "key")), Some(sealed.clone()));
    assert_eq!(world.look(move |reads| reads.idempotency_secret(&elsewhere, "alice", "key")), None);
    let found = IdempotencySecret { scope: here, actor: "alice".into(), key: "key".into(), sealed };
    assert_eq!(world.look(move |reads| reads.idempotency_secrets_under(old, 10)), std::slice::from_ref(&found));
    let new = world.keep_data_key(2);
    let forget = || world.write(move |tx| tx.data_key_delete(old)).unwrap();
    assert!(!forget(), "the secret of a command is sealed under the key");
    let again = IdempotencySecret { sealed: Sealed { key: new.clone(), body: b"new".to_vec() }, ..found };
    let moved = again.clone();
    world.write(move |tx| tx.idempotency_secret_reseal(old, &moved)).unwrap();
    assert_eq!(world.look(move |reads| reads.idempotency_secret(&here, "alice", "key")), Some(again.sealed.clone()));
    assert_eq!(world.look(move |reads| reads.idempotency_secrets_under(old, 10)), []);
    assert!(forget());
    let later = world.write(|tx| tx.now()).unwrap() + domain::SignedDuration::from_secs(1);
    world.write(move |tx| tx.idempotency_purge(later, 10)).unwrap();
    assert_eq!(world.look(move |reads| reads.idempotency_secrets_under(new.id, 10)), []);
    world.write(move |tx| tx.idempotency_secret_reseal(old, &again)).unwrap();
}

/// A value that is sealed while the key is replaced can be read afterwards, in either order.
pub fn nothing_is_sealed_under_a_deleted_data_key(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, session) = (world.here, world.session());
    let holder = session.id;
    world.keep_data_key(1);
    for round in 2..22 {
        let id = world.ask(&session, json!({})).id;
        std::thread::scope(|threads| {
            threads.spawn(|| {
                world
                    .write(move |tx| {
                        // Every command takes a lock; the fence does not see a transaction without one.
                        tx.session_lock(&here, holder)?;
                        let key = tx.data_key_newest(here.tenant)?.ok_or(StoreError::Conflict)?;
                        tx.sealed_value_insert(&here, id, "secrets", &Sealed { key, body: b"sealed".to_vec() })
                    })
                    .unwrap();
            });
            threads.spawn(|| {
                let (new, old) =
                    (world.keep_data_key(round).id, world.look(|reads| reads.data_keys_outdated(1)).remove(0).id);
                let moved = move |tx: &mut dyn crate::Tx| {
                    for at in tx.sealed_values_under(old, 100)? {
                        tx.sealed_value_reseal(old, &at, new)?;
                    }
                    Ok(())
                };
                let fence = world.write(|tx| tx.fence()).unwrap();
                while !world.look(move |reads| reads.is_fence_passed(fence)) {
                    std::thread::yield_now();
                }
                world.write(moved).unwrap();
                assert_eq!(world.write(move |tx| tx.data_key_delete(old)), Ok(true));
            });
        });
        assert!(
            world.look(move |reads| reads.sealed_value(&here, id, "secrets")).is_some(),
            "the value of round {round} is lost"
        );
    }
}

/// Kept secrets are read back, replaced, listed, used and deleted, only in their project.
pub fn kept_secrets_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let (token, region) = (world.kept_value("deployer", "TOKEN", 1), world.kept_value("deployer", "REGION", 2));
    let other = world.kept_value("reader", "TOKEN", 3);
    for kept in [&token, &region, &other] {
        world.put(kept);
    }
    let found = |scope, agent: &'static str| world.look(move |reads| reads.kept_secrets_for(&scope, agent));
    assert_eq!(found(here, "deployer"), [region.clone(), token.clone()]);
    assert_eq!((found(elsewhere, "deployer"), found(here, "nobody")), (vec![], vec![]));

    // The secret of a hosted agent with the same name is a different one.
    let mut hosted_secret = world.kept_value("deployer", "TOKEN", 5);
    hosted_secret.secret.hosted = Some(true);
    world.put(&hosted_secret);
    assert_eq!(found(here, "deployer").len(), 3);
    assert!(found(here, "deployer").contains(&hosted_secret));
    let forgotten = hosted_secret.secret.id;
    assert_eq!(world.write(move |tx| tx.kept_secret_delete(&here, forgotten)), Ok(true));

    let again = world.kept_value("deployer", "TOKEN", 4);
    world.put(&again);
    assert_eq!(found(here, "deployer"), [region.clone(), again.clone()]);
    let page = |scope, after, limit| world.look(move |reads| reads.kept_secrets(&scope, Page { after, limit }));
    assert_eq!(page(here, None, 2), [again.secret.clone(), other.secret.clone()]);
    assert_eq!(page(here, Some(other.secret.id), 2), std::slice::from_ref(&region.secret));
    assert_eq!(page(elsewhere, None, 10), []);

    let id = again.secret.id;
    assert_eq!(world.write(move |tx| tx.kept_secret_mark_used(&elsewhere, id, at(9))), Ok(false));
    assert_eq!(world.write(move |tx| tx.kept_secret_mark_used(&here, id, at(9))), Ok(true));
    assert_eq!(page(here, None, 1)[0].used_at, Some(at(9)));
    assert_eq!(world.write(move |tx| tx.kept_secret_delete(&elsewhere, id)), Ok(false));
    assert_eq!(world.write(move |tx| tx.kept_secret_delete(&here, id)), Ok(true));
    assert_eq!(found(here, "deployer"), [region]);
    let mut smuggled = other;
    smuggled.secret.scope.tenant = elsewhere.tenant;
    assert_eq!(world.write(move |tx| tx.kept_secret_save(&smuggled)), Err(StoreError::Conflict));
}
