//! Answers beyond the limits are errors and do not fill the memory.

use domain::agent::Provider;
use serde_json::{Value, json};

use super::anthropic::{block, message};
use super::server::{Reply, Server, events};
use super::{QUICK, ask, at, choice, user};
use crate::model::{ModelError, Request, Turn};
use crate::models::turn_builder::{MAX_ARGUMENTS, MAX_CALLS};

async fn hear(provider: Provider, stream: &str) -> Result<Turn, ModelError> {
    let server = Server::start(vec![Reply::stream(stream)]);
    let history = [user("hi")];
    ask(&at(&server.url, choice(provider), QUICK), Request { instructions: "", history: &history, tools: &[] }).await.0
}

fn openai(calls: impl Iterator<Item = Value>) -> String {
    let mut chunks = calls.map(|call| json!({"choices": [{"delta": {"tool_calls": [call]}}]})).collect::<Vec<_>>();
    chunks.push(json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}));
    events(&chunks)
}

fn anthropic(calls: impl Iterator<Item = (String, String)>) -> String {
    let calls = calls.zip(0_u64..).flat_map(|((id, arguments), index)| {
        let start = json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
        block(index, &start, &[json!({"type": "input_json_delta", "partial_json": arguments})])
    });
    message(&calls.collect::<Vec<_>>(), "tool_use")
}

fn refused(turn: Result<Turn, ModelError>, word: &str) {
    let Err(ModelError::Refused(message)) = turn else { panic!("{turn:?}") };
    assert!(message.contains(word), "{message}");
}

#[tokio::test]
async fn calls_beyond_the_limit_are_refused() {
    let numbered = |count: usize| {
        openai(
            (0..count)
                .map(|n| json!({"index": n, "id": format!("c{n}"), "function": {"name": "t", "arguments": "{}"}})),
        )
    };
    let blocks = |count: usize| anthropic((0..count).map(|n| (format!("c{n}"), "{}".to_owned())));
    assert_eq!(hear(Provider::Openai, &numbered(MAX_CALLS)).await.unwrap().calls.len(), MAX_CALLS);
    assert_eq!(hear(Provider::Anthropic, &blocks(MAX_CALLS)).await.unwrap().calls.len(), MAX_CALLS);
    refused(hear(Provider::Openai, &numbered(MAX_CALLS + 1)).await, "calls");
    refused(hear(Provider::Anthropic, &blocks(MAX_CALLS + 1)).await, "calls");
}

#[tokio::test]
async fn oversized_arguments_are_dropped_and_other_calls_are_kept() {
    let arguments = |size: usize| format!("\"{}\"", "x".repeat(size - 2));
    let half = |size: usize| json!({"index": 0, "id": "c", "function": {"name": "t", "arguments": "x".repeat(size)}});
    let whole =
        hear(Provider::Anthropic, &anthropic([("c".to_owned(), arguments(MAX_ARGUMENTS))].into_iter())).await.unwrap();
    assert_eq!(whole.calls[0].arguments.as_str().map(str::len), Some(MAX_ARGUMENTS - 2));
    // A call that is too large cannot be proposed; the calls beside it can.
    let beside = [("c".to_owned(), arguments(MAX_ARGUMENTS + 1)), ("d".to_owned(), "{}".to_owned())];
    let turns = [
        hear(Provider::Anthropic, &anthropic(beside.into_iter())).await.unwrap(),
        hear(Provider::Openai, &openai([half(MAX_ARGUMENTS / 2), half(MAX_ARGUMENTS / 2 + 1)].into_iter()))
            .await
            .unwrap(),
    ];
    for turn in &turns {
        let told = turn.calls[0].arguments.as_str().unwrap();
        assert!(told.contains("not kept"), "{told}");
    }
    assert_eq!(turns[0].calls[1].arguments, json!({}));
}

#[tokio::test]
async fn response_beyond_the_size_limit_is_refused() {
    let said = json!({"choices": [{"delta": {"content": "x".repeat(1 << 20)}}]});
    refused(hear(Provider::Openai, &events(&vec![said; 5])).await, "larger");
    let event = format!("data: {}", "x".repeat(3 << 20));
    refused(hear(Provider::Openai, &event).await, "larger");
}
