//! Tests the key of a model: a stored secret of its agent that is sent to the model and never shown.

use serde_json::json;

use crate::agents::fake_model::{FakeModel, said};
use crate::agents::place::{AgentFiles, ended, starts};
use crate::common::Deployment;

const MARKER: &str = "sk-marker-81f3c7";

#[tokio::test]
async fn kept_secret_is_sent_as_the_model_key_and_shown_nowhere() {
    let deployment = Deployment::sqlite();
    let (files, model) = (AgentFiles::new(&deployment), FakeModel::start(vec![vec![said(&["Hello."])]]));
    let keyed = format!("{}key_secret = \"MODEL_KEY\"\n", model.definition());
    files.agent("keyed", &keyed);
    files.agent("other", &keyed);
    let server = files.launch(deployment.launch(), 8).start().await;
    let alice = server.client(&deployment.key("operator", "alice"));

    // Without a stored key the step fails and names the secret that it needs. No request is sent without a key.
    let session = starts(&alice, "keyed").await;
    let shown = ended(&alice, &session).await;
    let reason = "the model could not be asked: no secret `MODEL_KEY` is kept for the agent `keyed`";
    assert_eq!((&shown["status"], &shown["steps"][0]["reason"]), (&json!("failed"), &json!(reason)), "{shown}");
    assert!(model.heard().is_empty());

    // A secret stored for an API key named `keyed` does not belong to the agent `keyed`: these are different owners.
    let agent = alice.with_key(&deployment.key("agent", "keyed"));
    let asking = agent.post("/v1/sessions", json!({})).await.done(201).text("/id");
    let question = json!({ "kind": "secret", "title": "The model's key", "secrets": [{ "name": "MODEL_KEY" }] });
    let asked = agent.ask(&asking, question).await;
    alice.answer(&asked, json!({ "data": { "MODEL_KEY": "sk-of-the-key" }, "keep": true })).await.done(200);

    let control = format!("/v1/sessions/{session}/control");
    alice.post(&control, json!({ "command": "retry_step" })).await.done(200);
    assert_eq!(ended(&alice, &session).await["status"], "failed");
    assert!(model.heard().is_empty());

    // An operator stores the secret for the agent itself.
    let kept = json!({ "agent": "keyed", "name": "MODEL_KEY", "value": MARKER });
    alice.post("/v1/secrets", kept).await.done(201);
    alice.post(&control, json!({ "command": "retry_step" })).await.done(200);
    let shown = ended(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    let heard = model.heard();
    let keys: Vec<_> = heard.iter().map(|one| one.authorization.as_deref()).collect();
    assert_eq!(keys, [Some(format!("Bearer {MARKER}").as_str())]);

    // Another agent cannot use the secret of this agent.
    let others = starts(&alice, "other").await;
    assert_eq!(ended(&alice, &others).await["status"], "failed");
    assert_eq!(model.heard().len(), 1);
    let events = alice.get(&format!("/v1/sessions/{session}/events?limit=200")).await.done(200).body;
    let everywhere = format!("{shown}{events}{}{}", heard[0].body, server.logged());
    assert!(!everywhere.contains(MARKER), "the key is in no event, session, conversation or log");
}
