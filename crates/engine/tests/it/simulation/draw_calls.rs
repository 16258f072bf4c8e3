//! Draws the next commands of agents about actions, and of people about grants and the policy.

use domain::{ActionState, AnswerDraft, Caller, Interaction, Outcome, Role, SessionId, Status};
use serde_json::{Value, json};

use crate::simulation::calls;
use crate::simulation::command::CommandKind;
use crate::simulation::questions;
use crate::simulation::world::World;

impl World {
    /// Draws a command about an action, a grant or the policy.
    pub(crate) fn draw_acting(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let drawn = match self.random.below(40) {
            0..=10 => None,
            11..=20 => self.draw_decision(tenant),
            21..=28 => self.draw_start(tenant),
            29..=34 => self.draw_outcome(tenant),
            35 | 36 => self.draw_decided(tenant),
            37 => self.draw_revoke(tenant),
            _ => self.draw_policy(tenant),
        };
        drawn.or_else(|| self.draw_propose(tenant))
    }

    /// Draws an answer to a question about an action, usually one that lets it run.
    fn draw_decision(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let open = |asked: &&Interaction| asked.question.call_id.is_some() && asked.status() == Status::Pending;
        let open: Vec<Interaction> = self.books[tenant].questions.values().filter(open).cloned().collect();
        let asked = self.random.pick(&open)?;
        let runs: Vec<_> = asked.question.options.iter().filter(|option| option.effect.runs_action()).collect();
        let people = &self.tenants[tenant].people;
        let by = people[self.random.below(people.len())].clone();
        let draft = match self.random.pick(&runs) {
            Some(option) if !self.random.one_in(4) => {
                AnswerDraft { options: vec![option.id.clone()], ..AnswerDraft::default() }
            }
            _ => questions::draft(&mut self.random, asked, &by.actor.name),
        };
        let draft = calls::elaborate(&mut self.random, asked, draft);
        Some((by, CommandKind::Answer { id: asked.id, draft }))
    }

    fn draw_propose(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        // An agent proposes in its own sessions, and occasionally tries another.
        let own = if self.random.one_in(8) { None } else { self.agents_session(tenant) };
        let (session, by) = match own {
            Some(own) => own,
            None => (self.any_session(tenant)?, self.agent(tenant)),
        };
        // There are only a few call identifiers, so that one call comes again, with equal or with other arguments.
        let call = format!("call-{}", self.random.below(6));
        let known = self.books[tenant].actions.get(&(session, call.clone()));
        let mut propose = calls::propose(&mut self.random, call, crate::simulation::cast::TENANTS[tenant]);
        let by = match known {
            Some(known) if !self.random.one_in(4) => {
                propose.call = known.call.clone();
                self.tenants[tenant].named(&known.proposed_by.name).cloned().unwrap_or(by)
            }
            _ => by,
        };
        Some((by, CommandKind::Propose { session, propose }))
    }

    /// Draws the start of an action, usually with its own permit, and occasionally with another one.
    fn draw_start(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let allowed = self.any_call(tenant, |state| matches!(state, ActionState::Allowed { .. }));
        let of = |name: &(SessionId, String)| {
            let given = self.permits.iter().rev();
            given.filter(|(of, ..)| *of == tenant).find(|(_, session, call, _)| (session, call) == (&name.0, &name.1))
        };
        let good = allowed.as_ref().and_then(of).cloned();
        if let (None, Some((session, call))) = (&good, allowed) {
            let by = self.proposer(tenant, session, &call);
            return Some((by, CommandKind::Decided { session, call, sleeps: false }));
        }
        let stale = self.random.below(self.permits.len().max(1));
        let any = self.permits.get(stale).filter(|permit| permit.0 == tenant).cloned();
        let (_, mut session, mut call, permit) = good.filter(|_| !self.random.one_in(8)).or(any)?;
        if self.random.one_in(10) {
            (session, call) = self.any_call(tenant, |_| true)?;
        }
        let by = self.proposer(tenant, session, &call);
        let seconds = [1, 30, 300, 5000][self.random.below(4)];
        Some((by, CommandKind::StartAction { session, call, permit, seconds }))
    }

    fn draw_outcome(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let running = |state: &ActionState| matches!(state, ActionState::Started { .. } | ActionState::Unknown { .. });
        let running = if self.random.one_in(10) { None } else { self.any_call(tenant, running) };
        let (session, call) = match running {
            Some(found) => found,
            None => self.any_call(tenant, |_| true)?,
        };
        let outcome = match self.random.below(5) {
            0..=2 => Outcome::Done { result: json!({ "bytes": 5 }) },
            3 => Outcome::Failed { message: "the disk is full".into(), result: Value::Null },
            _ => Outcome::Unknown,
        };
        let by = self.proposer(tenant, session, &call);
        Some((by, CommandKind::Report { session, call, outcome }))
    }

    fn draw_decided(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let waiting = |state: &ActionState| matches!(state, ActionState::Waiting { .. });
        let found = self.any_call(tenant, waiting);
        let (session, call) = match found {
            Some(found) => found,
            None => self.any_call(tenant, |_| true)?,
        };
        let by = self.proposer(tenant, session, &call);
        Some((by, CommandKind::Decided { session, call, sleeps: self.random.one_in(2) }))
    }

    fn draw_revoke(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let of = if self.random.one_in(10) { 1 - tenant } else { tenant };
        let grants: Vec<_> = self.books[of].grants.keys().copied().collect();
        let id = *self.random.pick(&grants)?;
        let people = &self.tenants[tenant].people;
        let by = people[self.random.below(people.len())].clone();
        Some((by, CommandKind::Revoke { id }))
    }

    fn draw_policy(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let by = self.tenants[tenant].people.iter().find(|person| person.role == Role::Admin)?.clone();
        let what = match self.random.below(4) {
            0 => CommandKind::Switch { enabled: false },
            1 => CommandKind::Switch { enabled: true },
            _ => CommandKind::PutPolicy { number: self.random.below(3) },
        };
        Some((by, what))
    }

    /// Picks the call of an action in a fitting state.
    fn any_call(&mut self, tenant: usize, fits: impl Fn(&ActionState) -> bool) -> Option<(SessionId, String)> {
        let of = if self.random.one_in(25) { 1 - tenant } else { tenant };
        let found = self.books[of].actions.iter().filter(|(_, action)| fits(&action.state));
        let found: Vec<_> = found.map(|(name, _)| name.clone()).collect();
        self.random.pick(&found).cloned()
    }

    /// Agent that proposed the action, and occasionally another agent.
    fn proposer(&mut self, tenant: usize, session: SessionId, call: &str) -> Caller {
        let known = self.books[tenant].actions.get(&(session, call.to_owned()));
        let proposer = known.and_then(|known| self.tenants[tenant].named(&known.proposed_by.name));
        let agents = &self.tenants[tenant].agents;
        let other = &agents[self.random.below(agents.len())];
        proposer.filter(|_| !self.random.one_in(12)).unwrap_or(other).clone()
    }
}
