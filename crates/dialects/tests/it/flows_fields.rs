//! `flows`: tests every field and every operation.

use std::time::Duration;

use domain::Role;
use reqwest::Method;
use serde_json::{Value, json};

use server_testkit::client::{confirmation, reply, text};
use server_testkit::definitions::{notes, scribe};
use server_testkit::flows::{bare, flow, form};
use server_testkit::world::World;

/// A question and its response have every field of the dialect.
#[tokio::test]
async fn question_and_response_have_every_field_of_the_dialect() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let channel = "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a09";
    let session = agent.opens(json!({ "agent": "release-bot", "channel": channel })).await;
    let mut asked = form();
    asked["deadline_seconds"] = json!(600);
    asked["suggestions"] = json!([
        { "id": "usual", "label": "As always", "source": "rule", "data": { "amount": 1 } },
        { "id": "more", "label": "More", "data": { "amount": 9 } }]);
    asked["metadata"] = json!({ "dropped_suggestions": [{ "id": "evil", "reason": "is not allowed" }] });
    let question = agent.asks_in(&session, asked.clone()).await;
    let listed = alice.flows_questions(&session).await;
    let step = bare(&text(&question.shown["step"]));
    let suggested = |id: &str, label: &str, source: &str, amount: u32| {
        json!({ "id": id, "label": label, "source": source, "description": null, "ctaLabel": null,
                "payload": { "amount": amount } })
    };
    let expected = json!({
        "requestId": bare(&question.id), "chatSessionId": channel, "stepId": step, "stepExecutionId": step,
        "agentId": "bot", "status": "PENDING", "type": "INPUT_FORM", "title": "How much?",
        "description": "For the release.", "payloadSchema": asked["schema"],
        "suggestedActions": {
            "ruleBased": [suggested("usual", "As always", "ruleBased", 1)],
            "llm": [suggested("more", "More", "llm", 9)], "analytics": [],
            "filtered": [{ "id": "evil", "source": "llm", "reason": "is not allowed" }] },
        "createdAt": question.shown["created_at"], "updatedAt": question.shown["created_at"],
        "dueAt": question.shown["deadline"], "response": null, "metadata": { "kind": "form" }
    });
    assert_eq!(listed, json!({ "active": [expected], "history": [], "nextCursor": null }));

    world.clock.advance(domain::SignedDuration::from_secs(60));
    let answered =
        alice.flows(&question, "respond", json!({ "chatSessionId": channel, "payload": { "amount": 3 } })).await;
    assert_eq!(answered.status, 202);
    let answered = answered.done();
    let ours = alice.reads(&question).await;
    let (mut expected, resolution) = (expected, &ours["resolution"]);
    expected["status"] = json!("ANSWERED");
    expected["updatedAt"] = resolution["at"].clone();
    expected["response"] = json!({
        "responseId": bare(&text(&resolution["answer"]["id"])), "source": "USER", "respondedBy": "alice",
        "respondedAt": resolution["at"], "status": "ANSWERED", "payload": { "amount": 3 }
    });
    assert_eq!(answered, expected);
    assert_ne!(answered["updatedAt"], answered["createdAt"]);
    let listed = alice.flows_questions(&session).await;
    assert_eq!(listed, json!({ "active": [], "history": [expected], "nextCursor": null }));
}

