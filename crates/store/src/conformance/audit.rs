//! The audit trail: entries are read back as written, and each gets one link in the chain of its tenant.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use domain::audit::chain::{BEGINNING, ChainHead, Signer, link};
use domain::audit::{Entry, How, Written};
use domain::{Actor, ActorKind, EntryId, EntryPoint, InteractionId, Scope, SessionId, TenantId};
use serde_json::json;

use super::Fixture;
use super::world::{World, actor, append, at, fresh};
use crate::{AuditFilter, ChainLink, ChainedEntry, EntryColumns, Page, StoreError, StoreResult, Tx, UnchainedEntry};

/// Time limit that even a slow machine does not reach.
const LIMIT: Duration = Duration::from_mins(2);

fn entry(scope: Scope, name: &str, by: Actor, second: i64) -> Entry {
    Entry {
        id: EntryId::from_uuid(fresh()),
        scope,
        at: at(second),
        name: name.into(),
        by,
        how: How::by(EntryPoint::Cli),
        session: None,
        event: None,
        interaction: None,
        data: json!({ "text": "\u{0}, ü and 0.30000000000000004" }),
    }
}

fn person(name: &str) -> Actor {
    actor(ActorKind::User, name)
}

/// Links unchained entries as the engine does, and returns how many.
pub fn chain(tx: &mut dyn Tx, limit: u32) -> StoreResult<usize> {
    tx.audit_lock()?;
    let loose = tx.audit_unchained_entries(limit)?;
    let Some(last) = loose.last().map(|loose| loose.cursor) else { return Ok(0) };
    let count = loose.len();
    let mut chains: BTreeMap<TenantId, Vec<UnchainedEntry>> = BTreeMap::new();
    for loose in loose {
        chains.entry(loose.tenant).or_default().push(loose);
    }
    for (tenant, loose) in chains {
        let ChainHead { mut seq, mut hash, .. } = tx.audit_head(tenant)?;
        let linked = loose.into_iter().map(|loose| {
            seq += 1;
            hash = link(tenant, seq, hash, loose.digest);
            ChainLink { entry: loose, seq, hash }
        });
        let links: Vec<ChainLink> = linked.collect();
        tx.audit_chain_append(tenant, &links)?;
    }
    tx.audit_chained_upto_save(last)?;
    Ok(count)
}

/// Links until so many entries are linked: another transaction on the same server may delay them.
fn chain_all(world: &World, mut wanted: usize) {
    let begun = Instant::now();
    while wanted > 0 {
        wanted -= world.write(|tx| chain(tx, 7)).unwrap();
        assert!(begun.elapsed() < LIMIT, "{wanted} entries were not linked in time");
    }
    assert_eq!(
        world.look(|reads| reads.audit_unchained_entries(10)),
        [],
        "more entries are unlinked than were written"
    );
}

/// Returns another project of the same tenant.
fn neighbour(world: &World) -> Scope {
    let here = world.here;
    world
        .write(move |tx| {
            let fresh = Scope { project: domain::ProjectId::from_uuid(fresh()), ..here };
            tx.scope_ensure("here", "another", fresh)
        })
        .unwrap()
}

