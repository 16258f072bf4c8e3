//! Brings every hosted session to its end: asleep, listening, failed, with a client, in a command, in a model's turn.

use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::{Fixture, UpgradedServer};
use crate::agents::fake_model::FakeModel;
use crate::agents::place::{asked, ended, open, times};
use crate::common::{Client, until, until_within};

pub(super) async fn every_session_ends(upgraded: &UpgradedServer, fixture: &Fixture, model: &FakeModel) {
    let alice = upgraded.client("alice");
    let question = |agent: &str| upgraded.text(&format!("/hosted/questions/{agent}"));
    alice.answer(&question("writer"), json!({ "data": "White tea" })).await.done(200);
    for agent in ["noter", "notes"] {
        alice.answer(&question(agent), json!({ "option": "approve" })).await.done(200);
    }
    alice.answer(&question("keeper"), json!({ "option": "confirm" })).await.done(200);
    let approval = asked(alice, &session(upgraded, "writer")).await;
    assert_eq!(approval["kind"], "approval", "{approval}");
    alice.approve(approval["id"].as_str().unwrap()).await;
    retry_of_a_failed_step(alice, &session(upgraded, "hasty")).await;
    client_runs_its_calls(upgraded, alice).await;
    interrupted_command_is_settled(alice, &session(upgraded, "runner")).await;
    for agent in ["writer", "noter", "keeper", "notes", "hasty", "opener", "runner", "thinker"] {
        let shown = ended(alice, &session(upgraded, agent)).await;
        assert_eq!(shown["status"], "completed", "{agent}: {shown}");
    }
    assert_eq!(fixture.workspace_file("HEADLINE"), "White tea\n");
    assert_eq!(fixture.workspace_file("NOTES"), "new notes\n");
    assert_eq!(fixture.workspace_file("ran"), "once\n", "a command that was interrupted is not run again");
    model_is_asked_again(upgraded, alice, model).await;
    listener_hears(alice, &session(upgraded, "echo")).await;
}

fn session(upgraded: &UpgradedServer, agent: &str) -> String {
    upgraded.text(&format!("/hosted/sessions/{agent}"))
}

async fn retry_of_a_failed_step(alice: &Client, session: &str) {
    alice.post(&format!("/v1/sessions/{session}/control"), json!({ "command": "retry_step" })).await.done(200);
}

/// Runs both calls: one had its permit before the kill, the other waited for an approval.
async fn client_runs_its_calls(upgraded: &UpgradedServer, alice: &Client) {
    let actions = format!("/v1/sessions/{}/actions", session(upgraded, "opener"));
    let run = async |call: &str, permit: &str| {
        alice.post(&format!("{actions}/{call}/start"), json!({ "permit": permit })).await.done(200);
        let body = json!({ "outcome": "done", "result": "open", "permit": permit });
        alice.post(&format!("{actions}/{call}/outcome"), body).await.done(200);
    };
    run(&upgraded.text("/hosted/client_call"), &upgraded.text("/hosted/client_permit")).await;
    alice.approve(&upgraded.text("/hosted/questions/opener")).await;
    let allowed = |action: &Value| action["state"] == "allowed";
    let second = until("the second call", async || {
        let listed = alice.get(&actions).await.done(200).body;
        listed["actions"].as_array().unwrap().iter().find(|action| allowed(action)).cloned()
    })
    .await;
    run(second["call_id"].as_str().unwrap(), second["permit"].as_str().unwrap()).await;
}

/// Settles a command that ran when its server was killed. The question about it comes 35 seconds after the kill.
async fn interrupted_command_is_settled(alice: &Client, session: &str) {
    let asked = async || open(alice, session).await.first().cloned();
    let question = until_within(Duration::from_mins(1), "the question about the command", asked).await;
    alice.answer(question["id"].as_str().unwrap(), json!({ "option": "it_ran" })).await.done(200);
}

/// Checks that the step whose worker was killed in a model's turn is taken over, with the model key that is stored for
/// its agent.
async fn model_is_asked_again(upgraded: &UpgradedServer, alice: &Client, model: &FakeModel) {
    let thinker = session(upgraded, "thinker");
    let shown = alice.get(&format!("/v1/sessions/{thinker}")).await.done(200).body;
    assert_eq!(shown["steps"][0]["output"]["text"], "Well, done.");
    assert_eq!((times(alice, &thinker, "step.begun").await, times(alice, &thinker, "model.turn").await), (1, 1));
    let keys: Vec<Option<String>> = model.heard().into_iter().map(|heard| heard.authorization).collect();
    assert_eq!(keys, [Some("Bearer tok_model".to_owned())]);
}

async fn listener_hears(alice: &Client, session: &str) {
    let path = format!("/v1/sessions/{session}");
    let turns = times(alice, session, "model.turn").await;
    alice.post(&format!("{path}/messages"), json!({ "content": "Are you still there?" })).await.done(202);
    until("another turn", async || (times(alice, session, "model.turn").await > turns).then_some(())).await;
    alice.post(&format!("{path}/control"), json!({ "command": "cancel" })).await.done(200);
    assert_eq!(ended(alice, session).await["status"], "cancelled");
}
