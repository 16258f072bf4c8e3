//! Users, visits, links and tickets: round trips, and isolation of tenants.

use domain::{
    Credential, KeyId, Link, LinkId, Membership, ProjectId, Role, Scope, TenantId, Ticket, TicketId, User, UserId,
    Visit, VisitId,
};

use super::Fixture;
use super::world::{World, at, fresh};
use crate::{LinkRecord, StoreError, UserRecord, VisitRecord};

fn user(tenant: TenantId, name: &str) -> User {
    User {
        id: UserId::from_uuid(fresh()),
        tenant,
        name: name.into(),
        display: None,
        subject: None,
        memberships: Vec::new(),
        created_at: at(0),
        signed_in_at: None,
    }
}

fn membership(scope: Scope, role: Role) -> Membership {
    Membership { project: scope.project, role, groups: Vec::new(), disabled_at: None }
}

fn visit(user: &User, scope: Scope) -> Visit {
    let id = VisitId::from_uuid(fresh());
    Visit { id, user: user.id, project: scope.project, by_link: true, created_at: at(0), seen_at: at(1) }
}

impl World {
    fn admits(&self, user: &User) {
        let user = user.clone();
        self.write(move |tx| {
            tx.user_insert(&user)?;
            user.memberships.iter().try_for_each(|membership| {
                tx.membership_save(&Scope { tenant: user.tenant, project: membership.project }, user.id, membership)
            })
        })
        .unwrap();
    }

    fn person(&self, id: UserId) -> UserRecord {
        self.look(move |reads| reads.user_by_id(id)).unwrap()
    }
}

/// Users with and without optional fields are found by name, id and subject.
pub fn users_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let second = Scope { project: ProjectId::from_uuid(fresh()), ..here };
    let second = world.write(move |tx| tx.scope_ensure("here", "second", second)).unwrap();
    let bare = user(here.tenant, "bare");
    let groups = vec!["ops".into(), "наука".into()];
    let full = User {
        display: Some("Zoë \"z\" O'Hara".into()),
        subject: Some("https://id.example#42".into()),
        memberships: vec![
            Membership { groups, disabled_at: Some(at(9)), ..membership(here, Role::Admin) },
            membership(second, Role::Viewer),
        ],
        signed_in_at: Some(at(5)),
        ..user(here.tenant, "full")
    };
    assert!(!world.look(|reads| reads.has_anybody_signed_in()));
    for user in [&bare, &full] {
        world.admits(user);
        assert_eq!(world.person(user.id), UserRecord { user: user.clone(), password: None });
        let (tenant, name) = (user.tenant, user.name.clone());
        assert_eq!(world.look(move |reads| reads.user(tenant, &name)), Some(world.person(user.id)));
    }
    assert!(world.look(|reads| reads.has_anybody_signed_in()));
    let subject = full.subject.clone().unwrap();
    let found = world.look(move |reads| {
        Ok((reads.user_by_subject(here.tenant, &subject)?, reads.user_by_subject(elsewhere.tenant, &subject)?))
    });
    assert_eq!(found, (Some(world.person(full.id)), None));
    assert_eq!(world.look(move |reads| reads.user(elsewhere.tenant, "full")), None);

    let id = bare.id;
    world.write(move |tx| tx.user_mark_signed_in(id, at(7))).unwrap();
    world.write(move |tx| tx.password_save(id, Some("$argon2id$…"))).unwrap();
    let user = User { signed_in_at: Some(at(7)), ..bare };
    let record = UserRecord { user, password: Some("$argon2id$…".into()) };
    assert_eq!(world.person(id), record);
    world.write(move |tx| tx.password_save(id, None)).unwrap();
    assert_eq!(world.person(id).password, None);
    let names = world.look(move |reads| {
        Ok((reads.scope_names(&second)?, reads.scope_names(&Scope { tenant: elsewhere.tenant, ..second })?))
    });
    assert_eq!(names, (Some(("here".into(), "second".into())), None));
}

