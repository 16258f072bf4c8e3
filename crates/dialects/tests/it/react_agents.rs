//! `react`: tests whole conversations of scripted hosted agents over the stream.

use serde_json::{Value, json};

use crate::react::{STREAM, refused, responds, until};
use server_testkit::client::{ApiClient, text};
use server_testkit::scripted_worker::{ScriptedWorker, scripted};
use server_testkit::sse::Frames;
use server_testkit::world::World;

/// Sends a message and returns its event stream.
pub(crate) async fn says(person: &ApiClient, body: Value) -> Frames {
    let response = person.request(reqwest::Method::POST, STREAM).json(&body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Frames::of(response)
}

/// Returns the names of the remaining events; consecutive repetitions are merged.
async fn rest(frames: &mut Frames) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(frame) = frames.next().await {
        names.extend(frame.name);
    }
    names.dedup();
    names
}

fn weather() -> Value {
    scripted(
        "weather",
        json!([
            { "say": "I need a key.", "calls": [{ "tool": "ask_user_clarify", "arguments": {
                "title": "缺少 API Key", "question": "执行该工具需要 OpenWeather API Key",
                "options": [
                    { "id": "provide", "label": "提供 API Key", "description": "输入您的 API Key",
                      "requires_input": true, "input_prompt": "请输入 OpenWeather API Key" },
                    { "id": "skip", "label": "跳过该工具", "description": "跳过天气查询，继续其他任务", "effect": "skip" }] } }] },
            { "when": "ow-key", "say": "It is sunny." },
            { "when": "skipped", "say": "Then without the weather." },
            { "when": "Thank", "say": "You are welcome." },
        ]),
    )
}

/// Example 1 with a hosted agent: the turn pauses, the answer reaches the model, the turn continues, and the next turn
/// follows.
#[tokio::test]
async fn conversation_pauses_for_a_missing_key_and_continues() {
    let world = World::live().await;
    let _scripted_worker = ScriptedWorker::of(&world, vec![weather()]);
    let person = world.person("alice").await;
    let mut frames =
        says(&person, json!({ "message": "How is the weather?", "sessionId": "session-123", "userId": "user-456" }))
            .await;
    let (_, started) = frames.event().await;
    assert_eq!((&started["type"], &started["data"]), (&json!("STARTED"), &json!({ "message": "How is the weather?" })));
    until(&mut frames, "THINKING").await;
    let (_, acting) = until(&mut frames, "ACTING").await;
    assert_eq!(acting["data"]["tools"], json!(["ask_user_clarify"]));
    let (_, asked) = until(&mut frames, "INTERACTION").await;
    let data = &asked["data"];
    assert_eq!((&data["type"], &data["title"]), (&json!("MISSING_INFO"), &json!("缺少 API Key")));
    assert_eq!(data["message"], json!("执行该工具需要 OpenWeather API Key"));
    let offered: Vec<(&Value, &Value)> =
        data["options"].as_array().unwrap().iter().map(|one| (&one["optionId"], &one["action"])).collect();
    assert_eq!(offered, [(&json!("provide"), &json!("PROVIDE_INFO")), (&json!("skip"), &json!("SKIP"))]);
    responds(&person, "session-123", &text(&data["requestId"]), "provide", Some("ow-key")).await.done();
    let (_, done) = until(&mut frames, "DONE").await;
    assert_eq!(done["data"]["result"], json!("It is sunny."));
    let (_, completed) = frames.event().await;
    assert_eq!(completed["type"], json!("COMPLETED"));
    assert!(frames.next().await.is_none(), "the stream ends with the turn");
    let session = person.get("/v1/sessions").await.done()["sessions"][0].clone();
    assert_eq!(
        (&session["channel"], &session["status"]),
        (&json!("session-123"), &json!("running")),
        "the session continues"
    );
    let mut frames = says(&person, json!({ "message": "Thank you.", "sessionId": "session-123" })).await;
    assert_eq!(rest(&mut frames).await, ["STARTED", "PARTIAL_RESULT", "THINKING", "DONE", "COMPLETED"]);
    assert_eq!(person.get("/v1/sessions").await.done()["sessions"].as_array().map(Vec::len), Some(1));
    let whole = person.session(&text(&session["id"])).await;
    assert_eq!(whole["metadata"], json!({ "user_id": "user-456" }));
}

