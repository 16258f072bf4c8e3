//! `flows`: tests that the parameters of a flow fill in its questions and steps, and that a required question cannot be
//! skipped.

use engine::Definitions;
use serde_json::{Value, json};

use server_testkit::client::{ApiClient, Reply, reply, text};
use server_testkit::scripted_worker::{ScriptedWorker, scripted};
use server_testkit::sse::Frames;
use server_testkit::world::World;

/// A flow that asks for a number, passes it to a step, and shows the result.
fn release(required: Value) -> Value {
    let schema = json!({ "type": "object", "required": ["amount"], "properties": { "amount": { "type": "integer" } } });
    let mut question = json!({ "kind": "form", "title": "How much of {{ shared.product }}?", "schema": schema,
                               "description": "{{ shared.team.name }} releases {{ input.version }}." });
    if required.is_boolean() {
        question["required"] = required;
    }
    json!({ "name": "release", "version": "1", "steps": [
        { "name": "ask", "question": question },
        { "name": "write", "agent": "scribe", "input": "{{ shared.product }} {{ input.version }}",
          "pass": { "notes": "{{ output.text }}", "product": "{{ shared.product }} {{ input.version }}" } },
        { "name": "show", "question": { "kind": "confirmation", "title": "{{ shared.product }}: {{ shared.notes }}" } }
    ] })
}

struct Scene {
    alice: ApiClient,
    session: String,
    stream: Frames,
    _world: World,
    _scripted_worker: ScriptedWorker,
}

impl Scene {
    async fn new(required: Value) -> Self {
        let world = World::new().await;
        let scribe = scripted("scribe", json!([{ "say": "Written.", "again": true }]));
        let scripted_worker = ScriptedWorker::of(&world, vec![scribe.clone()]);
        let agents = vec![serde_json::from_value(scribe).unwrap()];
        world
            .engine
            .set_definitions(Definitions { agents, flows: vec![serde_json::from_value(release(required)).unwrap()] });
        let alice = world.person("alice").await;
        let shared = json!({ "product": "Holdpoint", "team": { "name": "Core" } });
        let body = json!({ "parameters": { "version": "1.5" }, "sharedContext": shared });
        let started = alice.post("/api/flows/release/start", body).await.done();
        assert_eq!((&started["sharedContext"], &started["launchParameters"]), (&shared, &json!({ "version": "1.5" })));
        let session = text(&started["sessionId"]);
        let stream = alice.follows(&format!("/api/flows/{session}/events/stream"), None).await;
        Self { alice, session, stream, _world: world, _scripted_worker: scripted_worker }
    }

    /// Returns the next question of the flow.
    async fn asked(&mut self) -> Value {
        loop {
            let frame = self.stream.next().await.unwrap();
            if frame.name.as_deref() == Some("humanInteractionRequired") {
                return serde_json::from_str(&frame.data).unwrap();
            }
        }
    }

    async fn says(&self, asked: &Value, verb: &str, payload: Value) -> Reply {
        let path = format!("/api/flows/{}/interactions/{}/{verb}", self.session, text(&asked["requestId"]));
        let request = self.alice.request(reqwest::Method::POST, &path);
        let request = request.header("X-Chat-Session-Id", text(&asked["chatSessionId"]));
        reply(request.json(&json!({ "payload": payload }))).await
    }

    async fn state(&self) -> Value {
        self.alice.get(&format!("/api/flows/{}/snapshot", self.session)).await.done()["state"].clone()
    }
}

#[tokio::test]
async fn shared_context_fills_in_questions_and_is_passed_on() {
    let mut scene = Scene::new(Value::Null).await;
    let asked = scene.asked().await;
    assert_eq!(
        (&asked["title"], &asked["description"]),
        (&json!("How much of Holdpoint?"), &json!("Core releases 1.5."))
    );
    assert_eq!((&asked["stepId"], &scene.state().await["status"]), (&json!("ask"), &json!("WAITING_USER_INPUT")));
    scene.says(&asked, "respond", json!({ "amount": 3 })).await.done();
    let shown = scene.asked().await;
    assert_eq!((&shown["stepId"], &shown["title"]), (&json!("show"), &json!("Holdpoint 1.5: Written.")));
    let shared = json!({ "product": "Holdpoint 1.5", "team": { "name": "Core" }, "notes": "Written." });
    assert_eq!(scene.state().await["sharedContext"], shared);
}

/// A question is required unless it says otherwise. Only an optional question can be skipped, together with its step.
#[tokio::test]
async fn required_question_cannot_be_skipped() {
    for (required, skipped) in [(Value::Null, false), (json!(true), false), (json!(false), true)] {
        let mut scene = Scene::new(required.clone()).await;
        let asked = scene.asked().await;
        scene.says(&asked, "respond", json!({})).await.refused_at(422, "answer_invalid", &["/payload/amount"]);
        let said = scene.says(&asked, "skip", Value::Null).await;
        if skipped {
            assert_eq!((said.status, &said.body["status"]), (202, &json!("ANSWERED")), "{}", said.body);
        } else {
            said.refused_at(422, "answer_invalid", &["/payload/action"]);
            scene.says(&asked, "respond", json!({ "amount": 3 })).await.done();
        }
        let shown = scene.asked().await;
        assert_eq!(shown["stepId"], json!("show"), "{required}");
        let steps = scene.state().await["steps"].clone();
        let status = if skipped { "SKIPPED" } else { "COMPLETED" };
        assert_eq!((&steps[0]["stepId"], &steps[0]["status"]), (&json!("ask"), &json!(status)), "{required}: {steps}");
    }
}