/// Each kind has a type and can be answered; the stored answer equals the answer that `/v1` would give.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn every_kind_of_question_is_shown_and_can_be_answered() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let option = |id: &str| json!({ "id": id, "label": id.to_uppercase() });
    let options = json!([option("a"), option("b")]);
    let text_schema = json!({ "type": "string" });
    let answer = json!({ "type": "object", "properties": { "answer": text_schema }, "required": ["answer"] });
    let rows = [
        (
            json!({ "kind": "approval", "title": "Q" }),
            "APPROVAL",
            json!({ "action": "reject", "comment": "no" }),
            json!("reject"),
            Value::Null,
        ),
        (
            json!({ "kind": "confirmation", "title": "Q" }),
            "CONFIRMATION",
            json!({ "action": "confirm" }),
            json!("approve"),
            Value::Null,
        ),
        (
            json!({ "kind": "review", "title": "Q" }),
            "REVIEW",
            json!({ "action": "revise", "comment": "shorter" }),
            json!("retry"),
            Value::Null,
        ),
        (
            json!({ "kind": "choice", "title": "Q", "options": options }),
            "INPUT_FORM",
            json!({ "action": "b" }),
            json!("provide"),
            Value::Null,
        ),
        (
            json!({ "kind": "choice", "title": "Q", "options": options, "multiple": true }),
            "INPUT_FORM",
            json!({ "action": ["a", "b"] }),
            json!("provide"),
            Value::Null,
        ),
        (
            json!({ "kind": "question", "title": "Q" }),
            "INPUT_FORM",
            json!({ "answer": "Europe" }),
            json!("provide"),
            json!("Europe"),
        ),
        (
            json!({ "kind": "vote", "title": "Q" }),
            "INPUT_FORM",
            json!({ "answer": "Europe" }),
            json!("provide"),
            json!("Europe"),
        ),
        (form(), "INPUT_FORM", json!({ "amount": 3 }), json!("provide"), json!({ "amount": 3 })),
        (
            json!({ "kind": "secret", "title": "Q", "secrets": [{ "name": "TOKEN" }] }),
            "INPUT_FORM",
            json!({ "TOKEN": "s3cr3t" }),
            json!("provide"),
            json!({ "names": ["TOKEN"] }),
        ),
        (json!({ "kind": "notice", "title": "Q" }), "INFORMATION", Value::Null, json!("provide"), Value::Null),
    ];
    for (asked, kind, payload, effect, data) in rows {
        let question = world.asks(asked.clone()).await;
        let shown = alice.flows_questions(&question.session).await["active"][0].clone();
        assert_eq!((&shown["type"], &shown["status"]), (&json!(kind), &json!("PENDING")), "{asked}");
        assert_eq!(shown["metadata"]["kind"], question.shown["kind"], "{asked}");
        match asked["kind"].as_str() {
            Some("question" | "vote") => assert_eq!(shown["payloadSchema"], answer),
            Some("notice") => assert_eq!(shown["payloadSchema"], Value::Null),
            _ => assert_eq!(shown["payloadSchema"]["type"], "object", "{asked}"),
        }
        let replied = alice.flows(&question, "respond", json!({ "payload": payload })).await;
        assert_eq!(replied.status, 202, "{asked}: {}", replied.body);
        let response = &replied.body["response"];
        assert_eq!((&response["source"], &response["status"]), (&json!("USER"), &json!("ANSWERED")));
        let said = if asked["kind"] == "secret" { json!({ "names": ["TOKEN"] }) } else { payload };
        assert_eq!(response["payload"], said, "{asked}");
        let ours = &alice.reads(&question).await["resolution"]["answer"];
        assert_eq!((&ours["effect"], &ours["data"]), (&effect, &data), "{asked}");
    }
}

/// Every option is a suggested action whose payload chooses the option. The name of an effect chooses it too.
#[tokio::test]
async fn payload_of_a_suggested_action_is_accepted() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = world.asks(confirmation()).await;
    let shown = alice.flows_questions(&question.session).await["active"][0].clone();
    let rules = shown["suggestedActions"]["ruleBased"].as_array().cloned().unwrap();
    let ids: Vec<&Value> = rules.iter().map(|rule| &rule["id"]).collect();
    assert_eq!(ids, ["confirm", "cancel"]);
    let sent = alice.flows(&question, "respond", json!({ "payload": rules[1]["payload"] })).await.done();
    assert_eq!(sent["response"]["payload"], json!({ "action": "cancel" }));
    for payload in [json!({ "action": "approve" }), json!({ "decision": "APPROVE" }), json!("confirm")] {
        let question = world.asks(confirmation()).await;
        let sent = alice.flows(&question, "respond", json!({ "payload": payload })).await.done();
        assert_eq!(sent["response"]["payload"], json!({ "action": "confirm" }));
    }
}

/// An invalid payload is refused with pointers into the payload, and changes nothing.
#[tokio::test]
async fn invalid_payload_is_refused_with_pointers_into_the_payload() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let (yes_or_no, filled) = (world.asks(confirmation()).await, world.asks(form()).await);
    let date = json!({ "type": "object", "required": ["at"], "properties": { "at": { "type": "string", "format": "date-time" } } });
    let dated = world.asks(json!({ "kind": "form", "title": "When?", "schema": date })).await;
    for (question, payload, places) in [
        (&yes_or_no, json!({ "action": "perhaps" }), &["/payload/action"][..]),
        (&yes_or_no, json!({ "colour": "red" }), &["/payload/colour"]),
        (&yes_or_no, json!({}), &["/payload/action"]),
        (&yes_or_no, json!({ "action": "confirm", "arguments": {} }), &["/payload/arguments"]),
        (&filled, json!({}), &["/payload/amount"]),
        (&filled, json!({ "amount": "many" }), &["/payload/amount"]),
        (&filled, Value::Null, &["/payload"]),
        // The date and time control of browsers has no offset, which makes the time ambiguous.
        (&dated, json!({ "at": "2026-11-15T10:00" }), &["/payload/at"]),
    ] {
        alice.flows(question, "respond", json!({ "payload": payload })).await.refused_at(422, "answer_invalid", places);
        assert_eq!(alice.reads(question).await, question.shown);
    }
    alice.flows(&dated, "respond", json!({ "payload": { "at": "2026-11-15T10:00:00+01:00" } })).await.done();
}

