//! `hitl`: tests the four types field by field, under both prefixes, and the text of refusals.

use serde_json::{Value, json};

use server_testkit::client::{ApiClient, Question, Reply, text};
use server_testkit::world::World;

pub(crate) const PREFIXES: [&str; 2] = ["/hitl", "/api/v1/agent/hitl"];

/// Sends a response of this dialect.
pub(crate) async fn responds(person: &ApiClient, id: &str, hitl_type: &str, data: Value) -> Reply {
    let body = json!({ "request_id": id, "hitl_type": hitl_type, "response_data": data });
    person.post("/hitl/respond", body).await
}

/// Status of a request.
pub(crate) async fn status(person: &ApiClient, id: &str) -> String {
    text(&person.get(&format!("/hitl/requests/{id}")).await.done()["status"])
}

/// Checks a refusal: the fields of the dialect, and the fields of the problem document.
pub(crate) fn refused(reply: Reply, status: u16, code: &str) -> Value {
    let body = reply.refused(status, code);
    assert_eq!(body["success"], json!(false), "{body}");
    assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
    body
}

/// Asks a question in a conversation that the client has named.
async fn asks(world: &World, channel: &str, body: Value) -> Question {
    let agent = world.agent().await;
    let session = agent.opens(json!({ "agent": "release-bot", "channel": channel })).await;
    agent.asks_in(&session, body).await
}

fn clarification() -> Value {
    json!({ "kind": "question", "title": "目录", "message": "您要处理哪个目录下的文件？",
            "options": [{ "id": "current", "label": "当前目录", "recommended": true },
                        { "id": "recursive", "label": "递归所有子目录" }],
            "context": { "step": 3 }, "metadata": { "clarification_type": "scope" }, "deadline_seconds": 300 })
}

fn decision() -> Value {
    json!({ "kind": "choice", "title": "选择部署策略",
            "options": [{ "id": "rolling", "label": "滚动更新", "description": "逐步替换实例，零停机", "recommended": true,
                          "duration": "10分钟" },
                        { "id": "blue_green", "label": "蓝绿部署", "dangerous": true, "cost": "2x 资源成本", "risk": "双写" }] })
}

fn env_var() -> Value {
    json!({ "kind": "secret", "title": "需要 OpenAI API 凭证来执行此操作",
            "secrets": [{ "name": "OPENAI_API_KEY", "label": "OpenAI API Key", "placeholder": "sk-...", "pattern": "^sk-" },
                        { "name": "OPENAI_ORG_ID", "required": false }] })
}

fn permission() -> Value {
    json!({ "kind": "approval", "title": "rm -rf ./temp/*",
            "action": { "tool": "shell_execute", "arguments": { "command": "rm -rf ./temp/*" } } })
}

/// A pending request has every field of the dialect under both prefixes.
#[tokio::test]
async fn pending_request_has_every_field_of_the_dialect() {
    let world = World::new().await;
    let question = asks(&world, "conv-uuid", clarification()).await;
    let person = world.person("alice").await;
    let project = text(&person.get("/v1/me").await.done()["project"]);
    for prefix in PREFIXES {
        let found = person.get(&format!("{prefix}/conversations/conv-uuid/pending")).await.done();
        assert_eq!(found["total"], json!(1));
        let item = &found["requests"][0];
        let tenant = item["tenant_id"].clone();
        assert!(text(&tenant).starts_with("ten_"));
        assert_eq!(
            *item,
            json!({
                "id": question.id, "conversation_id": "conv-uuid", "message_id": question.shown["step"],
                "tenant_id": tenant, "project_id": project, "user_id": "bot", "request_type": "clarification",
                "question": "您要处理哪个目录下的文件？",
                "options": [
                    { "id": "current", "label": "当前目录", "description": null, "recommended": true, "is_default": false,
                      "risk_level": null, "estimated_time": null, "estimated_cost": null, "risks": [] },
                    { "id": "recursive", "label": "递归所有子目录", "description": null, "recommended": false,
                      "is_default": false, "risk_level": null, "estimated_time": null, "estimated_cost": null, "risks": [] },
                ],
                "context": { "step": 3 },
                "metadata": { "clarification_type": "scope", "asked_by": "bot", "kind": "question", "title": "目录",
                              "allow_custom": true },
                "created_at": question.shown["created_at"], "expires_at": question.shown["deadline"], "status": "pending",
            })
        );
        let bare = question.session.trim_start_matches("ses_");
        for name in [question.session.as_str(), bare] {
            let again = person.get(&format!("{prefix}/conversations/{name}/pending")).await.done();
            assert_eq!(again["requests"][0]["id"], json!(question.id));
            assert_eq!(again["requests"][0]["conversation_id"], json!(name));
        }
        for name in [project.as_str(), project.trim_start_matches("prj_"), "default"] {
            let again = person.get(&format!("{prefix}/projects/{name}/pending?limit=10")).await.done();
            assert_eq!(again["requests"], found["requests"]);
        }
        let alone = person.get(&format!("{prefix}/requests/{}", question.id)).await.done();
        assert_eq!(alone, *item);
    }
}

