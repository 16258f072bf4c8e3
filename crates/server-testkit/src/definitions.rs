//! Definitions of an agent and a flow that several tests use.

use serde_json::{Value, json};

/// An agent that plays a script of one line.
pub fn scribe() -> Value {
    json!({
        "name": "scribe", "version": "1", "description": "Writes",
        "model": { "provider": "scripted", "script": { "turns": [{ "say": "Written.", "again": true }] } }
    })
}

/// A flow of two steps that the agent of [`scribe`] runs.
pub fn notes() -> Value {
    json!({
        "name": "notes", "version": "1",
        "steps": [
            { "name": "write", "agent": "scribe", "input": "Write {{ input.what }}." },
            { "name": "publish", "agent": "scribe", "input": "{{ steps.write.output }}",
              "question": { "kind": "confirmation", "title": "Publish?" } }
        ]
    })
}
