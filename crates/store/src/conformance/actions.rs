//! Actions, grants and policies: round trips, guarded writes, counts, and isolation of projects.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::grant::Covers;
use domain::{
    Action, ActionState, Actor, ActorKind, Adoption, AgentEnvironment, Call, Difference, Grant, GrantId, InteractionId,
    PermitId, PolicySource, PolicyState, PolicyVersion, Role, Ruling, Scope, Session, Shadow, Verdict,
};
use futures::executor::block_on;
use futures::future::{join, join_all};
use serde_json::json;

use super::Fixture;
use super::world::{World, actor, agent, at, fresh};
use crate::{
    ActionCursor, ActionHistoryFilter, DifferenceCount, DueAction, Page, PastAction, PolicyChangeRecord, StoreError,
    transact,
};

fn proposed(session: &Session, call: &str, state: ActionState) -> Action {
    Action {
        scope: session.scope,
        session: session.id,
        call_id: call.into(),
        call: Call {
            tool: "write_file".into(),
            arguments: json!({ "path": "a\u{0}b", "size": 9_007_199_254_740_993_u64 }),
        },
        edited: Some(json!({ "path": "c" })),
        proposed_by: agent(),
        role: Role::Agent,
        environment: AgentEnvironment { client: Some("codex".into()), root: Some("/srv/app".into()) },
        at: at(1),
        ruling: Ruling {
            verdict: Verdict::Ask,
            rule: None,
            reason: "it writes".into(),
            policy: "v1".into(),
            floor: None,
        },
        grant: Some(GrantId::from_uuid(fresh())),
        repeatable: true,
        hosted: false,
        runner: Some(Actor { kind: ActorKind::User, name: "alice".into() }),
        step: None,
        expected_content: None,
        asked: vec![InteractionId::from_uuid(fresh())],
        state,
        revision: 1,
    }
}

fn started(until: i64) -> ActionState {
    ActionState::Started { permit: PermitId::from_uuid(fresh()), since: at(1), until: at(until) }
}

/// An action is read back as inserted, is saved only over its revision, and is found when it is due.
pub fn actions_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, session) = (world.here, world.elsewhere, world.session());
    let id = session.id;
    let first = proposed(&session, "call-1", ActionState::Denied);
    for wanted in [Ok(()), Err(StoreError::Conflict)] {
        let kept = first.clone();
        assert_eq!(world.write(move |tx| tx.action_insert(&kept)), wanted);
    }
    assert_eq!(world.look(move |reads| reads.action(&here, id, "call-1")), Some(first.clone()));
    assert_eq!(world.look(move |reads| reads.action(&elsewhere, id, "call-1")), None);
    assert_eq!(world.look(move |reads| reads.action(&here, id, "call-2")), None);
    let foreign = Action { scope: elsewhere, call_id: "call-9".into(), ..first.clone() };
    assert_eq!(world.write(move |tx| tx.action_insert(&foreign)), Err(StoreError::Conflict));
    let second = Action { state: started(70), revision: 2, ..first };
    for wanted in [Ok(()), Err(StoreError::Conflict)] {
        let saved = second.clone();
        assert_eq!(world.write(move |tx| tx.action_save(&saved)), wanted);
    }
    let earlier = proposed(&session, "call-0", started(60));
    let kept = earlier.clone();
    world.write(move |tx| tx.action_insert(&kept)).unwrap();
    let all = world.look(move |reads| reads.actions(&here, id, "", 10));
    assert_eq!(all, [earlier.clone(), second.clone()]);
    assert_eq!(world.look(move |reads| reads.actions(&here, id, "call-0", 10)), [second]);
    assert_eq!(world.look(move |reads| reads.actions(&elsewhere, id, "", 10)), []);
    let due = |call: &str| DueAction { scope: here, session: id, call: call.into() };
    assert_eq!(world.look(|reads| reads.actions_due(at(59), 10)), []);
    assert_eq!(world.look(|reads| reads.actions_due(at(70), 10)), [due("call-0"), due("call-1")]);
    assert_eq!(world.look(|reads| reads.actions_due(at(70), 1)), [due("call-0")]);
    assert_eq!(world.look(|reads| reads.next_action_due()), Some(at(60)));
}

