//! Tests who may answer, how many people must agree, and which answers need only one person.

use crate::common::people::{at, caller, session, uuid};
use crate::common::questions::{draft, question};
use holdpoint_domain::{Actor, AnswerId, Caller, Interaction, InteractionId, Refusal, Resolution, Role, State};
use serde_json::{Value, json};

/// An approval for this audience, asked by `bot` in the session of `starter`.
fn asked(audience: Value) -> Interaction {
    asked_by(audience, caller("bot", Role::Agent, &[]).actor)
}

fn asked_by(audience: Value, by: Actor) -> Interaction {
    let action = json!({ "tool": "deploy", "arguments": {} });
    let question = question(json!({ "kind": "approval", "action": action, "audience": audience })).admit().unwrap();
    Interaction::ask(InteractionId::from_uuid(uuid(10)), &session(), by, question, at(0)).0
}

fn check_admitted(interaction: &Interaction, who: &Caller, expected: Result<(), Refusal>) {
    let admitted = interaction.admit(who).map(|_| ());
    assert_eq!(admitted, expected, "{who:?} of {:?}", interaction.question.audience);
}

#[test]
fn audience_names_at_most_100_users_and_100_groups() {
    let named = |count: usize| (0..count).map(|n| format!("name-{n}")).collect::<Vec<_>>();
    let action = json!({ "tool": "deploy", "arguments": {} });
    for list in ["users", "groups"] {
        for (count, fits) in [(100, true), (101, false), (50_000, false)] {
            let audience = json!({ "quorum": 1, "named": { list: named(count) } });
            let admitted = question(json!({ "kind": "approval", "action": action, "audience": audience })).admit();
            let Err(problems) = admitted else {
                assert!(fits, "{count} {list}");
                continue;
            };
            let told: Vec<_> = problems.iter().map(|one| (one.pointer.as_str(), one.message.as_str())).collect();
            assert_eq!(
                (told, fits),
                (vec![(format!("/audience/{list}").as_str(), "must have at most 100 items")], false)
            );
        }
    }
}

#[test]
fn default_audience_is_operators_and_the_session_starter() {
    let asked = asked(json!({ "quorum": 1 }));
    check_admitted(&asked, &caller("alice", Role::Operator, &[]), Ok(()));
    check_admitted(&asked, &caller("root", Role::Admin, &[]), Ok(()));
    check_admitted(&asked, &caller("starter", Role::Operator, &[]), Ok(()));
    check_admitted(&asked, &caller("starter", Role::Viewer, &[]), Ok(()));
    check_admitted(&asked, &caller("victor", Role::Viewer, &[]), Err(Refusal::NotInAudience));
    check_admitted(&asked, &caller("victor", Role::Viewer, &["ops"]), Err(Refusal::NotInAudience));
}

#[test]
fn only_members_of_a_named_audience_may_answer() {
    let not_in = || Err(Refusal::NotInAudience);
    let users = asked(json!({ "quorum": 1, "named": { "users": ["alice", "victor"] } }));
    check_admitted(&users, &caller("alice", Role::Operator, &[]), Ok(()));
    check_admitted(&users, &caller("victor", Role::Viewer, &[]), Ok(()));
    check_admitted(&users, &caller("bob", Role::Operator, &["alice"]), not_in());
    check_admitted(&users, &caller("root", Role::Admin, &[]), not_in());
    check_admitted(&users, &caller("starter", Role::Operator, &[]), not_in());
    let groups = asked(json!({ "quorum": 1, "named": { "groups": ["ops"] } }));
    check_admitted(&groups, &caller("bob", Role::Operator, &["law", "ops"]), Ok(()));
    check_admitted(&groups, &caller("victor", Role::Viewer, &["ops"]), Ok(()));
    check_admitted(&groups, &caller("ops", Role::Operator, &["law"]), not_in());
    let roles = asked(json!({ "quorum": 1, "named": { "roles": ["viewer"] } }));
    check_admitted(&roles, &caller("victor", Role::Viewer, &[]), Ok(()));
    check_admitted(&roles, &caller("alice", Role::Operator, &[]), not_in());
}

#[test]
fn an_empty_list_allows_nobody() {
    let mut interaction = asked(json!({ "quorum": 1 }));
    interaction.question.audience.named = Some(holdpoint_domain::audience::Named::default());
    for role in [Role::Admin, Role::Operator, Role::Viewer] {
        check_admitted(&interaction, &caller("", role, &[""]), Err(Refusal::NotInAudience));
    }
}

#[test]
fn agent_key_never_answers_even_if_the_audience_names_it() {
    let forbidden = || Err(Refusal::RoleForbids { role: Role::Agent });
    let named = asked(json!({ "quorum": 1, "named": { "users": ["bot", "other"], "groups": ["bots"] } }));
    check_admitted(&named, &caller("bot", Role::Agent, &["bots"]), forbidden());
    check_admitted(&named, &caller("other", Role::Agent, &["bots"]), forbidden());
    check_admitted(&asked(json!({ "quorum": 1 })), &caller("starter", Role::Agent, &[]), forbidden());
}

