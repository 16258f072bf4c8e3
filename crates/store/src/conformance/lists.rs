//! Lists: every filter and order is compared with a model; pages have no gaps and no repeats.

use domain::search_text::{search_text, sought, sought_id};
use domain::session::{Ending, Note};
use domain::{Actor, ActorKind, Command, Interaction, InteractionId, Kind, Session, SessionId, SessionStatus, Status};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Fixture;
use super::world::{World, actor, answered, at, session};
use crate::{InteractionFilter, Page, SessionFilter, Sort};

/// Inserts questions of several sessions, kinds, states and deadlines; two deadlines are equal.
fn inbox(world: &World) -> Vec<Interaction> {
    let sessions = [("chat-1", Some("deployer")), ("chat-2", Some("cleaner")), ("chat-2", None)]
        .map(|(channel, agent)| world.keep_session(session(world.here, channel, agent)));
    let kinds = ["confirmation", "question", "notice"].map(Value::from);
    let mut all = Vec::new();
    for number in 0..72 {
        let mut fields =
            json!({ "kind": kinds[number / 3 % 3], "title": format!("Delete FILE {} of %_'ten'?", number % 10) });
        if number % 4 != 0 {
            fields["deadline"] = json!(at(100 + i64::try_from(number % 7).unwrap() * 10));
        }
        if number % 11 == 3 {
            fields["message"] = json!(format!("Say \"why\" for\nnumber {number}. СКОЛЬКО?"));
        }
        if number % 9 == 4 {
            let arguments =
                json!({ "to": format!("/srv/{number}"), "note": "a\0b", "size": 9_007_199_254_740_993_u64 });
            fields["action"] = json!({ "tool": "move_file", "arguments": arguments });
        }
        if number == 50 {
            fields["kind"] = json!({ "custom": "vote" });
        }
        let asked = world.ask(&sessions[number % 3], fields);
        let after = match number % 5 {
            0 => Some(answered(&asked, "alice", at(5))),
            1 => asked.clone().cancel(actor(ActorKind::User, "bob"), "no".into(), at(6)).ok().map(|change| change.0),
            _ => None,
        };
        if let Some(after) = &after {
            world.keep(&[after]);
        }
        all.push(after.unwrap_or(asked));
    }
    // Questions of another project, which must not appear.
    let foreign = world.keep_session(session(world.elsewhere, "chat-1", Some("deployer")));
    world.ask(&foreign, json!({ "deadline": at(100) }));
    all
}

fn filters(all: &[Interaction]) -> Vec<InteractionFilter> {
    let none = InteractionFilter::default;
    let mut filters = vec![none()];
    filters.extend(Status::ALL.map(|status| InteractionFilter { status: Some(status), ..none() }));
    for kind in [Kind::Confirmation, Kind::Notice, Kind::Custom("vote".into()), Kind::Form] {
        filters.push(InteractionFilter { kind: Some(kind.clone()), ..none() });
        filters.push(InteractionFilter { kind: Some(kind), status: Some(Status::Pending), ..none() });
    }
    let session = Some(all[1].origin.session);
    filters.push(InteractionFilter { session, ..none() });
    filters.extend(Status::ALL.map(|status| InteractionFilter { session, status: Some(status), ..none() }));
    for sort in [Sort::Oldest, Sort::Newest] {
        filters.push(InteractionFilter { closed: true, sort, ..none() });
        filters.push(InteractionFilter { closed: true, session, sort, ..none() });
    }
    filters.push(InteractionFilter { channel: Some("chat-2".into()), ..none() });
    filters.push(InteractionFilter { agent: Some("cleaner".into()), ..none() });
    for (kind, name) in [(ActorKind::Agent, "cleaner"), (ActorKind::User, "starter"), (ActorKind::Agent, "starter")] {
        filters.push(InteractionFilter { belongs_to: Some(actor(kind, name)), ..none() });
        filters.push(InteractionFilter { belongs_to: Some(actor(kind, name)), session, ..none() });
    }
    filters.push(InteractionFilter { overdue_at: Some(at(130).as_microsecond()), ..none() });
    let words =
        ["number 3", "\"WHY\" for\nn", "сколько", "move_file", "/srv/4", "A\0b", "0993", "cleaner", "a TITLE", "note"];
    let ids = [all[1].id.to_string(), all[1].origin.session.to_string(), SessionId::from_uuid(Uuid::nil()).to_string()];
    let texts = ["file 7", "%", "_", "'ten'", "absent", ""].into_iter().chain(words).map(str::to_owned);
    for text in texts.chain(ids) {
        filters.push(InteractionFilter { text: Some(text), ..none() });
    }
    filters.push(InteractionFilter {
        status: Some(Status::Pending),
        closed: false,
        kind: Some(Kind::Confirmation),
        session: Some(all[0].origin.session),
        channel: Some("chat-1".into()),
        agent: Some("deployer".into()),
        belongs_to: Some(actor(ActorKind::Agent, "deployer")),
        overdue_at: Some(at(1000).as_microsecond()),
        text: Some("delete".into()),
        sort: Sort::Oldest,
    });
    filters
}

