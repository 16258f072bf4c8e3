//! Tests answers of people and of policies, and questions that end without an answer.

use std::sync::Arc;

use domain::{AnswerDraft, AutoSource, Credential, Effect, Refusal, Resolution, Role, State, Status};
use futures::future::join_all;
use holdpoint_engine::{AnswerEntry, Error};
use serde_json::{Value, json};
use store::{Store, SystemClock};
use store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;
use testkit::{CountingStore, ReadCounts};

use crate::engine::policy_server::{Server, approval, rule};
use crate::engine::world::{World, choice, data, pointers, refusal};

/// The search for other people who could answer reads keys in batches, and finds a person in a later batch.
#[tokio::test]
async fn remaining_reviewer_is_found_behind_many_other_keys() {
    let world = World::new();
    let (agent, root) = (world.agent().await, world.caller(Role::Admin, "root").await);
    let member = async |name: &str| world.stranger("default", Role::Operator, name, &["ops"]).await;
    let (bob, alice) = (member("bob").await, member("alice").await);
    for number in 0..250 {
        world.person(&format!("person-{number}")).await;
    }
    let session = world.session(&agent).await;
    let fields = json!({ "audience": { "quorum": 1, "named": { "groups": ["ops"] } } });
    let asked = world.ask(&agent, &session, fields.clone()).await.id;
    let left = world.engine.interaction_abstain(&alice, asked, None, None).await.unwrap();
    assert_eq!(left.desertion(), None, "the holder of the second oldest key could answer");
    let Credential::Key(key) = bob.credential else { panic!("{:?}", bob.credential) };
    world.engine.key_revoke(&root, key).await.unwrap();
    let asked = world.ask(&agent, &session, fields).await.id;
    let left = world.engine.interaction_abstain(&alice, asked, None, None).await.unwrap();
    assert!(left.desertion().is_some(), "a revoked key cannot answer");
}

#[tokio::test]
async fn first_answer_wins_and_others_receive_the_winner() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let asked = world.ask(&agent, &session, json!({})).await;
    let mut people = Vec::new();
    for number in 0..20 {
        people.push(world.person(&format!("person-{number}")).await);
    }
    let results = join_all(people.iter().map(|person| world.choose(person, asked.id, "confirm"))).await;
    let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 19));
    let winner = won.into_iter().next().unwrap().unwrap();
    for refused in lost {
        assert_eq!(refusal(refused), Refusal::AlreadyResolved(Box::new(winner.clone())));
    }
    let answered = world.events(&agent, session.id).await;
    assert_eq!(answered.iter().filter(|name| *name == "interaction.answered").count(), 1);
}

/// Asserts what the answer of a person reads before its transaction.
async fn check_reads(draft: AnswerDraft) {
    let directory = TempDir::new().unwrap();
    let sqlite = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).unwrap();
    let store = Arc::new(CountingStore::new(Arc::new(sqlite)));
    let server = Server::on(Arc::clone(&store) as Arc<dyn Store>).await;
    server.own(&rule("own", "ask")).await;
    let (first, second) = (server.proposes("first").await, server.proposes("second").await);
    // The first answer compiles the policy, which is kept for the second.
    server.approves(&server.alice, &first).await.unwrap();
    store.begin();
    let answered = server.answers(&server.alice, &second, draft.clone()).await.unwrap();
    assert_eq!(answered.status(), Status::Answered);
    let mut reads = store.reads_before_transaction();
    reads.retain(|method, _| method.contains("interaction") || method.contains("action") || method.contains("policy"));
    assert_eq!(reads, ReadCounts::from([("action", 1), ("interaction", 1), ("policy_states", 1)]), "{draft:?}");
}

#[tokio::test]
async fn answer_reads_question_action_and_policy_once_before_its_transaction() {
    check_reads(approval()).await;
    let arguments = Some(json!({ "to": "production" }));
    check_reads(AnswerDraft { effect: Some(Effect::Edit), arguments, ..AnswerDraft::default() }).await;
}

