//! Examples of the OpenAPI document that several schemas share.

use serde_json::{Value, json};

/// Example of an open question.
pub(crate) fn question() -> Value {
    let option = |id: &str, label: &str, effect: &str| {
        json!({ "id": id, "label": label, "effect": effect, "default": false, "dangerous": false,
                "recommended": false, "requires_input": false })
    };
    let confirm = json!({ "option": "confirm", "label": "Confirm", "effect": "approve", "dangerous": false, "takes": [], "does": "resume" });
    let cancel = json!({ "option": "cancel", "label": "Cancel", "effect": "reject", "dangerous": false,
                         "takes": [{ "input": "feedback", "required": false }], "does": "refuse" });
    json!({
        "id": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00",
        "step": "stp_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "channel": "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00",
        "kind": "confirmation", "title": "Delete the file?",
        "options": [option("confirm", "Confirm", "approve"), option("cancel", "Cancel", "reject")],
        "moves": [confirm, cancel],
        "suggestions": [{ "id": "analytics-5feceb66ffc86f38", "label": "Confirm (12 times before)", "source": "analytics",
                          "option": "confirm", "count": 12 }],
        "multiple": false, "required": true, "audience": { "quorum": 1, "distinct_groups": false, "four_eyes": false },
        "asked_by": { "kind": "agent", "name": "release-bot" }, "created_at": "2026-11-15T10:00:00Z",
        "status": "pending", "overdue": false, "revision": 1
    })
}

/// A page of questions.
pub(crate) fn questions() -> Value {
    json!({ "interactions": [question()], "next": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" })
}

fn answer() -> Value {
    json!({ "id": "ans_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "by": { "kind": "user", "name": "alice" },
            "at": "2026-11-15T10:01:00Z", "effect": "approve", "option": "confirm", "options": ["confirm"] })
}

/// The question of `question` after it was answered.
fn answered(delivery: Value, revision: u64) -> Value {
    let mut question = question();
    question["status"] = json!("answered");
    question["moves"] = json!([]);
    question["resolution"] = json!({ "status": "answered", "source": "user", "at": "2026-11-15T10:01:00Z",
        "by": { "kind": "user", "name": "alice" }, "answer": answer() });
    question["delivery"] = delivery;
    question["revision"] = json!(revision);
    question
}

/// A page of waiting answers.
pub(crate) fn deliveries() -> Value {
    json!({ "deliveries": [answered(json!({ "state": "waiting", "attempt": 0 }), 2)] })
}

/// An answer that an agent has taken.
pub(crate) fn taken() -> Value {
    let until = "2026-11-15T10:06:30Z";
    let processing = json!({ "state": "processing", "attempt": 1, "until": until });
    json!({ "lease": "lea_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "until": until, "attempt": 1, "answer": answer(),
            "interaction": answered(processing, 3), "resume_point": { "at": "line 12" } })
}

/// Example of a session.
pub(crate) fn session() -> Value {
    json!({
        "id": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "status": "waiting_user_input", "paused": false,
        "waiting_on": 1, "channel": "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "agent": "release-bot",
        "driven": false, "title": "Release 1.4", "started_by": { "kind": "agent", "name": "release-bot" },
        "created_at": "2026-11-15T10:00:00Z", "last_seq": 2
    })
}

/// A page of sessions.
pub(crate) fn sessions() -> Value {
    json!({ "sessions": [session()], "next": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" })
}

/// A page of the keys of a project.
pub(crate) fn keys() -> Value {
    json!({ "keys": [{
        "id": "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "role": "operator", "user": "alice", "groups": ["operations"],
        "created_at": "2026-11-15T10:00:00Z"
    }] })
}

/// Example of a user.
pub(crate) fn user() -> Value {
    json!({ "name": "alice", "display": "Alice Moreau", "role": "operator", "groups": ["operations"], "external": false,
            "created_at": "2026-11-15T10:00:00Z", "signed_in_at": "2026-11-15T10:05:00Z" })
}

/// A page of the users of a project.
pub(crate) fn users() -> Value {
    json!({ "users": [user()] })
}

/// The caller of the request.
pub(crate) fn me() -> Value {
    let project = "prj_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01";
    json!({ "name": "alice", "display": "Alice Moreau", "role": "operator", "groups": ["operations"],
            "tenant": "default", "project": project,
            "projects": [{ "project": project, "name": "default", "role": "operator" }], "via": "cookie",
            "password": "known" })
}

/// Example of a webhook.
pub(crate) fn webhook() -> Value {
    json!({ "id": "whk_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "url": "https://hooks.example.com/holdpoint",
            "events": ["interaction.*"], "agent": "release-bot", "description": "Tells the on-call channel",
            "created_by": { "kind": "user", "name": "root" }, "created_at": "2026-11-15T10:00:00Z", "enabled": true,
            "failures": 0 })
}

/// A new webhook with its secret.
pub(crate) fn webhook_created() -> Value {
    let mut webhook = webhook();
    webhook["secret"] = json!("whsec_…");
    webhook
}

/// A webhook with its rotated secret.
pub(crate) fn webhook_rotated() -> Value {
    let mut webhook = webhook_created();
    webhook["old_until"] = json!("2026-11-16T10:00:00Z");
    webhook
}

/// A page of webhooks.
pub(crate) fn webhooks() -> Value {
    json!({ "webhooks": [webhook()], "next": "whk_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" })
}

/// A webhook delivery after one attempt.
pub(crate) fn webhook_delivery() -> Value {
    json!({ "id": "whd_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "webhook": "whk_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01",
            "type": "interaction.asked", "state": "pending", "created_at": "2026-11-15T10:00:00Z",
            "due_at": "2026-11-15T10:00:06Z", "tries": 1,
            "attempts": [{ "at": "2026-11-15T10:00:01Z", "status": 503, "note": "try later", "millis": 12 }] })
}

/// A page of webhook deliveries.
pub(crate) fn webhook_deliveries() -> Value {
    json!({ "deliveries": [webhook_delivery()], "next": "whd_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" })
}