/// Returns the expected list.
fn expected(all: &[Interaction], filter: &InteractionFilter) -> Vec<InteractionId> {
    let same =
        |wanted: &Option<String>, found: Option<&str>| wanted.as_deref().is_none_or(|wanted| Some(wanted) == found);
    let wanted = |one: &&Interaction| {
        let words = search_text(one, Some("A title"));
        let named = |id: Uuid| id == one.id.uuid() || id == one.origin.session.uuid();
        let found = |text: &String| sought_id(text).map_or_else(|| words.contains(&sought(text)), named);
        let deadline = one.question.deadline.map(domain::Timestamp::as_microsecond);
        let pending = one.status() == Status::Pending;
        filter.status.is_none_or(|status| status == one.status())
            && !(filter.closed && pending)
            && filter.kind.as_ref().is_none_or(|kind| kind.name() == one.question.kind.name())
            && filter.session.is_none_or(|session| session == one.origin.session)
            && same(&filter.channel, Some(&one.origin.channel))
            && same(&filter.agent, one.origin.agent.as_deref())
            && filter
                .belongs_to
                .as_ref()
                .is_none_or(|actor| one.origin.started_by == *actor || one.origin.agent.as_ref() == Some(&actor.name))
            && filter.overdue_at.is_none_or(|now| pending && deadline.is_some_and(|deadline| deadline <= now))
            && filter.text.as_ref().is_none_or(found)
            && (filter.sort != Sort::Deadline || (pending && deadline.is_some()))
    };
    let mut found: Vec<&Interaction> = all.iter().filter(wanted).collect();
    match filter.sort {
        Sort::Oldest => found.sort_by_key(|one| one.id),
        Sort::Newest => found.sort_by_key(|one| std::cmp::Reverse(one.id)),
        Sort::Deadline => found.sort_by_key(|one| (one.question.deadline, one.id)),
    }
    found.into_iter().map(|one| one.id).collect()
}

fn paged(world: &World, filter: &InteractionFilter, limit: u32) -> Vec<Interaction> {
    let (here, mut all, mut after) = (world.here, Vec::<Interaction>::new(), None);
    loop {
        let filter = filter.clone();
        let page = world.look(move |reads| reads.interactions(&here, &filter, Page { after, limit }));
        assert!(page.len() <= limit as usize);
        let Some(last) = page.last() else { return all };
        after = Some(last.id);
        all.extend(page);
    }
}