/// Asserts the status of a question after a caller has answered it.
async fn check(fields: Value, (role, user): (Role, &str), expected: Result<Status, Refusal>) {
    let world = World::new();
    let (agent, starter) = (world.agent().await, world.person("starter").await);
    let session = world.session_of_agent(&starter).await;
    let asked = world.ask(&agent, &session, fields.clone()).await;
    let caller = world.stranger("default", role, user, &["ops"]).await;
    let result = world.choose(&caller, asked.id, "confirm").await;
    let result = result.map(|interaction| interaction.status()).map_err(|error| refusal::<()>(Err(error)));
    assert_eq!(result, expected, "{user} as {role:?}: {fields}");
}

#[tokio::test]
async fn only_the_audience_answers() {
    let named = |users: Value| json!({ "audience": { "quorum": 1, "named": users } });
    let four_eyes = json!({ "audience": { "quorum": 1, "four_eyes": true } });
    check(json!({}), (Role::Operator, "alice"), Ok(Status::Answered)).await;
    check(json!({}), (Role::Operator, "starter"), Ok(Status::Answered)).await;
    check(json!({}), (Role::Admin, "root"), Ok(Status::Answered)).await;
    check(json!({}), (Role::Viewer, "vera"), Err(Refusal::NotInAudience)).await;
    check(json!({}), (Role::Agent, "robot"), Err(Refusal::RoleForbids { role: Role::Agent })).await;
    check(json!({}), (Role::Operator, "deployer"), Err(Refusal::AskerCannotAnswer)).await;
    check(four_eyes.clone(), (Role::Operator, "starter"), Err(Refusal::FourEyes)).await;
    check(four_eyes, (Role::Operator, "alice"), Ok(Status::Answered)).await;
    check(named(json!({ "users": ["vera"] })), (Role::Viewer, "vera"), Ok(Status::Answered)).await;
    check(named(json!({ "groups": ["ops"] })), (Role::Viewer, "vera"), Ok(Status::Answered)).await;
    check(named(json!({ "users": ["bob"] })), (Role::Operator, "alice"), Err(Refusal::NotInAudience)).await;
}

#[tokio::test]
async fn quorum_counts_distinct_people_and_one_rejection_suffices() {
    let world = World::new();
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let session = world.session(&agent).await;
    let two = json!({ "audience": { "quorum": 2 } });
    let asked = world.ask(&agent, &session, two.clone()).await;
    assert_eq!(world.choose(&alice, asked.id, "confirm").await.unwrap().status(), Status::Pending);
    assert_eq!(refusal(world.choose(&alice, asked.id, "confirm").await), Refusal::AlreadyVoted(asked.id));
    assert_eq!(world.choose(&bob, asked.id, "confirm").await.unwrap().status(), Status::Answered);
    let asked = world.ask(&agent, &session, two).await;
    assert_eq!(world.choose(&alice, asked.id, "cancel").await.unwrap().status(), Status::Answered);
}

#[tokio::test]
async fn people_can_change_their_votes_until_the_quorum_agrees() {
    let world = World::new();
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let session = world.session(&agent).await;
    let option = |id: &str| json!({ "id": id, "label": id, "effect": "provide" });
    let asked = json!({ "kind": "choice", "options": [option("left"), option("right")], "audience": { "quorum": 2 } });
    let id = world.ask(&agent, &session, asked).await.id;
    world.choose(&alice, id, "left").await.unwrap();
    world.choose(&bob, id, "right").await.unwrap();
    let agreed = world.choose(&alice, id, "right").await.unwrap();
    let State::Resolved { resolution: Resolution::Answered { answer, votes }, .. } = &agreed.state else {
        unreachable!("{agreed:?}")
    };
    let said: Vec<_> = votes.iter().map(|vote| (vote.by.name.as_str(), vote.options[0].as_str())).collect();
    assert_eq!(said, [("bob", "right"), ("alice", "right")]);
    assert_eq!(answer.options, ["right"]);
    let voted = ["interaction.voted", "interaction.voted", "interaction.answered"];
    assert_eq!(world.events(&agent, session.id).await[2..], voted);
    assert_eq!(refusal(world.choose(&bob, id, "left").await), Refusal::AlreadyResolved(Box::new(agreed)));
}

