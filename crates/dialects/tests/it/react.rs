//! `react`: tests its examples field by field with an external agent, and streams that break off while their session
//! continues.

use serde_json::{Value, json};

use server_testkit::client::{ApiClient, Question, Reply, text};
use server_testkit::sse::Frames;
use server_testkit::world::World;

pub(crate) const STREAM: &str = "/api/agent/chat/react/stream";
const RESPONSE: &str = "/api/agent/chat/react/interaction_response";

/// Responds as the original page does: unused fields are null or empty.
pub(crate) async fn responds(
    person: &ApiClient,
    session: &str,
    request: &str,
    option: &str,
    feedback: Option<&str>,
) -> Reply {
    let body = json!({ "sessionId": session, "requestId": request, "selectedOptionId": option, "feedback": feedback, "data": {} });
    person.post(RESPONSE, body).await
}

/// Checks a refusal: the fields of the dialect, and the fields of the problem document.
pub(crate) fn refused(reply: Reply, status: u16, code: &str, session: &str) -> Value {
    let body = reply.refused(status, code);
    assert_eq!((&body["success"], &body["sessionId"]), (&json!(false), &json!(session)), "{body}");
    assert!(body["message"].is_string() && body["timestamp"].is_string(), "{body}");
    body
}

/// Returns the next event with this name, and checks the common fields of all events.
pub(crate) async fn until(frames: &mut Frames, name: &str) -> (String, Value) {
    loop {
        let (id, event) = frames.event().await;
        let fields: Vec<&String> = event.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["data", "sessionId", "timestamp", "type"], "{event}");
        if event["type"] == json!(name) {
            return (id, event);
        }
    }
}

/// An external agent asks in the session that the client calls `session-123`.
async fn asks(world: &World, body: Value) -> Question {
    let agent = world.agent().await;
    let session = agent.opens(json!({ "channel": "session-123" })).await;
    agent.asks_in(&session, body).await
}

async fn shown(world: &World, person: &ApiClient, body: Value) -> (Question, Value) {
    let question = asks(world, body).await;
    let mut frames = person.follows(&format!("{STREAM}?sessionId=session-123"), None).await;
    let (_, event) = until(&mut frames, "INTERACTION").await;
    assert_eq!(event["sessionId"], json!("session-123"));
    (question, event["data"].clone())
}

fn option(id: &str, label: &str, description: &str, action: &str) -> Value {
    json!({ "optionId": id, "label": label, "description": description, "action": action, "isDefault": false,
            "isDangerous": false, "requiresInput": false, "inputPrompt": null, "metadata": {} })
}

pub(crate) fn api_key() -> Value {
    json!({ "kind": "question", "title": "缺少 API Key", "message": "执行该工具需要 OpenWeather API Key",
            "options": [
                { "id": "provide", "label": "提供 API Key", "description": "输入您的 API Key", "effect": "provide",
                  "requires_input": true, "input_prompt": "请输入 OpenWeather API Key" },
                { "id": "skip", "label": "跳过该工具", "description": "跳过天气查询，继续其他任务", "effect": "skip" }] })
}

fn deletion() -> Value {
    json!({ "kind": "confirmation", "title": "确认删除文件", "message": "即将删除文件: /path/to/file.txt",
            "details": "此操作不可撤销，请谨慎操作",
            "options": [
                { "id": "confirm", "label": "确认删除", "description": "删除该文件", "effect": "approve", "dangerous": true },
                { "id": "cancel", "label": "取消", "description": "不删除文件", "effect": "reject" }] })
}

