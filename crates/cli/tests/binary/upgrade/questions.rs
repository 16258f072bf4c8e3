//! Answers every question of the archive or finds it closed, and takes every answer as its agent.

use serde_json::{Value, json};

use super::fixture::UpgradedServer;
use crate::common::{Client, Reply, until};

pub(super) async fn every_question_ends(upgraded: &UpgradedServer) {
    open_questions_are_answered(upgraded).await;
    begun_questions_are_answered(upgraded).await;
    handed_over_question_ends_with_the_other(upgraded).await;
    paused_session_goes_on(upgraded).await;
    answers_are_taken(upgraded).await;
    kept_secret_answers_again(upgraded).await;
    deadlines_are_over(upgraded).await;
    let (stranger, other) = (upgraded.client("stranger"), upgraded.text("/stranger"));
    stranger.approve(&other).await;
    take_and_complete(upgraded.client("stranger-bot"), &other).await;
}

async fn take(bot: &Client, question: &str) -> Reply {
    bot.post(&format!("/v1/interactions/{question}/delivery/take"), json!({})).await.done(200)
}

async fn complete(bot: &Client, question: &str, lease: &str) -> Reply {
    bot.post(&format!("/v1/interactions/{question}/delivery/complete"), json!({ "lease": lease })).await
}

async fn take_and_complete(bot: &Client, question: &str) -> Value {
    let taken = take(bot, question).await;
    complete(bot, question, &taken.text("/lease")).await.done(200);
    assert_eq!(bot.question(question).await.body["delivery"]["state"], "completed");
    taken.body
}

async fn open_questions_are_answered(upgraded: &UpgradedServer) {
    let (alice, bot) = (upgraded.client("alice"), upgraded.client("bot"));
    let open = upgraded.manifest["open"].as_array().unwrap();
    assert_eq!(open.len(), 9);
    for question in open {
        let (id, kind) = (question["id"].as_str().unwrap(), question["kind"].as_str().unwrap());
        let answered = alice.answer(id, question["answer"].clone()).await.done(200).body;
        assert_eq!(answered["status"], "answered", "{answered}");
        if kind == "notice" {
            assert_eq!(answered["delivery"]["state"], "not_needed");
            continue;
        }
        let taken = take_and_complete(bot, id).await;
        match kind {
            "approval" => {
                assert_eq!(taken["resume_point"], json!({ "next": "deploy" }));
                assert_eq!(taken["answer"]["arguments"], json!({ "version": "1.5" }));
            }
            "choice" => assert_eq!(taken["answer"]["metadata"]["a"], json!({ "plan": "a" }), "{taken}"),
            "secret" => assert_eq!(taken["secrets"], json!({ "OPEN_TOKEN": "tok_open" })),
            "verdict" => assert_eq!(taken["interaction"]["custom_kind"], "verdict"),
            _ => {}
        }
    }
}

async fn begun_questions_are_answered(upgraded: &UpgradedServer) {
    let (alice, bob, bot) = (upgraded.client("alice"), upgraded.client("bob"), upgraded.client("bot"));
    let question = |name: &str| upgraded.text(&format!("/touched/{name}"));
    alice.answer(&question("voted"), json!({ "option": "approve" })).await.problem(409, "already_voted");
    let voted = bob.answer(&question("voted"), json!({ "option": "approve" })).await.done(200).body;
    let voters: Vec<&Value> =
        voted["resolution"]["votes"].as_array().unwrap().iter().map(|vote| &vote["by"]["name"]).collect();
    assert_eq!((&voted["status"], voters), (&json!("answered"), vec![&json!("alice"), &json!("bob")]));

    let yes = json!({ "option": "confirm" });
    bob.answer(&question("claimed"), yes.clone()).await.problem(409, "claimed_by_other");
    alice.answer(&question("claimed"), yes.clone()).await.done(200);
    alice.answer(&question("abstained"), yes.clone()).await.done(200);
    bob.answer(&question("overdue"), yes).await.done(200);
    let replied = alice.answer(&question("reply"), json!({ "data": "I am." })).await.done(200).body;
    let path = format!("/v1/sessions/{}/events", replied["session"].as_str().unwrap());
    let events = alice.get(&path).await.done(200).body;
    let sent = events["events"].as_array().unwrap().iter().filter(|event| event["type"] == "message.sent").count();
    assert_eq!(sent, 2, "the message and its reply: {events}");
    for name in ["voted", "claimed", "abstained", "overdue", "reply"] {
        take_and_complete(bot, &question(name)).await;
    }
}