/// The history of a project lists actions by age, page by page, with the actor who started the session.
pub fn action_history_lists_actions_by_age(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let (one, other) = (world.session(), world.session());
    let mut kept = Vec::new();
    for (session, call, second) in
        [(&one, "a", 3), (&one, "b", 1), (&other, "a", 1), (&other, "b", 2), (&other, "c", 1)]
    {
        let asked = if call == "b" { vec![InteractionId::from_uuid(fresh())] } else { Vec::new() };
        let action = Action { at: at(second), asked, ..proposed(session, call, ActionState::Denied) };
        kept.push((second, session.id, call.to_owned(), action.clone()));
        world.write(move |tx| tx.action_insert(&action)).unwrap();
    }
    kept.sort_by(|one, other| (other.0, other.1, &other.2).cmp(&(one.0, one.1, &one.2)));
    let kept: Vec<PastAction> = kept
        .into_iter()
        .map(|(second, session, call, action)| PastAction {
            cursor: ActionCursor { at: at(second), session, call },
            action,
            started_by: one.started_by.clone(),
        })
        .collect();
    let look = |before: Option<ActionCursor>, since: Option<i64>, limit: u32| {
        let filter = ActionHistoryFilter { since: since.map(at), asked: false };
        world.look(move |reads| reads.action_history(&here, &filter, before.as_ref(), limit))
    };
    assert_eq!(look(None, None, 10), kept);
    for cut in 1..=kept.len() {
        let (first, rest) = kept.split_at(cut);
        assert_eq!(look(None, None, u32::try_from(cut).unwrap()), first);
        assert_eq!(look(Some(first[cut - 1].cursor.clone()), None, 10), rest);
    }
    assert_eq!(look(None, Some(2), 10), kept[..2]);
    assert_eq!(look(Some(kept[0].cursor.clone()), Some(2), 10), kept[1..2]);
    let saved = Action { state: started(70), revision: 2, ..kept[0].action.clone() };
    let written = saved.clone();
    world.write(move |tx| tx.action_save(&written)).unwrap();
    assert_eq!(look(None, None, 1)[0].action, saved);
    let every = ActionHistoryFilter::default();
    assert_eq!(world.look(move |reads| reads.action_history(&elsewhere, &every, None, 10)), []);
    // Only actions that people were asked about, some of them after the insert.
    let about = |limit: u32| {
        let filter = ActionHistoryFilter { since: None, asked: true };
        let found = world.look(move |reads| reads.action_history(&here, &filter, None, limit));
        found.into_iter().map(|past| past.action).collect::<Vec<_>>()
    };
    let asked: Vec<Action> = kept.iter().map(|past| past.action.clone()).filter(|one| one.call_id == "b").collect();
    assert_eq!((about(10), about(1)), (asked.clone(), asked[..1].to_vec()));
    let later = Action { asked: asked[0].asked.clone(), revision: 3, ..saved };
    let written = later.clone();
    world.write(move |tx| tx.action_save(&written)).unwrap();
    assert_eq!(about(10), [vec![later], asked].concat());
}

