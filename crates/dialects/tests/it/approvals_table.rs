//! `approvals`: sends every message of a client in every state of a call, and checks the reply and the state
//! afterwards.

use serde_json::{Value, json};

use server_testkit::client::{ApiClient, text};
use server_testkit::play::Play;
use server_testkit::websocket::Socket;
use server_testkit::world::World;

/// State of a call when a message arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallState {
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
enum ClientMessage {
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

const CLIENT_MESSAGES: [ClientMessage; 9] = [
    ClientMessage::Tell,
    ClientMessage::Approve,
    ClientMessage::Edit,
    ClientMessage::Reject,
    ClientMessage::Many,
    ClientMessage::Result,
    ClientMessage::Error,
    ClientMessage::Nonsense,
    ClientMessage::NoJson,
];

impl ClientMessage {
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
fn expected(at: CallState, say: ClientMessage) -> Result<&'static str, &'static str> {
    match (at, say) {
        (_, ClientMessage::Nonsense | ClientMessage::NoJson) => Err("body_invalid"),
        // The session starts with the only agent of the server.
        (CallState::Nowhere, ClientMessage::Tell) => Ok("as before"),
        (CallState::Nowhere, _) => Err("not_found"),
        (CallState::Ended, ClientMessage::Tell) => Err("session_ended"),
        (_, ClientMessage::Tell) => Ok("as before"),
        (CallState::Absent, _) => Err("not_found"),
        (CallState::Waiting, ClientMessage::Approve | ClientMessage::Edit | ClientMessage::Many) => Ok("started"),
        (CallState::Waiting, ClientMessage::Reject) => Ok("rejected"),
        (CallState::Started, ClientMessage::Result) => Ok("done"),
        (CallState::Started, ClientMessage::Error) => Ok("failed"),
        (_, ClientMessage::Result | ClientMessage::Error) if at == CallState::Unknown => {
            Ok(if say == ClientMessage::Result { "done" } else { "failed" })
        }
        // The question is about the outcome: an edit names the option, a rejection means that the call failed.
        (CallState::Unknown, ClientMessage::Reject) => Ok("failed"),
        (CallState::Unknown, ClientMessage::Edit) => Err("body_invalid"),
        (CallState::Unknown, ClientMessage::Approve | ClientMessage::Many) => Err("answer_invalid"),
        (_, ClientMessage::Result | ClientMessage::Error) => Err("action_state"),
        (_, ClientMessage::Approve | ClientMessage::Edit | ClientMessage::Reject | ClientMessage::Many) => {
            Err("interaction_already_resolved")
        }
    }
}

struct Scene {
    world: World,
    alice: ApiClient,
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
    async fn bring_call_into(&self, at: CallState) -> (Socket, String, String, String) {
        let absent = "call_absent".to_owned();
        if at == CallState::Nowhere {
            return (self.alice.joins("/ws/nowhere").await, String::new(), absent.clone(), absent);
        }
        let session = self.alice.edits().await;
        let mut editor = self.alice.joins(&format!("/ws/{session}")).await;
        if at == CallState::Absent {
            return (editor, session, absent.clone(), absent);
        }
        self.play.says("", &[("c", "write_file", json!({ "path": "a.md" }))]);
        editor.says(ClientMessage::Tell.message("")).await;
        let call = text(&editor.hears_of("tool_call").await["call_id"]);
        let mut asked = call.clone();
        if at == CallState::Allowed {
            self.alice.commands(&session, "pause").await.done();
        }
        let said = match at {
            CallState::Waiting | CallState::Nowhere | CallState::Absent | CallState::Ended => None,
            CallState::Rejected => Some(ClientMessage::Reject),
            CallState::Allowed | CallState::Started | CallState::Done | CallState::Failed | CallState::Unknown => {
                Some(ClientMessage::Approve)
            }
        };
        if let Some(said) = said {
            editor.says(said.message(&call)).await;
            editor.hears_of("hitl_resolved").await;
        }
        match at {
            CallState::Ended => drop(self.alice.commands(&session, "cancel").await.done()),
            CallState::Started | CallState::Done | CallState::Failed | CallState::Unknown => {
                editor.hears_of("tool_call").await;
            }
            _ => {}
        }
        match at {
            CallState::Done => editor.says(ClientMessage::Result.message(&call)).await,
            CallState::Failed => editor.says(ClientMessage::Error.message(&call)).await,
            CallState::Unknown => {
                self.world.passes(61).await;
                asked = text(&editor.hears_of("tool_call").await["call_id"]);
                editor.is_refused(ClientMessage::Approve.message(&call), "interaction_already_resolved").await;
            }
            CallState::Ended => drop(editor.hears_of("hitl_resolved").await),
            _ => {}
        }
        let wanted = match at {
            CallState::Ended => "rejected".to_owned(),
            at => format!("{at:?}").to_lowercase(),
        };
        self.wait_for_state(&session, &call, &wanted).await;
        (editor, session, call, asked)
    }

    async fn wait_for_state(&self, session: &str, call: &str, wanted: &str) {
        let looking = async {
            while self.state(session, call).await != wanted {
                tokio::task::yield_now().await;
            }
        };
        let found = tokio::time::timeout(server_testkit::world::PATIENCE, looking).await;
        assert!(found.is_ok(), "{wanted}: {}", self.state(session, call).await);
    }
}

async fn check(scene: &Scene, at: CallState, say: ClientMessage) {
    let (mut editor, session, call, asked) = scene.bring_call_into(at).await;
    let message = say.message(if matches!(say, ClientMessage::Result | ClientMessage::Error) { &call } else { &asked });
    let has_call = !matches!(at, CallState::Nowhere | CallState::Absent);
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
                scene.wait_for_state(&session, &call, if after == "as before" { &before } else { after }).await;
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
            for say in CLIENT_MESSAGES {
                // Each message has its own scene, because a late turn of the model would belong to another call.
                check(&Scene::new().await, CallState::$at, say).await;
            }
        }
    )*};
}

states! {
    messages_without_a_session_get_the_expected_reply: Nowhere,
    messages_about_an_absent_call_get_the_expected_reply: Absent,
    messages_about_a_waiting_call_get_the_expected_reply: Waiting,
    messages_about_an_allowed_call_in_a_paused_session_get_the_expected_reply: Allowed,
    messages_about_a_started_call_get_the_expected_reply: Started,
    messages_about_a_done_call_get_the_expected_reply: Done,
    messages_about_a_failed_call_get_the_expected_reply: Failed,
    messages_about_a_rejected_call_get_the_expected_reply: Rejected,
    messages_about_a_call_with_an_unknown_outcome_get_the_expected_reply: Unknown,
    messages_in_an_ended_session_get_the_expected_reply: Ended
}
