//! Validation of agent definitions: one row for each mistake.

use holdpoint_domain::AgentVersion;
use serde_json::{Value, json};

/// A valid agent with these fields replaced. Null removes a field.
fn agent(fields: Value) -> AgentVersion {
    let mut whole = json!({
        "name": "release-helper",
        "version": "1.0+b",
        "model": { "provider": "openai", "name": "gpt-5", "key_env": "KEY" },
        "tools": ["read_file", "execute_command", "ask_user"],
        "workspace": "demo",
    });
    for (key, value) in fields.as_object().unwrap() {
        whole[key] = value.clone();
    }
    whole.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    serde_json::from_value(whole).unwrap()
}

/// Checks that the agent with these changes has errors in exactly these places.
fn check(fields: Value, places: &[&str]) {
    let problems = agent(fields.clone()).check();
    let found: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(found, places, "{fields} gives {problems:?}");
}

fn model(fields: Value) -> Value {
    json!({ "model": fields })
}

#[test]
fn invalid_names_and_texts_are_refused() {
    check(json!({}), &[]);
    check(json!({ "name": "a b" }), &["/name"]);
    check(json!({ "name": "" }), &["/name"]);
    check(json!({ "name": "release-*" }), &["/name"]);
    check(json!({ "name": "x".repeat(65) }), &["/name"]);
    check(json!({ "version": "-1" }), &["/version"]);
    check(json!({ "description": "two\nlines" }), &["/description"]);
    check(json!({ "instructions": "a\nb\tc" }), &[]);
    check(json!({ "instructions": "a\u{0}" }), &["/instructions"]);
    check(json!({ "instructions": "x".repeat(100_001) }), &["/instructions"]);
}

#[test]
fn missing_or_superfluous_model_settings_are_refused() {
    let script = json!({ "turns": [{ "say": "Hello" }, { "calls": [{ "tool": "read_file" }] }] });
    check(model(json!({ "provider": "scripted", "script": script })), &[]);
    check(model(json!({ "provider": "scripted" })), &["/model/script"]);
    check(model(json!({ "provider": "scripted", "script": { "turns": [] } })), &["/model/script/turns"]);
    check(model(json!({ "provider": "scripted", "script": { "turns": [{}] } })), &["/model/script/turns/0"]);
    let odd = json!({ "turns": [{ "when": "", "calls": [{ "tool": "a b", "arguments": [1] }] }] });
    let places =
        ["/model/script/turns/0/when", "/model/script/turns/0/calls/0/tool", "/model/script/turns/0/calls/0/arguments"];
    check(model(json!({ "provider": "scripted", "script": odd })), &places);
    check(
        model(json!({ "provider": "scripted", "script": script, "name": "x", "max_tokens": 1, "options": { "a": 1 } })),
        &["/model/name", "/model/max_tokens", "/model/options"],
    );
    check(model(json!({ "provider": "anthropic" })), &["/model/name"]);
    check(model(json!({ "provider": "anthropic", "name": "claude", "script": script })), &["/model/script"]);
    let with = |field: &str, value: Value| model(json!({ "provider": "openai", "name": "m", field: value }));
    check(with("endpoint", json!("http://localhost:11434/v1")), &[]);
    for wrong in ["localhost", "ftp://x", "https://", "https:///x", "https://me:pw@host/", "https://a b/"] {
        check(with("endpoint", json!(wrong)), &["/model/endpoint"]);
    }
    check(with("key_env", json!("1KEY")), &["/model/key_env"]);
    check(with("key_env", json!("A=B")), &["/model/key_env"]);
    check(with("key_secret", json!("OPENAI_KEY")), &[]);
    check(with("temperature", json!(0)), &[]);
    check(with("temperature", json!(2.1)), &["/model/temperature"]);
    check(with("options", json!({ "thinking": { "type": "enabled" } })), &[]);
    check(with("options", json!({ "stream": false, "top_p": 1 })), &["/model/options/stream"]);
    check(with("options", json!({ "a/b": "x".repeat(16_384) })), &["/model/options"]);
    check(with("max_tokens", json!(0)), &["/model/max_tokens"]);
    check(with("timeout_seconds", json!(3601)), &["/model/timeout_seconds"]);
    check(with("price", json!({ "input": -1, "output": 2.5 })), &["/model/price/input"]);
    let both = json!({ "provider": "openai", "name": "m", "key_env": "A", "key_secret": "B" });
    check(model(both), &["/model/key_secret"]);
}

#[test]
fn unknown_tools_and_missing_workspace_are_refused() {
    check(json!({ "tools": ["read_file", "raed_file"] }), &["/tools/1"]);
    check(json!({ "tools": ["read_file", "read_file"] }), &["/tools/1"]);
    check(json!({ "tools": ["ask_user_form"] }), &["/tools/0"]);
    check(json!({ "workspace": null }), &["/workspace"]);
    check(json!({ "workspace": null, "tools": ["ask_user"] }), &[]);
    for wrong in ["", ".", "..", "a/b", "/abs", ".git", "a\\b", "a\u{0}"] {
        check(json!({ "workspace": wrong }), &["/workspace"]);
    }
    let tool = |name: &str| json!({ "name": name, "schema": { "type": "object" } });
    check(json!({ "client_tools": [tool("open_editor")] }), &[]);
    check(
        json!({ "client_tools": [tool("a"), tool("a"), tool("b.c")] }),
        &["/client_tools/1/name", "/client_tools/2/name"],
    );
    check(json!({ "tools": ["read_file"], "client_tools": [tool("write_file")] }), &[]);
    check(
        json!({ "tools": ["read_file"], "client_tools": [tool("read_file"), tool("ask_user")] }),
        &["/client_tools/0/name", "/client_tools/1/name"],
    );
    check(json!({ "client_tools": [{ "name": "a", "schema": true }] }), &["/client_tools/0/schema"]);
    let deep = (0..70).fold(json!({}), |inner, _| json!({ "items": inner }));
    check(json!({ "client_tools": [{ "name": "a", "schema": deep }] }), &["/client_tools/0/schema"]);
}