/// A name, in any case, and a subject are unique in a tenant.
pub fn user_names_and_subjects_are_unique(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let full = User { subject: Some("https://id.example#42".into()), ..user(here.tenant, "full") };
    world.admits(&full);
    let same_name = User { id: UserId::from_uuid(fresh()), subject: None, ..full.clone() };
    assert_eq!(world.write(move |tx| tx.user_insert(&same_name)), Err(StoreError::Conflict));
    let alike = |name: &'static str| {
        world.look(move |reads| reads.user_by_folded_name(here.tenant, name)).map(|found| found.user.id)
    };
    assert_eq!(
        (alike("full"), alike("FULL"), alike("Full "), alike("fulle")),
        (Some(full.id), Some(full.id), None, None)
    );
    assert_eq!(world.look(move |reads| reads.user_by_folded_name(elsewhere.tenant, "full")), None);
    let other_case = User { name: "FULL".into(), subject: None, ..user(here.tenant, "x") };
    // Names that differ only by case are equal.
    assert_eq!(world.write(move |tx| tx.user_insert(&other_case)), Err(StoreError::Conflict));
    let same_subject = User { id: UserId::from_uuid(fresh()), name: "other".into(), ..full.clone() };
    assert_eq!(world.write(move |tx| tx.user_insert(&same_subject)), Err(StoreError::Conflict));
    world.admits(&User { subject: full.subject.clone(), ..user(elsewhere.tenant, "full") });
}

/// A membership is saved and listed only in its project, and never by another tenant.
pub fn members_belong_to_their_project(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let second = Scope { project: ProjectId::from_uuid(fresh()), ..here };
    let second = world.write(move |tx| tx.scope_ensure("here", "second", second)).unwrap();
    let (zoe, adam) = (user(here.tenant, "zoe"), user(here.tenant, "Adam"));
    world.admits(&User { memberships: vec![membership(here, Role::Viewer)], ..zoe.clone() });
    world.admits(&User { memberships: vec![membership(second, Role::Admin)], ..adam.clone() });
    let (id, changed) = (adam.id, Membership { disabled_at: Some(at(3)), ..membership(here, Role::Operator) });
    let put = changed.clone();
    world.write(move |tx| tx.membership_save(&here, id, &membership(here, Role::Admin))).unwrap();
    world.write(move |tx| tx.membership_save(&here, id, &put)).unwrap();
    let members = |scope: Scope| world.look(move |reads| reads.users_page(&scope, None, 100));
    let with = |user: &User, membership: Membership| User { memberships: vec![membership], ..user.clone() };
    let (first, last) = (with(&adam, changed), with(&zoe, membership(here, Role::Viewer)));
    let page = |after: Option<&'static str>, limit: u32| {
        let page = world.look(move |reads| reads.users_page(&here, after, limit));
        (page.more, page.into_vec())
    };
    assert_eq!(page(None, 1), (true, vec![first.clone()]));
    assert_eq!(page(Some("Adam"), 5), (false, vec![last.clone()]));
    assert_eq!(page(Some("zoe"), 5), (false, vec![]));
    let count = |scope: Scope| world.look(move |reads| reads.member_count(&scope));
    assert_eq!([count(here), count(second), count(elsewhere)], [1, 1, 0], "a disabled member is not counted");
    assert_eq!(members(here), [first, last]);
    assert_eq!(members(second), [with(&adam, membership(second, Role::Admin))]);
    assert_eq!(members(elsewhere), []);
    for scope in [elsewhere, Scope { project: here.project, ..elsewhere }, Scope { tenant: here.tenant, ..elsewhere }] {
        let put = world.write(move |tx| tx.membership_save(&scope, id, &membership(scope, Role::Admin)));
        assert_eq!(put, Err(StoreError::Conflict), "{scope:?}");
    }
    assert_eq!(world.person(adam.id).user.memberships.len(), 2);
    let admins = |scope: Scope| world.write(move |tx| tx.admins_lock(&scope)).unwrap();
    assert_eq!(admins(here), [], "neither a viewer nor a disabled operator is an admin");
    assert_eq!(admins(second), [], "an admin who has never signed in is not listed");
    world.write(move |tx| tx.user_mark_signed_in(id, at(2))).unwrap();
    assert_eq!(admins(second), [adam.id]);
    assert_eq!(admins(Scope { tenant: elsewhere.tenant, ..second }), []);
    let out = Membership { disabled_at: Some(at(3)), ..membership(second, Role::Admin) };
    world.write(move |tx| tx.membership_save(&second, id, &out)).unwrap();
    assert_eq!(admins(second), []);
}