/// The fields of an option become the fields of the dialect.
#[tokio::test]
async fn fields_of_options_variables_and_tools_are_shown() {
    let world = World::new().await;
    let person = world.person("alice").await;
    let shown = async |body: Value| {
        let question = world.asks(body).await;
        person.get(&format!("/hitl/requests/{}", question.id)).await.done()
    };
    let decided = shown(decision()).await;
    let risky = &decided["options"][1];
    assert_eq!((&risky["risk_level"], &risky["risks"]), (&json!("high"), &json!(["双写"])));
    assert_eq!(risky["estimated_cost"], json!("2x 资源成本"));
    assert_eq!(decided["options"][0]["estimated_time"], json!("10分钟"));
    assert_eq!((&decided["request_type"], &decided["question"]), (&json!("decision"), &json!("选择部署策略")));
    let variables = shown(env_var()).await;
    assert_eq!(
        variables["metadata"]["fields"],
        json!([
            { "name": "OPENAI_API_KEY", "label": "OpenAI API Key", "required": true, "secret": true, "input_type": "password",
              "placeholder": "sk-...", "pattern": "^sk-" },
            { "name": "OPENAI_ORG_ID", "label": "OPENAI_ORG_ID", "required": false, "secret": true,
              "input_type": "password", "placeholder": null, "pattern": null },
        ])
    );
    let permitted = shown(permission()).await;
    assert_eq!(permitted["metadata"]["tool_name"], json!("shell_execute"));
    assert_eq!(permitted["metadata"]["details"], json!({ "command": "rm -rf ./temp/*" }));
}

/// Each type is answered with its own response data, and the agent receives the matching answer.
#[tokio::test]
async fn each_request_type_is_answered_with_its_response_data() {
    let world = World::new().await;
    let person = world.person("alice").await;
    let check = async |body: Value, hitl_type: &str, data: Value, expected: Value| {
        let question = world.asks(body).await;
        let said = responds(&person, &question.id, hitl_type, data).await.done();
        assert_eq!(said, json!({ "success": true, "message": "Response received" }));
        let answer = person.reads(&question).await["resolution"]["answer"].clone();
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(answer[field], *value, "{hitl_type}: {answer}");
        }
    };
    check(clarification(), "clarification", json!({ "answer": "current" }), json!({ "option": "current" })).await;
    check(clarification(), "clarification", json!({ "answer": "当前目录" }), json!({ "option": "current" })).await;
    check(clarification(), "clarification", json!({ "answer": "/srv" }), json!({ "data": "/srv", "option": null }))
        .await;
    check(decision(), "decision", json!({ "decision": "rolling" }), json!({ "option": "rolling" })).await;
    let mut several = decision();
    several["multiple"] = json!(true);
    let both = json!({ "options": ["rolling", "blue_green"] });
    check(several, "decision", json!({ "decision": ["rolling", "blue_green"] }), both).await;
    let values = json!({ "values": { "OPENAI_API_KEY": "sk-xxx", "OPENAI_ORG_ID": "org-xxx" }, "save": true });
    let names = json!({ "effect": "provide", "data": { "names": ["OPENAI_API_KEY", "OPENAI_ORG_ID"] } });
    check(env_var(), "env_var", values, names).await;
    let allow = json!({ "action": "allow", "remember": false });
    check(permission(), "permission", allow, json!({ "effect": "approve" })).await;
    check(permission(), "permission", json!({ "action": "deny" }), json!({ "effect": "reject" })).await;
    check(permission(), "permission", json!({ "granted": true }), json!({ "effect": "approve" })).await;
    let no = json!({ "granted": false, "feedback": "not today" });
    check(permission(), "permission", no, json!({ "effect": "reject", "feedback": "not today" })).await;
    let end = json!({ "action": "terminate" });
    check(permission(), "permission", end, json!({ "effect": "terminate", "option": "terminate" })).await;
    let kept = person.get("/v1/secrets").await.done();
    assert_eq!(kept["secrets"].as_array().unwrap().len(), 2, "{kept}");
}

