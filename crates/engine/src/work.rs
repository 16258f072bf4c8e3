//! What every command shares: the transaction, the time, fresh ids, and what is to be performed after the commit.

use domain::audit::{Entry, How, particulars};
use domain::interaction::Change;
use domain::{
    Actor, Caller, Command, Delivery, EntryPoint, Event, EventDraft, Interaction, InteractionId, ProjectId, Question,
    Refusal, Resolution, Scope, Session, SessionId, SignedDuration, State, Status, StepEnd, Timestamp, session::Ending,
    session::Note,
};
use serde_json::Value;
use store::{Topic, Tx};

use crate::open_count::OpenChanges;
use crate::presence::Presence;
use crate::seen::Seen;
use crate::settle::Alongside;
use crate::sight::Sight;
use crate::{Engine, Error, Ids, Settings};

/// One command at work.
pub(crate) struct Work<'a> {
    pub(crate) tx: &'a mut dyn Tx,
    pub(crate) now: Timestamp,
    pub(crate) ids: &'a Ids,
    pub(crate) settings: &'a Settings,
    pub(crate) doer: &'a Doer,
    pub(crate) effects: &'a mut Effects,
    /// What an answer brings with it for the action that it is about.
    pub(crate) alongside: Alongside,
    /// The caller for whom it runs.
    pub(crate) presence: Presence,
    /// The questions that it has opened and closed so far: counted at its end.
    pub(crate) open: OpenChanges,
}

/// How a question is put.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    /// How long people have.
    pub(crate) time: Option<SignedDuration>,
    /// The trace that it was asked in.
    pub(crate) traceparent: Option<String>,
    /// Whether it is refused where whoever asks, or the tenant, has as much open as they may. What follows from something that has happened
    /// already is asked all the same.
    pub(crate) within_budget: bool,
}

/// Who does it, and how: what the audit trail says of everything that a command does.
#[derive(Debug, Clone)]
pub(crate) struct Doer {
    pub(crate) actor: Actor,
    pub(crate) how: How,
}

impl Doer {
    /// A caller. Only for [`Engine::transact_by`], which reads the credential again.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self { actor: caller.actor.clone(), how: How::of(caller) }
    }

    /// A worker, in the name of the agent that it runs.
    pub(crate) fn worker(agent: &Actor) -> Self {
        Self { actor: agent.clone(), how: How::by(EntryPoint::Worker) }
    }

    /// Holdpoint itself, through a door that needs no key.
    pub(crate) fn system(wire: EntryPoint) -> Self {
        Self { actor: Actor::system(), how: How::by(wire) }
    }
}

/// What is performed after the commit, and never if there is none.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) topics: Vec<Topic>,
    pub(crate) wake_at: Option<Timestamp>,
    pub(crate) seen: Vec<Seen>,
    /// How long an answer had waited when its agent took it.
    pub(crate) taken_after: Option<SignedDuration>,
    /// Policies that are now known to be kept.
    pub(crate) policies_kept: Vec<(ProjectId, String)>,
}

