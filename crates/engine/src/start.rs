//! Opens a session.

use domain::access::Right;
use domain::{Brief, Caller, Luggage, Refusal, Session, Step};

use crate::{Engine, Error, Idempotency};

/// What a session is opened with.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// Routes its questions; its own id if absent.
    pub channel: Option<String>,
    /// The agent's name.
    pub agent: Option<String>,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// One line.
    pub title: Option<String>,
    /// What it works on.
    pub luggage: Luggage,
}

impl Engine {
    /// Opens a session with its first step.
    pub async fn start(&self, caller: &Caller, start: Start, once: Option<Idempotency>) -> Result<Session, Error> {
        caller.require(Right::Ask)?;
        let (scope, actor) = (caller.scope, caller.actor.clone());
        self.command(caller, once, move |work| {
            let id = work.ids.session(work.now);
            let Start { channel, agent, agent_version, title, luggage } = start.clone();
            let channel = channel.unwrap_or_else(|| id.uuid().to_string());
            let brief = Brief { channel, agent, agent_version, title, ..Brief::default() };
            let problems: Vec<_> = brief.check().into_iter().chain(luggage.check()).collect();
            if !problems.is_empty() {
                return Err(Refusal::QuestionInvalid(problems).into());
            }
            let step = Step::begin(work.ids.step(work.now), id, brief.agent.clone(), work.now);
            let (mut session, happening) = Session::start(id, scope, brief, step.id, actor.clone(), work.now);
            let event = work.recorded(&mut session, None, happening)?;
            work.tx.session_insert(&session, &luggage)?;
            work.tx.step_insert(&scope, &step)?;
            work.tx.event_append(&scope, &event)?;
            work.watched(&session);
            Ok(session)
        })
        .await
    }
}
