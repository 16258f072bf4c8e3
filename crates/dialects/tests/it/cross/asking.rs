//! Asks each kind of question through each API.

use engine::Definitions;
use serde_json::{Value, json};

use crate::cross::table::{Api, KINDS, Kind};
use crate::cross::watching::Watchers;
use server_testkit::client::{ApiClient, text};
use server_testkit::scripted_worker::{ScriptedWorker, scripted};
use server_testkit::sse::Frames;
use server_testkit::world::World;

/// Id of the first call of a hosted agent.
const CALL: &str = "s1t1c0";

/// A question and its names in the APIs.
pub(crate) struct AskedQuestion {
    /// Identifier of the question in `/v1` (`int_…`).
    pub(crate) id: String,
    /// Identifier of its session (`ses_…`).
    pub(crate) session: String,
    /// Channel of its session.
    pub(crate) channel: String,
    /// `call_id` of the question in `approvals`.
    pub(crate) call: String,
}

impl AskedQuestion {
    /// Strips the prefix of an id: `flows` uses the bare UUID.
    pub(crate) fn bare(id: &str) -> String {
        id.split_once('_').unwrap().1.to_owned()
    }

    /// `call_id` of the question in `approvals` on the socket of a channel.
    pub(crate) fn call_in_channel(&self) -> String {
        if self.call == self.id { self.id.clone() } else { format!("{}:{}", self.session, self.call) }
    }
}

/// A server with agents that ask, flows that ask, and people.
pub(crate) struct DialectWorld {
    pub(crate) world: World,
    pub(crate) alice: ApiClient,
    pub(crate) bob: ApiClient,
    pub(crate) bot: ApiClient,
    pub(crate) root: ApiClient,
    _scripted_worker: ScriptedWorker,
}

impl DialectWorld {
    pub(crate) async fn new() -> Self {
        let world = World::new().await;
        let agents: Vec<Value> = KINDS.iter().filter_map(agent).collect();
        let scripted_worker = ScriptedWorker::of(&world, agents.clone());
        let read = |value: Value| serde_json::from_value(value).unwrap();
        let flows = KINDS.iter().map(|kind| serde_json::from_value(flow(kind)).unwrap()).collect();
        world.engine.set_definitions(Definitions { agents: agents.into_iter().map(read).collect(), flows });
        let (alice, bob) = (world.person("alice").await, world.person("bob").await);
        let (bot, root) = (world.agent().await, world.admin().await);
        Self { world, alice, bob, bot, root, _scripted_worker: scripted_worker }
    }
}

fn of(kind: &Kind) -> String {
    format!("asks-{}", kind.name)
}

/// An agent that asks this kind and then ends its turn.
fn agent(kind: &Kind) -> Option<Value> {
    let (tool, arguments) = kind.called.clone()?;
    let turns = json!([{ "calls": [{ "tool": tool, "arguments": arguments }] }, { "say": "Fine.", "again": true }]);
    Some(scripted(&of(kind), turns))
}

/// A flow that asks this kind before its first step, or through its agent, and then waits.
fn flow(kind: &Kind) -> Value {
    let first = if kind.before_a_step.is_null() {
        json!({ "name": "one", "agent": of(kind), "input": "Go." })
    } else {
        json!({ "name": "one", "question": kind.before_a_step, "on_rejection": "two" })
    };
    let stays = json!({ "name": "two", "question": { "kind": "confirmation", "title": "The end of the flow" } });
    json!({ "name": of(kind), "version": "1", "steps": [first, stays] })
}

/// Asks a question with all readers connected.
pub(crate) async fn asked(stage: &DialectWorld, api: Api, kind: &Kind) -> (AskedQuestion, Watchers) {
    match api {
        Api::Http | Api::Ws | Api::Hitl => ask_as_external_agent(stage, api, kind).await,
        Api::Flows => ask_through_flow(stage, kind).await,
        Api::Tools => ask_through_first_message(stage, kind).await,
        Api::React => ask_in_conversation(stage, kind).await,
    }
}

/// Opens a session and asks in it as an external agent. The readers are connected before the question is asked, one of
/// them to the channel before the session exists. Another session has a waiting action with an equal call id.
async fn ask_as_external_agent(stage: &DialectWorld, api: Api, kind: &Kind) -> (AskedQuestion, Watchers) {
    let channel = format!("chat-{}", stage.world.engine.nonce());
    let early = stage.alice.joins(&format!("/ws/{channel}")).await;
    let session = stage.bot.opens(json!({ "channel": channel })).await;
    open_session_with_equal_call_id(stage, &channel, "call_1").await;
    let watchers = Watchers::of(&stage.alice, &session, &channel).await.with_early(early);
    let proposed = kind.name == "action";
    let id = match api {
        Api::Http if proposed => {
            let path = format!("/v1/sessions/{session}/actions");
            text(&stage.bot.post(&path, kind.asked.clone()).await.done()["interaction"])
        }
        Api::Http => stage.bot.asks_in(&session, kind.asked.clone()).await.id,
        Api::Hitl => {
            let mut body = kind.requested.clone();
            body["conversation_id"] = json!(session);
            text(&stage.bot.post("/hitl/requests", body).await.done()["id"])
        }
        _ => {
            let mut message = kind.asked.clone();
            message["type"] = json!(if proposed { "propose" } else { "ask" });
            message["session"] = json!(session);
            let reply = stage.bot.joins("/v1/ws").await.asks(message).await;
            text(&reply["result"][if proposed { "interaction" } else { "id" }])
        }
    };
    (found(stage, id).await, watchers)
}

