//! The format of Anthropic's Messages API.

use domain::agent::{ModelChoice, Price, Provider};
use serde_json::{Value, json};

use super::server::{Reply, Server, events};
use super::{KEY, QUICK, aloud, ask, assistant, at, call, choice, result, tool, user};
use crate::model::{Delta, ModelError, Request, Usage};

fn anthropic() -> ModelChoice {
    choice(Provider::Anthropic)
}

/// A message with these events between its first and last event.
pub(super) fn message(middle: &[Value], stop: &str) -> String {
    let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000, "output_tokens": 1});
    let mut all = vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [], "usage": usage}}),
    ];
    all.push(json!({"type": "ping"}));
    all.extend_from_slice(middle);
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 40}}));
    all.push(json!({"type": "message_stop"}));
    all.iter().map(|event| format!("event: {}\r\ndata: {event}\r\n\r\n", event["type"].as_str().unwrap())).collect()
}

pub(super) fn block(index: u64, start: &Value, deltas: &[Value]) -> Vec<Value> {
    let mut all = vec![json!({"type": "content_block_start", "index": index, "content_block": start})];
    all.extend(deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
    all.push(json!({"type": "content_block_stop", "index": index}));
    all
}

pub(super) fn text(index: u64, pieces: &[&str]) -> Vec<Value> {
    let deltas = pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect::<Vec<_>>();
    block(index, &json!({"type": "text", "text": ""}), &deltas)
}

fn tool_use(index: u64, id: &str, name: &str, pieces: &[&str]) -> Vec<Value> {
    let deltas =
        pieces.iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect::<Vec<_>>();
    block(index, &json!({"type": "tool_use", "id": id, "name": name, "input": {}}), &deltas)
}

fn thinking(index: u64, pieces: &[&str], signature: &[&str]) -> Vec<Value> {
    let thoughts = pieces.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
    let signatures = signature.iter().map(|piece| json!({"type": "signature_delta", "signature": piece}));
    block(
        index,
        &json!({"type": "thinking", "thinking": "", "signature": ""}),
        &thoughts.chain(signatures).collect::<Vec<_>>(),
    )
}

#[tokio::test]
async fn text_is_streamed_for_any_chunk_size() {
    let stream = message(&text(0, &["Grüß ", "dich!"]), "end_turn");
    for size in [1, 11, 100_000] {
        let server = Server::start(vec![Reply::stream(&stream).in_pieces(size)]);
        let price = Some(Price { input: 1000.0, output: 10_000.0 });
        let thinking = json!({"type": "enabled", "budget_tokens": 50});
        let options =
            [("thinking".to_owned(), thinking.clone()), ("model".to_owned(), json!("other"))].into_iter().collect();
        let choice = ModelChoice { price, options, temperature: Some(1.0), max_tokens: Some(99), ..anthropic() };
        let history = [user("hi"), user("there")];
        let request = Request { instructions: "Be kind.", history: &history, tools: &[] };
        let (turn, heard) = ask(&at(&server.url, choice, QUICK), request).await;
        let turn = turn.unwrap();
        assert_eq!((turn.text.as_str(), turn.calls.len(), &turn.provider), ("Grüß dich!", 0, &Value::Null));
        assert_eq!(turn.usage, Usage { input_tokens: 1110, output_tokens: 40, cost: Some(1.51) });
        assert_eq!(heard, [Delta::Text("Grüß ".into()), Delta::Text("dich!".into())]);
        let seen = &server.seen()[0];
        assert_eq!(seen.path, "/v1/messages");
        assert_eq!(
            (seen.headers["x-api-key"].as_str(), seen.headers["anthropic-version"].as_str()),
            (KEY, "2023-06-01")
        );
        assert!(!seen.headers.contains_key("authorization"));
        let content = json!([{"type": "text", "text": "hi"}, {"type": "text", "text": "there"}]);
        let expected = json!({"model": "test-model", "stream": true, "temperature": 1.0, "max_tokens": 99, "system": "Be kind.", "thinking": thinking,
            "messages": [{"role": "user", "content": content}]});
        assert_eq!(seen.body, expected);
    }
}

#[tokio::test]
async fn calls_are_assembled_and_results_are_sent_in_order() {
    let middle = [
        text(0, &["I look."]),
        tool_use(1, "toolu_a", "files_read", &["", "{\"path\"", ": \"ä\"}"]),
        tool_use(2, "toolu_b", "b", &[]),
        block(3, &json!({"type": "tool_use", "id": "toolu_c", "name": "b", "input": {"n": 3}}), &[]),
        tool_use(4, "toolu_d", "b", &["{\"n\": "]),
    ]
    .concat();
    let answer = message(&text(0, &["ok"]), "end_turn");
    let server = Server::start(vec![Reply::stream(&message(&middle, "tool_use")).in_pieces(5), Reply::stream(&answer)]);
    let model = at(&server.url, anthropic(), QUICK);
    let tools = [tool("files.read"), tool("b")];
    let mut history = vec![user("hi")];
    let turn = ask(&model, Request { instructions: "", history: &history, tools: &tools }).await.0.unwrap();
    let expected = [
        call("toolu_a", "files.read", json!({"path": "ä"})),
        call("toolu_b", "b", json!({})),
        call("toolu_c", "b", json!({"n": 3})),
        call("toolu_d", "b", json!("{\"n\": ")),
    ];
    assert_eq!((turn.text.as_str(), turn.calls.as_slice()), ("I look.", &expected[..]));
    history.push(assistant(&turn));
    history.extend([result("toolu_d", "no JSON", true), result("toolu_b", "two", false), user("hurry")]);
    history.extend([result("toolu_a", "one", false), result("toolu_c", "", false)]);
    ask(&model, Request { instructions: "", history: &history, tools: &tools }).await.0.unwrap();
    let body = &server.seen()[1].body;
    let said = json!([
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_a", "name": "files_read", "input": {"path": "ä"}},
        {"type": "tool_use", "id": "toolu_b", "name": "b", "input": {}},
        {"type": "tool_use", "id": "toolu_c", "name": "b", "input": {"n": 3}},
        {"type": "tool_use", "id": "toolu_d", "name": "b", "input": {"malformed": "{\"n\": "}},
    ]);
    let heard = json!([
        {"type": "tool_result", "tool_use_id": "toolu_a", "content": "one"},
        {"type": "tool_result", "tool_use_id": "toolu_b", "content": "two"},
        {"type": "tool_result", "tool_use_id": "toolu_c", "content": ""},
        {"type": "tool_result", "tool_use_id": "toolu_d", "content": "no JSON", "is_error": true},
        {"type": "text", "text": "hurry"},
    ]);
    let hi = json!([{"type": "text", "text": "hi"}]);
    let expected = json!([{"role": "user", "content": hi}, {"role": "assistant", "content": said}, {"role": "user", "content": heard}]);
    assert_eq!(body["messages"], expected);
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    assert_eq!(
        body["tools"][0],
        json!({"name": "files_read", "description": "What files.read does.", "input_schema": schema})
    );
    assert_eq!(body["max_tokens"], 16_384);
}

#[tokio::test]
async fn thinking_blocks_are_sent_back_signed_and_in_order() {
    let redacted = json!({"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"});
    let middle = [
        thinking(0, &["Let me ", "see."], &["c2ln", "bmVk"]),
        block(1, &redacted, &[]),
        text(2, &["First."]),
        thinking(3, &[], &["c2Vjb25k"]),
        tool_use(4, "toolu_a", "files_read", &["{\"path\": \"x\"}"]),
    ]
    .concat();
    let answer = message(&text(0, &["ok"]), "end_turn");
    let server = Server::start(vec![Reply::stream(&message(&middle, "tool_use")), Reply::stream(&answer)]);
    let model = at(&server.url, anthropic(), QUICK);
    let tools = [tool("files.read")];
    let mut history = vec![user("hi")];
    let (turn, heard) = ask(&model, Request { instructions: "", history: &history, tools: &tools }).await;
    let turn = turn.unwrap();
    assert_eq!((turn.text.as_str(), turn.thinking.as_str()), ("First.", "Let me see."));
    assert_eq!(aloud(&heard), ("First.".to_owned(), "Let me see.".to_owned()));
    // The journal stores the turn as JSON.
    let turn = serde_json::from_str(&serde_json::to_string(&turn).unwrap()).unwrap();
    history.extend([assistant(&turn), result("toolu_a", "x", false)]);
    ask(&model, Request { instructions: "", history: &history, tools: &tools }).await.0.unwrap();
    let expected = json!([
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"},
        redacted,
        {"type": "text", "text": "First."},
        {"type": "thinking", "thinking": "", "signature": "c2Vjb25k"},
        {"type": "tool_use", "id": "toolu_a", "name": "files_read", "input": {"path": "x"}},
    ]);
    assert_eq!(server.seen()[1].body["messages"][1]["content"], expected);
}

#[tokio::test]
async fn stream_error_is_retried_depending_on_its_type() {
    let error = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": format!("It is {kind}.")}});
    let half = |kind: &str| events(&[&text(0, &["half"])[..], &[error(kind)]].concat());
    let whole = message(&text(0, &["whole"]), "end_turn");
    let server = Server::start(vec![Reply::stream(&half("overloaded_error")), Reply::stream(&whole)]);
    let history = [user("hi")];
    let request = Request { instructions: "", history: &history, tools: &[] };
    let (turn, heard) = ask(&at(&server.url, anthropic(), QUICK), request).await;
    assert_eq!(turn.unwrap().text, "whole");
    let why = "the provider ended its reply with an error (overloaded_error)".to_owned();
    assert_eq!(heard, [Delta::Text("half".into()), Delta::Again { why }, Delta::Text("whole".into())]);

    let server = Server::start(vec![Reply::stream(&half("invalid_request_error"))]);
    let (turn, _) = ask(&at(&server.url, anthropic(), QUICK), request).await;
    assert_eq!(
        turn,
        Err(ModelError::Refused("the provider ended its reply with an error (invalid_request_error)".into()))
    );
}

#[tokio::test]
async fn turn_cut_off_by_max_tokens_is_refused() {
    let stop = json!({"type": "message_stop"}).to_string();
    let whole = message(&[text(0, &["I"]), tool_use(1, "a", "b", &[])].concat(), "max_tokens");
    assert!(whole.contains(&stop));
    let server = Server::start(vec![Reply::stream(&whole)]);
    let history = [user("hi")];
    let request = Request { instructions: "", history: &history, tools: &[] };
    let (turn, _) = ask(&at(&server.url, anthropic(), QUICK), request).await;
    let Err(ModelError::Refused(message)) = turn else { panic!("{turn:?}") };
    assert!(message.contains("max_tokens"), "{message}");
}

#[tokio::test]
async fn repeated_block_index_loses_no_block() {
    let middle =
        [tool_use(0, "a", "b", &["{}"]), thinking(0, &["hm"], &["c2ln"]), tool_use(0, "c", "b", &["{\"n\": 1}"])]
            .concat();
    let answer = message(&text(0, &["ok"]), "end_turn");
    let server = Server::start(vec![Reply::stream(&message(&middle, "tool_use")), Reply::stream(&answer)]);
    let model = at(&server.url, anthropic(), QUICK);
    let mut history = vec![user("hi")];
    let turn = ask(&model, Request { instructions: "", history: &history, tools: &[tool("b")] }).await.0.unwrap();
    assert_eq!(turn.calls, [call("a", "b", json!({})), call("c", "b", json!({"n": 1}))]);
    history.extend([assistant(&turn), result("a", "1", false), result("c", "2", false)]);
    ask(&model, Request { instructions: "", history: &history, tools: &[] }).await.0.unwrap();
    let sent = &server.seen()[1].body["messages"][1]["content"];
    assert_eq!([&sent[0]["id"], &sent[1]["signature"], &sent[2]["id"]], ["a", "c2ln", "c"]);
}
