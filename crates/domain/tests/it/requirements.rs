//! Tests a question with several audiences, each of which must reach its quorum with its own votes.

use crate::common::people::{at, caller, session, uuid};
use crate::common::questions::{draft, question};
use holdpoint_domain::audience::Person;
use holdpoint_domain::audience::{combined, strictest};
use holdpoint_domain::grant::RememberedArguments;
use holdpoint_domain::{
    Answer, AnswerId, Audience, Caller, Interaction, InteractionId, Kind, Question, Refusal, Remember, Role, State,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn audience(value: Value) -> Audience {
    serde_json::from_value(value).unwrap()
}

fn audiences(values: &[Value]) -> Vec<Audience> {
    values.iter().cloned().map(audience).collect()
}

/// Two members of `ops`, excluding the person who started the session.
fn ops() -> Value {
    json!({ "quorum": 2, "four_eyes": true, "named": { "groups": ["ops"] } })
}

fn operators() -> Value {
    json!({ "quorum": 1, "named": { "roles": ["operator"] } })
}

/// An approval of a call for these audiences, asked by `bot` in the session of `starter`.
fn asked(of: &[Value]) -> Interaction {
    let action = json!({ "tool": "deploy", "arguments": {} });
    let question = question(json!({ "kind": "approval", "action": action, "call": "c1" }));
    let question = question.asked_of(audiences(of)).admit().unwrap();
    let bot = caller("bot", Role::Agent, &[]).actor;
    Interaction::ask(InteractionId::from_uuid(uuid(10)), &session(), bot, question, at(0)).0
}

fn caller_named(who: &str) -> Caller {
    match who {
        "olga" => caller("olga", Role::Operator, &[]),
        "starter" => caller("starter", Role::Operator, &["ops"]),
        "vera" | "victor" => caller(who, Role::Viewer, &["ops"]),
        "both" => caller("both", Role::Operator, &["ops"]),
        _ => caller(who, Role::Viewer, &[]),
    }
}

fn answers(interaction: &Interaction, who: &str, effect: &str) -> Result<(Interaction, &'static str), Refusal> {
    let reviewer = interaction.admit(&caller_named(who))?;
    let body = match effect {
        "edit" => json!({ "effect": "edit", "arguments": { "n": 1 } }),
        _ => json!({ "effect": effect, "feedback": "so" }),
    };
    let answered = interaction.clone().answer(&reviewer, AnswerId::from_uuid(uuid(20)), draft(body), None, at(9));
    answered.map(|(after, event_draft)| (after, event_draft.kind.name()))
}

/// Each vote is `who:effect`, followed by its result and the requirements that are met after it.
fn check_votes(of: &[Value], votes: &[(&str, &str, &[bool])]) {
    let mut interaction = asked(of);
    for (vote, expected, met) in votes {
        let (who, effect) = vote.split_once(':').unwrap();
        let came_to = match answers(&interaction, who, effect) {
            Ok((after, name)) => {
                interaction = after;
                name.trim_start_matches("interaction.").to_owned()
            }
            Err(refusal) => format!("{refusal:?}"),
        };
        assert_eq!(
            (came_to.as_str(), interaction.requirements_met().as_slice()),
            (*expected, *met),
            "{vote} of {votes:?}"
        );
    }
}

#[test]
fn every_requirement_counts_only_votes_of_its_members() {
    let both = [operators(), ops()];
    check_votes(
        &both,
        &[
            ("olga:approve", "voted", &[true, false]),
            ("vera:approve", "voted", &[true, false]),
            ("victor:approve", "answered", &[true, true]),
        ],
    );
    // One person counts in both audiences. Two operators of whom one is in the group are not two members of the group.
    check_votes(&both, &[("both:approve", "voted", &[true, false]), ("vera:approve", "answered", &[true, true])]);
    check_votes(&both, &[("both:approve", "voted", &[true, false]), ("olga:approve", "voted", &[true, false])]);
    check_votes(
        &both,
        &[
            ("vera:approve", "voted", &[false, false]),
            ("victor:approve", "voted", &[false, true]),
            ("olga:approve", "answered", &[true, true]),
        ],
    );
    // Only equal answers count, and a person who answers differently counts only for the new answer.
    check_votes(
        &both,
        &[
            ("vera:approve", "voted", &[false, false]),
            ("both:edit", "voted", &[true, false]),
            ("both:approve", "answered", &[true, true]),
        ],
    );
    check_votes(&both, &[("vera:approve", "voted", &[false, false]), ("olga:reject", "answered", &[true, false])]);
}

#[test]
fn four_eyes_applies_only_to_the_audience_that_sets_it() {
    // The person who started the session is an operator and counts in that audience, but not in the group.
    check_votes(
        &[operators(), ops()],
        &[
            ("starter:approve", "voted", &[true, false]),
            ("vera:approve", "voted", &[true, false]),
            ("victor:approve", "answered", &[true, true]),
        ],
    );
    let check = |of: &[Value], who: Caller, expected: Result<(), Refusal>| {
        assert_eq!(asked(of).admit(&who).map(drop), expected, "{who:?}");
    };
    let law = || json!({ "quorum": 1, "named": { "groups": ["law"] } });
    check(&[ops(), law()], caller_named("starter"), Err(Refusal::FourEyes));
    check(&[ops(), law()], caller_named("olga"), Err(Refusal::NotInAudience));
    check(&[ops(), law()], caller("lea", Role::Viewer, &["law"]), Ok(()));
    check(&[ops(), law()], caller("bot", Role::Operator, &["law"]), Err(Refusal::AskerCannotAnswer));
    let all = asked(&[operators(), ops()]);
    assert_eq!(
        all.require_unbarred(&caller_named("starter").actor),
        Err(Refusal::FourEyes),
        "one person cannot decide for the other audience"
    );
    assert_eq!(all.require_unbarred(&caller_named("olga").actor), Ok(()));
}

#[test]
fn claim_does_not_block_others_with_several_requirements() {
    let asked = asked(&[operators(), json!({ "quorum": 1, "named": { "groups": ["ops"] } })]);
    let reviewer = asked.admit(&caller_named("olga")).unwrap();
    let claimed = asked.claim(&reviewer, at(1), at(60)).unwrap().0;
    assert_eq!(answers(&claimed, "vera", "approve").unwrap().1, "interaction.voted");
}

#[test]
fn question_is_deserted_when_a_requirement_can_no_longer_be_met() {
    let person = |who: &str| {
        let Caller { actor, role, groups, .. } = caller_named(who);
        Person { actor, role, groups }
    };
    let check = |people: &[&str], who: &str, deserted: bool| {
        let asked = asked(&[operators(), ops()]);
        let people: Vec<Person> = people.iter().map(|who| person(who)).collect();
        let reviewer = asked.admit(&caller_named(who)).unwrap();
        let State::Pending(pending) = asked.abstain(&reviewer, None, &people, at(1)).unwrap().0.state else { return };
        assert_eq!(pending.deserted, deserted, "{who} of {people:?}");
    };
    check(&["olga", "both", "vera", "victor"], "olga", false);
    check(&["olga", "vera", "victor"], "olga", true);
    check(&["olga", "both", "vera", "victor"], "vera", false);
    check(&["olga", "both", "vera"], "vera", true);
    // The person who started the session is not a second member of the group.
    check(&["olga", "both", "vera", "starter"], "vera", true);
}

#[test]
fn strictest_audience_is_the_audience_of_the_question() {
    let check = |of: &[Value], expected: Value| {
        assert_eq!(strictest(&audiences(of)), Some(&audience(expected)), "{of:?}");
    };
    let users = || json!({ "quorum": 1, "named": { "users": ["ann", "bob"] } });
    let group = || json!({ "quorum": 1, "named": { "users": ["ann"], "groups": ["ops"] } });
    let anybody = || json!({ "quorum": 1 });
    check(&[anybody(), operators(), group(), users()], users());
    check(&[anybody(), operators(), group()], group());
    check(&[anybody(), operators()], operators());
    check(
        &[users(), json!({ "quorum": 1, "named": { "users": ["eve"] } })],
        json!({ "quorum": 1, "named": { "users": ["eve"] } }),
    );
    check(&[users(), json!({ "quorum": 2 })], json!({ "quorum": 2 }));
    check(
        &[json!({ "quorum": 3 }), json!({ "quorum": 1, "four_eyes": true })],
        json!({ "quorum": 1, "four_eyes": true }),
    );
    let interaction = asked(&[operators(), ops()]);
    assert_eq!(interaction.question.audience, audience(ops()));
    assert_eq!(interaction.question.requirements, audiences(&[operators(), ops()]));
    let first = json!({ "quorum": 1, "named": { "users": ["eve"] } });
    check(&[first.clone(), json!({ "quorum": 1, "named": { "users": ["ann"] } })], first);
}

#[test]
fn equal_or_implied_audiences_give_no_requirements() {
    let plain = || Question::plain(Kind::Approval, "May I?".into());
    assert_eq!(plain().asked_of([]), plain());
    let twice = plain().asked_of(audiences(&[ops(), ops()]));
    assert_eq!((twice.audience, twice.requirements), (audience(ops()), Vec::new()));
    let implied = plain().asked_of(audiences(&[json!({ "quorum": 1 }), operators()]));
    assert_eq!((implied.audience, implied.requirements), (audience(operators()), Vec::new()));
}

/// A question that was stored before requirements existed keeps its meaning and its stored form.
#[test]
fn question_stored_without_requirements_keeps_its_meaning() {
    let stored = json!({ "kind": "approval", "title": "May I?", "required": true, "audience": { "quorum": 2 } });
    let question: Question = serde_json::from_value(stored).unwrap();
    assert_eq!((question.requirements.len(), question.audiences()), (0, &[audience(json!({ "quorum": 2 }))][..]));
    assert!(serde_json::to_value(&question).unwrap().get("requirements").is_none());
    let several = asked(&[operators(), ops()]);
    let text = serde_json::to_string(&several).unwrap();
    assert_eq!(serde_json::from_str::<Interaction>(&text).unwrap(), several);
}

#[test]
fn several_audiences_allow_no_grant_and_no_secret() {
    let interaction = asked(&[operators(), json!({ "quorum": 1, "named": { "groups": ["ops"] } })]);
    let reviewer = interaction.admit(&caller_named("both")).unwrap();
    let remember = Remember { project: false, arguments: RememberedArguments::Exactly, seconds: None, uses: None };
    let body = holdpoint_domain::AnswerDraft { remember: Some(remember), ..draft(json!({ "effect": "approve" })) };
    let refused = interaction.answer(&reviewer, AnswerId::from_uuid(uuid(20)), body, None, at(9));
    assert!(matches!(refused, Err(Refusal::AnswerInvalid(_))), "{refused:?}");
    let secret = question(json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }] }));
    let refused = secret.asked_of(audiences(&[operators(), ops()])).admit().unwrap_err();
    assert_eq!(refused[0].pointer, "/audience/quorum");
    let mut foreign = asked(&[operators(), ops()]).question;
    foreign.audience = Audience::default();
    assert_eq!(foreign.admit().unwrap_err()[0].pointer, "/audience");
}