#[tokio::test]
async fn invalid_answer_is_refused_with_a_pointer_and_changes_nothing() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let form = world.ask(&agent, &session, json!({ "kind": "form", "schema": schema, "required": false })).await;
    let wrong = world.engine.interaction_answer(&alice, form.id, data(json!({ "n": "one" })), None).await;
    assert_eq!(pointers(wrong), ["/data/n"]);
    let empty = world.engine.interaction_answer(&alice, form.id, AnswerDraft::default(), None).await;
    assert_eq!(pointers(empty), ["/data"]);
    assert_eq!(pointers(world.choose(&alice, form.id, "confirm").await), ["/option"]);
    assert_eq!(world.now(&agent, form.id).await, form);
    let skip = AnswerDraft { effect: Some(Effect::Skip), ..AnswerDraft::default() };
    let skipped = world.engine.interaction_answer(&alice, form.id, skip, None).await.unwrap();
    assert_eq!(skipped.status(), Status::Answered, "a form that is not required can be skipped");
}

#[tokio::test]
async fn failed_answer_of_a_batch_does_not_affect_the_others() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let first = world.ask(&agent, &session, json!({})).await.id;
    let second =
        world.ask(&agent, &session, json!({ "audience": { "quorum": 1, "named": { "users": ["bob"] } } })).await.id;
    let third = world.ask(&agent, &session, json!({})).await.id;
    let entry = |id| AnswerEntry { interaction: id, draft: choice("confirm"), idempotency: None };
    let mut results = Vec::new();
    let entries = vec![entry(first), entry(second), entry(third), entry(first)];
    world.engine.interaction_answer_many(&alice, entries, |result| results.push(result)).await;
    let results: Vec<_> = results.into_iter().map(|entry| (entry.interaction, entry.result)).collect();
    assert_eq!(results[0].1.as_ref().unwrap().status(), Status::Answered);
    assert_eq!(results[1], (second, Err(Error::Refused(Refusal::NotInAudience))));
    assert_eq!(results[2].1.as_ref().unwrap().status(), Status::Answered);
    assert!(matches!(results[3].1, Err(Error::Refused(Refusal::AlreadyResolved(_)))));
    assert_eq!(world.session_now(&agent, session.id).await.open, 1);
}

#[tokio::test]
async fn only_the_asker_or_an_operator_can_cancel_a_question() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let (other, viewer) = (world.caller(Role::Agent, "other").await, world.caller(Role::Viewer, "vera").await);
    let session = world.session(&agent).await;
    let withdrawn = world.ask(&agent, &session, json!({})).await.id;
    let refused = world.engine.interaction_cancel(&other, withdrawn, None, None).await;
    assert_eq!(refusal(refused), Refusal::NotFound("interaction"));
    let refused = world.engine.interaction_cancel(&viewer, withdrawn, None, None).await;
    assert_eq!(refusal(refused), Refusal::RoleForbids { role: Role::Viewer });
    let closed = world.engine.interaction_cancel(&agent, withdrawn, None, None).await.unwrap();
    assert_eq!(closed.delivery().unwrap().name(), "not_needed", "a withdrawn question needs no delivery");
    let cancelled = world.ask(&agent, &session, json!({})).await.id;
    let closed =
        world.engine.interaction_cancel(&alice, cancelled, Some("no longer needed".into()), None).await.unwrap();
    let State::Resolved { resolution, delivery, .. } = &closed.state else { unreachable!() };
    let by_alice = Resolution::Cancelled { by: alice.actor.clone(), reason: "no longer needed".into() };
    assert_eq!((resolution, delivery.name()), (&by_alice, "waiting"));
    let again = world.engine.interaction_cancel(&alice, cancelled, None, None).await;
    assert_eq!(refusal(again), Refusal::AlreadyResolved(Box::new(closed)));
    let reason = Some("nul\0".to_owned());
    assert_eq!(pointers(world.engine.interaction_cancel(&alice, cancelled, reason, None).await), ["/reason"]);
}