/// The channel is checked but is not a credential. The credential decides who answers.
#[tokio::test]
async fn channel_header_is_checked_in_addition_to_the_credential() {
    let world = World::new().await;
    let (alice, question) = (world.person("alice").await, world.asks(confirmation()).await);
    let channel = text(&question.shown["channel"]);
    let confirm = json!({ "payload": { "action": "confirm" } });
    for verb in ["respond", "skip", "auto", "expire"] {
        let path = flow(&question.session, &format!("/interactions/{}/{verb}", bare(&question.id)));
        let root = world.admin().await;
        root.post(&path, json!({})).await.refused(400, "header_invalid");
        root.flows_in("another", &question, verb, json!({})).await.refused(400, "channel_mismatch");
        let request = world.http.request(Method::POST, &path).header("X-Chat-Session-Id", &channel);
        reply(request.json(&confirm)).await.refused(401, "unauthenticated");
        let stranger = world.stranger().await;
        stranger.flows(&question, verb, json!({})).await.refused(404, "not_found");
    }
    let other = json!({ "chatSessionId": "another", "payload": { "action": "confirm" } });
    alice.flows(&question, "respond", other).await.refused(400, "channel_mismatch");
    let agent = world.agent().await;
    agent.flows(&question, "respond", confirm.clone()).await.refused(403, "role_forbids");
    let mut claims = confirm.clone();
    claims["respondedBy"] = json!("bob");
    alice.flows(&question, "respond", claims).await.refused_at(422, "body_invalid", &["/respondedBy"]);
    let mut claims = confirm.clone();
    claims["source"] = json!("SYSTEM");
    alice.flows(&question, "respond", claims).await.refused_at(422, "body_invalid", &["/source"]);
    assert_eq!(alice.reads(&question).await, question.shown);

    // A UUID may be written in upper or lower case.
    let (mut said, loud) = (confirm, channel.to_uppercase());
    (said["respondedBy"], said["source"]) = (json!("alice"), json!("USER"));
    let answered = alice.flows_in(&loud, &question, "respond", said).await.done();
    assert_eq!(answered["response"]["respondedBy"], "alice");
}

/// A request belongs to the session in the path.
#[tokio::test]
async fn a_question_of_another_session_is_not_found() {
    let world = World::new().await;
    let (alice, one, other) =
        (world.person("alice").await, world.asks(confirmation()).await, world.asks(confirmation()).await);
    let mut crossed = one.clone();
    crossed.session = other.session.clone();
    alice.flows(&crossed, "respond", json!({ "payload": "confirm" })).await.refused(404, "not_found");
    let path = flow("ses_00000000-0000-7000-8000-000000000000", "");
    for rest in ["", "/snapshot", "/interactions", "/events/stream"] {
        alice.get(&format!("{path}{rest}")).await.refused(404, "not_found");
    }
    alice.get("/api/flows/nobody").await.refused(400, "id_invalid");
    assert_eq!(alice.reads(&one).await, one.shown);
}

/// Regression test: a form with required fields could not be skipped, because the empty payload was validated.
#[tokio::test]
async fn form_with_required_fields_is_skipped_without_a_payload() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let mut optional = form();
    optional["required"] = json!(false);
    for body in [json!({}), json!({ "payload": { "amount": "half" } }), json!({ "payload": {} })] {
        let question = world.asks(optional.clone()).await;
        let skipped = alice.flows(&question, "skip", body).await;
        assert_eq!(skipped.status, 202, "{}", skipped.body);
        assert_eq!((&skipped.body["status"], &skipped.body["response"]["payload"]), (&json!("ANSWERED"), &Value::Null));
        assert_eq!(alice.reads(&question).await["resolution"]["answer"]["effect"], "skip");
    }
    let needed = world.asks(form()).await;
    alice.flows(&needed, "skip", json!({})).await.refused_at(422, "answer_invalid", &["/payload/action"]);
}

