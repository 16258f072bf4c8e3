//! Opens a session, with the first step of the flow or the agent that it is for.

use domain::access::Right;
use domain::{
    Actor, AgentVersion, Caller, FlowVersion, Problem, Refusal, Scope, Session, SessionHead, SessionInput, Step, text,
};
use serde_json::Value;
use store::Topic;

use crate::filed::Offered;
use crate::work::Work;
use crate::workspaces::apart;
use crate::{Engine, Error, Idempotency};

/// What a session is opened with.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// Routes its questions; its own id if absent.
    pub channel: Option<String>,
    /// The agent's name. Where this server has one of that name, it runs it.
    pub agent: Option<String>,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// The flow that it follows.
    pub flow: Option<String>,
    /// The flow's version.
    pub flow_version: Option<String>,
    /// One line.
    pub title: Option<String>,
    /// What it works on.
    pub luggage: SessionInput,
    /// What the steps of its flow share from the beginning.
    pub shared: Value,
}

impl Engine {
    /// Opens a session with its first step.
    pub async fn start(&self, caller: &Caller, start: Start, once: Option<Idempotency>) -> Result<Session, Error> {
        caller.require(Right::Ask)?;
        let (scope, actor) = (caller.scope, caller.actor.clone());
        let offered = self.offered(caller.scope).await?;
        self.command(caller, once, move |work| work.started(&scope, &actor, &offered, start.clone())).await
    }
}

fn briefed(id: String, start: Start) -> Result<(SessionHead, SessionInput), Error> {
    let Start { channel, agent, agent_version, flow, flow_version, title, luggage, shared } = start;
    let channel = channel.unwrap_or(id);
    let brief = SessionHead { channel, agent, agent_version, title, flow, flow_version };
    let mut problems: Vec<_> = brief.check().into_iter().chain(luggage.check()).collect();
    text::depth("/shared", &shared, &mut problems);
    let shares = shared.is_object() && brief.flow.is_some();
    if !shared.is_null() && !shares {
        problems.push(Problem::new("/shared", "is an object, and for the steps of a flow"));
    }
    if brief.flow.is_some() && brief.agent.is_some() {
        problems.push(Problem::new("/agent", "stands beside a flow, whose steps name their agents"));
    }
    if problems.is_empty() { Ok((brief, luggage)) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

/// What our workers will run first.
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

impl Work<'_> {
    /// Opens a session with its first step.
    pub(crate) fn started(
        &mut self,
        scope: &Scope,
        actor: &Actor,
        offered: &Offered,
        start: Start,
    ) -> Result<Session, Error> {
        let id = self.ids.session(self.now);
        let shared = start.shared.clone();
        let (mut brief, mut luggage) = briefed(id.uuid().to_string(), start)?;
        luggage.entry_point = Some(self.doer.how.entry_point);
        let run = self.run_for(scope, offered, &mut brief, &mut luggage)?;
        let step = Step::begin(self.ids.step(self.now), id, brief.agent.clone(), self.now);
        let step = match &run {
            Some(run) => Step { shared, ..run.step(step.id, id, self.now) },
            None => step,
        };
        let (mut session, happening) = Session::start(id, *scope, brief, step.id, actor.clone(), self.now);
        session.hosted = run.is_some();
        let event = self.recorded(&mut session, None, happening)?;
        self.tx.session_insert(&session, &luggage)?;
        self.tx.step_insert(scope, &step)?;
        self.tx.event_append(scope, &event)?;
        self.watched(&session);
        if session.hosted {
            self.effects.topics.push(Topic::Steps);
        }
        Ok(session)
    }

    /// What we run for a session: a flow, or an agent that we know. Every version is chosen here, once.
    fn run_for(
        &mut self,
        scope: &Scope,
        offered: &Offered,
        brief: &mut SessionHead,
        luggage: &mut SessionInput,
    ) -> Result<Option<Run>, Error> {
        if let Some(name) = brief.flow.clone() {
            let wanted = (name.as_str(), brief.flow_version.as_deref());
            let flow = self.flow_for(scope, offered, wanted)?.ok_or(Refusal::NotFound("flow"))?;
            brief.flow_version = Some(flow.version.clone());
            for step in &flow.steps {
                let Some(agent) = &step.agent else { continue };
                let wanted = (agent.as_str(), step.agent_version.as_deref());
                let agent = self.agent_for(scope, offered, wanted)?.ok_or_else(|| {
                    let why = format!("the step `{}` runs `{agent}`, which is not here", step.name);
                    Refusal::QuestionInvalid(vec![Problem::new("/flow", why)])
                })?;
                self.workspace_of(offered, &agent)?;
                luggage.agents.insert(step.name.clone(), agent.version);
            }
            let first = flow.first().and_then(|first| luggage.agents.get(&first.name).cloned());
            return Ok(Some(Run::Flow(flow, first)));
        }
        let Some(name) = brief.agent.clone() else { return Ok(None) };
        let wanted = (name.as_str(), brief.agent_version.as_deref());
        let Some(agent) = self.agent_for(scope, offered, wanted)? else {
            if self.known_agent(scope, offered, &name)? {
                let problem = Problem::new("/agent_version", "is not here, or no new session may use it");
                return Err(Refusal::QuestionInvalid(vec![problem]).into());
            }
            return Ok(None);
        };
        self.workspace_of(offered, &agent)?;
        brief.agent_version = Some(agent.version.clone());
        Ok(Some(Run::Agent(Box::new(agent))))
    }

    /// Refuses an agent whose workspace is not apart from those of other tenants.
    fn workspace_of(&mut self, offered: &Offered, agent: &AgentVersion) -> Result<(), Error> {
        agent.workspace.as_deref().map_or(Ok(()), |workspace| apart(&mut *self.tx, offered, workspace))
    }
}