#[test]
fn mcp_server_has_either_a_command_or_a_url() {
    let mcp = |fields: Value| {
        let mut server = json!({ "name": "github" });
        server.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({ "mcp": [server] })
    };
    check(mcp(json!({ "command": ["mcp-github", "--stdio"], "tools": ["get_*"] })), &[]);
    check(mcp(json!({ "url": "https://mcp.example/x", "token_env": "TOKEN" })), &[]);
    check(mcp(json!({})), &["/mcp/0"]);
    check(mcp(json!({ "command": ["x"], "url": "https://mcp.example" })), &["/mcp/0/url"]);
    check(mcp(json!({ "command": [""] })), &["/mcp/0/command"]);
    check(mcp(json!({ "command": ["x"], "token_env": "TOKEN" })), &["/mcp/0/token_env"]);
    check(mcp(json!({ "url": "file:///etc/passwd" })), &["/mcp/0/url"]);
    check(mcp(json!({ "url": "https://x", "name": "a.b" })), &["/mcp/0/name"]);
    let twice = json!({ "mcp": [{ "name": "a", "url": "https://x" }, { "name": "a", "url": "https://y" }] });
    check(twice, &["/mcp/1/name"]);
}

#[test]
fn invalid_limits_deadlines_and_suggestions_are_refused() {
    check(json!({ "limits": { "iterations": 1000, "rounds": 100, "retries": 20 } }), &[]);
    check(
        json!({ "limits": { "iterations": 0, "rounds": 101, "retries": 21 } }),
        &["/limits/iterations", "/limits/rounds", "/limits/retries"],
    );
    check(json!({ "deadlines": { "approval": 1, "custom": 366 * 24 * 3600 } }), &[]);
    check(
        json!({ "deadlines": { "approval": 0, "aproval": 5, "form": 366 * 24 * 3600 + 1 } }),
        &["/deadlines/approval", "/deadlines/aproval", "/deadlines/form"],
    );
    let suggest = |kind: &str, list: Value| json!({ "suggestions": { kind: list } });
    check(suggest("question", json!([{ "id": "x", "label": "X", "data": "y" }])), &[]);
    check(
        suggest("question", json!([{ "id": "x", "label": "" }])),
        &["/suggestions/question/0/label", "/suggestions/question/0"],
    );
    check(suggest("secret", json!([{ "id": "x", "label": "X", "data": "hunter2" }])), &["/suggestions/secret"]);
    let one = json!({ "id": "x", "label": "X", "option": "a" });
    check(suggest("choice", json!([one, one])), &["/suggestions/choice/1/id"]);
    check(suggest("a/b", json!([one])), &["/suggestions/a~1b"]);
    check(json!({ "allowed_suggestions": [{ "id": "x" }, { "id": "x" }] }), &["/allowed_suggestions/1/id"]);
    check(json!({ "allowed_suggestions": [{ "id": "x", "options": ["a b"] }] }), &["/allowed_suggestions/0/options/0"]);
}

#[test]
fn definition_beyond_the_size_limit_is_refused() {
    let big = "x".repeat(19_000);
    let turns: Vec<Value> = (0..20).map(|_| json!({ "say": big })).collect();
    check(model(json!({ "provider": "scripted", "script": { "turns": turns } })), &[""]);
}

#[test]
fn fields_that_reach_the_host_are_allowed_only_in_files() {
    let all = agent(json!({ "mcp": [
        { "name": "a", "command": ["x"] }, { "name": "b", "url": "https://x", "token_env": "TOKEN" },
    ] }));
    let found: Vec<String> = all.only_in_files().into_iter().map(|problem| problem.pointer).collect();
    let files = ["/model/key_env", "/tools/1", "/workspace", "/mcp/0/command", "/mcp/1/token_env", "/mcp/1/url"];
    assert_eq!(found, files);
    let elsewhere = agent(json!({ "model": { "provider": "openai", "name": "m", "endpoint": "http://10.0.0.1/v1" } }));
    assert_eq!(elsewhere.only_in_files()[0].pointer, "/model/endpoint");
    let harmless = agent(json!({
        "model": { "provider": "openai", "name": "m", "key_secret": "K" }, "tools": ["ask_user"], "workspace": null,
    }));
    assert_eq!(harmless.only_in_files(), []);
}

#[test]
fn has_tool_covers_built_in_client_and_mcp_tools() {
    let agent = agent(json!({
        "client_tools": [{ "name": "open_editor" }], "mcp": [{ "name": "github", "url": "https://x" }],
    }));
    let has = ["read_file", "ask_user", "ask_user_form", "open_editor", "github.get_issue", "github.*"];
    let lacks = ["write_file", "ask_user_else", "gitlab.get_issue", "github", ""];
    assert_eq!(has.map(|tool| agent.has_tool(tool)), [true; 6]);
    assert_eq!(lacks.map(|tool| agent.has_tool(tool)), [false; 5]);
}

#[test]
fn unknown_field_of_an_agent_is_refused() {
    for odd in
        [json!({ "nmae": "x" }), json!({ "limits": { "turns": 3 } }), json!({ "mcp": [{ "name": "a", "cmd": [] }] })]
    {
        let mut whole = serde_json::to_value(agent(json!({}))).unwrap();
        whole.as_object_mut().unwrap().extend(odd.as_object().unwrap().clone());
        assert!(serde_json::from_value::<AgentVersion>(whole).is_err(), "{odd}");
    }
}
