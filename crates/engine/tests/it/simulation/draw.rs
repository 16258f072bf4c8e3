//! Draws the next commands.

use domain::{Caller, Command as Control, Delivery, InteractionId, SessionId};
use store::Cursor;

use crate::simulation::command::{Command, CommandKind};
use crate::simulation::questions;
use crate::simulation::readers::{ProjectReader, SessionReader};
use crate::simulation::world::World;

/// Maximum age of a command that is sent again: idempotency keys are kept for 24 hours.
const RETRIED_FOR_HOURS: i64 = 23;

impl World {
    /// Draws the commands that run concurrently in one step. Often several are about one question.
    pub(crate) fn draw_together(&mut self) -> Vec<Command> {
        let count = [1, 1, 1, 2, 2, 3, 4][self.random.below(7)];
        let tenant = self.random.below(self.tenants.len());
        let hot = self.any_question(tenant);
        if self.random.one_in(8) {
            return self.draw_waking(tenant, hot);
        }
        (0..count).map(|_| self.draw(tenant, hot)).collect()
    }

    /// Draws a command that waits and a command that should wake it.
    fn draw_waking(&mut self, tenant: usize, hot: Option<InteractionId>) -> Vec<Command> {
        let books = &self.books[tenant];
        let held = books.questions.values().find(|question| {
            let session = &books.sessions[&question.origin.session];
            let waiting = matches!(question.delivery(), Some(Delivery::Waiting { .. }));
            waiting && session.paused.is_some() && session.ended.is_none()
        });
        let held = held.map(|question| (question.id, question.origin.session));
        let pair = match (held, hot) {
            (Some((id, session)), _) if !self.random.one_in(3) => {
                let operator = self.tenants[tenant].people[0].clone();
                let resume = CommandKind::Control { session, command: Control::Resume };
                [Some((self.asker(tenant, id), CommandKind::Deliveries { sleeps: true })), Some((operator, resume))]
            }
            (_, Some(id)) if self.random.one_in(2) => {
                let look = CommandKind::Look { id, sleeps: true };
                [Some((self.person(tenant), look)), self.draw_answer(tenant, id)]
            }
            (_, Some(id)) => {
                let wait = CommandKind::Deliveries { sleeps: true };
                [Some((self.asker(tenant, id), wait)), self.draw_answer(tenant, id)]
            }
            _ => [self.draw_reading(tenant), self.draw_ask(tenant)],
        };
        pair.into_iter().flatten().map(|(by, what)| self.numbered(tenant, by, what)).collect()
    }

    fn draw(&mut self, tenant: usize, hot: Option<InteractionId>) -> Command {
        if let Some(command) = self.draw_again() {
            return command;
        }
        if self.random.below(5) < 2 {
            let drawn = self.draw_acting(tenant).or_else(|| self.draw_ask(tenant));
            let (by, what) = drawn.unwrap_or_else(|| (self.agent(tenant), CommandKind::FireDue));
            return self.numbered(tenant, by, what);
        }
        let kind = self.random.below(100);
        let id = if self.random.one_in(2) { hot } else { self.any_question(tenant) };
        let drawn = match (kind, id) {
            (0..=19, _) => self.draw_ask(tenant),
            (20..=46, Some(id)) => self.draw_answer(tenant, id),
            (47..=68, Some(id)) => self.draw_delivery(tenant, id),
            (69..=74, Some(id)) => self.draw_other(tenant, id),
            (75..=79, _) => self.draw_control(tenant),
            (80..=84, Some(id)) => self.draw_wait(tenant, id),
            (85..=91, _) => self.draw_reading(tenant),
            (92..=93, _) => Some((self.agent(tenant), CommandKind::Tidy)),
            (94..=95, _) => Some((self.agent(tenant), CommandKind::Chain)),
            _ => Some((self.agent(tenant), CommandKind::FireDue)),
        };
        let (by, what) = drawn.unwrap_or_else(|| (self.agent(tenant), CommandKind::FireDue));
        self.numbered(tenant, by, what)
    }

    /// Turns a use case into a numbered command.
    pub(crate) fn numbered(&mut self, tenant: usize, by: Caller, what: CommandKind) -> Command {
        self.numbers += 1;
        let machinery = matches!(
            what,
            CommandKind::Look { .. }
                | CommandKind::Deliveries { .. }
                | CommandKind::Inbox
                | CommandKind::ReadSession { .. }
                | CommandKind::ReadProject { .. }
                | CommandKind::FireDue
                | CommandKind::Tidy
                | CommandKind::Chain
                | CommandKind::Decided { .. }
        );
        let keyed = !machinery && !self.random.one_in(4);
        Command { number: self.numbers, tenant, by, what, keyed, sent_at: store::Clock::now(&self.clock) }
    }