fn plans() -> Value {
    json!({ "kind": "choice", "title": "选择实现方案", "message": "Agent 提供了3个实现方案，请选择一个",
            "options": [
                { "id": "plan-a", "label": "方案A：使用 Redis 缓存", "description": "性能最好，但需要额外的 Redis 服务",
                  "effect": "approve", "metadata": { "plan": "redis" } },
                { "id": "plan-b", "label": "方案B：使用本地缓存", "description": "实现简单，但性能一般",
                  "effect": "approve", "metadata": { "plan": "local" } },
                { "id": "plan-c", "label": "方案C：不使用缓存", "description": "最简单，但性能最差",
                  "effect": "approve", "metadata": { "plan": "none" } },
                { "id": "rethink", "label": "让 Agent 重新思考", "description": "这些方案都不满意，让 Agent 提供其他方案",
                  "effect": "retry", "requires_input": true, "input_prompt": "请说明您的需求" }] })
}

/// Example 1: a missing key. The text of the person reaches the agent.
#[tokio::test]
async fn question_about_a_missing_key_is_shown_and_answered() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let (question, data) = shown(&world, &person, api_key()).await;
    let mut provide = option("provide", "提供 API Key", "输入您的 API Key", "PROVIDE_INFO");
    provide["requiresInput"] = json!(true);
    provide["inputPrompt"] = json!("请输入 OpenWeather API Key");
    let expected = json!({
        "requestId": question.id, "sessionId": "session-123", "type": "MISSING_INFO", "title": "缺少 API Key",
        "message": "执行该工具需要 OpenWeather API Key", "details": null, "context": {},
        "options": [provide, option("skip", "跳过该工具", "跳过天气查询，继续其他任务", "SKIP")],
        "required": true, "timeoutSeconds": null, "defaultOptionId": null, "metadata": { "askedBy": "bot", "kind": "question" },
    });
    assert_eq!(data, expected);
    let silent = responds(&person, "session-123", &question.id, "provide", None).await;
    refused(silent, 422, "answer_invalid", "session-123");
    let said = responds(&person, "session-123", &question.id, "provide", Some("ow-key")).await.done();
    let timestamp = said["timestamp"].clone();
    assert_eq!(
        said,
        json!({ "success": true, "message": "用户响应已处理，正在恢复执行", "sessionId": "session-123", "timestamp": timestamp })
    );
    let taken = agent.takes(&question).await.done();
    assert_eq!((&taken["answer"]["option"], &taken["answer"]["feedback"]), (&json!("provide"), &json!("ow-key")));
}

/// Example 2: the deletion of a file. The warning is `isDangerous`.
#[tokio::test]
async fn deletion_is_shown_as_dangerous() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let (question, data) = shown(&world, &person, deletion()).await;
    let mut confirm = option("confirm", "确认删除", "删除该文件", "APPROVE_AND_EXECUTE");
    confirm["isDangerous"] = json!(true);
    assert_eq!(data["options"], json!([confirm, option("cancel", "取消", "不删除文件", "REJECT_WITH_REASON")]));
    assert_eq!((&data["type"], &data["details"]), (&json!("USER_CONFIRMATION"), &json!("此操作不可撤销，请谨慎操作")));
    responds(&person, "session-123", &question.id, "confirm", None).await.done();
    assert_eq!(agent.takes(&question).await.done()["answer"]["effect"], json!("approve"));
    let other = asks(&world, deletion()).await;
    responds(&person, "session-123", &other.id, "cancel", Some("still needed")).await.done();
    let taken = agent.takes(&other).await.done()["answer"].clone();
    assert_eq!((&taken["effect"], &taken["feedback"]), (&json!("reject"), &json!("still needed")));
}

