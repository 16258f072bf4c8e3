//! Lists the kinds that each API can ask, the reasons for those that it cannot ask, and the answer to each kind in each
//! API.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// An API (entry point) through which questions are asked or answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Http,
    Ws,
    Flows,
    Hitl,
    Tools,
    React,
}

/// Every API of the table.
pub(crate) const APIS: [Api; 6] = [Api::Http, Api::Ws, Api::Flows, Api::Hitl, Api::Tools, Api::React];

impl Api {
    /// Name of the entry point in the audit trail and in an answer.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Ws => "ws",
            Self::Flows => "flows",
            Self::Hitl => "hitl",
            Self::Tools => "tools",
            Self::React => "react",
        }
    }
}

/// A kind of question: how it is asked, how it is answered through each API, and the meaning that all these answers
/// share.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Body of a question in `/v1`; for `action`, body of the proposed call.
    pub(crate) asked: Value,
    /// Body of a `hitl` request, if `hitl` has a type for the kind.
    pub(crate) requested: Value,
    /// Question before a step of a flow, if the kind can be one.
    pub(crate) before_a_step: Value,
    /// Tool and arguments by which a hosted agent asks, if it can.
    pub(crate) called: Option<(&'static str, Value)>,
    /// Body of an answer in `/v1`.
    pub(crate) answer: Value,
    /// Payload of an answer in `flows`.
    pub(crate) payload: Value,
    /// Type and response data of a response in `hitl`.
    pub(crate) response: (&'static str, Value),
    /// Decision in `approvals`, without the call.
    pub(crate) decision: Value,
    /// Response in `react`, without the request.
    pub(crate) chosen: Value,
    /// Expected fields of the answer in `/v1`, whichever API it came through.
    pub(crate) means: Value,
}

/// A secret value that no reader may receive.
pub(crate) const SECRET: &str = "hunter2-of-the-cross-test";

/// Returns an error with the reason if an API cannot ask a kind.
pub(crate) fn asks(api: Api, kind: &str) -> Result<(), &'static str> {
    match (api, kind) {
        (Api::Http | Api::Ws, _) => Ok(()),
        (Api::Flows, _) => Ok(()),
        (Api::Hitl, "approval" | "choice" | "question" | "secret") => Ok(()),
        (Api::Hitl, "action") => {
            Err("its permissions are questions in the agent's own words; actions are proposed over `/v1`")
        }
        (Api::Hitl, _) => Err("has no type for it"),
        (Api::Tools | Api::React, "approval") => Err("a hosted agent proposes actions instead, see the first row"),
        (Api::Tools | Api::React, "review" | "notice" | "custom") => Err("a model has no `ask_user` tool for it"),
        (Api::Tools | Api::React, _) => Ok(()),
    }
}

/// Entry points that do not ask or answer questions, and why.
const ELSEWHERE: [(&str, &str); 4] = [
    (
        "MCP",
        "Holdpoint is a client of MCP servers; calls of their tools are actions, and nobody asks or answers over MCP",
    ),
    ("webhooks", "send events and answers to endpoints; nobody asks or answers through a webhook"),
    ("sign-in links", "sign in a person, who then answers over `http`"),
    ("`holdpoint` on the command line", "manages keys, people and data, and answers nothing"),
];

/// Every kind of question, and an action that the policy asks about.
pub(crate) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    vec![action(), approval(), confirmation(), choice(), question(), form(), secret(), review(), notice(), custom()]
});

fn action() -> Kind {
    Kind {
        name: "action",
        asked: json!({ "call_id": "call_1", "tool": "delete_file", "arguments": { "path": "file.txt" } }),
        called: Some(("delete_file", json!({ "path": "file.txt" }))),
        requested: Value::Null,
        before_a_step: Value::Null,
        ..approval()
    }
}