    /// Draws a command that got no reply, as long as its idempotency key is kept.
    fn draw_again(&mut self) -> Option<Command> {
        let latest = self.latest;
        self.unanswered.retain(|command| latest.duration_since(command.sent_at).as_hours() < RETRIED_FOR_HOURS);
        if self.unanswered.is_empty() || !self.random.one_in(4) {
            return None;
        }
        let index = self.random.below(self.unanswered.len());
        Some(self.unanswered.swap_remove(index))
    }

    fn draw_ask(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let title = format!("{} {}", crate::simulation::cast::TENANTS[tenant], self.numbers + 1);
        let person = self.random.one_in(6);
        let by = if person { self.person(tenant) } else { self.agent(tenant) };
        let alive = self.books[tenant].sessions.values().filter(|session| session.ended.is_none()).count();
        let session = self.any_session(tenant).filter(|_| alive > 0 && !self.random.one_in(5 * alive));
        let Some(session) = session else { return Some((by, CommandKind::Start { title })) };
        let ask = Box::new(questions::ask(&mut self.random, &title));
        // An agent asks in its own sessions, and occasionally tries to ask in another.
        let own = if person || self.random.one_in(8) { None } else { self.agents_session(tenant) };
        let (session, by) = own.unwrap_or((session, by));
        Some((by, CommandKind::Ask { session, ask }))
    }

    /// A running session that an agent started, and this agent.
    pub(crate) fn agents_session(&mut self, tenant: usize) -> Option<(SessionId, Caller)> {
        let agents = &self.tenants[tenant].agents;
        let own = |session: &domain::Session| {
            let agent = agents.iter().find(|agent| agent.actor.name == session.started_by.name);
            agent.filter(|_| session.ended.is_none()).map(|agent| (session.id, agent.clone()))
        };
        let found: Vec<(SessionId, Caller)> = self.books[tenant].sessions.values().filter_map(own).collect();
        self.random.pick(&found).cloned()
    }

    fn draw_answer(&mut self, tenant: usize, id: InteractionId) -> Option<(Caller, CommandKind)> {
        // Occasionally an agent tries to answer.
        let by = if self.random.one_in(20) { self.agent(tenant) } else { self.person(tenant) };
        if self.random.one_in(8) {
            let ids: Vec<InteractionId> = (0..3).filter_map(|_| self.any_question(tenant)).collect();
            let entries = ids.into_iter().map(|id| (id, self.say(tenant, id, &by))).collect();
            return Some((by, CommandKind::AnswerMany { entries }));
        }
        let draft = self.say(tenant, id, &by);
        Some((by, CommandKind::Answer { id, draft }))
    }

    fn say(&mut self, tenant: usize, id: InteractionId, by: &Caller) -> domain::AnswerDraft {
        let asked = self.books[tenant].questions.get(&id).or_else(|| self.books[1 - tenant].questions.get(&id));
        let Some(asked) = asked else { return domain::AnswerDraft::default() };
        let draft = questions::draft(&mut self.random, asked, &by.actor.name);
        crate::simulation::calls::elaborate(&mut self.random, asked, draft)
    }

    /// Draws a command of an agent about an answer. Sometimes the agent has lost its lease, or uses an old one.
    fn draw_delivery(&mut self, tenant: usize, id: InteractionId) -> Option<(Caller, CommandKind)> {
        let waiting = |delivery: Option<&Delivery>| matches!(delivery, Some(Delivery::Waiting { .. }));
        let books = &self.books[tenant].questions;
        let known: Vec<InteractionId> = books.values().filter(|q| waiting(q.delivery())).map(|q| q.id).collect();
        let mine: Vec<_> = self.leases.iter().filter(|lease| lease.0 == tenant).copied().collect();
        let lease = self.random.pick(&mine).copied();
        if let Some((_, id, lease)) = lease.filter(|_| self.random.one_in(2)) {
            let by = self.asker(tenant, id);
            let what = match self.random.below(9) {
                0..=4 => CommandKind::Complete { id, lease },
                5 => CommandKind::Heartbeat { id, lease },
                6 => CommandKind::Fail { id, lease, again: true },
                7 => CommandKind::Fail { id, lease, again: false },
                _ => {
                    // The agent crashes and loses its lease.
                    self.leases.retain(|held| held.1 != id);
                    CommandKind::Deliveries { sleeps: false }
                }
            };
            return Some((by, what));
        }
        let id = self.random.pick(&known).copied().unwrap_or(id);
        let by = if self.random.one_in(12) { self.agent(tenant) } else { self.asker(tenant, id) };
        let seconds = [1, 20, 300, 5000][self.random.below(4)];
        Some((by, CommandKind::Take { id, seconds }))
    }