/// Example 3: a choice of plans. The chosen plan reaches the agent with its metadata; a retry requires feedback.
#[tokio::test]
async fn plans_are_shown_as_options_with_metadata() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let (question, data) = shown(&world, &person, plans()).await;
    assert_eq!(data["type"], json!("USER_CHOICE"));
    let ids: Vec<String> = data["options"].as_array().unwrap().iter().map(|option| text(&option["optionId"])).collect();
    assert_eq!(ids, ["plan-a", "plan-b", "plan-c", "rethink"]);
    assert_eq!(data["options"][1]["metadata"], json!({ "plan": "local" }));
    assert_eq!(data["options"][3]["action"], json!("RETRY_WITH_FEEDBACK"));
    assert_eq!(data["options"][3]["inputPrompt"], json!("请说明您的需求"));
    responds(&person, "session-123", &question.id, "plan-b", None).await.done();
    let taken = agent.takes(&question).await.done()["answer"].clone();
    assert_eq!((&taken["option"], &taken["metadata"]), (&json!("plan-b"), &json!({ "plan": "local" })));
    let other = asks(&world, plans()).await;
    refused(responds(&person, "session-123", &other.id, "rethink", None).await, 422, "answer_invalid", "session-123");
    responds(&person, "session-123", &other.id, "rethink", Some("no cache at all")).await.done();
    assert_eq!(agent.takes(&other).await.done()["answer"]["effect"], json!("retry"));
}

/// A tool approval offers approve, retry, reject and terminate, and shows the tool call.
#[tokio::test]
async fn tool_approval_has_four_options() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({ "channel": "session-123" })).await;
    let body = json!({ "call_id": "call-1", "tool": "delete_file", "arguments": { "path": "a.txt" } });
    agent.post(&format!("/v1/sessions/{session}/actions"), body).await.done();
    let mut frames = person.follows(&format!("{STREAM}?sessionId=session-123"), None).await;
    let (_, event) = until(&mut frames, "INTERACTION").await;
    let data = &event["data"];
    assert_eq!(data["type"], json!("TOOL_APPROVAL"));
    assert_eq!(
        data["context"],
        json!({ "toolName": "delete_file", "toolArgs": { "path": "a.txt" }, "toolCallId": "call-1" })
    );
    let actions: Vec<&Value> = data["options"].as_array().unwrap().iter().map(|option| &option["action"]).collect();
    assert_eq!(actions, ["APPROVE_AND_EXECUTE", "RETRY_WITH_FEEDBACK", "REJECT_WITH_REASON", "TERMINATE"]);
    responds(&person, "session-123", &text(&data["requestId"]), "approve", None).await.done();
    let (_, seen) = until(&mut frames, "OBSERVING").await;
    assert_eq!((&seen["data"]["state"], &seen["data"]["by"]), (&json!("answered"), &json!("alice")));
    let action = agent.get(&format!("/v1/sessions/{session}/actions/call-1")).await.done();
    assert_eq!(action["state"], json!("allowed"));
    let start = json!({ "permit": action["permit"] });
    agent.post(&format!("/v1/sessions/{session}/actions/call-1/start"), start).await.done();
    let tool = loop {
        let (_, tool) = until(&mut frames, "TOOL").await;
        if tool["data"]["state"] == "started" {
            break tool["data"].clone();
        }
    };
    let expected = json!({ "toolCallId": "call-1", "toolName": "delete_file", "state": "started", "reason": null });
    assert_eq!(tool, expected);
}

