//! Tests handing a question over to another channel, and abstaining from a question.

use domain::Role;
use serde_json::{Value, json};

use server_testkit::actions::writing;
use server_testkit::client::{ApiClient, Question, confirmation, text};
use server_testkit::world::World;

/// Hands a question over, and returns the state of the first question and the second question.
async fn hand_over(by: &ApiClient, question: &Question, body: Value) -> (Value, Question) {
    let first = by.post(&question.path("/handover"), body).await.done();
    let (id, session) = (text(&first["handed_over"]["interaction"]), text(&first["handed_over"]["session"]));
    let shown = by.get(&format!("/v1/interactions/{id}")).await.done();
    (first, Question { id, session, shown })
}

#[tokio::test]
async fn handed_over_question_names_its_successor_and_ends_with_it() {
    let world = World::new().await;
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let question = world.asks(confirmation()).await;
    let body = json!({ "channel": "second-line", "note": "about money" });
    let (first, second) = hand_over(&alice, &question, body).await;
    assert_eq!(first["status"], "pending");
    assert_eq!(
        first["handed_over"],
        json!({ "session": second.session, "interaction": second.id,
        "channel": "second-line", "by": { "kind": "user", "name": "alice" }, "at": first["handed_over"]["at"],
        "note": "about money" })
    );
    let from = json!({ "session": question.session, "interaction": question.id,
        "by": { "kind": "user", "name": "alice" }, "note": "about money" });
    assert_eq!((&second.shown["handed_from"], &second.shown["channel"]), (&from, &json!("second-line")));
    assert_eq!((&second.shown["asked_by"], &second.shown["title"]), (&first["asked_by"], &first["title"]));
    assert_eq!(alice.session(&second.session).await["handed_from"], from);

    // Nobody can answer the first question any more, and no inbox lists it.
    let refused = bob.answers(&question, json!({ "option": "confirm" })).await.refused(409, "interaction_handed_over");
    assert!(text(&refused["title"]).contains(&second.session), "{refused}");
    for verb in ["/claim", "/expire", "/handover", "/abstain"] {
        bob.post(&question.path(verb), json!({})).await.refused(409, "interaction_handed_over");
    }
    assert_eq!(bob.reads(&question).await, first, "the question stays readable and unchanged");
    let mine = bob.get("/v1/interactions?mine=true&status=pending").await.done();
    assert_eq!(server_testkit::client::ids(&mine["interactions"]), std::slice::from_ref(&second.id));
    assert_eq!(agent.session(&question.session).await["status"], "waiting_user_input");

    let answered = bob.answers(&second, json!({ "option": "confirm", "feedback": "fine" })).await.done();
    let ended = agent.reads(&question).await;
    assert_eq!(ended["resolution"], answered["resolution"]);
    assert_eq!(ended["handed_over"], first["handed_over"], "the ended question still names its successor");
    assert_eq!(agent.session(&question.session).await["status"], "running");
    // The second session does not belong to the agent, which waits for its own question.
    agent.get(&format!("/v1/sessions/{}", second.session)).await.refused(404, "not_found");
    assert_eq!(bob.session(&second.session).await["status"], "completed");
    assert_eq!(
        agent.events(&question.session).await,
        ["session.started", "interaction.asked", "interaction.handed_over", "interaction.answered"]
    );
    assert_eq!(
        bob.events(&second.session).await,
        ["session.started", "interaction.asked", "interaction.answered", "session.completed"]
    );
    assert_eq!(
        agent.deliveries().await,
        std::slice::from_ref(&question.id),
        "the agent takes the answer to its own question, once"
    );
    let taken = agent.takes(&question).await.done();
    assert_eq!(taken["answer"]["feedback"], "fine");
}