/// Entries are listed by each filter, page by page, only in their project; the chain covers all projects of the tenant.
pub fn audit_entries_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, beside) = (world.here, world.elsewhere, neighbour(&world));
    assert_eq!(world.look(|reads| reads.tenant("here")), Some(here.tenant));
    assert_eq!(world.look(|reads| reads.tenant("nowhere")), None);
    assert_eq!(world.look(move |reads| reads.first_project(here.tenant)), Some(here.project.min(beside.project)));
    assert_eq!(world.look(|reads| reads.first_project(TenantId::from_uuid(fresh()))), None);
    assert_eq!(world.look(move |reads| reads.audit_head(here.tenant)), ChainHead::default());
    let (session, question) = (SessionId::from_uuid(fresh()), InteractionId::from_uuid(fresh()));
    let written: Vec<Written> = [
        entry(here, "key.created", person("root"), 1),
        Entry { session: Some(session), ..entry(here, "session.started", person("bot"), 2) },
        Entry { session: Some(session), interaction: Some(question), ..entry(here, "a.b", person("bot"), 3) },
        entry(beside, "key.created", person("root"), 4),
        Entry { session: Some(session), interaction: Some(question), ..entry(here, "a.c", person("alice"), 5) },
        entry(elsewhere, "key.created", person("root"), 6),
    ]
    .map(Entry::written)
    .to_vec();
    let kept = written.clone();
    world.write(move |tx| kept.iter().try_for_each(|written| tx.audit_append(written))).unwrap();
    chain_all(&world, written.len());

    let listed = |scope: Scope, filter: AuditFilter, page: Page<u64>| -> Vec<u64> {
        let found = world.look(move |reads| reads.audit_entries(&scope, &filter, page));
        found.iter().map(|entry| entry.seq).collect()
    };
    let all = AuditFilter::default;
    let whole = Page { after: None, limit: 100 };
    let rows = [
        (all(), vec![1, 2, 3, 5]),
        (AuditFilter { name: Some("key.created".into()), ..all() }, vec![1]),
        (AuditFilter { by: Some("bot".into()), ..all() }, vec![2, 3]),
        (AuditFilter { session: Some(session), ..all() }, vec![2, 3, 5]),
        (AuditFilter { interaction: Some(question), ..all() }, vec![3, 5]),
        (AuditFilter { session: Some(session), interaction: Some(question), by: Some("bot".into()), ..all() }, vec![3]),
        (AuditFilter { since: Some(at(2)), ..all() }, vec![2, 3, 5]),
        (AuditFilter { since: Some(at(2)), until: Some(at(3)), ..all() }, vec![2]),
        (AuditFilter { session: Some(SessionId::from_uuid(fresh())), ..all() }, vec![]),
        (AuditFilter { newest: true, ..all() }, vec![5, 3, 2, 1]),
        (AuditFilter { newest: true, session: Some(session), by: Some("bot".into()), ..all() }, vec![3, 2]),
    ];
    for (filter, expected) in rows {
        assert_eq!(listed(here, filter.clone(), whole), expected, "{filter:?}");
    }
    assert_eq!(listed(here, all(), Page { after: Some(1), limit: 2 }), [2, 3]);
    assert_eq!(listed(here, all(), Page { after: Some(3), limit: 2 }), [5]);
    let newest = AuditFilter { newest: true, ..all() };
    assert_eq!(listed(here, newest.clone(), Page { after: Some(5), limit: 2 }), [3, 2]);
    assert_eq!(listed(here, newest, Page { after: Some(2), limit: 2 }), [1]);
    assert_eq!(listed(beside, all(), whole), [4]);
    assert_eq!(listed(elsewhere, all(), whole), [1]);
    assert_eq!(listed(beside, AuditFilter { session: Some(session), ..all() }, whole), [0; 0]);
    chain_comes_back(&world, &written, beside);
}

/// The chain of a tenant has the entries of all its projects.
fn chain_comes_back(world: &World, written: &[Written], beside: Scope) {
    let here = world.here;
    let whole = Page { after: None, limit: 100 };
    let chain = world.look(move |reads| reads.audit_chain(here.tenant, whole));
    let kept = chain.iter().map(|chained| (&chained.text, chained.digest, chained.filed.clone()));
    let expected = written[..5].iter().map(|written| (&written.text, written.digest, EntryColumns::of(&written.entry)));
    assert_eq!(kept.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let chain = world.look(move |reads| reads.audit_chain(here.tenant, Page { after: Some(2), limit: 2 }));
    assert_eq!(chain.iter().map(|chained| chained.seq).collect::<Vec<_>>(), [3, 4]);
    let listed = world.look(move |reads| reads.audit_entries(&beside, &AuditFilter::default(), whole));
    assert_eq!(
        listed.iter().map(|chained| chained.filed.clone()).collect::<Vec<_>>(),
        [EntryColumns::of(&written[3].entry)]
    );
}

/// Checkpoints are read back, the head of a chain records the signed number, and a number is signed once.
pub fn checkpoints_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, tenant) = (world.here, world.here.tenant);
    let signer = Signer::from_secret(&[7; 32]);
    let whole = Page { after: None, limit: 100 };
    let mut signed = Vec::new();
    for (number, entries) in [(1, 0), (2, 3), (3, 1)] {
        world
            .write(move |tx| {
                (0..entries).try_for_each(|_| tx.audit_append(&entry(here, "a.b", person("x"), 1).written()))
            })
            .unwrap();
        chain_all(&world, entries);
        let waiting = if entries == 0 { vec![] } else { vec![tenant] };
        assert_eq!(world.look(|reads| reads.audit_unsigned_tenants(at(100))), waiting);
        let head = world.look(move |reads| reads.audit_head(tenant));
        let checkpoint = signer.checkpoint(tenant, &head, at(number));
        let (kept, again) = (checkpoint.clone(), checkpoint.clone());
        world.write(move |tx| tx.audit_sign(tenant, &kept, at(number))).unwrap();
        assert_eq!(world.write(move |tx| tx.audit_sign(tenant, &again, at(9))), Err(StoreError::Conflict));
        assert_eq!(world.look(|reads| reads.audit_unsigned_tenants(at(100))), []);
        signed.push(checkpoint);
    }
    assert_eq!(world.look(move |reads| reads.audit_checkpoints(tenant, whole)), signed);
    assert_eq!(
        world.look(move |reads| reads.audit_checkpoints(tenant, Page { after: Some(3), limit: 1 })),
        signed[2..]
    );
    let head = world.look(move |reads| reads.audit_head(tenant));
    assert_eq!((head.seq, head.signed_seq, head.signed_at), (4, 4, Some(at(3))));
    world.write(move |tx| tx.audit_append(&entry(here, "a.b", person("x"), 1).written())).unwrap();
    chain_all(&world, 1);
    assert_eq!(world.look(|reads| reads.audit_unsigned_tenants(at(2))), [], "the chains were signed after that time");
    assert_eq!(world.look(|reads| reads.audit_unsigned_tenants(at(3))), [tenant]);
    let elsewhere = world.elsewhere.tenant;
    assert_eq!(world.look(move |reads| reads.audit_checkpoints(elsewhere, whole)), []);
}