#[test]
fn asker_can_never_answer() {
    let operator = caller("olga", Role::Operator, &[]);
    let default = asked_by(json!({ "quorum": 1 }), operator.actor.clone());
    check_admitted(&default, &operator, Err(Refusal::AskerCannotAnswer));
    check_admitted(&default, &caller("olga", Role::Admin, &[]), Err(Refusal::AskerCannotAnswer));
    check_admitted(&default, &caller("alice", Role::Operator, &[]), Ok(()));
    let named = asked_by(json!({ "quorum": 1, "named": { "users": ["olga", "alice"] } }), operator.actor.clone());
    check_admitted(&named, &operator, Err(Refusal::AskerCannotAnswer));
    let starter = caller("starter", Role::Operator, &[]);
    check_admitted(&asked_by(json!({ "quorum": 1 }), starter.actor.clone()), &starter, Err(Refusal::AskerCannotAnswer));
}

#[test]
fn four_eyes_excludes_the_session_starter() {
    let default = asked(json!({ "quorum": 1, "four_eyes": true }));
    check_admitted(&default, &caller("starter", Role::Operator, &[]), Err(Refusal::FourEyes));
    check_admitted(&default, &caller("starter", Role::Admin, &[]), Err(Refusal::FourEyes));
    check_admitted(&default, &caller("alice", Role::Operator, &[]), Ok(()));
    let named = asked(json!({ "quorum": 1, "four_eyes": true, "named": { "users": ["starter", "alice"] } }));
    check_admitted(&named, &caller("starter", Role::Operator, &[]), Err(Refusal::FourEyes));
}

/// Lets people answer in sequence. A vote is `who:groups:effect`; its result is `voted`, `answered` or a refusal.
fn check_votes(audience: Value, votes: &[(&str, &str)]) {
    let mut interaction = asked(audience.clone());
    for (nth, (vote, expected)) in votes.iter().enumerate() {
        let parts: Vec<&str> = vote.split(':').collect();
        let groups: Vec<&str> = parts[1].split_terminator('+').collect();
        let reviewer = interaction.admit(&caller(parts[0], Role::Operator, &groups)).unwrap();
        let (id, feedback) = (AnswerId::from_uuid(uuid(20)), format!("says {}", parts[0]));
        let arguments = (parts[2] == "edit").then(|| json!({ "n": parts[3] }));
        let body = match arguments {
            Some(arguments) => json!({ "effect": "edit", "arguments": arguments, "feedback": feedback }),
            None => json!({ "effect": parts[2], "feedback": feedback }),
        };
        let came_to = match interaction.clone().answer(&reviewer, id, draft(body), None, at(9)) {
            Ok((after, event)) => {
                interaction = after;
                event.kind.name()
            }
            Err(Refusal::AlreadyVoted(_)) => "AlreadyVoted",
            Err(Refusal::AlreadyResolved(_)) => "AlreadyResolved",
            Err(_) => "refused",
        };
        assert_eq!(came_to.trim_start_matches("interaction."), *expected, "vote {nth} of {votes:?} for {audience}");
    }
}

#[test]
fn quorum_counts_distinct_people_with_the_same_answer() {
    let two = || json!({ "quorum": 2 });
    check_votes(json!({ "quorum": 1 }), &[("a::approve", "answered"), ("b::reject", "AlreadyResolved")]);
    check_votes(two(), &[("a::approve", "voted"), ("b::approve", "answered")]);
    check_votes(two(), &[("a::approve", "voted"), ("a::approve", "AlreadyVoted"), ("b::approve", "answered")]);
    check_votes(two(), &[("a::approve", "voted"), ("a::reject", "answered")]);
    check_votes(two(), &[("a::approve", "voted"), ("b::edit:1", "voted"), ("a::edit:1", "answered")]);
    check_votes(
        two(),
        &[("a::approve", "voted"), ("a::edit:1", "voted"), ("b::approve", "voted"), ("c::edit:1", "answered")],
    );
    check_votes(
        two(),
        &[("a::approve", "voted"), ("a::edit:1", "voted"), ("a::edit:1", "AlreadyVoted"), ("a::approve", "voted")],
    );
    check_votes(two(), &[("a::approve", "voted"), ("b::edit:1", "voted"), ("c::approve", "answered")]);
    check_votes(two(), &[("a::edit:1", "voted"), ("b::edit:2", "voted"), ("c::edit:2", "answered")]);
    let three = json!({ "quorum": 3 });
    check_votes(three, &[("a::approve", "voted"), ("b::approve", "voted"), ("c::approve", "answered")]);
}