/// Example 2 with a hosted agent: only an approval runs the tool, and once; a reader that leaves the stream changes
/// nothing.
#[tokio::test]
async fn deletion_runs_once_and_only_if_approved() {
    let world = World::live().await;
    let cleaner = scripted(
        "cleaner",
        json!([
            { "say": "Deleting.", "calls": [{ "tool": "delete_file", "arguments": { "path": "file.txt" } }] },
            { "when": "reconsider", "calls": [{ "tool": "delete_file", "arguments": { "path": "copy.txt" } }] },
            { "when": "rejected", "say": "I leave it." },
            { "when": "deleted", "say": "It is gone." },
        ]),
    );
    let scripted_worker = ScriptedWorker::of(&world, vec![cleaner]);
    let person = world.person("alice").await;
    let begins = async || {
        let mut frames = says(&person, json!({ "message": "Clean up." })).await;
        let (_, asked) = until(&mut frames, "INTERACTION").await;
        assert_eq!(asked["data"]["type"], json!("TOOL_APPROVAL"));
        (text(&asked["sessionId"]), text(&asked["data"]["requestId"]), frames)
    };
    let (session, request, mut frames) = begins().await;
    responds(&person, &session, &request, "reject", Some("still needed")).await.done();
    assert_eq!(until(&mut frames, "DONE").await.1["data"]["result"], json!("I leave it."));
    assert_eq!(*scripted_worker.runs.lock(), []);
    let (session, request, mut frames) = begins().await;
    responds(&person, &session, &request, "retry", Some("the copy")).await.done();
    let (_, again) = until(&mut frames, "INTERACTION").await;
    assert_eq!(again["data"]["context"]["toolArgs"], json!({ "path": "copy.txt" }));
    drop(frames);
    assert_eq!(*scripted_worker.runs.lock(), []);
    let request = text(&again["data"]["requestId"]);
    responds(&person, &session, &request, "approve", None).await.done();
    refused(
        responds(&person, &session, &request, "approve", None).await,
        409,
        "interaction_already_resolved",
        &session,
    );
    let mut frames = person.follows(&format!("{STREAM}?sessionId={session}"), None).await;
    let (_, done) = until(&mut frames, "DONE").await;
    assert_eq!(done["data"]["result"], json!("It is gone."));
    assert_eq!(*scripted_worker.runs.lock(), [("delete_file".to_owned(), json!({ "path": "copy.txt" }))]);
    let (session, request, mut frames) = begins().await;
    responds(&person, &session, &request, "terminate", None).await.done();
    let (_, completed) = until(&mut frames, "COMPLETED").await;
    assert_eq!(completed["data"]["status"], json!("cancelled"));
    assert!(frames.next().await.is_none());
    assert_eq!(scripted_worker.runs.lock().len(), 1);
    let mut frames = says(&person, json!({ "message": "Once more.", "sessionId": session })).await;
    until(&mut frames, "INTERACTION").await;
}

