//! Actions, grants and policies: kept, guarded, counted, and behind their walls.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::grant::Covers;
use domain::{
    Action, Actor, ActorKind, Adoption, Grant, GrantId, InteractionId, PermitId, PolicySource, PolicyState,
    PolicyVersion, Proposal, Role, Ruling, Scope, Session, Standing, Verdict,
};
use serde_json::json;

use super::Fixture;
use super::world::{World, actor, agent, at, fresh};
use crate::{DueAction, Page, StoreError};

fn proposal(session: &Session, call: &str, standing: Standing) -> Proposal {
    Proposal {
        scope: session.scope,
        session: session.id,
        call: call.into(),
        action: Action {
            tool: "write_file".into(),
            arguments: json!({ "path": "a\u{0}b", "size": 9_007_199_254_740_993_u64 }),
        },
        edited: Some(json!({ "path": "c" })),
        proposed_by: agent(),
        role: Role::Agent,
        at: at(1),
        ruling: Ruling { verdict: Verdict::Ask, rule: None, reason: "it writes".into(), policy: "v1".into() },
        grant: Some(GrantId::from_uuid(fresh())),
        repeatable: true,
        driven: false,
        runner: Some(Actor { kind: ActorKind::User, name: "alice".into() }),
        step: None,
        asked: vec![InteractionId::from_uuid(fresh())],
        standing,
        revision: 1,
    }
}

fn started(until: i64) -> Standing {
    Standing::Started { permit: PermitId::from_uuid(fresh()), since: at(1), until: at(until) }
}

/// An action comes back as it was kept, once, is written over its revision only, and is found when it is due.
pub fn actions_come_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, session) = (world.here, world.elsewhere, world.session());
    let id = session.id;
    let first = proposal(&session, "call-1", Standing::Denied);
    for wanted in [Ok(()), Err(StoreError::Conflict)] {
        let kept = first.clone();
        assert_eq!(world.write(move |tx| tx.proposal_insert(&kept)), wanted);
    }
    assert_eq!(world.look(move |reads| reads.proposal(&here, id, "call-1")), Some(first.clone()));
    assert_eq!(world.look(move |reads| reads.proposal(&elsewhere, id, "call-1")), None);
    assert_eq!(world.look(move |reads| reads.proposal(&here, id, "call-2")), None);
    let foreign = Proposal { scope: elsewhere, call: "call-9".into(), ..first.clone() };
    assert_eq!(world.write(move |tx| tx.proposal_insert(&foreign)), Err(StoreError::Conflict));
    let second = Proposal { standing: started(70), revision: 2, ..first };
    for wanted in [Ok(()), Err(StoreError::Conflict)] {
        let saved = second.clone();
        assert_eq!(world.write(move |tx| tx.proposal_save(&saved)), wanted);
    }
    let earlier = proposal(&session, "call-0", started(60));
    let kept = earlier.clone();
    world.write(move |tx| tx.proposal_insert(&kept)).unwrap();
    let all = world.look(move |reads| reads.proposals(&here, id, "", 10));
    assert_eq!(all, [earlier.clone(), second.clone()]);
    assert_eq!(world.look(move |reads| reads.proposals(&here, id, "call-0", 10)), [second]);
    assert_eq!(world.look(move |reads| reads.proposals(&elsewhere, id, "", 10)), []);
    let due = |call: &str| DueAction { scope: here, session: id, call: call.into() };
    assert_eq!(world.look(|reads| reads.actions_due(at(59), 10)), []);
    assert_eq!(world.look(|reads| reads.actions_due(at(70), 10)), [due("call-0"), due("call-1")]);
    assert_eq!(world.look(|reads| reads.actions_due(at(70), 1)), [due("call-0")]);
    assert_eq!(world.look(|reads| reads.next_action_due()), Some(at(60)));
}

fn grant(scope: Scope, tool: &str) -> Grant {
    Grant {
        id: GrantId::from_uuid(fresh()),
        scope,
        session: None,
        agent: "deployer".into(),
        tool: tool.into(),
        rule: Some("writing".into()),
        arguments: Covers::Pattern {
            named: BTreeMap::from([("path".into(), "/srv/*".into())]),
            rest: json!({ "n": 1 }),
        },
        until: None,
        most_uses: None,
        uses: 0,
        by: actor(ActorKind::User, "alice"),
        at: at(1),
        interaction: InteractionId::from_uuid(fresh()),
        revoked: None,
    }
}