/// A response of the wrong type or form is refused and changes nothing.
#[tokio::test]
async fn response_of_the_wrong_type_or_form_is_refused() {
    let world = World::new().await;
    let person = world.person("alice").await;
    let check = async |body: Value, hitl_type: &str, data: Value, code: &str, pointer: &str| {
        let question = world.asks(body).await;
        let body = refused(responds(&person, &question.id, hitl_type, data).await, 422, code);
        assert_eq!(body["errors"][0]["pointer"], json!(pointer), "{body}");
        assert_eq!(person.reads(&question).await, question.shown);
        body
    };
    let types = ["clarification", "decision", "env_var", "permission"];
    let bodies = [clarification(), decision(), env_var(), permission()];
    let data = [
        json!({ "answer": "current" }),
        json!({ "decision": "rolling" }),
        json!({ "values": { "OPENAI_API_KEY": "sk-xxx" }, "save": false }),
        json!({ "action": "allow" }),
    ];
    for (asked, body) in types.iter().zip(&bodies) {
        for (given, data) in types.iter().zip(&data).filter(|(given, _)| *given != asked) {
            let said = check(body.clone(), given, data.clone(), "body_invalid", "/hitl_type").await;
            assert!(text(&said["message"]).ends_with(&format!("this request is a {asked}")), "{said}");
        }
    }
    check(clarification(), "clarification", json!({ "reply": 1 }), "body_invalid", "/response_data").await;
    check(clarification(), "clarification", json!(["current"]), "body_invalid", "/response_data").await;
    check(decision(), "decision", json!({ "decision": "canary" }), "answer_invalid", "/response_data/decision").await;
    check(decision(), "decision", json!({ "decision": 3 }), "body_invalid", "/response_data/decision").await;
    let wrong = json!({ "values": { "OPENAI_API_KEY": "pk-marker" }, "save": true });
    let said = check(env_var(), "env_var", wrong, "answer_invalid", "/response_data/values/OPENAI_API_KEY").await;
    assert!(!said.to_string().contains("pk-marker"), "{said}");
    check(permission(), "permission", json!({}), "body_invalid", "/response_data").await;
    check(permission(), "permission", json!({ "action": "maybe" }), "body_invalid", "/response_data/action").await;
    check(permission(), "permission", json!({ "action": "deny_always" }), "body_invalid", "/response_data/action")
        .await;
    let both = json!({ "action": "allow", "granted": false });
    check(permission(), "permission", both, "body_invalid", "/response_data/granted").await;
}

/// A secret reaches the agent and is in no reply of the dialect.
#[tokio::test]
async fn secret_appears_in_no_reply() {
    let world = World::new().await;
    let (person, agent, question) = (world.person("alice").await, world.agent().await, world.asks(env_var()).await);
    let data = json!({ "values": { "OPENAI_API_KEY": "sk-marker" }, "save": false });
    let mut heard = vec![responds(&person, &question.id, "env_var", data.clone()).await.done()];
    heard.push(refused(responds(&person, &question.id, "env_var", data).await, 409, "interaction_already_resolved"));
    heard.push(person.get(&format!("/hitl/requests/{}", question.id)).await.done());
    heard.push(person.get(&format!("/hitl/conversations/{}/pending", question.session)).await.done());
    assert!(heard.iter().all(|body| !body.to_string().contains("sk-marker")), "{heard:?}");
    assert_eq!(agent.takes(&question).await.done()["secrets"]["OPENAI_API_KEY"], json!("sk-marker"));
}

