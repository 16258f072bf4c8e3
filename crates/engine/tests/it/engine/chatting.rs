//! Tests messages to hosted agents, in an existing conversation or in a new one.

use domain::{AgentVersion, Caller, Command, FlowVersion, Refusal, Role, Session, SessionId, SessionInput};
use holdpoint_engine::{Chat, Definitions, Error, HandOver, Start};
use serde_json::{Value, json};

use crate::engine::world::{World, pointers, refusal};

fn define_agents(world: &World, names: &[&str]) {
    let agent = |name: &&str| -> AgentVersion {
        let model = json!({ "provider": "scripted", "script": { "turns": [] } });
        serde_json::from_value(json!({ "name": name, "version": "1", "model": model })).unwrap()
    };
    let flow = |name: &str, step: Value| -> FlowVersion {
        serde_json::from_value(json!({ "name": name, "version": "1", "steps": [step] })).unwrap()
    };
    let flows = match names.first() {
        Some(first) => vec![
            flow("people", json!({ "name": "a", "question": { "title": "Go?", "kind": "approval" } })),
            flow("works", json!({ "name": "a", "agent": first, "input": "Go" })),
        ],
        None => Vec::new(),
    };
    world.engine.set_definitions(Definitions { agents: names.iter().map(agent).collect(), flows });
}

async fn send_message(
    world: &World,
    caller: &Caller,
    conversation: Option<&str>,
    agent: Option<&str>,
) -> Result<(Session, u64), Error> {
    let chat = Chat {
        conversation: conversation.map(str::to_owned),
        agent: agent.map(str::to_owned),
        content: "Good morning.".into(),
        metadata: Value::Null,
    };
    world.engine.send_chat_message(caller, chat, None).await
}

#[tokio::test]
async fn message_opens_continues_or_reopens_a_conversation() {
    let world = World::new();
    define_agents(&world, &["guide"]);
    let alice = world.person("alice").await;
    let (first, before) = send_message(&world, &alice, Some("chat-7"), None).await.unwrap();
    assert_eq!((first.head.channel.as_str(), first.head.agent.as_deref(), before), ("chat-7", Some("guide"), 1));
    assert_eq!(world.events(&alice, first.id).await, ["session.started", "message.sent"]);
    let (again, before) = send_message(&world, &alice, Some("chat-7"), Some("guide")).await.unwrap();
    assert_eq!((again.id, before), (first.id, 2));
    let (by_id, _) = send_message(&world, &alice, Some(&first.id.to_string()), None).await.unwrap();
    assert_eq!(by_id.id, first.id);
    world.control(&alice, first.id, Command::Cancel).await.unwrap();
    let ended = send_message(&world, &alice, Some(&first.id.to_string()), None).await;
    assert!(matches!(refusal(ended), Refusal::SessionEnded { .. }), "an id always names one session");
    let (next, _) = send_message(&world, &alice, Some("chat-7"), None).await.unwrap();
    assert_ne!(next.id, first.id);
    let found = world.engine.find_session(&alice, "chat-7").await.unwrap().unwrap();
    assert_eq!(found.id, next.id, "the name refers to the newest session");
    let (alone, _) = send_message(&world, &alice, None, None).await.unwrap();
    assert_eq!(alone.head.channel, alone.id.uuid().to_string());
    let (same, _) = send_message(&world, &alice, Some(&alone.head.channel), None).await.unwrap();
    assert_eq!(same.id, alone.id);
    // A channel named like an identifier: the channel continues, while the identifier stays with its session.
    world.control(&alice, alone.id, Command::Cancel).await.unwrap();
    let (after, _) = send_message(&world, &alice, Some(&alone.head.channel), None).await.unwrap();
    assert_ne!(after.id, alone.id);
    let (still, _) = send_message(&world, &alice, Some(&alone.head.channel), None).await.unwrap();
    assert_eq!(still.id, after.id);
    let start = Start { channel: Some(alone.id.to_string()), ..Start::default() };
    assert_eq!(
        pointers(world.engine.session_start(&alice, start, None).await),
        ["/channel"],
        "an id is given, never chosen"
    );
    for (name, meant) in [(alone.head.channel.clone(), after.id), (alone.id.to_string(), alone.id)] {
        assert_eq!(world.engine.find_session(&alice, &name).await.unwrap().map(|found| found.id), Some(meant));
    }
    for nobody in ["chat-8", "two words", "nul\0", "ses_nobody"] {
        assert_eq!(world.engine.find_session(&alice, nobody).await.unwrap(), None);
    }
}

#[tokio::test]
async fn message_must_name_an_agent_unless_there_is_one_or_a_default() {
    let world = World::new();
    let alice = world.person("alice").await;
    let nobody = send_message(&world, &alice, None, None).await;
    assert_eq!(refusal(nobody), Refusal::NotFound("agent"));
    define_agents(&world, &["guide", "scribe"]);
    assert_eq!(pointers(send_message(&world, &alice, None, None).await), ["/agent"]);
    let (named, _) = send_message(&world, &alice, Some("chat-7"), Some("scribe")).await.unwrap();
    assert_eq!(named.head.agent.as_deref(), Some("scribe"));
    let by_id = send_message(&world, &alice, Some(&named.id.to_string()), Some("guide")).await;
    assert_eq!(pointers(by_id), ["/agent"], "an id names one session, and so its agent");
    assert_eq!(pointers(send_message(&world, &alice, Some("chat-7"), Some("nul\0")).await), ["/agent"]);
    assert_eq!(refusal(send_message(&world, &alice, None, Some("nobody")).await), Refusal::NotFound("agent"));
    define_agents(&world, &["guide", "default"]);
    let (meant, _) = send_message(&world, &alice, None, None).await.unwrap();
    assert_eq!(meant.head.agent.as_deref(), Some("default"));
}