/// The first question ends as the second one does.
#[tokio::test]
async fn handed_over_question_expires_or_is_cancelled_with_its_successor() {
    let world = World::new().await;
    let (agent, alice, root) = (world.agent().await, world.person("alice").await, world.admin().await);
    for (verb, status) in
        [("expire", "expired"), ("cancel", "cancelled"), ("auto", "auto_resolved"), ("time", "expired")]
    {
        let mut asked = confirmation();
        asked["deadline_seconds"] = json!(60);
        let question = world.asks(asked).await;
        let (_, second) = hand_over(&alice, &question, json!({})).await;
        assert_eq!(second.shown["deadline"], question.shown["deadline"]);
        match verb {
            "time" => world.passes(60).await,
            "auto" => drop(root.post(&second.path("/auto"), json!({ "option": "cancel" })).await.done()),
            verb => drop(root.post(&second.path(&format!("/{verb}")), json!({})).await.done()),
        }
        let (first, second) = (agent.reads(&question).await, agent.reads(&second).await);
        assert_eq!((&first["status"], &second["status"]), (&json!(status), &json!(status)), "{verb}");
        assert_eq!(first["resolution"], second["resolution"]);
        agent.commands(&question.session, "complete").await.done();
    }
    // Cancelling a session cancels the questions that were handed over from it.
    let question = world.asks(confirmation()).await;
    let (_, second) = hand_over(&alice, &question, json!({})).await;
    let (_, third) = hand_over(&alice, &second, json!({ "channel": "third" })).await;
    alice.commands(&question.session, "cancel").await.done();
    for one in [&question, &second, &third] {
        assert_eq!(agent.reads(one).await["status"], "cancelled");
    }
    assert_eq!(alice.session(&third.session).await["status"], "completed");
}

/// Votes move along with a question that is handed over twice, and its end comes back through the chain.
#[tokio::test]
async fn votes_are_copied_and_a_second_handover_closes_the_whole_chain() {
    let world = World::new().await;
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let mut asked = confirmation();
    asked["audience"] = json!({ "quorum": 2 });
    let question = world.asks(asked).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let (_, second) = hand_over(&alice, &question, json!({})).await;
    let (_, third) = hand_over(&bob, &second, json!({ "channel": "third" })).await;
    assert_eq!(third.shown["votes"][0]["by"]["name"], "alice");
    bob.answers(&third, json!({ "option": "confirm" })).await.done();
    for one in [&question, &second, &third] {
        assert_eq!(agent.reads(one).await["status"], "answered");
    }
    assert_eq!(agent.deliveries().await, [question.id]);
}

/// Only people who may answer may hand over, and only to another channel; the audience rules stay in force.
#[tokio::test]
async fn only_the_audience_may_hand_over_and_its_rules_stay_in_force() {
    let world = World::new().await;
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let session = alice.opens(json!({ "agent": "bot" })).await;
    let mut asked = confirmation();
    asked["audience"] = json!({ "users": ["alice", "bob"], "four_eyes": true });
    let question = agent.asks_in(&session, asked).await;
    alice.post(&question.path("/handover"), json!({})).await.refused(403, "four_eyes");
    agent.post(&question.path("/handover"), json!({})).await.refused(403, "role_forbids");
    world.stranger().await.post(&question.path("/handover"), json!({})).await.refused(404, "not_found");
    let same = json!({ "channel": question.shown["channel"] });
    bob.post(&question.path("/handover"), same).await.refused_at(422, "body_invalid", &["/channel"]);
    bob.post(&question.path("/handover"), json!({ "channel": "two words" })).await.refused_at(
        422,
        "body_invalid",
        &["/channel"],
    );
    assert_eq!(bob.reads(&question).await, question.shown);
    let (_, second) = hand_over(&bob, &question, json!({})).await;
    alice.answers(&second, json!({ "option": "confirm" })).await.refused(403, "four_eyes");
    let carol = world.person("carol").await;
    carol.answers(&second, json!({ "option": "confirm" })).await.refused(403, "not_in_audience");
    bob.answers(&second, json!({ "option": "confirm" })).await.done();
}

/// The answer to the second question settles the waiting action; an edit is ruled on as usual.
#[tokio::test]
async fn answer_to_the_successor_settles_the_action() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({ "agent": "bot" })).await;
    for (call, answer, state) in [
        ("one", json!({ "option": "approve" }), "allowed"),
        ("two", json!({ "option": "reject", "feedback": "no" }), "rejected"),
        ("three", json!({ "option": "edit", "arguments": { "path": "other.txt", "content": "x" } }), "allowed"),
    ] {
        let acted = agent.proposes(&session, writing(call)).await;
        let id = text(&acted.shown["interaction"]);
        let shown = alice.get(&format!("/v1/interactions/{id}")).await.done();
        let question = Question { id, session: session.clone(), shown };
        let (_, second) = hand_over(&alice, &question, json!({})).await;
        alice.answers(&second, answer.clone()).await.done();
        let now = agent.get(&format!("/v1/sessions/{session}/actions/{call}")).await.done();
        assert_eq!(now["state"], state, "{call}: {now}");
        if call == "three" {
            assert_eq!(now["arguments"], answer["arguments"]);
        }
    }
}

