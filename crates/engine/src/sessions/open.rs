//! Opens a session with the first step of its flow or agent.

use domain::access::Right;
use domain::{
    Actor, AgentVersion, Caller, FlowVersion, Problem, Refusal, Scope, Session, SessionHead, SessionInput, Step, text,
};
use serde_json::Value;
use store::Topic;

use crate::run::transaction::Work;
use crate::steps;
use crate::steps::server_files::OfferedDefinitions;
use crate::{Engine, Error, Idempotency};

/// Parameters of a new session.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// Channel that routes the questions of the session. The session's own UUID if absent.
    pub channel: Option<String>,
    /// Name of the agent. If this server has an agent of that name, it hosts the session.
    pub agent: Option<String>,
    /// Version of the agent.
    pub agent_version: Option<String>,
    /// Name of the flow that the session follows.
    pub flow: Option<String>,
    /// Version of the flow.
    pub flow_version: Option<String>,
    /// Title of the session in one line.
    pub title: Option<String>,
    /// Input and metadata of the session.
    pub session_input: SessionInput,
    /// Initial values that the steps of the flow share.
    pub shared: Value,
}

impl Engine {
    /// Opens a session with its first step.
    pub async fn session_start(
        &self,
        caller: &Caller,
        start: Start,
        idempotency: Option<Idempotency>,
    ) -> Result<Session, Error> {
        caller.require(Right::Ask)?;
        let (scope, actor) = (caller.scope, caller.actor.clone());
        let offered = steps::server_files::offered(self, caller.scope).await?;
        self.command(caller, idempotency, move |work| open(work, &scope, &actor, &offered, start.clone())).await
    }
}

fn check_start(id: String, start: Start) -> Result<(SessionHead, SessionInput), Error> {
    let Start { channel, agent, agent_version, flow, flow_version, title, session_input, shared } = start;
    let channel = channel.unwrap_or(id);
    let head = SessionHead { channel, agent, agent_version, title, flow, flow_version };
    let mut problems: Vec<_> = head.check().into_iter().chain(session_input.check()).collect();
    text::check_depth("/shared", &shared, &mut problems);
    let shares = shared.is_object() && head.flow.is_some();
    if !shared.is_null() && !shares {
        problems.push(Problem::new("/shared", "must be an object, and is only for flows"));
    }
    if head.flow.is_some() && head.agent.is_some() {
        problems.push(Problem::new("/agent", "cannot be combined with a flow, whose steps name their agents"));
    }
    if problems.is_empty() { Ok((head, session_input)) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

/// Agent or flow that the workers of this server run.
enum Run {
    Agent(Box<AgentVersion>),
    Flow(FlowVersion, Option<String>),
}

impl Run {
    fn step(&self, id: domain::StepId, session: domain::SessionId, now: domain::Timestamp) -> Step {
        let step = Step::hosted(id, session, now, now);
        match self {
            Self::Agent(agent) => {
                Step { agent: Some(agent.name.clone()), agent_version: Some(agent.version.clone()), ..step }
            }
            Self::Flow(flow, version) => {
                let first = flow.first();
                Step {
                    agent: first.and_then(|first| first.agent.clone()),
                    agent_version: version.clone(),
                    name: first.map(|first| first.name.clone()),
                    ..step
                }
            }
        }
    }
}

/// Opens a session with its first step.
pub(crate) fn open(
    work: &mut Work<'_>,
    scope: &Scope,
    actor: &Actor,
    offered: &OfferedDefinitions,
    start: Start,
) -> Result<Session, Error> {
    let id = work.ids.session(work.now);
    let shared = start.shared.clone();
    let (mut head, mut session_input) = check_start(id.uuid().to_string(), start)?;
    session_input.entry_point = Some(work.originator.how.entry_point);
    let run = choose_run(work, scope, offered, &mut head, &mut session_input)?;
    let step = Step::begin(work.ids.step(work.now), id, head.agent.clone(), work.now);
    let step = match &run {
        Some(run) => Step { shared, ..run.step(step.id, id, work.now) },
        None => step,
    };
    let (mut session, event_draft) = Session::start(id, *scope, head, step.id, actor.clone(), work.now);
    session.hosted = run.is_some();
    let event = work.prepare_event(&mut session, None, &event_draft)?;
    work.tx.session_insert(&session, &session_input)?;
    work.tx.step_insert(scope, &step)?;
    work.tx.event_append(scope, &event)?;
    work.ring_watchers(&session);
    if session.hosted {
        work.effects.topics.push(Topic::Steps);
    }
    Ok(session)
}

/// Chooses the flow or known agent that this server runs for the session. All versions are chosen here and stay fixed.
fn choose_run(
    work: &mut Work<'_>,
    scope: &Scope,
    offered: &OfferedDefinitions,
    head: &mut SessionHead,
    session_input: &mut SessionInput,
) -> Result<Option<Run>, Error> {
    if let Some(name) = head.flow.clone() {
        let wanted = (name.as_str(), head.flow_version.as_deref());
        let flow = steps::resolve_flow(work, scope, offered, wanted)?.ok_or(Refusal::NotFound("flow"))?;
        head.flow_version = Some(flow.version.clone());
        for step in &flow.steps {
            let Some(agent) = &step.agent else { continue };
            let wanted = (agent.as_str(), step.agent_version.as_deref());
            let agent = steps::resolve_agent(work, scope, offered, wanted)?.ok_or_else(|| {
                let why = format!("the step `{}` runs `{agent}`, which does not exist in this project", step.name);
                Refusal::QuestionInvalid(vec![Problem::new("/flow", why)])
            })?;
            require_separate_workspace(work, offered, &agent)?;
            session_input.agents.insert(step.name.clone(), agent.version);
        }
        let first = flow.first().and_then(|first| session_input.agents.get(&first.name).cloned());
        return Ok(Some(Run::Flow(flow, first)));
    }
    let Some(name) = head.agent.clone() else { return Ok(None) };
    let wanted = (name.as_str(), head.agent_version.as_deref());
    let Some(agent) = steps::resolve_agent(work, scope, offered, wanted)? else {
        if steps::has_known_agent(work, scope, offered, &name)? {
            let problem = Problem::new("/agent_version", "does not exist in this project or is retired");
            return Err(Refusal::QuestionInvalid(vec![problem]).into());
        }
        return Ok(None);
    };
    require_separate_workspace(work, offered, &agent)?;
    head.agent_version = Some(agent.version.clone());
    Ok(Some(Run::Agent(Box::new(agent))))
}

/// Refuses an agent whose workspace is not separate from the workspaces of other tenants.
fn require_separate_workspace(
    work: &mut Work<'_>,
    offered: &OfferedDefinitions,
    agent: &AgentVersion,
) -> Result<(), Error> {
    agent
        .workspace
        .as_deref()
        .map_or(Ok(()), |workspace| steps::workspaces::require_separate(&mut *work.tx, offered, workspace))
}