/// Lists are correct for every filter, order and page size.
pub fn lists_filter_sort_and_page(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let all = inbox(&world);
    for filter in filters(&all) {
        for sort in [Sort::Oldest, Sort::Newest, Sort::Deadline] {
            let filter = InteractionFilter { sort, ..filter.clone() };
            for limit in [5, 1000] {
                let found: Vec<InteractionId> = paged(&world, &filter, limit).iter().map(|one| one.id).collect();
                assert_eq!(found, expected(&all, &filter), "{filter:?} in pages of {limit}");
            }
        }
    }
}

/// A list returns the same questions as reading them one by one.
pub fn unfiltered_list_equals_single_reads(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let all = inbox(&world);
    assert_eq!(paged(&world, &InteractionFilter::default(), 1), all);
    let here = world.here;
    for session in [all[0].origin.session, all[1].origin.session] {
        let open = world.look(move |reads| reads.open_interactions(&here, session));
        let filter = InteractionFilter { session: Some(session), status: Some(Status::Pending), ..Default::default() };
        assert_eq!(open, expected(&all, &filter));
    }
}

/// Deliveries are listed to the agent that asked, oldest first; deliveries of a paused live session are left out.
pub fn deliveries_of_paused_sessions_are_not_listed(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let sessions = [world.session(), world.session(), world.session()];
    let mut waiting = Vec::new();
    for number in 0..9 {
        let asked =
            world.ask(&sessions[number % 3], json!({ "kind": if number < 6 { "confirmation" } else { "notice" } }));
        let after = answered(&asked, "alice", at(5));
        world.keep(&[&after]);
        // A notice has no delivery.
        waiting.extend((number < 6).then_some(after));
    }
    let deliveries = |limit| world.look(move |reads| reads.deliveries(&here, "deployer", Page { after: None, limit }));
    assert_eq!(deliveries(100), waiting);
    assert_eq!(deliveries(2), waiting[..2]);
    assert_eq!(world.look(move |reads| reads.deliveries(&here, "somebody", Page { after: None, limit: 100 })), []);

    let note = Note { by: actor(ActorKind::User, "alice"), at: at(6), reason: None };
    let save = |session: Session| world.write(move |tx| tx.session_save(&session)).unwrap();
    let paused = sessions[1].clone().control(Command::Pause, note.clone()).unwrap().0;
    save(paused.clone());
    let left: Vec<Interaction> = [0, 2, 3, 5].map(|index: usize| waiting[index].clone()).to_vec();
    assert_eq!(deliveries(100), left);
    assert_eq!(deliveries(3), left[..3]);
    save(paused.control(Command::Cancel, note).unwrap().0);
    assert_eq!(deliveries(100), waiting, "the delivery of an ended session is listed, although it was paused");
    let lease = domain::LeaseId::from_uuid(super::world::fresh());
    world.keep(&[&waiting[0].clone().take(&super::world::agent(), lease, at(7), at(70)).unwrap().0]);
    assert_eq!(deliveries(100), waiting[1..]);
}

/// `delivery_agents` returns each agent with a waiting delivery of the session once.
pub fn delivery_agents_returns_each_waiting_agent_once(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let (here, elsewhere) = (world.here, world.elsewhere);
    let (session, other) = (world.session(), world.session());
    let by = |name: &str, of: &Session| {
        let mut asked = super::world::asked(of, json!({}));
        asked.origin.asked_by.name = name.into();
        world.keep(&[&asked]);
        answered(&asked, "alice", at(5))
    };
    for name in ["planner", "deployer", "planner"] {
        world.keep(&[&by(name, &session)]);
    }
    let lease = domain::LeaseId::from_uuid(super::world::fresh());
    let held = by("worker", &session);
    let taken = held.clone().take(&actor(ActorKind::Agent, "worker"), lease, at(6), at(60)).unwrap().0;
    world.keep(&[&held, &taken]);
    by("asker", &session);
    world.keep(&[&by("stranger", &other)]);
    let (id, name) = (session.id, |name: &str| name.to_owned());
    // A hosted worker takes its own answers: no agent is woken, and an agent with the same name is not offered them.
    let mut ours = super::world::asked(&session, json!({}));
    (ours.origin.asked_by.name, ours.origin.hosted) = ("guide".into(), true);
    world.keep(&[&ours]);
    let ours = answered(&ours, "alice", at(5));
    world.keep(&[&ours]);
    assert_eq!(world.look(move |reads| reads.deliveries(&here, "guide", Page { after: None, limit: 100 })), []);
    let waiting = world.look(move |reads| reads.waiting_deliveries(&here, id));
    assert_eq!((waiting.len(), waiting.last()), (4, Some(&ours.id)));
    assert_eq!(world.look(move |reads| reads.waiting_deliveries(&elsewhere, id)), []);
    assert_eq!(world.look(move |reads| reads.delivery_agents(&here, id)), [name("deployer"), name("planner")]);
    assert_eq!(world.look(move |reads| reads.delivery_agents(&elsewhere, id)), Vec::<String>::new());
}