/// Every kind is shown as the nearest type, names its kind, and can be answered with its options.
#[tokio::test]
async fn every_kind_of_question_can_be_answered() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let check = async |body: Value, kind: &str, option: &str, said: (Option<&str>, Value), answer: Value| {
        let session = agent.opens(json!({})).await;
        let question = agent.asks_in(&session, body).await;
        let mut frames = person.follows(&format!("{STREAM}?sessionId={session}"), None).await;
        let (_, event) = until(&mut frames, "INTERACTION").await;
        let data = &event["data"];
        assert_eq!((&data["type"], &data["metadata"]["kind"]), (&json!(kind), &question.shown["kind"]));
        let offered = data["options"].as_array().unwrap().iter().any(|one| one["optionId"] == json!(option));
        assert!(offered, "{kind}: {data}");
        let body = json!({ "sessionId": session, "requestId": question.id, "selectedOptionId": option,
                           "feedback": said.0, "data": said.1 });
        person.post(RESPONSE, body).await.done();
        let found = person.reads(&question).await["resolution"]["answer"].clone();
        for (field, value) in answer.as_object().unwrap() {
            assert_eq!(found[field], *value, "{kind}: {found}");
        }
    };
    let none = || (None, json!({}));
    let text = |text: &'static str| (Some(text), json!({}));
    let free = json!({ "kind": "question", "title": "Where?" });
    check(free.clone(), "MISSING_INFO", "provide", text("/srv"), json!({ "data": "/srv", "effect": "provide" })).await;
    check(
        free.clone(),
        "MISSING_INFO",
        "reject",
        text("no idea"),
        json!({ "effect": "reject", "feedback": "no idea" }),
    )
    .await;
    let mut optional = free;
    optional["required"] = json!(false);
    check(optional, "MISSING_INFO", "skip", none(), json!({ "effect": "skip" })).await;
    let secret = json!({ "kind": "secret", "title": "A key", "secrets": [{ "name": "KEY" }] });
    check(
        secret.clone(),
        "MISSING_INFO",
        "provide",
        text("s3cret"),
        json!({ "data": { "names": ["KEY"] }, "feedback": null }),
    )
    .await;
    let named = (None, json!({ "KEY": "s3cret" }));
    check(secret, "MISSING_INFO", "provide", named, json!({ "data": { "names": ["KEY"] } })).await;
    let form = json!({ "kind": "form", "title": "How many?", "schema": { "type": "object", "required": ["count"],
                       "properties": { "count": { "type": "integer" } } } });
    let filled = (None, json!({ "count": 3 }));
    check(form, "USER_INPUT", "provide", filled, json!({ "data": { "count": 3 } })).await;
    let review = json!({ "kind": "review", "title": "The draft" });
    check(review, "USER_CONFIRMATION", "revise", text("shorter"), json!({ "effect": "retry" })).await;
    let notice = json!({ "kind": "notice", "title": "It is done" });
    check(notice, "USER_CONFIRMATION", "provide", none(), json!({ "effect": "provide" })).await;
    let custom =
        json!({ "kind": "vote", "title": "Well?", "options": [{ "id": "aye", "label": "Aye", "effect": "custom" }] });
    check(custom, "CUSTOM", "aye", none(), json!({ "option": "aye", "effect": "custom" })).await;
    let edited = json!({ "kind": "approval", "title": "Run it?", "action": { "tool": "t", "arguments": { "a": 1 } },
                         "options": [{ "id": "edit", "label": "Edit", "effect": "edit" }, { "id": "no", "label": "No", "effect": "reject" }] });
    check(edited, "TOOL_APPROVAL", "no", none(), json!({ "effect": "reject" })).await;
}

/// A client that reconnects continues after its last event, does not receive closed questions, and misses nothing.
#[tokio::test]
async fn reconnected_stream_continues_after_the_last_event() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let first = asks(&world, deletion()).await;
    let path = format!("{STREAM}?sessionId=session-123");
    let mut frames = person.follows(&path, None).await;
    let (started, _) = until(&mut frames, "STARTED").await;
    let (asked, event) = until(&mut frames, "INTERACTION").await;
    assert_eq!(event["data"]["requestId"], json!(first.id));
    drop(frames);
    assert_eq!(person.reads(&first).await["status"], json!("pending"), "closing the connection changes nothing");
    responds(&person, "session-123", &first.id, "confirm", None).await.done();
    let second = agent.asks_in(&first.session, deletion()).await;
    let mut frames = person.follows(&path, Some(&started)).await;
    let (_, event) = until(&mut frames, "INTERACTION").await;
    assert_eq!(event["data"]["requestId"], json!(second.id), "the first question is closed");
    let mut frames = person.follows(&path, Some(&asked)).await;
    let (id, event) = frames.event().await;
    assert_eq!((&event["type"], &event["data"]["requestId"]), (&json!("OBSERVING"), &json!(first.id)));
    agent.commands(&first.session, "fail").await.done();
    let (part, error) = until(&mut frames, "ERROR").await;
    let (last, ended) = frames.event().await;
    assert_eq!((&error["sessionId"], &ended["type"]), (&json!("session-123"), &json!("COMPLETED")));
    assert_eq!(ended["data"]["status"], json!("failed"));
    assert_eq!(error["data"]["message"], json!("the session has failed"));
    assert!(frames.next().await.is_none(), "the stream of an ended session ends");
    let number = |id: &str| id.rsplit_once(':').unwrap().1.parse::<u64>().unwrap();
    assert!(number(&id) < number(&last));
    let mut rest = person.follows(&path, Some(&part)).await;
    assert_eq!(rest.event().await, (last.clone(), ended));
    assert!(rest.next().await.is_none());
    agent.takes(&first).await.done();
    let nothing = person.request(reqwest::Method::GET, &path).header("last-event-id", &last);
    assert_eq!(server_testkit::client::reply(nothing).await.status, 204);
    let wrong = person.request(reqwest::Method::GET, &path).header("last-event-id", "soon");
    server_testkit::client::reply(wrong).await.refused(400, "header_invalid");
}

