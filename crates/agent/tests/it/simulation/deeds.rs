//! Actions of people, and the passing of time.

use std::sync::Arc;

use domain::{ActionState, AnswerDraft, Caller, Command, InteractionId, Outcome, SessionId, SessionInput};
use engine::{Engine, Error, Start, StepCommand};
use serde_json::{Value, json};

use crate::simulation::check_runs;
use crate::simulation::play::{self, Play};

/// Kinds of actions that people take.
#[derive(Debug, Clone)]
pub(crate) enum DeedKind {
    /// Opens a session: for the agent with a task or without one, or for the flow.
    Opens {
        task: String,
        flow: bool,
        listens: bool,
    },
    Answers {
        id: InteractionId,
        draft: Box<AnswerDraft>,
    },
    Controls {
        session: SessionId,
        command: Command,
    },
    Steps {
        session: SessionId,
        command: StepCommand,
    },
    Says {
        session: SessionId,
        content: String,
    },
    /// The connected client, for example an editor, runs the actions that wait for it.
    Edits {
        session: SessionId,
    },
    /// Timers that are due fire.
    FireDue,
}

/// One action of a person.
#[derive(Debug, Clone)]
pub(crate) struct PersonAction {
    pub by: Caller,
    pub what: DeedKind,
}

/// Performs an action of a person through the engine.
pub(crate) async fn perform(engine: Engine, play: Arc<Play>, deed: PersonAction) -> Result<(), Error> {
    let PersonAction { by, what } = deed;
    match what {
        DeedKind::Opens { task, flow, listens } => {
            let input = if flow { json!({ "task": task }) } else { json!(format!("{task}: go")) };
            let start = Start {
                agent: (!flow).then(|| "guide".into()),
                flow: flow.then(|| "release".into()),
                title: Some(task),
                session_input: SessionInput {
                    input: if listens { Value::Null } else { input },
                    ..SessionInput::default()
                },
                ..Start::default()
            };
            engine.session_start(&by, start, None).await.map(drop)
        }
        DeedKind::Answers { id, draft } => engine.interaction_answer(&by, id, *draft, None).await.map(drop),
        DeedKind::Controls { session, command } => {
            engine.session_control(&by, session, command, None, None).await.map(drop)
        }
        DeedKind::Steps { session, command } => {
            engine.step_control(&by, (session, None), command, None, None).await.map(drop)
        }
        DeedKind::Says { session, content } => {
            engine.session_message(&by, session, content, false, None).await.map(drop)
        }
        DeedKind::Edits { session } => edits(&engine, &play, &by, session).await,
        DeedKind::FireDue => engine.fire_due().await.map(drop),
    }
}

async fn edits(engine: &Engine, play: &Play, by: &Caller, session: SessionId) -> Result<(), Error> {
    for acted in engine.action_list(by, session, String::new(), 100).await?.0 {
        let call_id = acted.action.call_id.clone();
        let allowed = matches!(acted.action.state, ActionState::Allowed { .. }) && acted.action.runner.is_some();
        let (Some(permit), true) = (acted.permit, allowed) else { continue };
        engine.action_start(by, (session, call_id.clone()), permit, Some(20), None).await?;
        let call = acted.action.effective();
        let deed = play::RecordedRun { tool: call.tool, arguments: call.arguments };
        play.noticed(check_runs::may_run(&play.look(), &deed));
        play.stage.lock().ran.push(deed);
        play.takes_time(2).await;
        engine.action_outcome(by, (session, call_id), Outcome::Done { result: json!("edited") }, None, None).await?;
    }
    Ok(())
}