#[test]
fn answers_agree_only_with_equal_options_and_data() {
    let options =
        json!([{ "id": "a", "label": "A", "effect": "provide" }, { "id": "b", "label": "B", "effect": "provide" }]);
    let asked = || {
        let audience = json!({ "quorum": 2 });
        let question =
            question(json!({ "kind": "question", "options": options, "audience": audience })).admit().unwrap();
        let bot = caller("bot", Role::Agent, &[]).actor;
        Interaction::ask(InteractionId::from_uuid(uuid(10)), &session(), bot, question, at(0)).0
    };
    let check = |first: Value, second: Value, agree: bool| {
        let both = [("a", &first), ("b", &second)].into_iter().fold(asked(), |interaction, (who, body)| {
            let reviewer = interaction.admit(&caller(who, Role::Operator, &[])).unwrap();
            let id = AnswerId::from_uuid(uuid(20));
            interaction.answer(&reviewer, id, draft(body.clone()), None, at(9)).unwrap().0
        });
        assert_eq!(both.status().name(), if agree { "answered" } else { "pending" }, "{first} and {second}");
    };
    check(json!({ "options": ["a"] }), json!({ "options": ["a"], "feedback": "me too" }), true);
    check(json!({ "options": ["a"] }), json!({ "options": ["b"] }), false);
    check(json!({ "options": ["a"], "data": 1 }), json!({ "options": ["a"], "data": 2 }), false);
    check(json!({ "data": "blue" }), json!({ "data": "blue" }), true);
    check(json!({ "data": "blue" }), json!({ "data": "red" }), false);
    check(json!({ "data": "blue" }), json!({ "options": ["a"] }), false);
}

#[test]
fn one_reject_retry_or_terminate_resolves_the_question() {
    for effect in ["reject", "retry", "terminate"] {
        let held = format!("b::{effect}");
        check_votes(json!({ "quorum": 3 }), &[(&held, "answered")]);
        check_votes(json!({ "quorum": 3 }), &[("a::approve", "voted"), (&held, "answered")]);
    }
}

#[test]
fn distinct_groups_are_matched_to_people() {
    let distinct = |quorum: u32, groups: &[&str]| {
        let named = json!({ "groups": groups });
        json!({ "quorum": quorum, "distinct_groups": true, "named": named })
    };
    let two = || distinct(2, &["ops", "law"]);
    check_votes(two(), &[("a:ops:approve", "voted"), ("b:law:approve", "answered")]);
    check_votes(two(), &[("a:ops:approve", "voted"), ("b:ops:approve", "voted"), ("c:law:approve", "answered")]);
    // A person in both groups is counted for the group that the other person does not have.
    check_votes(two(), &[("a:ops+law:approve", "voted"), ("b:ops:approve", "answered")]);
    check_votes(two(), &[("a:ops+law:approve", "voted"), ("b:law:approve", "answered")]);
    check_votes(two(), &[("a:ops+law:approve", "voted"), ("b:ops+law:approve", "answered")]);
    // A person in two groups counts once.
    check_votes(two(), &[("a:ops+law:approve", "voted"), ("a:ops+law:approve", "AlreadyVoted")]);
    // Groups that the audience does not name do not count.
    check_votes(two(), &[("a:ops+pets:approve", "voted"), ("b:ops+cats:approve", "voted")]);
    check_votes(two(), &[("a:ops:approve", "voted"), ("b:ops:reject", "answered")]);
    let three = distinct(3, &["a", "b", "c"]);
    check_votes(three, &[("x:a+b:approve", "voted"), ("y:b+c:approve", "voted"), ("z:b:approve", "answered")]);
    let users = json!({ "quorum": 1, "distinct_groups": true, "named": { "users": ["u"], "groups": ["ops"] } });
    check_votes(users, &[("u::approve", "voted"), ("b:ops:approve", "answered")]);
}

#[test]
fn resolution_contains_all_votes_and_the_deciding_answer() {
    let mut interaction = asked(json!({ "quorum": 2 }));
    for who in ["a", "b"] {
        let reviewer = interaction.admit(&caller(who, Role::Operator, &[])).unwrap();
        let body = draft(json!({ "effect": "approve", "feedback": format!("says {who}") }));
        interaction = interaction.answer(&reviewer, AnswerId::from_uuid(uuid(20)), body, None, at(9)).unwrap().0;
    }
    let State::Resolved { resolution: Resolution::Answered { answer, votes }, .. } = interaction.state else {
        return assert_eq!(interaction.status().name(), "answered");
    };
    let names: Vec<&str> = votes.iter().map(|vote| vote.by.name.as_str()).collect();
    assert_eq!((answer.by.name.as_str(), names), ("b", vec!["a", "b"]));
    assert_eq!(answer.feedback.as_deref(), Some("says b"));
}

#[test]
fn claim_is_released_by_its_holder_or_an_admin() {
    let claimed = || {
        let asked = asked(json!({ "quorum": 1 }));
        let reviewer = asked.admit(&caller("alice", Role::Operator, &[])).unwrap();
        asked.claim(&reviewer, at(1), at(60)).unwrap().0
    };
    let released = |who: &str, role| claimed().release(&caller(who, role, &[])).map(|(_, event)| event.kind.name());
    assert_eq!(released("alice", Role::Operator), Ok("interaction.released"));
    assert_eq!(released("root", Role::Admin), Ok("interaction.released"));
    assert_eq!(released("bob", Role::Operator), Err(Refusal::NotClaimed(claimed().id)));
}