/// Cancelling a flow closes its open questions with the reason.
#[tokio::test]
async fn cancelled_question_is_shown_as_auto_resolved_with_its_reason() {
    let world = World::new().await;
    let (alice, question) = (world.person("alice").await, world.asks(confirmation()).await);
    let path = flow(&question.session, "/control");
    let ended = alice.post(&path, json!({ "command": "cancel", "reason": "no longer wanted" })).await;
    assert_eq!((ended.status, &ended.body["status"]), (202, &json!("CANCELLED")));
    let history = alice.flows_questions(&question.session).await["history"].clone();
    let response = &history[0]["response"];
    assert_eq!(history[0]["status"], "AUTO_RESOLVED");
    assert_eq!(response["payload"], json!({ "reason": "no longer wanted" }));
    assert_eq!((&response["source"], &response["respondedBy"]), (&json!("SYSTEM"), &json!("alice")));
    alice.post(&path, json!({ "command": "cancel" })).await.refused(409, "session_ended");
}

/// All open questions are listed, oldest first; closed questions are paged, newest first.
#[tokio::test]
async fn history_is_paged() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let mut all = Vec::new();
    for _ in 0..27 {
        let question = agent.asks_in(&session, confirmation()).await;
        all.push(bare(&question.id));
        if all.len() > 2 {
            alice.flows(&question, "respond", json!({ "payload": "confirm" })).await.done();
        }
    }
    let ids = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|item| text(&item["requestId"])).collect()
    };
    let first = alice.flows_questions(&session).await;
    assert_eq!(ids(&first["active"]), all[..2]);
    let newest: Vec<String> = all[2..].iter().rev().cloned().collect();
    assert_eq!(ids(&first["history"]), newest[..20]);
    let cursor = text(&first["nextCursor"]);
    let rest = alice.get(&flow(&session, &format!("/interactions?cursor={cursor}"))).await.done();
    assert_eq!((ids(&rest["history"]), &rest["nextCursor"]), (newest[20..].to_vec(), &Value::Null));
    let exact = alice.get(&flow(&session, "/interactions?limit=25")).await.done();
    assert_eq!((exact["history"].as_array().unwrap().len(), &exact["nextCursor"]), (25, &Value::Null));
    alice.get(&flow(&session, "/interactions?limit=0")).await.refused(400, "query_invalid");
    alice.get(&flow(&session, "/interactions?cursor=x")).await.refused(400, "query_invalid");
}

/// A flow or an agent is started by its name, with a channel and a shared context.
#[tokio::test]
async fn flow_or_agent_is_started_by_name() {
    let world = World::new().await;
    let (admin, agent) = (world.admin().await, world.agent().await);
    admin.post("/v1/agents", scribe()).await.done();
    admin.post("/v1/flows", notes()).await.done();
    let channel = "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a09";
    let body =
        json!({ "parameters": { "what": "a poem" }, "sharedContext": { "tone": "dry" }, "chatSessionId": channel });
    let started = agent.post("/api/flows/notes/start", body).await;
    assert_eq!(started.status, 202);
    let started = started.done();
    let ours = admin.session(&text(&started["sessionId"])).await;
    assert_eq!(
        started,
        json!({
            "sessionId": bare(&text(&ours["id"])), "status": "RUNNING", "startedAt": ours["created_at"],
            "launchParameters": { "what": "a poem" }, "sharedContext": { "tone": "dry" }, "chatSessionId": channel
        })
    );
    assert_eq!((&ours["flow"], &ours["input"]), (&json!("notes"), &json!({ "what": "a poem" })));
    let shown = admin.get(&flow(&text(&started["sessionId"]), "/snapshot")).await.done();
    let state = &shown["state"];
    assert_eq!((&state["flowDefinitionId"], &state["flowDefinitionVersion"]), (&json!("notes"), &json!("1")));
    assert_eq!((&state["currentStepId"], &state["sharedContext"]), (&json!("write"), &json!({ "tone": "dry" })));
    assert_eq!(shown["events"][0]["type"], "FLOW_STARTED");

    let started = agent.post("/api/flows/scribe/start", json!({ "parameters": "Hello" })).await.done();
    let ours = admin.session(&text(&started["sessionId"])).await;
    assert_eq!((&ours["agent"], &ours["input"]), (&json!("scribe"), &json!("Hello")));
    assert_eq!(started["chatSessionId"], started["sessionId"]);

    agent.post("/api/flows/nothing/start", json!({})).await.refused(404, "not_found");
    agent.post("/api/flows/notes/start", json!({ "overrides": { "temperature": 1 } })).await.refused_at(
        422,
        "body_invalid",
        &["/overrides"],
    );
    agent.post("/api/flows/notes/start", json!({ "sharedContext": "dry" })).await.refused_at(
        422,
        "body_invalid",
        &["/sharedContext"],
    );
    let viewer = world.someone("default", Role::Viewer, "vera", &[]).await;
    viewer.post("/api/flows/notes/start", json!({})).await.refused(403, "role_forbids");
}