/// `allow_always` and `remember` create a grant for the tool in this session, but only for a proposed action.
#[tokio::test]
async fn allow_always_creates_a_grant_only_for_a_proposed_action() {
    let world = World::new().await;
    let (person, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let proposes = async |call: &str, path: &str| {
        let body = json!({ "call_id": call, "tool": "write_file", "arguments": { "path": path, "content": "x" } });
        agent.post(&format!("/v1/sessions/{session}/actions"), body).await.done()
    };
    let asked = proposes("one", "a.txt").await;
    let id = text(&asked["interaction"]);
    assert_eq!(status(&person, &id).await, "pending");
    responds(&person, &id, "permission", json!({ "action": "allow", "remember": true })).await.done();
    assert_eq!(status(&person, &id).await, "answered");
    assert_eq!(proposes("two", "b.txt").await["state"], json!("allowed"));
    let elsewhere = agent.opens(json!({})).await;
    let body = json!({ "call_id": "one", "tool": "write_file", "arguments": { "path": "a.txt", "content": "x" } });
    let again = agent.post(&format!("/v1/sessions/{elsewhere}/actions"), body).await.done();
    assert_eq!(again["state"], json!("waiting"));
    let permit = proposes("one", "a.txt").await["permit"].clone();
    let path = format!("/v1/sessions/{session}/actions/one");
    agent.post(&format!("{path}/start"), json!({ "permit": permit })).await.done();
    assert_eq!(status(&person, &id).await, "processing");
    agent.post(&format!("{path}/outcome"), json!({ "outcome": "done" })).await.done();
    assert_eq!(status(&person, &id).await, "completed");
    let plain = world.asks(permission()).await;
    let said = responds(&person, &plain.id, "permission", json!({ "action": "allow_always" })).await.done();
    assert_eq!(said["message"], json!("Response received; it applies to this request only"));
}

/// A second response is refused and names the first responder.
#[tokio::test]
async fn second_response_is_refused_with_the_name_of_the_first_responder() {
    let world = World::new().await;
    let (alice, bob, question) = (world.person("alice").await, world.person("bob").await, world.asks(decision()).await);
    responds(&alice, &question.id, "decision", json!({ "decision": "rolling" })).await.done();
    let second = responds(&bob, &question.id, "decision", json!({ "decision": "blue_green" })).await;
    let body = refused(second, 409, "interaction_already_resolved");
    assert_eq!(body["message"], json!("this question is already resolved"));
    assert_eq!(body["resolution"]["by"]["name"], json!("alice"));
}

/// Idempotency keys work in this dialect.
#[tokio::test]
async fn response_can_be_repeated_with_its_idempotency_key() {
    let world = World::new().await;
    let (alice, question) = (world.person("alice").await, world.asks(decision()).await);
    let body =
        json!({ "request_id": question.id, "hitl_type": "decision", "response_data": { "decision": "rolling" } });
    let first = alice.post_once("k", "/hitl/respond", body.clone()).await.done();
    assert_eq!(alice.post_once("k", "/hitl/respond", body.clone()).await.done(), first);
    let mut other = body;
    other["response_data"]["decision"] = json!("blue_green");
    refused(alice.post_once("k", "/hitl/respond", other).await, 409, "idempotency_conflict");
}

/// A request of another tenant is not found; agents cannot respond; a credential is required.
#[tokio::test]
async fn requests_of_another_tenant_are_not_found() {
    let world = World::new().await;
    let question = asks(&world, "conv-uuid", decision()).await;
    let (stranger, agent, person) = (world.stranger().await, world.agent().await, world.person("alice").await);
    let project = text(&person.get("/v1/me").await.done()["project"]);
    let data = json!({ "decision": "rolling" });
    for prefix in PREFIXES {
        for path in [
            "conversations/conv-uuid/pending".to_owned(),
            format!("conversations/{}/pending", question.session),
            format!("projects/{project}/pending"),
            format!("requests/{}", question.id),
        ] {
            refused(stranger.get(&format!("{prefix}/{path}")).await, 404, "not_found");
        }
        let body = json!({ "request_id": question.id, "hitl_type": "decision", "response_data": data });
        refused(stranger.post(&format!("{prefix}/respond"), body.clone()).await, 404, "not_found");
        refused(agent.post(&format!("{prefix}/respond"), body).await, 403, "role_forbids");
        let cancel = json!({ "request_id": question.id, "reason": "x" });
        refused(stranger.post(&format!("{prefix}/cancel"), cancel).await, 404, "not_found");
        let ask = json!({ "conversation_id": "conv-uuid", "request_type": "clarification", "question": "?" });
        refused(stranger.post(&format!("{prefix}/requests"), ask).await, 404, "not_found");
        let unknown = world.http.request(reqwest::Method::GET, &format!("{prefix}/conversations/conv-uuid/pending"));
        refused(server_testkit::client::reply(unknown).await, 401, "unauthenticated");
        for unknown in ["deci_12345678", "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01"] {
            refused(responds(&person, unknown, "decision", data.clone()).await, 404, "not_found");
        }
        refused(person.get(&format!("{prefix}/conversations/conv-nobody/pending")).await, 404, "not_found");
        refused(person.get(&format!("{prefix}/conversations/%00/pending")).await, 404, "not_found");
        refused(person.get(&format!("{prefix}/projects/elsewhere/pending")).await, 404, "not_found");
    }
    assert_eq!(person.reads(&question).await, question.shown);
}

/// An approval cannot change arguments in this dialect: a response that does is refused, and nothing is approved.
#[tokio::test]
async fn approval_that_changes_arguments_is_refused() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let action = json!({ "tool": "delete_file", "arguments": { "path": "x", "action": "now" } });
    for kind in ["approval", "review"] {
        let (hitl, word, yes) = match kind {
            "approval" => ("permission", "action", "allow"),
            _ => ("decision", "decision", "approve"),
        };
        let question = asks(&world, "chat-1", json!({ "kind": kind, "title": "May I?", "action": action })).await;
        for (name, given) in [
            ("arguments", json!({ "path": "y" })),
            ("modified_arguments", json!({})),
            ("data", json!({ "path": "y" })),
            ("path", json!("y")),
        ] {
            let body = json!({ word: yes, name: given });
            let body = refused(responds(&alice, &question.id, hitl, body).await, 422, "answer_invalid");
            assert_eq!(body["errors"][0]["pointer"], format!("/response_data/{name}"), "{body}");
        }
        assert_eq!(status(&alice, &question.id).await, "pending");
        let body = json!({ word: yes, "path": "x", "arguments": action["arguments"] });
        responds(&alice, &question.id, hitl, body).await.done();
    }
}
