//! Ends a seed: crashes stop, and everything that can be finished is finished.

use domain::action::ActionStatus;
use domain::{Command as Control, Delivery, SignedDuration, Status};

use store::Clock;

use crate::simulation::check::{self, holds};
use crate::simulation::command::{CommandKind, Reply};
use crate::simulation::deeds::Outcome;
use crate::simulation::questions::MARKER;
use crate::simulation::world::{Verdict, World};

impl World {
    /// Sends commands without a reply again, resumes paused sessions, lets all deadlines pass, completes all deliveries, and reads all logs.
    pub(crate) async fn run_to_the_end(&mut self) -> Verdict {
        self.tell(|| "it comes to an end".into());
        while let Some(command) = self.unanswered.pop() {
            let fresh = self.latest.duration_since(command.sent_at).as_hours() < 23;
            if fresh {
                self.together(vec![command.clone()], false).await?;
                self.unanswered.retain(|other| other.number != command.number);
            }
        }
        for tenant in 0..self.tenants.len() {
            self.resume_all(tenant).await?;
        }
        for tenant in 0..self.tenants.len() {
            self.act_all(tenant).await?;
        }
        self.pass(SignedDuration::from_hours(2));
        self.alone(0, 0, CommandKind::FireDue).await?;
        for tenant in 0..self.tenants.len() {
            self.deliver_all(tenant).await?;
        }
        for reader in 0..self.readers.projects.len() {
            self.read_project(reader).await?;
        }
        for reader in 0..self.readers.sessions.len() {
            self.read_session(reader).await?;
        }
        self.pass(SignedDuration::from_hours(3));
        self.alone(0, 0, CommandKind::Tidy).await?;
        self.alone(0, 0, CommandKind::FireDue).await?;
        self.add_up()
    }

    /// Runs one command of one agent while no other command runs.
    async fn alone(&mut self, tenant: usize, agent: usize, what: CommandKind) -> Result<Option<Reply>, String> {
        let by = self.tenants[tenant].agents[agent].clone();
        self.one(tenant, by, what).await
    }

    /// Runs one read as a person, because an agent would see only its own sessions.
    async fn reading(&mut self, tenant: usize, what: CommandKind) -> Result<Option<Reply>, String> {
        let by = self.tenants[tenant].people[0].clone();
        self.one(tenant, by, what).await
    }

    async fn one(&mut self, tenant: usize, by: domain::Caller, what: CommandKind) -> Result<Option<Reply>, String> {
        let command = self.numbered(tenant, by, what);
        let deeds = self.together(vec![command], false).await?;
        Ok(deeds.into_iter().find_map(|deed| match deed.outcome {
            Outcome::Told(reply) => Some(reply),
            _ => None,
        }))
    }

    async fn resume_all(&mut self, tenant: usize) -> Verdict {
        let paused = |session: &&domain::Session| session.paused.is_some() && session.ended.is_none();
        let paused: Vec<_> = self.books[tenant].sessions.values().filter(paused).map(|session| session.id).collect();
        let operator = self.tenants[tenant].people[0].clone();
        for session in paused {
            let resumed =
                self.one(tenant, operator.clone(), CommandKind::Control { session, command: Control::Resume }).await?;
            holds!(resumed.is_some(), "{session} cannot be resumed");
        }
        Ok(())
    }

    /// Checks that every action that may run can be started once, and its outcome reported.
    async fn act_all(&mut self, tenant: usize) -> Verdict {
        let (now, books) = (store::Clock::now(&self.clock), &self.books[tenant]);
        let alive = |action: &&domain::Action| books.sessions[&action.session].ended.is_none();
        let allowed = books.actions.values().filter(|action| action.status(now) == ActionStatus::Allowed).filter(alive);
        let allowed: Vec<_> = allowed.cloned().collect();
        for domain::Action { session, call_id: call, proposed_by, .. } in allowed {
            let by = self.tenants[tenant].named(&proposed_by.name).cloned().ok_or("a stranger proposed")?;
            let look = CommandKind::Decided { session, call: call.clone(), sleeps: false };
            let Some(Reply::Acted(acted)) = self.one(tenant, by.clone(), look).await? else {
                return Err(format!("{call} cannot be looked at"));
            };
            let Some(permit) = acted.permit else {
                // The permit has ended together with its grant.
                holds!(acted.action.status(acted.at) != ActionStatus::Allowed, "{call} is allowed and has no permit");
                continue;
            };
            let start =
                || CommandKind::StartAction { session, call: call.clone(), permit: permit.clone(), seconds: 60 };
            let started = self.one(tenant, by.clone(), start()).await?;
            if started.is_none() && self.books[tenant].policy.is_some() {
                // An action that the current policy denies or would ask about is not started under the ruling of the previous policy.
                continue;
            }
            holds!(started.is_some(), "{call} is allowed and cannot be started");
            let again = self.one(tenant, by.clone(), start()).await?;
            holds!(again.is_none(), "{call} was started a second time");
            let outcome = domain::Outcome::Done { result: serde_json::Value::Null };
            let done = self.one(tenant, by, CommandKind::Report { session, call: call.clone(), outcome }).await?;
            holds!(done.is_some(), "{call} was started and its outcome cannot be told");
        }
        Ok(())
    }