    fn draw_other(&mut self, tenant: usize, id: InteractionId) -> Option<(Caller, CommandKind)> {
        let by = if self.random.one_in(4) { self.asker(tenant, id) } else { self.person(tenant) };
        let what = match self.random.below(9) {
            0..=2 => CommandKind::Claim { id },
            3 | 4 => CommandKind::Release { id },
            5 | 6 => CommandKind::Cancel { id },
            7 => CommandKind::Expire { id },
            _ => {
                let draft = self.say(tenant, id, &by);
                CommandKind::Auto { id, draft }
            }
        };
        Some((by, what))
    }

    fn draw_control(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let commands =
            [Control::Pause, Control::Pause, Control::Resume, Control::Resume, Control::Cancel, Control::Complete];
        let command = self.random.pick(&commands).copied()?;
        let by = if self.random.one_in(3) { self.agent(tenant) } else { self.person(tenant) };
        let paused = |session: &&domain::Session| session.paused.is_some() && session.ended.is_none();
        let paused = self.books[tenant].sessions.values().find(paused).map(|session| session.id);
        let session = paused.filter(|_| command == Control::Resume).or_else(|| self.any_session(tenant))?;
        Some((by, CommandKind::Control { session, command }))
    }

    fn draw_wait(&mut self, tenant: usize, id: InteractionId) -> Option<(Caller, CommandKind)> {
        let sleeps = self.random.one_in(2);
        let what = match self.random.below(4) {
            0 => CommandKind::Deliveries { sleeps },
            1 => CommandKind::Inbox,
            _ => CommandKind::Look { id, sleeps },
        };
        let by = if self.random.one_in(3) { self.person(tenant) } else { self.agent(tenant) };
        Some((by, what))
    }

    /// Draws a reader that continues from its position, or a new reader.
    fn draw_reading(&mut self, tenant: usize) -> Option<(Caller, CommandKind)> {
        let by = self.person(tenant);
        if self.random.one_in(2) {
            let begins = self.readers.projects.len() < 4 && self.random.one_in(3);
            if begins || !self.readers.projects.iter().any(|reader| reader.tenant == tenant) {
                self.readers.projects.push(ProjectReader { tenant, cursor: Cursor::default(), seen: 0 });
            }
            let of = |(_, reader): &(usize, &ProjectReader)| reader.tenant == tenant;
            let (reader, found) = self.readers.projects.iter().enumerate().rfind(of)?;
            return Some((by, CommandKind::ReadProject { reader, after: found.cursor }));
        }
        if self.readers.sessions.len() < 6 {
            let session = self.any_session(tenant)?;
            self.readers.sessions.push(SessionReader { tenant, session, after: 0 });
        }
        let of = |(_, reader): &(usize, &SessionReader)| reader.tenant == tenant;
        let mine: Vec<(usize, &SessionReader)> = self.readers.sessions.iter().enumerate().filter(of).collect();
        let (reader, SessionReader { session, after, .. }) = *self.random.pick(&mine)?;
        let (session, after) = (*session, *after);
        Some((by, CommandKind::ReadSession { reader, session, after, sleeps: self.random.one_in(2) }))
    }

    pub(crate) fn agent(&mut self, tenant: usize) -> Caller {
        let agents = &self.tenants[tenant].agents;
        agents[self.random.below(agents.len())].clone()
    }

    fn person(&mut self, tenant: usize) -> Caller {
        let people = &self.tenants[tenant].people;
        people[self.random.below(people.len())].clone()
    }

    fn asker(&mut self, tenant: usize, id: InteractionId) -> Caller {
        let asked = self.books[tenant].questions.get(&id);
        let asker = asked.and_then(|asked| self.tenants[tenant].named(&asked.origin.asked_by.name));
        asker.cloned().unwrap_or_else(|| self.tenants[tenant].agents[0].clone())
    }

    /// Picks a question, usually an open one, and occasionally one of the other tenant.
    fn any_question(&mut self, tenant: usize) -> Option<InteractionId> {
        let of = if self.random.one_in(25) { 1 - tenant } else { tenant };
        let pending = |question: &&domain::Interaction| question.status() == domain::Status::Pending;
        let questions = &self.books[of].questions;
        let open: Vec<InteractionId> = questions.values().filter(pending).map(|question| question.id).collect();
        if !open.is_empty() && !self.random.one_in(4) {
            return self.random.pick(&open).copied();
        }
        let all: Vec<InteractionId> = questions.keys().copied().collect();
        self.random.pick(&all).copied()
    }

    pub(crate) fn any_session(&mut self, tenant: usize) -> Option<SessionId> {
        let of = if self.random.one_in(25) { 1 - tenant } else { tenant };
        let sessions = &self.books[of].sessions;
        let alive: Vec<SessionId> =
            sessions.values().filter(|session| session.ended.is_none()).map(|session| session.id).collect();
        if !alive.is_empty() && !self.random.one_in(10) {
            return self.random.pick(&alive).copied();
        }
        let all: Vec<SessionId> = sessions.keys().copied().collect();
        self.random.pick(&all).copied()
    }
}