/// `admins_lock` waits for a transaction that changes an admin.
pub fn concurrent_removals_leave_one_admin(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let pair = ["alice", "bob"].map(|name| {
        let memberships = vec![membership(here, Role::Admin)];
        User { memberships, signed_in_at: Some(at(1)), ..user(here.tenant, name) }
    });
    for user in &pair {
        world.admits(user);
    }
    let [alice, bob] = pair.map(|user| user.id);
    for round in 0..20 {
        for id in [alice, bob] {
            world.write(move |tx| tx.membership_save(&here, id, &membership(here, Role::Admin))).unwrap();
        }
        std::thread::scope(|threads| {
            for other in [alice, bob] {
                let world = &world;
                threads.spawn(move || {
                    let taken = world.write(move |tx| match tx.admins_lock(&here)?.len() {
                        2 => tx.membership_save(&here, other, &membership(here, Role::Viewer)),
                        _ => Ok(()),
                    });
                    taken.unwrap();
                });
            }
        });
        assert_eq!(world.write(move |tx| Ok(tx.admins_lock(&here)?.len())), Ok(1), "round {round}");
    }
}

/// Visits switch projects, are used, lose their link permission, and end; the visits of one user end together.
pub fn visits_are_read_back(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let alice = User { memberships: vec![membership(here, Role::Operator)], ..user(here.tenant, "alice") };
    let bob = user(here.tenant, "bob");
    world.admits(&alice);
    world.admits(&bob);
    let visits = [visit(&alice, here), visit(&alice, here), visit(&alice, here), visit(&bob, here)];
    for (number, visit) in (1..).zip(visits.clone()) {
        world.write(move |tx| tx.visit_insert(&visit, &[number; 32])).unwrap();
    }
    let found = |id: VisitId| world.look(move |reads| reads.visit(id));
    let [first, second, third, other] = visits;
    assert_eq!(found(first.id), Some(VisitRecord { visit: first.clone(), hash: [1; 32], user: alice.clone() }));
    let twice = first.clone();
    assert_eq!(world.write(move |tx| tx.visit_insert(&twice, &[9; 32])), Err(StoreError::Conflict));

    let (id, project) = (first.id, ProjectId::from_uuid(fresh()));
    world.write(move |tx| tx.visit_mark_used(id, at(60))).unwrap();
    world.write(move |tx| tx.visit_mark_used(id, at(30))).unwrap();
    let moved = world.write(move |tx| {
        Ok((tx.visit_set_project(id, project)?, tx.visit_consume_link(id)?, tx.visit_consume_link(id)?))
    });
    assert_eq!(moved.unwrap(), (true, true, false));
    assert_eq!(found(id).unwrap().visit, Visit { project, by_link: false, seen_at: at(60), ..first });

    let (kept, gone) = (third.id, second.id);
    assert_eq!(world.write(move |tx| Ok((tx.visit_end(gone)?, tx.visit_end(gone)?))), Ok((true, false)));
    assert!(!world.write(move |tx| Ok(tx.visit_set_project(gone, project)? || tx.visit_consume_link(gone)?)).unwrap());
    let user = alice.id;
    world.write(move |tx| tx.visits_end(user, Some(kept))).unwrap();
    assert_eq!([id, gone, kept, other.id].map(|id| found(id).is_some()), [false, false, true, true]);
    world.write(move |tx| tx.visits_end(user, None)).unwrap();
    assert_eq!([kept, other.id].map(|id| found(id).is_some()), [false, true]);
}