/// Status of the session and of its step while it waits, is paused, is answered and continues.
#[tokio::test]
async fn waiting_and_paused_are_independent() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({ "agent": "release-bot" })).await;
    let state = async || alice.get(&flow(&session, "/snapshot")).await.done()["state"].clone();
    let statuses = |state: &Value| (text(&state["status"]), text(&state["steps"][0]["status"]));
    let is = |session: &str, step: &str| (session.to_owned(), step.to_owned());
    assert_eq!(statuses(&state().await), is("RUNNING", "RUNNING"));
    let question = agent.asks_in(&session, confirmation()).await;
    let waiting = state().await;
    assert_eq!(statuses(&waiting), is("WAITING_USER_INPUT", "BLOCKED_WAITING_USER"));
    assert_eq!(waiting["steps"][0]["interactionRequestId"], bare(&question.id));
    let control = flow(&session, "/control");
    let paused = alice.post(&control, json!({ "command": "pause" })).await.done();
    assert_eq!(statuses(&paused), is("PAUSED", "BLOCKED_WAITING_USER"));
    alice.flows(&question, "respond", json!({ "payload": "confirm" })).await.done();
    assert_eq!(statuses(&state().await), is("PAUSED", "RUNNING"));
    let resumed = alice.post(&control, json!({ "command": "resume" })).await.done();
    assert_eq!(
        (statuses(&resumed), &resumed["steps"][0]["interactionRequestId"]),
        (is("RUNNING", "RUNNING"), &Value::Null)
    );
    let step = &resumed["steps"][0]["stepExecutionId"];
    alice.post(&control, json!({ "command": "retryStep", "stepExecutionId": step })).await.refused(409, "not_driven");
    alice.post(&control, json!({ "command": "pause", "stepExecutionId": step })).await.refused_at(
        422,
        "body_invalid",
        &["/stepExecutionId"],
    );
    alice.post(&control, json!({ "command": "explode" })).await.refused(422, "body_invalid");
    agent.commands(&session, "complete").await.done();
    assert_eq!(statuses(&state().await), is("COMPLETED", "COMPLETED"));
}

/// A poll replies at the next event, replies 204 if its time passes without one, and does not wait in an ended session.
#[tokio::test]
async fn long_poll_replies_at_the_next_event() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let first = alice.get(&flow(&session, "")).await.done();
    assert_eq!((&first["nextSinceEventId"], &first["events"][0]["eventId"]), (&json!(1), &json!(1)));
    let nothing = alice.get(&flow(&session, "?sinceEventId=1&timeout=0")).await;
    assert_eq!((nothing.status, nothing.body), (204, json!("")));
    let other = alice.get(&flow(&session, "?sinceEventId=1&stateVersion=0&timeout=60000")).await.done();
    assert_eq!((&other["state"]["stateVersion"], &other["events"]), (&json!(1), &json!([])));

    for timeout in ["30000", "30"] {
        let since = alice.get(&flow(&session, "/snapshot")).await.done()["state"]["stateVersion"].clone();
        let poll = flow(&session, &format!("?sinceEventId={since}&stateVersion={since}&timeout={timeout}"));
        let (woken, question) = tokio::join!(alice.get(&poll), async {
            world.listened_to(1).await;
            agent.asks_in(&session, confirmation()).await
        });
        let woken = woken.done();
        assert_eq!(woken["events"][0]["type"], "HUMAN_INTERACTION_REQUIRED");
        assert_eq!(woken["events"][0]["payload"]["requestId"], bare(&question.id));
        assert_eq!(woken["state"]["status"], "WAITING_USER_INPUT");
        alice.flows(&question, "respond", json!({ "payload": "confirm" })).await.done();
        world.listened_to(0).await;
    }
    agent.commands(&session, "complete").await.done();
    let over = tokio::time::timeout(Duration::from_secs(10), alice.get(&flow(&session, "?sinceEventId=99"))).await;
    let over = over.unwrap().done();
    assert_eq!((&over["state"]["status"], &over["nextSinceEventId"]), (&json!("COMPLETED"), &json!(99)));
    alice.get(&flow(&session, "?timeout=300001")).await.refused(400, "query_invalid");
    alice.get(&flow(&session, "?sinceEventId=18446744073709551615")).await.refused(400, "query_invalid");
}
