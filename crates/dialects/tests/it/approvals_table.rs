//! `approvals`: sends every message of a client in every state of a call, and checks the reply and the state
//! afterwards.

use serde_json::{Value, json};

use server_testkit::client::{Someone, text};
use server_testkit::play::Play;
use server_testkit::websocket::Socket;
use server_testkit::world::World;

/// State of a call when a message arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// There is no session yet.
    Nowhere,
    /// The session has no such call.
    Absent,
    Waiting,
    /// Approved, while the session is paused.
    Allowed,
    Started,
    Done,
    Failed,
    Rejected,
    Unknown,
    /// The session was cancelled while the call waited.
    Ended,
}

/// Messages of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Say {
    Tell,
    Approve,
    Edit,
    Reject,
    Many,
    Result,
    Error,
    Nonsense,
    NoJson,
}

const SAYINGS: [Say; 9] =
    [Say::Tell, Say::Approve, Say::Edit, Say::Reject, Say::Many, Say::Result, Say::Error, Say::Nonsense, Say::NoJson];

impl Say {
    fn message(self, call: &str) -> Value {
        let decision = |decision: &str| json!({ "type": "hitl_decision", "call_id": call, "decision": decision });
        match self {
            Self::Tell => json!({ "type": "user_message", "content": "Hello." }),
            Self::Approve => decision("approve"),
            Self::Edit => {
                json!({ "type": "hitl_decision", "call_id": call, "decision": "edit",
                        "modified_arguments": { "path": "b.md" } })
            }
            Self::Reject => decision("reject"),
            Self::Many => {
                json!({ "type": "hitl_decisions", "decisions": [{ "call_id": call, "decision": "approve" }] })
            }
            Self::Result => json!({ "type": "tool_result", "call_id": call, "result": "ok" }),
            Self::Error => json!({ "type": "tool_result", "call_id": call, "error": "rejected by the user" }),
            Self::Nonsense => json!({ "type": "tool_approval", "call_id": call }),
            Self::NoJson => json!("approve"),
        }
    }
}

/// Expected result: the code of a refusal, or the state of the call afterwards.
fn expected(at: At, say: Say) -> Result<&'static str, &'static str> {
    match (at, say) {
        (_, Say::Nonsense | Say::NoJson) => Err("body_invalid"),
        // The session starts with the only agent of the server.
        (At::Nowhere, Say::Tell) => Ok("as before"),
        (At::Nowhere, _) => Err("not_found"),
        (At::Ended, Say::Tell) => Err("session_ended"),
        (_, Say::Tell) => Ok("as before"),
        (At::Absent, _) => Err("not_found"),
        (At::Waiting, Say::Approve | Say::Edit | Say::Many) => Ok("started"),
        (At::Waiting, Say::Reject) => Ok("rejected"),
        (At::Started, Say::Result) => Ok("done"),
        (At::Started, Say::Error) => Ok("failed"),
        (_, Say::Result | Say::Error) if at == At::Unknown => Ok(if say == Say::Result { "done" } else { "failed" }),
        // The question is about the outcome: an edit names the option, a rejection means that the call failed.
        (At::Unknown, Say::Reject) => Ok("failed"),
        (At::Unknown, Say::Edit) => Err("body_invalid"),
        (At::Unknown, Say::Approve | Say::Many) => Err("answer_invalid"),
        (_, Say::Result | Say::Error) => Err("action_state"),
        (_, Say::Approve | Say::Edit | Say::Reject | Say::Many) => Err("interaction_already_resolved"),
    }
}