/// Differences of a draft are listed and counted, are deleted with the draft, and old ones are purged.
pub fn differences_of_a_draft_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere, session) = (world.here, world.elsewhere, world.session());
    let said = |verdict| Ruling {
        verdict,
        rule: Some("r".into()),
        reason: "so \u{0}".into(),
        policy: "v1".into(),
        floor: None,
    };
    let difference = |number: i64, drafted: Option<Verdict>| Difference {
        session: session.id,
        call: format!("call-{number}"),
        tool: "write_file".into(),
        at: at(number),
        given: said(Verdict::Ask),
        drafted: drafted.map(said),
    };
    let alice = actor(ActorKind::User, "alice");
    let shadow = |number| Shadow { number, version: "v2".into(), by: alice.clone(), at: at(1), reason: None };
    let first = shadow(7);
    world.write(move |tx| tx.shadow_save(&here, &first, "default = \"ask\" # \u{43d}")).unwrap();
    let told = "default = \"ask\" # \u{43d}".to_owned();
    assert_eq!(world.look(move |reads| reads.shadow_text(&here, 7)), Some(told));
    assert_eq!(world.look(move |reads| reads.shadow_text(&here, 8)), None);
    assert_eq!(world.look(move |reads| reads.shadow_text(&elsewhere, 7)), None);
    let all = [difference(1, Some(Verdict::Allow)), difference(2, None), difference(3, Some(Verdict::Allow))];
    for one in all.clone() {
        world.write(move |tx| tx.difference_insert(&here, 7, &one)).unwrap();
    }
    let newest: Vec<Difference> = all.iter().rev().cloned().collect();
    let shown = |number, limit| world.look(move |reads| reads.differences(&here, number, limit));
    assert_eq!(shown(7, 10), newest);
    assert_eq!(shown(7, 1), newest[..1]);
    assert_eq!(shown(8, 10), []);
    assert_eq!(world.look(move |reads| reads.differences(&elsewhere, 7, 10)), []);
    let count = |drafted: &str, count| DifferenceCount { given: "ask".into(), drafted: drafted.into(), count };
    let counts = [count("allow", 2), count("failed", 1)];
    assert_eq!(world.look(move |reads| reads.difference_counts(&here, 7)), counts);
    assert_eq!(world.look(move |reads| reads.difference_counts(&elsewhere, 7)), []);
    assert_eq!(world.write(move |tx| tx.differences_purge(3, 10)), Ok(0));
    assert_eq!(world.write(move |tx| tx.differences_purge(1, 1)), Ok(1));
    assert_eq!(world.write(move |tx| tx.differences_purge(1, 10)), Ok(1));
    assert_eq!(shown(7, 10), newest[..1]);
    assert_eq!(world.look(move |reads| reads.difference_counts(&here, 7)), counts);
    let second = shadow(8);
    world.write(move |tx| tx.shadow_save(&here, &second, "other")).unwrap();
    assert_eq!(world.look(move |reads| reads.shadow_text(&here, 7)), None);
    assert_eq!(shown(7, 10), []);
    assert_eq!(world.look(move |reads| reads.difference_counts(&here, 7)), []);
    world.write(move |tx| tx.shadow_delete(&here)).unwrap();
    assert_eq!(world.look(move |reads| reads.shadow_text(&here, 8)), None);
}