/// Unused visits and old visits are purged.
pub fn old_visits_are_purged(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let alice = user(world.here.tenant, "alice");
    world.admits(&alice);
    let visits = [(0, 5), (0, 90), (50, 60), (50, 90)].map(|(created, seen)| Visit {
        created_at: at(created),
        seen_at: at(seen),
        ..visit(&alice, world.here)
    });
    for visit in visits.clone() {
        world.write(move |tx| tx.visit_insert(&visit, &[0; 32])).unwrap();
    }
    let purge = |limit| world.write(move |tx| tx.visits_purge(at(70), at(10), limit)).unwrap();
    assert_eq!((purge(1), purge(10), purge(10)), (2, 1, 0));
    let left = visits.map(|visit| world.look(move |reads| reads.visit(visit.id)).is_some());
    assert_eq!(left, [false, false, false, true]);
}

/// A link is redeemed once.
pub fn links_are_used_once(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (alice, bob) = (user(world.here.tenant, "alice"), user(world.here.tenant, "bob"));
    let link = |user: &User, expires: i64| Link {
        id: LinkId::from_uuid(fresh()),
        user: user.id,
        created_at: at(0),
        expires_at: at(expires),
    };
    let links = [link(&alice, 60), link(&alice, 60), link(&bob, 60), link(&bob, 10)];
    for link in links.clone() {
        world.write(move |tx| tx.link_insert(&link, &[7; 32])).unwrap();
    }
    let found = |id: LinkId| world.look(move |reads| reads.link(id));
    assert_eq!(found(links[0].id), Some(LinkRecord { link: links[0].clone(), hash: [7; 32] }));
    let id = links[0].id;
    assert_eq!(world.write(move |tx| Ok((tx.link_redeem(id)?, tx.link_redeem(id)?))), Ok((true, false)));
    world.write(move |tx| tx.links_delete(alice.id)).unwrap();
    assert_eq!(world.write(|tx| tx.links_purge(at(10), 10)), Ok(0));
    assert_eq!(world.write(|tx| tx.links_purge(at(11), 10)), Ok(1));
    assert_eq!(links.map(|link| found(link.id).is_some()), [false, false, true, false]);
}

/// A ticket is redeemed once, only with its secret, and is returned as inserted.
pub fn tickets_are_used_once(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let ticket = |credential: Credential, expires: i64| Ticket {
        id: TicketId::from_uuid(fresh()),
        credential,
        scope: world.here,
        expires_at: at(expires),
    };
    let of_key = ticket(Credential::Key(KeyId::from_uuid(fresh())), 60);
    let of_visit = ticket(Credential::Visit(VisitId::from_uuid(fresh())), 60);
    let old = ticket(of_key.credential, 10);
    for ticket in [of_key.clone(), of_visit.clone(), old.clone()] {
        world.write(move |tx| tx.ticket_insert(&ticket, &[7; 32])).unwrap();
    }
    let again = of_key.clone();
    assert_eq!(world.write(move |tx| tx.ticket_insert(&again, &[7; 32])), Err(StoreError::Conflict));
    let take = |ticket: &Ticket, hash: u8| {
        let id = ticket.id;
        world.write(move |tx| tx.ticket_redeem(id, &[hash; 32])).unwrap()
    };
    let exists = |ticket: &Ticket, hash: u8| {
        let id = ticket.id;
        world.look(move |reads| reads.has_ticket(id, &[hash; 32]))
    };
    assert!(exists(&of_key, 7) && exists(&of_visit, 7), "reading does not redeem a ticket");
    assert!(!exists(&of_key, 8) && !exists(&Ticket { id: TicketId::from_uuid(fresh()), ..of_key.clone() }, 7));
    assert_eq!(take(&of_key, 8), None, "another secret does not redeem a ticket");
    assert_eq!((take(&of_key, 7), take(&of_key, 7)), (Some(of_key.clone()), None));
    assert!(!exists(&of_key, 7));
    assert_eq!(take(&of_visit, 7), Some(of_visit.clone()));
    assert_eq!(world.write(|tx| tx.tickets_purge(at(10), 10)), Ok(0));
    assert_eq!(world.write(|tx| tx.tickets_purge(at(11), 10)), Ok(1));
    assert_eq!(take(&old, 7), None);
}