fn approval() -> Kind {
    Kind {
        name: "approval",
        asked: json!({ "kind": "approval", "title": "Q", "action": { "tool": "deploy", "arguments": { "version": "1.4" } } }),
        requested: json!({ "request_type": "permission", "tool_name": "deploy", "action": "deploy 1.4" }),
        before_a_step: json!({ "kind": "approval", "title": "Q" }),
        called: None,
        answer: json!({ "option": "approve" }),
        payload: json!({ "action": "approve" }),
        response: ("permission", json!({ "action": "allow" })),
        decision: json!({ "decision": "approve" }),
        chosen: json!({ "selectedOptionId": "approve" }),
        means: json!({ "effect": "approve", "option": "approve" }),
    }
}

fn confirmation() -> Kind {
    let asked = json!({ "kind": "confirmation", "title": "Q" });
    Kind {
        name: "confirmation",
        requested: Value::Null,
        before_a_step: asked.clone(),
        asked,
        called: Some(("ask_user_confirm", json!({ "question": "Q" }))),
        answer: json!({ "option": "confirm" }),
        payload: json!({ "action": "confirm" }),
        response: ("permission", json!({ "granted": true })),
        decision: json!({ "decision": "approve" }),
        chosen: json!({ "selectedOptionId": "confirm" }),
        means: json!({ "effect": "approve", "option": "confirm" }),
    }
}

fn choice() -> Kind {
    let options = json!([{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }]);
    let asked = json!({ "kind": "choice", "title": "Q", "options": options });
    Kind {
        name: "choice",
        requested: json!({ "request_type": "decision", "question": "Q", "options": options }),
        before_a_step: asked.clone(),
        asked,
        called: Some(("ask_user_choose", json!({ "question": "Q", "options": options }))),
        answer: json!({ "option": "b" }),
        payload: json!({ "action": "b" }),
        response: ("decision", json!({ "decision": "b" })),
        decision: json!({ "decision": "edit", "modified_arguments": { "option": "b" } }),
        chosen: json!({ "selectedOptionId": "b" }),
        means: json!({ "effect": "provide", "option": "b" }),
    }
}

fn question() -> Kind {
    let asked = json!({ "kind": "question", "title": "Q" });
    Kind {
        name: "question",
        requested: json!({ "request_type": "clarification", "question": "Q" }),
        before_a_step: asked.clone(),
        asked,
        called: Some(("ask_user_clarify", json!({ "question": "Q" }))),
        answer: json!({ "data": "Europe" }),
        payload: json!({ "answer": "Europe" }),
        response: ("clarification", json!({ "answer": "Europe" })),
        decision: json!({ "decision": "edit", "modified_arguments": { "data": "Europe" } }),
        chosen: json!({ "selectedOptionId": "provide", "feedback": "Europe" }),
        means: json!({ "effect": "provide", "data": "Europe" }),
    }
}

fn form() -> Kind {
    let schema = json!({ "type": "object", "required": ["amount"], "properties": { "amount": { "type": "integer" } } });
    let asked = json!({ "kind": "form", "title": "Q", "schema": schema });
    let filled = json!({ "amount": 3 });
    Kind {
        name: "form",
        requested: Value::Null,
        before_a_step: asked.clone(),
        asked,
        called: Some(("ask_user_form", json!({ "question": "Q", "schema": schema }))),
        answer: json!({ "data": filled }),
        payload: filled.clone(),
        response: ("env_var", json!({ "values": filled, "save": false })),
        decision: json!({ "decision": "edit", "modified_arguments": { "data": filled } }),
        chosen: json!({ "selectedOptionId": "provide", "data": filled }),
        means: json!({ "effect": "provide", "data": filled }),
    }
}