fn grant(scope: Scope, tool: &str) -> Grant {
    Grant {
        id: GrantId::from_uuid(fresh()),
        scope,
        session: None,
        agent: "deployer".into(),
        hosted: Some(false),
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

/// Grants are read back, end by time, by number of uses and by revocation, and count concurrent uses.
pub fn grants_end_by_time_by_uses_and_by_revocation(fixture: &Fixture) {
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
    let usable = |now: i64| world.look(move |reads| reads.grants_for(&here, "write_file", at(now), Page::first(10)));
    assert_eq!(usable(99), [plain.clone(), timed.clone()]);
    assert_eq!(usable(100), std::slice::from_ref(&plain));
    assert_eq!(world.look(move |reads| reads.grants_for(&elsewhere, "write_file", at(2), Page::first(10))), []);
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

/// A change of the policy sees the writes of all transactions that held its shared lock; later holders see the change.
pub fn policy_change_waits_for_shared_locks(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    for round in 0..20_u32 {
        let holders = (0..12_u32).map(|number| {
            transact::<_, StoreError, _>(&*world.store, move |tx| {
                let seen = tx.policy_lock_shared(&here)?.map_or(0, |state| state.revision);
                tx.setting_ensure(&format!("held-{round}-{number}"), "x")?;
                Ok((number, seen))
            })
        });
        let changer = transact::<_, StoreError, _>(&*world.store, move |tx| {
            let state = tx.policy_state(&here)?.unwrap_or(PolicyState::initial(at(0)));
            let (state, _) = state.switch(false, actor(ActorKind::User, "alice"), "a test".into(), at(1));
            tx.policy_save(&here, &state)?;
            let mut passed = Vec::new();
            for number in 0..12_u32 {
                if tx.setting(&format!("held-{round}-{number}"))?.is_some() {
                    passed.push(number);
                }
            }
            Ok((state.revision, passed))
        });
        let (held, changed) = block_on(join(join_all(holders), changer));
        let (revision, passed) = changed.unwrap();
        for held in held {
            let (number, seen) = held.unwrap();
            assert!(passed.contains(&number) || seen == revision, "{number} of round {round} saw {seen}");
        }
    }
}

/// The state of the policy is saved only over its revision; versions stay.
pub fn policy_states_and_versions_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    assert_eq!(world.look(move |reads| reads.policy_state(&here)), None);
    let alice = actor(ActorKind::User, "alice");
    let (first, _) = PolicyState::initial(at(0)).switch(false, alice.clone(), "an outage".into(), at(1));
    let adoption = Adoption {
        own: Some("v2".into()),
        version: "v2".into(),
        before: Some("v1".into()),
        reason: None,
        source: None,
        vetted: None,
    };
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
    assert_eq!(world.look(move |reads| reads.policy_state(&here)), Some(second.clone()));
    assert_eq!(world.look(move |reads| reads.policy_state(&elsewhere)), None);
    let both = world.look(move |reads| reads.policy_states(&[elsewhere, here]));
    assert_eq!(both, [None, Some(second)]);
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
        assert_eq!(world.write(move |tx| tx.policy_version_insert(&here, &kept)), Ok(wanted));
    }
    assert_eq!(world.look(move |reads| reads.policy_version(&here, "v1")), Some(old.clone()));
    assert_eq!(world.look(move |reads| reads.policy_version(&elsewhere, "v1")), None);
    assert_eq!(world.look(move |reads| reads.policy_version(&here, "v2")), Some(new));
}

/// Changes of the policy are listed in order, also of an earlier text; other projects do not see them.
pub fn policy_changes_are_listed_in_order(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let version = |name: &str, second: i64| PolicyVersion {
        version: name.into(),
        text: format!("the text of {name} \u{0}"),
        source: PolicySource::Project,
        by: actor(ActorKind::User, "alice"),
        at: at(second),
        before: None,
    };
    // Equal or decreasing times: the list keeps the order of the changes.
    let told = [(version("v1", 5), None), (version("v2", 5), Some("b")), (version("v1", 3), Some("back"))];
    for (version, reason) in told.clone() {
        let change = version.change(reason.map(ToOwned::to_owned));
        world
            .write(move |tx| {
                tx.policy_version_insert(&here, &version).and_then(|_| tx.policy_change_insert(&here, &change))
            })
            .unwrap();
    }
    let known: Vec<PolicyChangeRecord> = [1, 2, 3]
        .into_iter()
        .zip(told)
        .map(|(number, (version, reason))| PolicyChangeRecord {
            number,
            change: version.change(reason.map(ToOwned::to_owned)),
            text: version.text,
        })
        .rev()
        .collect();
    let changes = |version: Option<&'static str>, after: Option<u64>, limit: u32| {
        world.look(move |reads| reads.policy_changes(&here, version, Page { after, limit }))
    };
    assert_eq!(changes(None, None, 10), known);
    assert_eq!(changes(None, None, 2), known[..2]);
    assert_eq!(changes(None, Some(2), 2), known[2..]);
    assert_eq!(changes(Some("v1"), None, 10), [known[0].clone(), known[2].clone()]);
    assert_eq!(changes(Some("v3"), None, 10), []);
    let page = Page { after: None, limit: 100 };
    assert_eq!(world.look(move |reads| reads.policy_changes(&elsewhere, None, page)), []);
    let at_once = (0..24_i64).map(|number| {
        let version = version(&format!("at-once-{}", number % 5), number);
        transact::<_, StoreError, _>(&*world.store, move |tx| {
            tx.policy_version_insert(&here, &version)?;
            tx.policy_change_insert(&here, &version.change(None))
        })
    });
    assert_eq!(block_on(join_all(at_once)), vec![Ok(()); 24]);
    let numbers: Vec<u64> = changes(None, None, 100).iter().map(|known| known.number).collect();
    assert_eq!(numbers, (1..=27).rev().collect::<Vec<u64>>());
}
