//! Any answer of a provider yields a turn or a fault, and any turn can be sent back.

use domain::agent::Provider;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{assistant, choice, tool, user};
use crate::model::{Message, Request};
use crate::models::names::ToolNames;
use crate::models::remote::StreamReader;
use crate::models::turn_builder::TurnBuilder;
use crate::models::{anthropic, openai};

/// Words that have a meaning in one of the formats.
const WORDS: [&str; 36] = [
    "type",
    "index",
    "id",
    "name",
    "text",
    "thinking",
    "signature",
    "data",
    "input",
    "delta",
    "content_block",
    "partial_json",
    "content_block_start",
    "content_block_delta",
    "tool_use",
    "redacted_thinking",
    "message_delta",
    "usage",
    "output_tokens",
    "choices",
    "content",
    "tool_calls",
    "function",
    "arguments",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "extra_content",
    "stop",
    "prompt_tokens",
    "message",
    "stop_reason",
    "{\"a\":",
    "files_read",
];

fn value() -> impl Strategy<Value = Value> {
    let word = || prop::sample::select(&WORDS[..]).prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u64..4).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let word = prop::sample::select(&WORDS[..]).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word, inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// An event with the frame of one of the formats.
fn event() -> impl Strategy<Value = Value> {
    let kind =
        prop::sample::select(&["content_block_start", "content_block_delta", "message_delta", "message_start"][..]);
    let block = prop::sample::select(&["text", "thinking", "redacted_thinking", "tool_use"][..]);
    prop_oneof![
        value(),
        value().prop_map(|delta| json!({"choices": [{"delta": delta}]})),
        (value(), value()).prop_map(
            |(call, detail)| json!({"choices": [{"delta": {"tool_calls": [call], "reasoning_details": [detail]}}]})
        ),
        (kind, 0_u64..3, block, value()).prop_map(|(kind, index, block, rest)| {
            let mut block = json!({"type": block, "id": "x", "name": "files_read", "input": rest});
            for (name, value) in rest.as_object().into_iter().flatten() {
                block[name] = value.clone();
            }
            json!({"type": kind, "index": index, "content_block": block, "delta": block, "usage": rest})
        }),
    ]
}

fn check(provider: Provider, events: &[Value]) {
    let (mut reader, names): (Box<dyn StreamReader>, _) = match provider {
        Provider::Anthropic => (Box::new(anthropic::Events::default()), ToolNames::of(&[tool("files.read")])),
        Provider::Openai | Provider::Scripted => {
            (Box::new(openai::Events::default()), ToolNames::of(&[tool("files.read")]))
        }
    };
    let mut draft = TurnBuilder::default();
    let mut spoken = String::new();
    for event in events {
        let mut said = |delta| {
            if let crate::model::Delta::Text(more) = delta {
                spoken.push_str(&more);
            }
        };
        match reader.read_event(&event.to_string(), &mut draft, &mut said) {
            Ok(false) => {}
            Ok(true) => break,
            Err(_) => return,
        }
    }
    if reader.finish(&mut draft).is_err() {
        return;
    }
    let turn = draft.finish(&names, None);
    assert_eq!(turn.text, spoken);
    let mut history = vec![user("hi"), assistant(&turn)];
    let results = turn.calls.iter().rev().map(|call| Message::Result {
        call: call.id.clone(),
        tool: call.tool.clone(),
        content: "r".into(),
        failed: false,
    });
    history.extend(results);
    let request = Request { instructions: "", history: &history, tools: &[] };
    let ids = turn.calls.iter().map(|call| json!(call.id)).collect::<Vec<_>>();
    if provider == Provider::Anthropic {
        let body = anthropic::body(&choice(provider), request, &names);
        assert_eq!(sent(&body["messages"][1]["content"], "tool_use", "id"), ids);
        let heard =
            if ids.is_empty() { vec![] } else { sent(&body["messages"][2]["content"], "tool_result", "tool_use_id") };
        assert_eq!(heard, ids);
    } else {
        let body = openai::body(&choice(provider), request, &names, false);
        let calls = body["messages"][1]["tool_calls"].as_array().cloned().unwrap_or_default();
        assert_eq!(calls.iter().map(|call| call["id"].clone()).collect::<Vec<_>>(), ids);
        let heard = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
        assert_eq!(heard.map(|message| message["tool_call_id"].clone()).collect::<Vec<_>>(), ids);
    }
}

/// Identifiers of the blocks of one kind.
fn sent(content: &Value, kind: &str, id: &str) -> Vec<Value> {
    content
        .as_array()
        .into_iter()
        .flatten()
        .filter(|block| block["type"] == kind)
        .map(|block| block[id].clone())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(512), ..ProptestConfig::default() })]
    #[test]
    fn any_events_give_a_turn_or_a_fault(events in prop::collection::vec(event(), 0..12)) {
        check(Provider::Openai, &events);
        check(Provider::Anthropic, &events);
    }
}