/// Ten writers in two tenants and two linkers: each entry gets one link, without gaps, and entries of a session keep their order.
pub fn audit_chains_have_no_gaps(fixture: &Fixture) {
    const WRITERS: usize = 10;
    const EACH: usize = 30;
    let world = World::on(&fixture.store);
    let sessions: Vec<SessionId> = (0..4).map(|_| world.session().id).collect();
    let ids = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (world, sessions) = (&world, &sessions);
                scope.spawn(move || {
                    (0..EACH).map(|turn| write(world, sessions, writer * EACH + turn)).collect::<Vec<_>>()
                })
            })
            .collect();
        let chainers: Vec<_> = (0..2)
            .map(|_| {
                let world = &world;
                scope.spawn(move || {
                    let begun = Instant::now();
                    while done(world) < WRITERS * EACH {
                        world.write(|tx| chain(tx, 11)).unwrap();
                        assert!(begun.elapsed() < LIMIT, "{} entries in {LIMIT:?}", done(world));
                    }
                })
            })
            .collect();
        for chainer in chainers {
            chainer.join().unwrap();
        }
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<HashSet<EntryId>>()
    });
    assert_eq!(world.look(|reads| reads.audit_unchained_entries(10)), []);
    let mut seen = HashSet::new();
    for tenant in [world.here.tenant, world.elsewhere.tenant] {
        let mut hash = BEGINNING;
        let mut events: BTreeMap<SessionId, u64> = BTreeMap::new();
        for (number, chained) in chain_of(&world, tenant).into_iter().enumerate() {
            assert_eq!(chained.seq, number as u64 + 1);
            hash = link(tenant, chained.seq, hash, chained.digest);
            assert_eq!(chained.hash, hash);
            let entry: Entry = serde_json::from_str(&chained.text).unwrap();
            assert_eq!(entry.scope.tenant, tenant);
            assert!(seen.insert(entry.id), "{} is linked twice", entry.id);
            if let (Some(session), Some(event)) = (entry.session, entry.event) {
                let before = events.insert(session, event).unwrap_or(0);
                assert_eq!(event, before + 1, "the entries of a session have the order of its events");
            }
        }
    }
    assert_eq!(seen, ids);
}

fn chain_of(world: &World, tenant: TenantId) -> Vec<ChainedEntry> {
    world.look(move |reads| reads.audit_chain(tenant, Page { after: None, limit: 10_000 })).into_vec()
}

fn done(world: &World) -> usize {
    let (here, elsewhere) = (world.here.tenant, world.elsewhere.tenant);
    let heads = world.look(move |reads| Ok(reads.audit_head(here)?.seq + reads.audit_head(elsewhere)?.seq));
    usize::try_from(heads).unwrap()
}

/// Writes one entry in one transaction, mostly with an event of a session; some transactions are long.
fn write(world: &World, sessions: &[SessionId], number: usize) -> EntryId {
    let (here, elsewhere) = (world.here, world.elsewhere);
    let session = sessions[number * 7919 % sessions.len()];
    let work = move |tx: &mut dyn Tx| {
        // A write assigns the transaction id, here possibly before the transaction has the lock of the session.
        tx.setting_ensure(&format!("early-{}", number % 7), "yes")?;
        let entry = if number.is_multiple_of(5) {
            entry(elsewhere, "test.elsewhere", person("x"), 1)
        } else {
            let event = append(tx, &here, session, None)?;
            Entry { session: Some(session), event: Some(event.seq), ..entry(here, "test.happened", person("x"), 1) }
        };
        if number.is_multiple_of(13) {
            // A long transaction, which others overtake.
            std::thread::sleep(Duration::from_millis(1 + number as u64 % 4));
        }
        tx.audit_append(&entry.clone().written())?;
        Ok(entry.id)
    };
    world.write(work).unwrap()
}
