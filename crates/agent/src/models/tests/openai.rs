//! The format of OpenAI's chat completions.

use domain::agent::{ModelChoice, Price, Provider};
use serde_json::{Value, json};

use super::server::{Reply, Server, events};
use super::{KEY, QUICK, aloud, ask, assistant, at, call, choice, result, tool, user};
use crate::model::{Delta, Request, Usage};
use crate::models::open;

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

fn done(chunks: &[Value]) -> String {
    format!("{}data: [DONE]\n\n", events(chunks))
}

fn piece(index: u64, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut piece = json!({"index": index, "function": {"arguments": arguments}});
    if let Some(id) = id {
        piece["id"] = json!(id);
        piece["type"] = json!("function");
    }
    if let Some(name) = name {
        piece["function"]["name"] = json!(name);
    }
    piece
}

fn openai() -> ModelChoice {
    choice(Provider::Openai)
}

/// Asks once with a single message.
async fn hear(reply: Reply) -> crate::model::Turn {
    let server = Server::start(vec![reply]);
    let history = [user("hi")];
    let request = Request { instructions: "", history: &history, tools: &[tool("files.read"), tool("b")] };
    ask(&at(&server.url, openai(), QUICK), request).await.0.unwrap()
}

#[tokio::test]
async fn text_is_streamed_for_any_chunk_size() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 500_000}});
    let stream = done(&[
        chunk(&json!({"role": "assistant", "content": ""}), None),
        chunk(&json!({"content": "Grüß "}), None),
        chunk(&json!({"content": "dich!"}), None),
        chunk(&json!({}), Some("stop")),
        usage,
    ]);
    for size in [1, 7, 100_000] {
        let server = Server::start(vec![Reply::stream(&stream).in_pieces(size)]);
        let price = Some(Price { input: 2.0, output: 8.0 });
        let options =
            [("reasoning_effort".to_owned(), json!("low")), ("stream".to_owned(), json!(false))].into_iter().collect();
        let choice = ModelChoice { price, options, temperature: Some(0.5), max_tokens: Some(99), ..openai() };
        let history = [user("hi")];
        let request = Request { instructions: "Be kind.", history: &history, tools: &[] };
        let (turn, heard) = ask(&at(&server.url, choice, QUICK), request).await;
        let turn = turn.unwrap();
        assert_eq!((turn.text.as_str(), turn.calls.len(), &turn.provider), ("Grüß dich!", 0, &Value::Null));
        assert_eq!(turn.usage, Usage { input_tokens: 1_000_000, output_tokens: 500_000, cost: Some(6.0) });
        assert_eq!(heard, [Delta::Text("Grüß ".into()), Delta::Text("dich!".into())]);
        let seen = &server.seen()[0];
        assert_eq!(seen.path, "/v1/chat/completions");
        assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}"));
        let messages = json!([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]);
        let expected = json!({"model": "test-model", "stream": true, "stream_options": {"include_usage": true},
            "temperature": 0.5, "max_tokens": 99, "reasoning_effort": "low", "messages": messages});
        assert_eq!(seen.body, expected);
    }
}

#[tokio::test]
async fn interleaved_pieces_of_calls_are_assembled() {
    let stream = done(&[
        chunk(&json!({"role": "assistant", "content": null}), None),
        chunk(&json!({"tool_calls": [piece(0, Some("call_a"), Some("files_read"), "")]}), None),
        chunk(&json!({"tool_calls": [piece(0, None, None, "{\"pa")]}), None),
        chunk(
            &json!({"tool_calls": [piece(1, Some("call_b"), Some("b"), "{"), piece(0, None, None, "th\": \"ä\"}")]}),
            None,
        ),
        chunk(&json!({"tool_calls": [piece(1, None, None, "\"n\": 2}")]}), None),
        chunk(&json!({}), Some("tool_calls")),
    ]);
    let turn = hear(Reply::stream(&stream).in_pieces(3)).await;
    assert_eq!(turn.calls, [call("call_a", "files.read", json!({"path": "ä"})), call("call_b", "b", json!({"n": 2}))]);
    assert_eq!(turn.text, "");
}

#[tokio::test]
async fn pieces_of_calls_that_break_the_format_are_accepted() {
    let whole =
        |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
    let mut numbered_0 = [whole("x", "b"), whole("y", "b")];
    numbered_0.iter_mut().for_each(|call| call["index"] = json!(0));
    let repeated = [piece(0, Some("x"), Some("b"), "{"), piece(0, Some("x"), Some("b"), "}")];
    let object = json!({"function": {"name": "b", "arguments": {}}});
    let two = || vec![call("x", "b", json!({})), call("y", "b", json!({}))];
    for (pieces, expected) in [
        (vec![whole("x", "b"), whole("y", "b")], two()),
        (numbered_0.to_vec(), two()),
        (repeated.to_vec(), vec![call("x", "b", json!({}))]),
        (vec![object.clone(), object], vec![call("call_0", "b", json!({})), call("call_1", "b", json!({}))]),
        (vec![whole("x", "b"), whole("x", "b")], vec![call("x", "b", json!("{}{}"))]),
        (vec![piece(5, Some("x"), Some("b"), ""), piece(u64::MAX, Some("y"), Some("b"), "null")], two()),
    ] {
        // The pieces come in one chunk that also ends the turn, and in single chunks without `[DONE]`.
        let one = events(&[chunk(&json!({"tool_calls": pieces}), Some("tool_calls"))]);
        assert_eq!(hear(Reply::stream(&one)).await.calls, expected);
        let mut chunks = pieces.iter().map(|piece| chunk(&json!({"tool_calls": [piece]}), None)).collect::<Vec<_>>();
        chunks.push(chunk(&json!({}), Some("stop")));
        assert_eq!(hear(Reply::stream(&events(&chunks))).await.calls, expected);
    }
    let typed =
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}]);
    let turn = hear(Reply::stream(&done(&[chunk(&json!({"content": typed}), None)]))).await;
    assert_eq!((turn.text.as_str(), turn.thinking.as_str()), ("yes", "hm"));
}