#[tokio::test]
async fn forbidden_message_is_refused_and_opens_no_session() {
    let world = World::new();
    define_agents(&world, &["guide"]);
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let viewer = world.caller(Role::Viewer, "vera").await;
    let mallory = world.stranger("elsewhere", Role::Admin, "mallory", &[]).await;
    let (session, _) = send_message(&world, &alice, Some("chat-7"), None).await.unwrap();
    let forbidden = Refusal::RoleForbids { role: Role::Viewer };
    assert_eq!(refusal(send_message(&world, &viewer, None, None).await), forbidden);
    assert_eq!(refusal(send_message(&world, &viewer, Some("chat-7"), None).await), forbidden);
    let theirs = world.engine.find_session(&mallory, "chat-7").await.unwrap();
    assert_eq!(theirs, None);
    let by_id = send_message(&world, &mallory, Some(&session.id.to_string()), None).await;
    assert_eq!(refusal(by_id), Refusal::NotFound("session"));
    let start = Start { channel: Some("foreign".into()), ..Start::default() };
    let foreign = world.engine.session_start(&agent, start, None).await.unwrap();
    let said = send_message(&world, &alice, Some(&foreign.id.to_string()), None).await;
    assert_eq!(refusal(said), Refusal::NotHosted(foreign.id));
    assert_eq!(pointers(send_message(&world, &alice, Some("two words"), None).await), ["/channel"]);
}

/// States of a channel when a message arrives.
const CHANNEL_STATES: [&str; 9] =
    ["nothing", "foreign", "people", "works", "handed over", "two chats", "ended", "ended, works", "task"];

/// Brings a channel into a state, and returns its sessions, the newest first.
async fn bring_channel_into_state(world: &World, channel: &str, state: &str) -> Vec<SessionId> {
    let (bob, bot) = (world.person("bob").await, world.agent().await);
    let start = Start { channel: Some(channel.into()), ..Start::default() };
    let opens = async |by: &Caller, start: Start| world.engine.session_start(by, start, None).await.unwrap().id;
    let of = |agent: &str| Start { agent: Some(agent.into()), ..start.clone() };
    let flow = |name: &str| Start { flow: Some(name.into()), ..start.clone() };
    match state {
        "foreign" => vec![opens(&bot, start).await],
        "people" | "works" => vec![opens(&bob, flow(state)).await],
        "handed over" => {
            let elsewhere = world.session(&bot).await;
            let asked = world.ask(&bot, &elsewhere, json!({})).await;
            let to = HandOver { channel: Some(channel.into()), note: None };
            world.engine.interaction_handover(&bob, asked.id, to, None).await.unwrap();
            world.engine.live_sessions(&bob, channel).await.unwrap().into_iter().map(|session| session.id).collect()
        }
        "two chats" => {
            let older = opens(&bob, of("editor")).await;
            vec![opens(&bob, of("second")).await, older]
        }
        "ended" | "ended, works" => {
            let chat = opens(&bob, of("second")).await;
            world.control(&bob, chat, Command::Cancel).await.unwrap();
            if state == "ended" { vec![chat] } else { vec![opens(&bob, flow("works")).await, chat] }
        }
        "task" => {
            let session_input = SessionInput { input: json!("Go"), ..SessionInput::default() };
            vec![opens(&bob, Start { session_input, ..of("editor") }).await]
        }
        _ => Vec::new(),
    }
}

/// A message goes to the newest session whose agent takes messages, and to the named agent if there is one; otherwise a session begins.
#[tokio::test]
async fn message_goes_to_the_newest_listening_session_of_the_channel() {
    let world = World::new();
    define_agents(&world, &["editor", "second", "default"]);
    let alice = world.person("alice").await;
    for (number, state) in CHANNEL_STATES.into_iter().enumerate() {
        for named in [None, Some("editor"), Some("second")] {
            let channel = format!("chat-{number}-{}", named.unwrap_or("any"));
            let there = bring_channel_into_state(&world, &channel, state).await;
            let (heard, _) = send_message(&world, &alice, Some(&channel), named).await.unwrap();
            let found = there.iter().position(|id| *id == heard.id);
            let expected = match (state, named) {
                ("two chats", None | Some("second")) | ("works", None) | ("task", None | Some("editor")) => Some(0),
                ("two chats", Some("editor")) => Some(1),
                _ => None,
            };
            assert_eq!(found, expected, "{state}, {named:?}");
            let agent = match (state, named) {
                (_, Some(named)) => Some(named),
                ("works", None) => None,
                ("two chats" | "ended" | "ended, works", None) => Some("second"),
                ("task", None) => Some("editor"),
                (_, None) => Some("default"),
            };
            assert_eq!(heard.head.agent.as_deref(), agent, "{state}, {named:?}");
            let (again, _) = send_message(&world, &alice, Some(&channel), named).await.unwrap();
            assert_eq!(again.id, heard.id, "{state}, {named:?}: the session continues");
        }
    }
}