/// Grants come back, end by time, by count and by being taken back, and are counted under the eyes of everybody.
pub fn grants_are_counted(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let plain = grant(here, "write_file");
    let timed = Grant { until: Some(at(100)), ..grant(here, "write_file") };
    let counted = Grant { most_uses: Some(5), ..grant(here, "delete_file") };
    for grant in [plain.clone(), timed.clone(), counted.clone()] {
        world.write(move |tx| tx.grant_insert(&grant)).unwrap();
    }
    let (plain_id, timed_id, counted_id) = (plain.id, timed.id, counted.id);
    assert_eq!(world.look(move |reads| reads.grant(&here, plain_id)), Some(plain.clone()));
    assert_eq!(world.look(move |reads| reads.grant(&elsewhere, plain_id)), None);
    let usable = |now: i64| world.look(move |reads| reads.grants_for(&here, "write_file", at(now)));
    assert_eq!(usable(99), [plain.clone(), timed.clone()]);
    assert_eq!(usable(100), std::slice::from_ref(&plain));
    assert_eq!(world.look(move |reads| reads.grants_for(&elsewhere, "write_file", at(2))), []);
    assert!(!world.write(move |tx| tx.grant_use(&here, timed_id, at(100))).unwrap());
    assert!(!world.write(move |tx| tx.grant_use(&elsewhere, plain_id, at(2))).unwrap());
    let used = AtomicU32::new(0);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..4 {
                    let took = world.write(move |tx| tx.grant_use(&here, counted_id, at(2))).unwrap();
                    used.fetch_add(u32::from(took), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(used.into_inner(), 5);
    assert_eq!(world.look(move |reads| reads.grant(&here, counted_id)).unwrap().uses, 5);
    let revoked = Grant { revoked: Some((actor(ActorKind::User, "bob"), at(3))), ..plain };
    for wanted in [true, false] {
        let kept = revoked.clone();
        assert_eq!(world.write(move |tx| tx.grant_revoke(&kept)), Ok(wanted));
    }
    assert_eq!(usable(50), [timed]);
    let page = Page { after: None, limit: 10 };
    let over = world.look(move |reads| reads.grants(&here, true, page));
    assert_eq!(over.iter().map(|grant| grant.id).collect::<Vec<_>>(), [counted_id, timed_id, plain_id]);
    assert_eq!(over[2], revoked);
    let rest = world.look(move |reads| reads.grants(&here, true, Page { after: Some(timed_id), limit: 10 }));
    assert_eq!(rest, [revoked]);
    assert_eq!(world.look(move |reads| reads.grants(&elsewhere, true, page)), []);
}

/// The policy in force is written over its revision only; a text that was in force stays.
pub fn policies_come_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    assert_eq!(world.look(move |reads| reads.policy_state(&here)), None);
    let alice = actor(ActorKind::User, "alice");
    let (first, _) = PolicyState::initial(at(0)).switch(false, alice.clone(), "an outage".into(), at(1));
    let adoption = Adoption { own: Some("v2".into()), version: "v2".into(), before: Some("v1".into()), reason: None };
    let (second, _) = first.clone().adopt(adoption, alice.clone(), at(2));
    for (state, wanted) in [
        (&first, Ok(())),
        (&first, Err(StoreError::Conflict)),
        (&second, Ok(())),
        (&second, Err(StoreError::Conflict)),
        (&first, Err(StoreError::Conflict)),
    ] {
        let state = state.clone();
        assert_eq!(world.write(move |tx| tx.policy_save(&here, &state)), wanted);
    }
    assert_eq!(world.look(move |reads| reads.policy_state(&here)), Some(second));
    assert_eq!(world.look(move |reads| reads.policy_state(&elsewhere)), None);
    let version = |name: &str, second: i64| PolicyVersion {
        version: name.into(),
        text: "default = \"ask\" # \u{0} наше".into(),
        source: PolicySource::Project,
        by: alice.clone(),
        at: at(second),
        before: None,
    };
    let (old, new) = (version("v1", 1), version("v2", 2));
    for (kept, wanted) in [(&old, true), (&new, true), (&version("v1", 9), false)] {
        let kept = kept.clone();
        assert_eq!(world.write(move |tx| tx.policy_keep(&here, &kept)), Ok(wanted));
    }
    assert_eq!(world.look(move |reads| reads.policy_version(&here, "v1")), Some(old.clone()));
    assert_eq!(world.look(move |reads| reads.policy_version(&elsewhere, "v1")), None);
    assert_eq!(world.look(move |reads| reads.policy_versions(&here, 10)), [new.clone(), old]);
    assert_eq!(world.look(move |reads| reads.policy_versions(&here, 1)), [new]);
}