#[tokio::test]
async fn invalid_arguments_are_kept_and_sent_back_as_an_object() {
    let broken = done(&[chunk(
        &json!({"tool_calls": [piece(0, Some("x"), Some("files_read"), "{\"path\": ")]}),
        Some("tool_calls"),
    )]);
    let server = Server::start(vec![
        Reply::stream(&broken),
        Reply::stream(&done(&[chunk(&json!({"content": "ok"}), Some("stop"))])),
    ]);
    let model = at(&server.url, openai(), QUICK);
    let mut history = vec![user("hi")];
    let turn =
        ask(&model, Request { instructions: "", history: &history, tools: &[tool("files.read")] }).await.0.unwrap();
    assert_eq!(turn.calls, [call("x", "files.read", json!("{\"path\": "))]);
    history.extend([assistant(&turn), result("x", "no JSON", true)]);
    ask(&model, Request { instructions: "", history: &history, tools: &[] }).await.0.unwrap();
    let sent = &server.seen()[1].body["messages"][1]["tool_calls"][0]["function"];
    assert_eq!(sent, &json!({"name": "files_read", "arguments": "{\"malformed\":\"{\\\"path\\\": \"}"}));
}

#[tokio::test]
async fn provider_fields_are_sent_back_with_the_results_in_order() {
    let mut signed = piece(0, Some("a"), Some("files_read"), "{}");
    signed["extra_content"] = json!({"google": {"thought_signature": "c2ln"}});
    let detail = |text: &str| json!({"type": "reasoning.text", "index": 0, "text": text, "signature": null});
    let last = json!({"type": "reasoning.text", "index": 0, "text": "", "signature": "s1g"});
    let stream = done(&[
        chunk(&json!({"reasoning_content": "Let me ", "reasoning_details": [detail("Let me ")]}), None),
        chunk(&json!({"reasoning_content": "see.", "reasoning_details": [detail("see."), last]}), None),
        chunk(&json!({"content": "I look."}), None),
        chunk(&json!({"tool_calls": [signed, piece(1, Some("b"), Some("b"), "{\"n\": 1}")]}), Some("tool_calls")),
    ]);
    let server = Server::start(vec![
        Reply::stream(&stream),
        Reply::stream(&done(&[chunk(&json!({"content": "ok"}), Some("stop"))])),
    ]);
    let model = at(&server.url, openai(), QUICK);
    let tools = [tool("files.read"), tool("b")];
    let mut history = vec![user("hi")];
    let (turn, heard) = ask(&model, Request { instructions: "", history: &history, tools: &tools }).await;
    let turn = turn.unwrap();
    assert_eq!(aloud(&heard), ("I look.".to_owned(), "Let me see.".to_owned()));
    assert_eq!(turn.thinking, "Let me see.");
    // The journal stores the turn as JSON.
    let turn = serde_json::from_str(&serde_json::to_string(&turn).unwrap()).unwrap();
    history.extend([assistant(&turn), result("b", "second", true), user("hurry"), result("a", "first", false)]);
    ask(&model, Request { instructions: "", history: &history, tools: &tools }).await.0.unwrap();
    let function = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let said = json!({"role": "assistant", "content": "I look.", "reasoning_content": "Let me see.",
    "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Let me see.", "signature": "s1g"}],
    "tool_calls": [
        {"id": "a", "type": "function", "function": function("files_read", "{}"), "extra_content": {"google": {"thought_signature": "c2ln"}}},
        {"id": "b", "type": "function", "function": function("b", "{\"n\":1}")},
    ]});
    let expected = json!([
        {"role": "user", "content": "hi"}, said,
        {"role": "tool", "tool_call_id": "a", "content": "first"},
        {"role": "tool", "tool_call_id": "b", "content": "second"},
        {"role": "user", "content": "hurry"},
    ]);
    let body = &server.seen()[1].body;
    assert_eq!(body["messages"], expected);
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let function = json!({"name": "files_read", "description": "What files.read does.", "parameters": parameters});
    assert_eq!(body["tools"][0], json!({"type": "function", "function": function}));
}

#[tokio::test]
async fn openai_requires_a_key_and_a_local_server_does_not() {
    let server = Server::start(vec![Reply::stream(&done(&[chunk(&json!({"content": "ok"}), Some("stop"))]))]);
    let local = ModelChoice { endpoint: Some(format!("{}/v1", server.url)), ..openai() };
    let model = open(&local, None).unwrap();
    let history = [user("hi")];
    assert_eq!(
        ask(model.as_ref(), Request { instructions: "", history: &history, tools: &[] }).await.0.unwrap().text,
        "ok"
    );
    assert!(!server.seen()[0].headers.contains_key("authorization"));
    assert!(open(&openai(), None).is_err());
    assert!(open(&ModelChoice { name: String::new(), ..local }, None).is_err());
}
