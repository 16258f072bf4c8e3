//! Examples of this dialect in the OpenAPI document.

use serde_json::{Value, json};

const SESSION: &str = "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00";
const STEP: &str = "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a04";
const REQUEST: &str = "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01";

/// Example of a flow that was started.
pub(super) fn started() -> Value {
    json!({ "sessionId": SESSION, "status": "RUNNING", "startedAt": "2026-11-15T10:00:00Z",
            "launchParameters": { "version": "1.5" }, "sharedContext": null, "chatSessionId": SESSION })
}

/// Example of a question that was answered.
pub(super) fn item() -> Value {
    let action = |id: &str, label: &str| {
        json!({ "id": id, "label": label, "source": "ruleBased", "description": null, "ctaLabel": label,
                "payload": { "action": id } })
    };
    json!({
        "requestId": REQUEST, "chatSessionId": SESSION, "stepId": "publish", "stepExecutionId": STEP,
        "agentId": "release-helper", "status": "ANSWERED", "type": "CONFIRMATION", "title": "Publish 1.5?",
        "description": null,
        "payloadSchema": { "type": "object", "required": ["action"], "properties": {
            "action": { "type": "string", "enum": ["confirm", "cancel"] }, "comment": { "type": "string" } } },
        "suggestedActions": { "ruleBased": [action("confirm", "Confirm"), action("cancel", "Cancel")], "llm": [],
                              "analytics": [], "filtered": [] },
        "createdAt": "2026-11-15T10:00:00Z", "updatedAt": "2026-11-15T10:01:00Z", "dueAt": "2026-11-15T10:15:00Z",
        "response": { "responseId": "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a05", "source": "USER", "respondedBy": "alice",
                      "respondedAt": "2026-11-15T10:01:00Z", "status": "ANSWERED",
                      "payload": { "action": "confirm", "comment": "Looks good." } },
        "metadata": { "kind": "confirmation" }
    })
}

/// Questions of a session.
pub(super) fn interactions() -> Value {
    json!({ "active": [], "history": [item()], "nextCursor": null })
}

/// State of a session.
pub(super) fn state() -> Value {
    json!({
        "sessionId": SESSION, "status": "WAITING_USER_INPUT", "currentStepId": "publish", "stateVersion": 2,
        "startedAt": "2026-11-15T10:00:00Z", "completedAt": null, "flowDefinitionId": "release",
        "flowDefinitionVersion": "1", "chatSessionId": SESSION, "sharedContext": { "notes": "…" },
        "steps": [{ "stepExecutionId": STEP, "stepId": "publish", "agentId": "release-helper",
                    "status": "BLOCKED_WAITING_USER", "attempt": 1, "startedAt": "2026-11-15T10:00:00Z",
                    "completedAt": null, "interactionRequestId": REQUEST }]
    })
}

/// A session and its events.
pub(super) fn status() -> Value {
    json!({ "state": state(), "nextSinceEventId": 2, "events": [{
        "eventId": 2, "type": "HUMAN_INTERACTION_REQUIRED", "traceId": SESSION, "spanId": STEP,
        "createdAt": "2026-11-15T10:00:00Z",
        "payload": { "kind": "confirmation", "title": "Publish 1.5?", "requestId": REQUEST }
    }] })
}