struct Scene {
    world: World,
    alice: Someone,
    play: std::sync::Arc<Play>,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let alice = world.person("alice").await;
        let play = world.plays();
        Self { world, alice, play }
    }

    async fn state(&self, session: &str, call: &str) -> String {
        text(&self.alice.get(&format!("/v1/sessions/{session}/actions/{call}")).await.done()["state"])
    }

    /// Brings a call into a state; returns the socket, the session, the call, and the `call_id` of the question about
    /// it.
    async fn brought(&self, at: At) -> (Socket, String, String, String) {
        let absent = "call_absent".to_owned();
        if at == At::Nowhere {
            return (self.alice.joins("/ws/nowhere").await, String::new(), absent.clone(), absent);
        }
        let session = self.alice.edits().await;
        let mut editor = self.alice.joins(&format!("/ws/{session}")).await;
        if at == At::Absent {
            return (editor, session, absent.clone(), absent);
        }
        self.play.says("", &[("c", "write_file", json!({ "path": "a.md" }))]);
        editor.says(Say::Tell.message("")).await;
        let call = text(&editor.hears_of("tool_call").await["call_id"]);
        let mut asked = call.clone();
        if at == At::Allowed {
            self.alice.commands(&session, "pause").await.done();
        }
        let said = match at {
            At::Waiting | At::Nowhere | At::Absent | At::Ended => None,
            At::Rejected => Some(Say::Reject),
            At::Allowed | At::Started | At::Done | At::Failed | At::Unknown => Some(Say::Approve),
        };
        if let Some(said) = said {
            editor.says(said.message(&call)).await;
            editor.hears_of("hitl_resolved").await;
        }
        match at {
            At::Ended => drop(self.alice.commands(&session, "cancel").await.done()),
            At::Started | At::Done | At::Failed | At::Unknown => {
                editor.hears_of("tool_call").await;
            }
            _ => {}
        }
        match at {
            At::Done => editor.says(Say::Result.message(&call)).await,
            At::Failed => editor.says(Say::Error.message(&call)).await,
            At::Unknown => {
                self.world.passes(61).await;
                asked = text(&editor.hears_of("tool_call").await["call_id"]);
                editor.is_refused(Say::Approve.message(&call), "interaction_already_resolved").await;
            }
            At::Ended => drop(editor.hears_of("hitl_resolved").await),
            _ => {}
        }
        let wanted = match at {
            At::Ended => "rejected".to_owned(),
            at => format!("{at:?}").to_lowercase(),
        };
        self.until(&session, &call, &wanted).await;
        (editor, session, call, asked)
    }

    async fn until(&self, session: &str, call: &str, wanted: &str) {
        let looking = async {
            while self.state(session, call).await != wanted {
                tokio::task::yield_now().await;
            }
        };
        let found = tokio::time::timeout(server_testkit::world::PATIENCE, looking).await;
        assert!(found.is_ok(), "{wanted}: {}", self.state(session, call).await);
    }
}

async fn check(scene: &Scene, at: At, say: Say) {
    let (mut editor, session, call, asked) = scene.brought(at).await;
    let message = say.message(if matches!(say, Say::Result | Say::Error) { &call } else { &asked });
    let has_call = !matches!(at, At::Nowhere | At::Absent);
    let before = if has_call { scene.state(&session, &call).await } else { String::new() };
    match expected(at, say) {
        Err(code) => {
            let error = editor.is_refused(message, code).await;
            assert!(error["content"].is_string(), "{error}");
            if has_call {
                assert_eq!(scene.state(&session, &call).await, before, "{at:?} {say:?} changed something");
            }
        }
        Ok(after) => {
            editor.says(message).await;
            if has_call {
                scene.until(&session, &call, if after == "as before" { &before } else { after }).await;
            }
        }
    }
    // The connection stays open after every message.
    editor.is_refused(json!({ "type": "still_there" }), "body_invalid").await;
}

/// One test for each state, with every message.
macro_rules! states {
    ($($name:ident: $at:ident),*) => {$(
        #[tokio::test]
        async fn $name() {
            for say in SAYINGS {
                // Each message has its own scene, because a late turn of the model would belong to another call.
                check(&Scene::new().await, At::$at, say).await;
            }
        }
    )*};
}

states! {
    nowhere: Nowhere, absent: Absent, waiting: Waiting, allowed: Allowed, started: Started, done: Done, failed: Failed,
    rejected: Rejected, unknown: Unknown, ended: Ended
}