/// A position in one session does not apply to another session of the channel, although event numbers repeat between
/// sessions.
#[tokio::test]
async fn position_in_one_session_does_not_apply_to_another() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let path = format!("{STREAM}?sessionId=session-123");
    let first = asks(&world, deletion()).await;
    let mut frames = person.follows(&path, None).await;
    let (seen, event) = until(&mut frames, "INTERACTION").await;
    assert_eq!(event["data"]["requestId"], json!(first.id));
    agent.commands(&first.session, "complete").await.done();
    let (ended, _) = until(&mut frames, "COMPLETED").await;
    assert!(frames.next().await.is_none());

    let second = asks(&world, deletion()).await;
    // The last event id names the first session, or is a number without a session.
    for last in [&seen, &ended, "3", "9000"] {
        let mut frames = person.follows(&path, Some(last)).await;
        let (_, event) = until(&mut frames, "INTERACTION").await;
        assert_eq!(event["data"]["requestId"], json!(second.id), "after {last}");
    }
    // All running sessions are streamed, each from the position of the reader.
    let third = asks(&world, deletion()).await;
    let mut frames = person.follows(&path, Some(&seen)).await;
    let mut asked = Vec::new();
    let mut last = String::new();
    while asked.len() < 2 {
        let (id, event) = until(&mut frames, "INTERACTION").await;
        asked.push(text(&event["data"]["requestId"]));
        last = id;
    }
    asked.sort();
    assert_eq!(asked, [second.id.clone(), third.id.clone()]);
    responds(&person, "session-123", &second.id, "confirm", None).await.done();
    let mut frames = person.follows(&path, Some(&last)).await;
    let (_, event) = frames.event().await;
    assert_eq!((&event["type"], &event["data"]["requestId"]), (&json!("OBSERVING"), &json!(second.id)));
    // A stream by the id of a session contains only that session.
    let mut frames = person.follows(&format!("{STREAM}?sessionId={}", third.session), Some(&last)).await;
    responds(&person, "session-123", &third.id, "confirm", None).await.done();
    let (_, event) = frames.event().await;
    assert_eq!((&event["type"], &event["data"]["requestId"]), (&json!("OBSERVING"), &json!(third.id)));
    // The stream of a channel ends with its last session, and includes sessions that begin meanwhile.
    let mut frames = person.follows(&path, Some(&last)).await;
    agent.commands(&second.session, "complete").await.done();
    until(&mut frames, "COMPLETED").await;
    let fourth = asks(&world, deletion()).await;
    let (_, event) = until(&mut frames, "INTERACTION").await;
    assert_eq!(event["data"]["requestId"], json!(fourth.id));
    for session in [&third.session, &fourth.session] {
        agent.commands(session, "complete").await.done();
        until(&mut frames, "COMPLETED").await;
    }
    assert!(frames.next().await.is_none());
}