    /// Checks that every waiting answer can be taken and completed, unless its session ended too long ago.
    async fn deliver_all(&mut self, tenant: usize) -> Verdict {
        for agent in 0..self.tenants[tenant].agents.len() {
            let Some(Reply::Questions(waiting)) =
                self.alone(tenant, agent, CommandKind::Deliveries { sleeps: false }).await?
            else {
                return Err("the deliveries cannot be listed".into());
            };
            for question in waiting {
                let id = question.id;
                let taken = self.alone(tenant, agent, CommandKind::Take { id, seconds: 60 }).await?;
                let Some(Reply::Taken(taken)) = taken else { return Err(format!("{id} waits and cannot be taken")) };
                let completed = self.alone(tenant, agent, CommandKind::Complete { id, lease: taken.lease }).await?;
                holds!(completed.is_some(), "{id} is held and cannot be completed");
            }
            let name = &self.tenants[tenant].agents[agent].actor.name;
            let books = &self.books[tenant];
            let left = books.questions.values().find(|question| {
                let waits = matches!(question.delivery(), Some(Delivery::Waiting { .. } | Delivery::Processing { .. }));
                waits && question.origin.asked_by.name == *name && !books.archived.contains(&question.id)
            });
            holds!(left.is_none(), "an answer to {name} is left lying: {left:?}");
        }
        Ok(())
    }

    /// Checks that a reader of a project reaches the end of the log and has seen each event once.
    async fn read_project(&mut self, reader: usize) -> Verdict {
        let tenant = self.readers.projects[reader].tenant;
        while self.readers.projects[reader].seen < self.books[tenant].log.len() {
            let after = self.readers.projects[reader].cursor;
            let read = self.reading(tenant, CommandKind::ReadProject { reader, after }).await?;
            holds!(read.is_some(), "a reader of the project is stuck at {after}");
        }
        let (seen, log) = (self.readers.projects[reader].seen, self.books[tenant].log.len());
        holds!(seen == log, "a reader has seen {seen} of {log} events");
        Ok(())
    }

    async fn read_session(&mut self, reader: usize) -> Verdict {
        let (tenant, session) = (self.readers.sessions[reader].tenant, self.readers.sessions[reader].session);
        let Some(last) = self.books[tenant].sessions.get(&session).map(|session| session.last_seq) else {
            // The session belongs to the other tenant, so there is nothing to read.
            return Ok(());
        };
        while self.readers.sessions[reader].after < last {
            let after = self.readers.sessions[reader].after;
            let read = self.reading(tenant, CommandKind::ReadSession { reader, session, after, sleeps: false }).await?;
            holds!(read.is_some(), "a reader of {session} is stuck at {after}");
        }
        Ok(())
    }

    /// Checks at the end that nothing is due, that the log and the stored state agree from the first event on, and that no secret is on the disk.
    fn add_up(&self) -> Verdict {
        for (index, books) in self.books.iter().enumerate() {
            let whole = self.look(index, true);
            holds!(whole.log == books.log, "the log reads otherwise from its beginning");
            let late = |question: &&domain::Interaction| {
                let asked = &question.question;
                question.status() == Status::Pending && asked.deadline.is_some() && !asked.holds()
            };
            let late = books.questions.values().find(late);
            holds!(late.is_none(), "a question is open long after its deadline: {late:?}");
            let left = books.past_retention(self.clock.now()).find(|question| !books.archived.contains(&question.id));
            holds!(left.is_none(), "a question is kept for ever: {left:?}");
        }
        let engine = self.sound_engine();
        for (index, tenant) in self.tenants.iter().enumerate() {
            check::trail::check(&engine, crate::simulation::cast::TENANTS[index], tenant, &self.books[index])?;
        }
        // A search through the whole file takes long, so only a few seeds do it.
        let found = self.numbers.is_multiple_of(8) && self.on_disk(MARKER);
        holds!(!found, "a secret is on the disk");
        Ok(())
    }
}