/// Asserts the status and the effect of a question that is expired at once.
async fn expired(fields: Value, status: Status, effect: Option<Effect>) {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let asked = world.ask(&agent, &session, fields.clone()).await;
    let refused = world.engine.interaction_expire(&agent, asked.id, None).await;
    assert_eq!(refusal(refused), Refusal::RoleForbids { role: Role::Agent });
    let ended = world.engine.interaction_expire(&alice, asked.id, None).await.unwrap();
    assert_eq!(ended.status(), status, "{fields}");
    if let State::Resolved { resolution, .. } = &ended.state {
        assert_eq!(resolution.answer().map(|answer| answer.effect), effect, "{fields}");
        let late = refusal(world.choose(&alice, asked.id, "confirm").await);
        let wanted = if status == Status::Expired {
            Refusal::TooLate(asked.id)
        } else {
            Refusal::AlreadyResolved(Box::new(ended.clone()))
        };
        assert_eq!(late, wanted);
    } else {
        assert_eq!(
            refusal(world.engine.interaction_expire(&alice, asked.id, None).await),
            Refusal::AlreadyOverdue(asked.id)
        );
        assert_eq!(world.choose(&alice, asked.id, "confirm").await.unwrap().status(), Status::Answered);
    }
}

#[tokio::test]
async fn expiring_a_question_applies_its_fallback() {
    let with = |fallback: Value| json!({ "deadline_seconds": 60, "fallback": fallback });
    expired(json!({}), Status::Expired, None).await;
    expired(with(json!("deny")), Status::AutoResolved, Some(Effect::Reject)).await;
    expired(with(json!({ "option": "confirm" })), Status::AutoResolved, Some(Effect::Approve)).await;
    expired(with(json!("hold")), Status::Pending, None).await;
    let mut question = with(json!({ "value": "later" }));
    question["kind"] = json!("question");
    expired(question, Status::AutoResolved, Some(Effect::Provide)).await;
}

#[tokio::test]
async fn only_an_admin_may_answer_automatically() {
    let world = World::new();
    let (agent, alice, root) =
        (world.agent().await, world.person("alice").await, world.caller(Role::Admin, "root").await);
    let session = world.session(&agent).await;
    let named = json!({ "audience": { "quorum": 1, "named": { "users": ["alice", "root"] } } });
    let asked = world.ask(&agent, &session, named).await;
    let auto = |by, option| world.engine.interaction_auto(by, asked.id, AutoSource::AutoPolicy, choice(option), None);
    assert_eq!(refusal(auto(&alice, "confirm").await), Refusal::RoleForbids { role: Role::Operator });
    assert_eq!(refusal(auto(&agent, "confirm").await), Refusal::RoleForbids { role: Role::Agent });
    assert_eq!(pointers(auto(&root, "perhaps").await), ["/option"]);
    let resolved = auto(&root, "confirm").await.unwrap();
    assert_eq!(resolved.status(), Status::AutoResolved);
    let State::Resolved { resolution, .. } = &resolved.state else { unreachable!() };
    assert_eq!(resolution.source(), Some("auto_policy"));
    assert_eq!(refusal(auto(&root, "confirm").await), Refusal::AlreadyResolved(Box::new(resolved)));
}

#[tokio::test]
async fn question_of_another_tenant_is_not_found() {
    let world = World::new();
    let (agent, root) = (world.agent().await, world.stranger("other", Role::Admin, "root", &[]).await);
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({})).await.id;
    let absent = Refusal::NotFound("interaction");
    assert_eq!(refusal(world.choose(&root, id, "confirm").await), absent);
    assert_eq!(refusal(world.engine.interaction_answer(&root, id, data(json!("x")), None).await), absent);
    assert_eq!(refusal(world.engine.interaction_cancel(&root, id, None, None).await), absent);
    assert_eq!(refusal(world.engine.interaction_expire(&root, id, None).await), absent);
    assert_eq!(refusal(world.engine.interaction_claim(&root, id, None).await), absent);
    assert_eq!(refusal(world.engine.interaction_release(&root, id, None).await), absent);
    assert_eq!(refusal(world.engine.delivery_take(&root, id, None, None).await), absent);
    let auto = world.engine.interaction_auto(&root, id, AutoSource::System, choice("confirm"), None).await;
    assert_eq!(refusal(auto), absent);
    assert_eq!(refusal(world.engine.interaction_get(&root, id, std::time::Duration::ZERO).await), absent);
}