/// Example 3 with a hosted agent: the metadata of the chosen option reaches the model; a retry asks again.
#[tokio::test]
async fn chosen_plan_reaches_the_model_with_its_metadata() {
    let world = World::live().await;
    let offer = |ids: &[&str]| -> Value {
        let plans = ids
            .iter()
            .map(|id| json!({ "id": id, "label": id, "effect": "approve", "metadata": { "plan": format!("{id}!") } }));
        let rethink = json!({ "id": "rethink", "label": "让 Agent 重新思考", "effect": "retry", "requires_input": true,
                              "input_prompt": "请说明您的需求" });
        let options: Vec<Value> = plans.chain([rethink]).collect();
        json!([{ "tool": "ask_user_choose", "arguments": { "title": "选择实现方案", "question": "请选择一个", "options": options } }])
    };
    let turns = json!([
        { "calls": offer(&["redis", "local"]) },
        { "when": "no servers", "calls": offer(&["none"]) },
        { "when": "none!", "say": "Without a cache, then." },
    ]);
    let _scripted_worker = ScriptedWorker::of(&world, vec![scripted("other", json!([])), scripted("default", turns)]);
    let person = world.person("alice").await;
    let mut frames = says(&person, json!({ "message": "Cache it.", "sessionId": "session-123" })).await;
    let (_, asked) = until(&mut frames, "INTERACTION").await;
    assert_eq!(asked["data"]["type"], json!("USER_CHOICE"));
    assert_eq!(asked["data"]["options"][0]["metadata"], json!({ "plan": "redis!" }));
    responds(&person, "session-123", &text(&asked["data"]["requestId"]), "rethink", Some("no servers")).await.done();
    let (_, asked) = until(&mut frames, "INTERACTION").await;
    responds(&person, "session-123", &text(&asked["data"]["requestId"]), "none", None).await.done();
    assert_eq!(until(&mut frames, "DONE").await.1["data"]["result"], json!("Without a cache, then."));
    let other = json!({ "message": "x", "sessionId": "session-123", "agent": "nobody" });
    person.post(STREAM, other).await.refused(404, "not_found");
}

/// With several agents and no default, a message must name one. A failure is reported on the stream.
#[tokio::test]
async fn message_must_name_one_of_several_agents_and_failures_are_reported() {
    let world = World::live().await;
    let mut broken = scripted("broken", json!([{ "again": true, "calls": [{ "tool": "no_such_tool" }] }]));
    broken["limits"] = json!({ "iterations": 2 });
    let _scripted_worker = ScriptedWorker::of(&world, vec![weather(), broken]);
    let person = world.person("alice").await;
    person.post(STREAM, json!({ "message": "x" })).await.refused(422, "body_invalid");
    let mut frames = says(&person, json!({ "message": "x", "agent": "broken" })).await;
    let (_, error) = until(&mut frames, "ERROR").await;
    assert!(error["data"]["message"].is_string(), "{error}");
    let (_, completed) = frames.event().await;
    assert_eq!((&completed["type"], &completed["data"]["status"]), (&json!("COMPLETED"), &json!("failed")));
    assert!(frames.next().await.is_none());
}

/// The server accepts the bodies that the original page sends, except for the id of the request.
#[tokio::test]
async fn request_bodies_of_the_original_page_are_accepted() {
    let world = World::live().await;
    let cleaner = scripted(
        "cleaner",
        json!([{ "calls": [{ "tool": "delete_file", "arguments": { "path": "file.txt" } }] }, { "say": "完成" }]),
    );
    let scripted_worker = ScriptedWorker::of(&world, vec![cleaner]);
    let person = world.person("alice").await;
    let mut frames = says(
        &person,
        json!({
          "message": "用户消息",
          "sessionId": "session-123",
          "userId": "user-456"
        }),
    )
    .await;
    let (_, asked) = until(&mut frames, "INTERACTION").await;
    let mut response = json!({
      "sessionId": "session-123",
      "requestId": "request-456",
      "selectedOptionId": "approve",
      "feedback": "用户反馈（可选）",
      "data": {
        "key": "value"
      }
    });
    let path = "/api/agent/chat/react/interaction_response";
    refused(person.post(path, response.clone()).await, 404, "not_found", "session-123");
    response["requestId"] = asked["data"]["requestId"].clone();
    let mut reply = person.post(path, response).await.done();
    assert!(reply["timestamp"].as_str().unwrap().parse::<domain::Timestamp>().is_ok(), "{reply}");
    reply["timestamp"] = json!("2025-10-22T17:00:00");
    let expected = json!({
      "success": true,
      "message": "用户响应已处理，正在恢复执行",
      "sessionId": "session-123",
      "timestamp": "2025-10-22T17:00:00"
    });
    assert_eq!(reply, expected);
    assert_eq!(until(&mut frames, "DONE").await.1["data"]["result"], json!("完成"));
    assert_eq!(scripted_worker.runs.lock().len(), 1);
}