/// Opens another session of the channel with a waiting action that has an equal call id.
async fn open_session_with_equal_call_id(stage: &DialectWorld, channel: &str, call: &str) {
    let other = stage.bot.opens(json!({ "channel": channel })).await;
    let same = json!({ "call_id": call, "tool": "delete_file", "arguments": { "path": "another.txt" } });
    stage.bot.post(&format!("/v1/sessions/{other}/actions"), same).await.done();
}

async fn ask_through_flow(stage: &DialectWorld, kind: &Kind) -> (AskedQuestion, Watchers) {
    let channel = format!("flow-{}", stage.world.engine.nonce());
    let early = stage.alice.joins(&format!("/ws/{channel}")).await;
    let body = json!({ "chatSessionId": channel });
    let started = stage.alice.post(&format!("/api/flows/{}/start", of(kind)), body).await.done();
    open_session_with_equal_call_id(stage, &channel, CALL).await;
    let session = format!("ses_{}", text(&started["sessionId"]));
    let mut frames =
        stage.alice.follows(&format!("/api/flows/{}/events/stream", AskedQuestion::bare(&session)), None).await;
    let asked = until(&mut frames, "humanInteractionRequired").await;
    let asked = found(stage, format!("int_{}", text(&asked["requestId"]))).await;
    assert_eq!((&asked.session, &asked.channel), (&session, &channel));
    let watchers = Watchers::of(&stage.alice, &session, &channel).await.with_early(early);
    (asked, watchers)
}

async fn ask_through_first_message(stage: &DialectWorld, kind: &Kind) -> (AskedQuestion, Watchers) {
    let name = format!("editor-{}", stage.world.engine.nonce());
    let early = stage.alice.joins(&format!("/ws/{name}")).await;
    open_session_with_equal_call_id(stage, &name, CALL).await;
    let mut editor = stage.alice.joins(&format!("/ws/{name}?agent={}", of(kind))).await;
    editor.says(json!({ "type": "user_message", "content": "Go.", "role": "user" })).await;
    let call = loop {
        let call = editor.hears_of("tool_call").await;
        if call["arguments"]["path"] != "another.txt" {
            break call;
        }
    };
    let asked = found(stage, text(&call["interaction"])).await;
    assert_eq!((&asked.call_in_channel(), &asked.channel), (&text(&call["call_id"]), &name));
    let watchers = Watchers::of(&stage.alice, &asked.session, &asked.channel).await.with_early(early);
    (asked, watchers)
}

async fn ask_in_conversation(stage: &DialectWorld, kind: &Kind) -> (AskedQuestion, Watchers) {
    let channel = format!("talk-{}", stage.world.engine.nonce());
    let early = stage.alice.joins(&format!("/ws/{channel}")).await;
    open_session_with_equal_call_id(stage, &channel, CALL).await;
    let body = json!({ "message": "Go.", "agent": of(kind), "sessionId": channel });
    let request = stage.alice.request(reqwest::Method::POST, "/api/agent/chat/react/stream").json(&body);
    let mut frames = Frames::of(request.send().await.unwrap());
    let asked = until(&mut frames, "INTERACTION").await;
    let asked = found(stage, text(&asked["data"]["requestId"])).await;
    assert_eq!(asked.channel, channel);
    let watchers = Watchers::of(&stage.alice, &asked.session, &channel).await.with_early(early);
    (asked, watchers)
}

/// Returns the data of the next frame with this event name.
async fn until(frames: &mut Frames, name: &str) -> Value {
    loop {
        let frame = frames.next().await.unwrap();
        if frame.name.as_deref() == Some(name) {
            return serde_json::from_str(&frame.data).unwrap();
        }
    }
}

async fn found(stage: &DialectWorld, id: String) -> AskedQuestion {
    let caller = stage.world.engine.authenticate(&stage.alice.key).await.unwrap();
    let asked =
        stage.world.engine.interaction_get(&caller, id.parse().unwrap(), std::time::Duration::ZERO).await.unwrap();
    let (session, channel) = (asked.origin.session.to_string(), asked.origin.channel.clone());
    AskedQuestion { call: asked.question.call_id.unwrap_or_else(|| id.clone()), id, session, channel }
}