async fn handed_over_question_ends_with_the_other(upgraded: &UpgradedServer) {
    let (alice, bot) = (upgraded.client("alice"), upgraded.client("bot"));
    let (first, second) = (upgraded.text("/touched/handed_over"), upgraded.text("/touched/handed_to"));
    let yes = json!({ "option": "confirm" });
    alice.answer(&first, yes.clone()).await.problem(409, "interaction_handed_over");
    alice.answer(&second, yes).await.done(200);
    assert_eq!(alice.question(&first).await.body["status"], "answered");
    take_and_complete(bot, &first).await;
    let session = alice.question(&second).await.text("/session");
    assert_eq!(alice.get(&format!("/v1/sessions/{session}")).await.done(200).text("/status"), "completed");
}

async fn paused_session_goes_on(upgraded: &UpgradedServer) {
    let (alice, bot) = (upgraded.client("alice"), upgraded.client("bot"));
    let (question, session) = (upgraded.text("/touched/paused"), upgraded.text("/touched/paused_session"));
    alice.answer(&question, json!({ "option": "confirm" })).await.done(200);
    let path = format!("/v1/interactions/{question}/delivery/take");
    bot.post(&path, json!({})).await.problem(409, "session_paused");
    let control = format!("/v1/sessions/{session}/control");
    alice.post(&control, json!({ "command": "resume" })).await.done(200);
    take_and_complete(bot, &question).await;
    bot.post(&control, json!({ "command": "complete" })).await.done(200);
}

async fn answers_are_taken(upgraded: &UpgradedServer) {
    let bot = upgraded.client("bot");
    let taken = take_and_complete(bot, &upgraded.text("/answered/waiting")).await;
    let sealed = (&taken["secrets"], &taken["resume_point"]);
    assert_eq!(sealed, (&json!({ "SEALED": "tok_sealed" }), &json!({ "line": 7 })));
    let leased = upgraded.text("/answered/leased");
    complete(bot, &leased, &upgraded.text("/answered/lease")).await.done(200);
    assert_eq!(bot.question(&leased).await.body["delivery"]["attempt"], 1);

    let question = upgraded.text("/brief/leased");
    until("the lease that is over", async || {
        (bot.question(&question).await.body["delivery"]["state"] == "waiting").then_some(())
    })
    .await;
    complete(bot, &question, &upgraded.text("/brief/lease")).await.problem(409, "lease_lost");
    assert_eq!(take_and_complete(bot, &question).await["attempt"], 2);
}

async fn kept_secret_answers_again(upgraded: &UpgradedServer) {
    let bot = upgraded.client("bot");
    let question = json!({ "kind": "secret", "title": "Kept before", "secrets": [{ "name": "KEPT" }] });
    let asked = bot.ask(&bot.start().await, question).await;
    assert_eq!(bot.question(&asked).await.body["status"], "auto_resolved");
    assert_eq!(take_and_complete(bot, &asked).await["secrets"], json!({ "KEPT": "tok_kept" }));
}

async fn deadlines_are_over(upgraded: &UpgradedServer) {
    let bot = upgraded.client("bot");
    let ended =
        [("falls_back", "auto_resolved", "reject"), ("denied", "auto_resolved", "reject"), ("expires", "expired", "")];
    for (name, status, effect) in ended {
        let question = upgraded.text(&format!("/brief/{name}"));
        let shown = until("the deadline", async || {
            let shown = bot.question(&question).await.body;
            (shown["status"] != "pending").then_some(shown)
        })
        .await;
        let found = shown["resolution"]["answer"]["effect"].as_str().unwrap_or_default();
        assert_eq!((shown["status"].as_str().unwrap(), found), (status, effect), "{shown}");
        take_and_complete(bot, &question).await;
    }
}