/// Sessions are listed newest first, by status and by agent.
pub fn sessions_filter_and_page(fixture: &Fixture) {
    let world = World::on(&fixture.store);
    let here = world.here;
    let mut all: Vec<Session> = (0..20)
        .map(|number| {
            let channel = if number % 5 == 0 { "chat-2" } else { "chat-1" };
            let mut new = session(here, channel, [Some("deployer"), Some("cleaner"), None][number % 3]);
            new.waiting_on = u32::from(number % 2 == 0);
            if number % 7 == 0 {
                let note = Note { by: Actor::system(), at: new.created_at, reason: None };
                new.ended = Some((Ending::Completed, note));
            }
            world.keep_session(new)
        })
        .collect();
    world.keep_session(session(world.elsewhere, "chat-1", Some("deployer")));
    all.reverse();
    let statuses =
        [None, Some(SessionStatus::Running), Some(SessionStatus::WaitingUserInput), Some(SessionStatus::Failed)];
    for status in statuses {
        for agent in [None, Some("cleaner"), Some("absent")] {
            for (channel, live) in
                [(None, false), (Some("chat-2"), false), (Some("chat-2"), true), (Some("chat-3"), true)]
            {
                let (named, agent_named) = (channel.map(str::to_owned), agent.map(str::to_owned));
                let filter = SessionFilter { status, agent: agent_named, channel: named, live, belongs_to: None };
                let wanted = |one: &&Session| {
                    status.is_none_or(|status| status == one.status())
                        && agent.is_none_or(|agent| one.head.agent.as_deref() == Some(agent))
                        && channel.is_none_or(|channel| one.head.channel == channel)
                        && !(live && one.ended.is_some())
                };
                let expected: Vec<Session> = all.iter().filter(wanted).cloned().collect();
                for limit in [1, 3, 100] {
                    assert_eq!(paged_sessions(&world, &filter, limit), expected, "{filter:?} in pages of {limit}");
                }
            }
        }
    }
    for (kind, name) in [(ActorKind::Agent, "cleaner"), (ActorKind::User, "starter"), (ActorKind::Agent, "starter")] {
        let belongs_to = Some(actor(kind, name));
        let belongs = |one: &&Session| belongs_to.as_ref().is_some_and(|actor| one.require_owner(actor).is_ok());
        let expected: Vec<Session> = all.iter().filter(belongs).cloned().collect();
        let filter = SessionFilter { belongs_to: belongs_to.clone(), ..SessionFilter::default() };
        assert_eq!(paged_sessions(&world, &filter, 3), expected, "{filter:?}");
    }
}

fn paged_sessions(world: &World, filter: &SessionFilter, limit: u32) -> Vec<Session> {
    let (here, mut all, mut after) = (world.here, Vec::<Session>::new(), None::<SessionId>);
    loop {
        let filter = filter.clone();
        let page = world.look(move |reads| reads.sessions(&here, &filter, Page { after, limit }));
        let Some(last) = page.last() else { return all };
        after = Some(last.id);
        all.extend(page);
    }
}