impl Work<'_> {
    /// Locks a session.
    pub(crate) fn session(&mut self, scope: &Scope, id: SessionId) -> Result<Session, Error> {
        Ok(self.tx.session_lock(scope, id)?.ok_or(Refusal::NotFound("session"))?)
    }

    /// Locks the session of a question, then reads the question.
    pub(crate) fn question(&mut self, scope: &Scope, id: InteractionId) -> Result<(Session, Interaction), Error> {
        let Some(session) = self.tx.session_of(scope, id)? else {
            let archived = self.tx.interaction(scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
            return Err(Refusal::AlreadyResolved(Box::new(archived)).into());
        };
        let session = self.session(scope, session)?;
        let interaction = self.tx.interaction(scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
        Ok((session, interaction))
    }

    /// Puts a question to people, and its step to sleep. The session is saved at the end.
    pub(crate) fn ask(
        &mut self,
        session: &mut Session,
        by: Actor,
        question: Question,
        asking: &Asking,
    ) -> Result<Interaction, Error> {
        session.opened(question.kind.blocks(), self.settings.most_open)?;
        let id = self.ids.interaction(self.now);
        let question = question.timed(asking.time, self.settings.warning, self.now);
        let (mut interaction, happening) = Interaction::ask(id, session, by, question, self.now);
        interaction.origin.traceparent.clone_from(&asking.traceparent);
        interaction.origin.hosted = self.doer.how.entry_point == EntryPoint::Worker;
        self.tx.interaction_insert(&interaction)?;
        self.open.opened(&interaction, asking.within_budget);
        self.happened(session, Some(id), happening)?;
        self.spoken(session, &interaction)?;
        self.noticed(&interaction, interaction.status());
        self.effects.seen.push(Seen::asked(&interaction));
        Ok(interaction)
    }

    /// The same for the agent that asked, who is told that an answer in the archive is handed out no more.
    pub(crate) fn delivery(&mut self, caller: &Caller, id: InteractionId) -> Result<(Session, Interaction), Error> {
        let (session, interaction) = match self.question(&caller.scope, id) {
            Err(Error::Refused(Refusal::AlreadyResolved(archived))) => {
                self.deliverable(caller, &archived)?;
                let over = archived.delivery().filter(|delivery| delivery.over());
                return Err(Refusal::DeliveryClosed(over.map_or("archived", Delivery::name)).into());
            }
            found => found?,
        };
        self.deliverable(caller, &interaction)?;
        Ok((session, interaction))
    }

    /// Refuses whoever is not the agent that asked; to one that does not read the question, there is none.
    fn deliverable(&mut self, caller: &Caller, interaction: &Interaction) -> Result<(), Error> {
        let refused = interaction.deliverable_to(&caller.actor);
        if refused.is_err() {
            Sight::of(&mut *self.tx, caller)?.question(&mut *self.tx, &caller.scope, interaction.id)?;
        }
        Ok(refused?)
    }

    /// Saves a change of a question that was open, or not, before; counts and records it. The session is saved at the end.
    pub(crate) fn changed(
        &mut self,
        session: &mut Session,
        was: Status,
        (interaction, happening): Change,
    ) -> Result<Interaction, Error> {
        if was == Status::Pending && interaction.status() != Status::Pending {
            session.closed(interaction.question.kind.blocks());
            self.open.closed(&interaction);
        }
        self.tx.interaction_save(&interaction)?;
        if interaction.delivery().is_some_and(Delivery::over) && !session.hosted {
            // Nobody will be handed it any more. What a step of ours was given stays with its session.
            self.tx.sealed_drop(&interaction.scope, interaction.id)?;
        }
        self.happened(session, Some(interaction.id), happening)?;
        self.noticed(&interaction, was);
        if was == Status::Pending && interaction.status() != Status::Pending {
            self.replied(session, &interaction)?;
            self.settle(session, &interaction)?;
            self.count_answer(session, &interaction)?;
            self.wake(session)?;
            self.carried(session, &interaction)?;
        }
        Ok(interaction)
    }

    /// Records what happened, numbered by its session: as an event, and on the audit trail.
    pub(crate) fn happened(
        &mut self,
        session: &mut Session,
        about: Option<InteractionId>,
        happening: EventDraft,
    ) -> Result<Event, Error> {
        let event = self.recorded(session, about, happening)?;
        self.tx.event_append(&session.scope, &event)?;
        Ok(event)
    }

    /// Numbers what happened and puts it on the audit trail. The event is still to be appended: the session may be new.
    pub(crate) fn recorded(
        &mut self,
        session: &mut Session,
        about: Option<InteractionId>,
        happening: EventDraft,
    ) -> Result<Event, Error> {
        let entry = self.entry(&session.scope, &happening);
        let event = session.record(self.ids.event(self.now), happening, about, self.now);
        let entry = Entry { session: Some(session.id), event: Some(event.seq), interaction: about, ..entry };
        self.tx.audit_append(&entry.written())?;
        Ok(event)
    }

    /// Puts on the audit trail what was done outside any session.
    pub(crate) fn audited(&mut self, scope: &Scope, happening: &EventDraft) -> Result<(), Error> {
        let entry = self.entry(scope, happening);
        Ok(self.tx.audit_append(&entry.written())?)
    }

    fn entry(&self, scope: &Scope, happening: &EventDraft) -> Entry {
        let (by, data) = particulars(happening, &self.doer.actor);
        Entry {
            id: self.ids.entry(self.now),
            scope: *scope,
            at: self.now,
            name: happening.name.to_owned(),
            by,
            how: self.doer.how.clone(),
            session: None,
            event: None,
            interaction: None,
            data,
        }
    }

    /// Saves the session and has everybody who watches it woken. What nobody took in one that has ended is only kept.
    pub(crate) fn saved(&mut self, session: &Session) -> Result<(), Error> {
        self.tx.session_save(session)?;
        if session.ended.is_some() {
            self.tx.untaken_retire(&session.scope, session.id)?;
        }
        self.watched(session);
        Ok(())
    }

    /// Has everybody woken who watches a session.
    pub(crate) fn watched(&mut self, session: &Session) {
        self.effects.topics.push(Topic::Session(session.id));
        self.effects.topics.push(Topic::Project(session.scope.project));
        self.effects.topics.push(Topic::Channel(session.scope.project, session.head.channel.clone()));
    }

    /// Gathers what outside observers are told of a question: bells, timers, figures, log lines.
    pub(crate) fn noticed(&mut self, interaction: &Interaction, was: Status) {
        self.woken_at(interaction.wake_at());
        if let (Some(Delivery::Waiting { .. }), Some(agent)) = (interaction.delivery(), interaction.taker()) {
            self.effects.topics.push(Topic::Agent(interaction.scope.project, agent.to_owned()));
        }
        // What was handed over is counted once, where it was asked.
        if was != interaction.status() && interaction.origin.handed_from.is_none() {
            self.effects.seen.push(Seen::closed(interaction));
        }
    }

    /// Has the timers look at this moment, if it comes before the one that they sleep until.
    pub(crate) fn woken_at(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.effects.wake_at = Some(self.effects.wake_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Ends a session, or pauses and resumes it; what ends closes its open questions with the same reason.
    pub(crate) fn control(&mut self, session: Session, command: Command, note: Note) -> Result<Session, Error> {
        let (by, reason) = (note.by.clone(), note.reason.clone());
        let held = session.going_on().is_err();
        let (mut session, happening) = session.control(command, note)?;
        if let Some((ending, _)) = &session.ended {
            let (scope, ending) = (session.scope, *ending);
            let told = reason.unwrap_or_else(|| format!("the session was {}", session.status().name()));
            for id in self.tx.open_of(&scope, session.id)? {
                let interaction = self.tx.interaction(&scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
                let change = interaction.cancel(by.clone(), told.clone(), self.now)?;
                self.changed(&mut session, Status::Pending, change)?;
            }
            for step in self.tx.steps(&scope, session.id)? {
                if step.alive() {
                    let step = self.cut_short(&session, step, &told)?;
                    let end = StepEnd { how: ending.of_step(), output: Value::Null, reason: Some(told.clone()) };
                    let step = step.end(end, self.now);
                    self.tx.step_save(&scope, &step)?;
                    if step.lease.is_some() {
                        self.happened(&mut session, None, step.told(&by))?;
                    }
                }
            }
            if session.hosted {
                self.left_unstarted(&mut session, None, &told)?;
                self.left_untaken(&mut session, None, &told)?;
                // Nobody is left who could be handed it. What has failed may be taken up all the same, and has to be hidden then.
                self.tx.sealed_retire(&scope, session.id, Some(self.now))?;
                if ending != Ending::Failed {
                    self.tx.sealed_drop_of(&scope, session.id)?;
                }
            }
        }
        self.happened(&mut session, None, happening)?;
        if held && session.going_on().is_ok() {
            self.offered(&session)?;
            self.wake(&session)?;
        }
        Ok(session)
    }

    /// Has the agents woken whose answers were held back while the session was paused.
    fn offered(&mut self, session: &Session) -> Result<(), Error> {
        let takers = self.tx.takers(&session.scope, session.id)?;
        self.effects.topics.extend(takers.into_iter().map(|agent| Topic::Agent(session.scope.project, agent)));
        Ok(())
    }

    /// An answer that ends the session does so in the same transaction.
    pub(crate) fn terminated(&mut self, session: Session, interaction: &Interaction) -> Result<Session, Error> {
        let State::Resolved {
            resolution: Resolution::Answered { answer, .. } | Resolution::AutoResolved { answer, .. },
            ..
        } = &interaction.state
        else {
            return Ok(session);
        };
        if answer.effect != domain::Effect::Terminate || session.alive().is_err() {
            return Ok(session);
        }
        let reason = answer.feedback.clone().unwrap_or_else(|| format!("ended by {}", answer.by.name));
        let note = Note { by: answer.by.clone(), at: self.now, reason: Some(reason) };
        self.control(session, Command::Cancel, note)
    }
}

impl Engine {
    /// Commit, then ring.
    pub(crate) fn perform(&self, effects: Effects) {
        let Effects { mut topics, wake_at, seen, taken_after, policies_kept } = effects;
        self.policies.remember(policies_kept);
        topics.dedup();
        if wake_at.is_some_and(|at| self.sooner(at)) {
            topics.push(Topic::Timers);
        }
        topics.iter().for_each(|topic| self.bell.ring(topic));
        if !topics.is_empty() {
            self.store.publish(&topics);
        }
        seen.iter().for_each(Seen::report);
        if let Some(waited) = taken_after {
            metrics::histogram!("flow_delivery_latency_seconds").record(waited.as_secs_f64().max(0.0));
        }
    }

    /// Whether an agent may steer this session as its own.
    pub(crate) fn steers(caller: &Caller, session: &Session) -> Result<(), Error> {
        if caller.role == domain::Role::Agent && session.started_by == caller.actor {
            return Ok(());
        }
        Ok(caller.require(domain::access::Right::Steer)?)
    }
}