/// A secret that is given to the second question reaches the agent that asked the first, and appears nowhere else.
#[tokio::test]
async fn secret_given_to_the_successor_reaches_the_asking_agent() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let question = world.asks(json!({ "kind": "secret", "title": "A token", "secrets": [{ "name": "TOKEN" }] })).await;
    let (_, second) = hand_over(&alice, &question, json!({})).await;
    let answered = alice.answers(&second, json!({ "data": { "TOKEN": "s3cr3t-value" } })).await.done();
    assert!(!answered.to_string().contains("s3cr3t-value"));
    let taken = agent.takes(&question).await.done();
    assert_eq!(taken["secrets"], json!({ "TOKEN": "s3cr3t-value" }));
}

/// An answer to the second question that terminates ends the session of the first.
#[tokio::test]
async fn terminating_the_successor_ends_the_first_session() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let question = world.asks(json!({ "kind": "approval", "title": "Go on?" })).await;
    let (_, second) = hand_over(&alice, &question, json!({})).await;
    alice.answers(&second, json!({ "option": "terminate" })).await.done();
    assert_eq!(agent.session(&question.session).await["status"], "cancelled");
}

#[tokio::test]
async fn abstention_is_recorded_and_replaced_by_a_later_answer() {
    let world = World::new().await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let mut asked = confirmation();
    asked["audience"] = json!({ "quorum": 2, "users": ["alice", "bob", "carol"] });
    let question = world.asks(asked).await;
    world.someone("default", Role::Viewer, "carol", &[]).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let abstained = alice.post(&question.path("/abstain"), json!({ "note": "I wrote it" })).await.done();
    let by = json!({ "kind": "user", "name": "alice" });
    assert_eq!(
        abstained["abstained"],
        json!([{ "by": by, "at": abstained["abstained"][0]["at"], "note": "I wrote it" }])
    );
    assert_eq!((abstained.get("votes"), abstained.get("deserted")), (None, None), "the abstention removes the vote");
    alice.post(&question.path("/abstain"), json!({})).await.refused(409, "already_abstained");
    let mine = alice.get("/v1/interactions?mine=true").await.done();
    assert_eq!(mine["interactions"], json!([]));
    // One person is left, which is fewer than the quorum of two.
    let deserted = bob.post(&question.path("/abstain"), json!({})).await.done();
    assert_eq!((&deserted["deserted"], &deserted["status"]), (&json!(true), &json!("pending")));
    let events = alice.events(&question.session).await;
    assert_eq!(events[3..], ["interaction.abstained", "interaction.abstained", "interaction.deserted"]);
    let voted = alice.answers(&question, json!({ "option": "confirm" })).await.done();
    assert_eq!(voted["abstained"].as_array().unwrap().len(), 1);
    assert_eq!(bob.answers(&question, json!({ "option": "confirm" })).await.done()["status"], "answered");
    bob.post(&question.path("/abstain"), json!({})).await.refused(409, "interaction_already_resolved");
}

/// Only people who may answer may abstain; people who can sign in count as remaining audience.
#[tokio::test]
async fn only_the_audience_may_abstain_and_remaining_people_are_counted() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let vera = world.someone("default", Role::Viewer, "vera", &[]).await;
    let question = world.asks(confirmation()).await;
    agent.post(&question.path("/abstain"), json!({})).await.refused(403, "role_forbids");
    vera.post(&question.path("/abstain"), json!({})).await.refused(403, "not_in_audience");
    world.stranger().await.post(&question.path("/abstain"), json!({})).await.refused(404, "not_found");
    let left = alice.post(&question.path("/abstain"), json!({})).await.done();
    assert_eq!(left["deserted"], true, "nobody else can answer");
    world.signs_up("dora", Role::Operator).await;
    let question = world.asks(confirmation()).await;
    let left = alice.post(&question.path("/abstain"), json!({})).await.done();
    assert_eq!(left.get("deserted"), None, "another person can sign in and answer");
}