fn any_audience() -> impl Strategy<Value = Audience> {
    let some = |of: &'static [&'static str]| prop::sample::subsequence(of, 0..=of.len());
    let named = (some(&["ann", "starter"]), some(&["ops", "law"]), some(&["viewer", "operator", "admin"]));
    let named = named.prop_map(|(users, groups, roles)| json!({ "users": users, "groups": groups, "roles": roles }));
    let (named, quorum) = (proptest::option::weighted(0.8, named), 1..4u32);
    (named, quorum, any::<bool>(), any::<bool>()).prop_map(|(named, quorum, distinct_groups, four_eyes)| {
        audience(
            json!({ "named": named, "quorum": quorum, "distinct_groups": distinct_groups, "four_eyes": four_eyes }),
        )
    })
}

fn any_vote() -> impl Strategy<Value = (&'static str, Role, Vec<&'static str>)> {
    let name = prop::sample::select(&["ann", "bob", "cat", "dan", "starter"][..]);
    let role = prop::sample::select(&[Role::Viewer, Role::Operator, Role::Admin][..]);
    (name, role, prop::sample::subsequence(&["ops", "law", "pets"][..], 0..=3))
}

fn votes(given: &[(&str, Role, Vec<&str>)]) -> Vec<Answer> {
    let mut votes: Vec<Answer> = Vec::new();
    for (name, role, groups) in given {
        if votes.iter().any(|vote| vote.by.name == *name) {
            continue;
        }
        let Caller { actor, groups, .. } = caller(name, *role, groups);
        let answer = json!({ "id": AnswerId::from_uuid(uuid(20)), "by": actor, "groups": groups, "role": role,
                             "at": at(9), "effect": "approve" });
        votes.push(serde_json::from_value(answer).unwrap());
    }
    votes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(3_000), ..ProptestConfig::default() })]

    /// Votes that satisfy the remaining audiences also satisfy every audience that was removed from the list.
    #[test]
    fn combined_audiences_are_as_strict_as_the_original_ones(
        several in prop::collection::vec(any_audience(), 1..5),
        given in prop::collection::vec(any_vote(), 0..6),
    ) {
        let (votes, starter) = (votes(&given), caller_named("starter").actor);
        let votes: Vec<&Answer> = votes.iter().collect();
        let left = combined(several.clone());
        prop_assert!(!left.is_empty());
        if left.iter().all(|audience| audience.settled_by(&votes, &starter)) {
            for audience in &several {
                prop_assert!(audience.settled_by(&votes, &starter), "{audience:?} of {several:?}, left: {left:?}");
            }
        }
    }
}