fn secret() -> Kind {
    let given = json!({ "TOKEN": SECRET });
    Kind {
        name: "secret",
        asked: json!({ "kind": "secret", "title": "Q", "secrets": [{ "name": "TOKEN" }] }),
        requested: json!({ "request_type": "env_var", "message": "Q", "fields": [{ "name": "TOKEN" }] }),
        before_a_step: Value::Null,
        called: Some(("ask_user_secret", json!({ "question": "Q", "secrets": [{ "name": "TOKEN" }] }))),
        answer: json!({ "data": given }),
        payload: given.clone(),
        response: ("env_var", json!({ "values": given, "save": false })),
        decision: json!({ "decision": "edit", "modified_arguments": { "data": given } }),
        chosen: json!({ "selectedOptionId": "provide", "feedback": SECRET }),
        means: json!({ "effect": "provide", "data": { "names": ["TOKEN"] } }),
    }
}

fn review() -> Kind {
    let asked = json!({ "kind": "review", "title": "Q" });
    Kind {
        name: "review",
        requested: Value::Null,
        before_a_step: asked.clone(),
        asked,
        called: None,
        answer: json!({ "option": "revise", "feedback": "shorter" }),
        payload: json!({ "action": "revise", "comment": "shorter" }),
        response: ("decision", json!({ "decision": "revise", "feedback": "shorter" })),
        decision: json!({ "decision": "edit", "modified_arguments": { "option": "revise" }, "feedback": "shorter" }),
        chosen: json!({ "selectedOptionId": "revise", "feedback": "shorter" }),
        means: json!({ "effect": "retry", "option": "revise", "feedback": "shorter" }),
    }
}

fn notice() -> Kind {
    let asked = json!({ "kind": "notice", "title": "Q" });
    Kind {
        name: "notice",
        requested: Value::Null,
        before_a_step: asked.clone(),
        asked,
        called: None,
        answer: json!({ "effect": "provide" }),
        payload: Value::Null,
        response: ("clarification", json!({ "answer": "" })),
        decision: json!({ "decision": "approve" }),
        chosen: json!({ "selectedOptionId": "provide" }),
        means: json!({ "effect": "provide" }),
    }
}

fn custom() -> Kind {
    Kind {
        name: "custom",
        asked: json!({ "kind": "vote", "title": "Q" }),
        requested: Value::Null,
        before_a_step: json!({ "kind": "custom", "title": "Q" }),
        called: None,
        answer: json!({ "data": "aye" }),
        payload: json!({ "answer": "aye" }),
        response: ("clarification", json!({ "answer": "aye" })),
        decision: json!({ "decision": "edit", "modified_arguments": { "data": "aye" } }),
        chosen: json!({ "selectedOptionId": "provide", "feedback": "aye" }),
        means: json!({ "effect": "provide", "data": "aye" }),
    }
}

/// Renders the table in the format of the guide.
pub(crate) fn written() -> String {
    let mut reasons: Vec<(Vec<&str>, &str)> = Vec::new();
    let mut lines = vec![
        format!("| | {} |", APIS.map(|api| format!("`{}`", api.name())).join(" | ")),
        format!("| --- |{}", " --- |".repeat(APIS.len())),
    ];
    for kind in KINDS.iter() {
        let cells = APIS.map(|api| match asks(api, kind.name) {
            Ok(()) => "asks, answers".to_owned(),
            Err(why) => {
                let known = reasons.iter().position(|(_, reason)| *reason == why);
                let number = known.unwrap_or(reasons.len());
                if known.is_none() {
                    reasons.push((Vec::new(), why));
                }
                let dialects = &mut reasons[number].0;
                if !dialects.contains(&api.name()) {
                    dialects.push(api.name());
                }
                format!("answers ({})", number + 1)
            }
        });
        lines.push(format!("| {} | {} |", kind.name, cells.join(" | ")));
    }
    lines.push(String::new());
    for (number, (dialects, why)) in reasons.iter().enumerate() {
        lines.push(format!("{}. `{}`: {why}.", number + 1, dialects.join("`, `")));
    }
    lines.push(String::new());
    lines.extend(ELSEWHERE.map(|(what, why)| format!("- {what}: {why}.")));
    lines.join("\n") + "\n"
}
