//! One session with its questions, run as the engine runs it: apply the change, count open questions, number the event, close what has
//! ended.

use holdpoint_domain::interaction::Change;
use holdpoint_domain::session::Note;
use holdpoint_domain::{
    AnswerId, AutoSource, Caller, Command, Effect, Event, EventDraft, EventId, FormProof, Interaction, InteractionId,
    LeaseId, Refusal, Resolution, Role, Session, State, Status, Timestamp,
};
use serde_json::{Value, json};

use crate::common::people::{at, caller, session, uuid};
use crate::common::questions::{draft, question};

/// Largest number of open questions.
pub(crate) const MOST: u32 = 4;

/// Participants: name, role, groups.
pub(crate) const ACTORS: [(&str, Role, &[&str]); 8] = [
    ("bot", Role::Agent, &["ops"]),
    ("twin", Role::Agent, &[]),
    ("starter", Role::Operator, &["ops"]),
    ("alice", Role::Operator, &["ops", "law"]),
    ("bob", Role::Operator, &["law"]),
    ("carol", Role::Operator, &["ops"]),
    ("victor", Role::Viewer, &["pets"]),
    ("root", Role::Admin, &[]),
];

/// Fields of the questions that are asked.
pub(crate) const TEMPLATES: [&str; 11] = [
    r#"{"kind":"approval","action":{"tool":"pay","arguments":{"n":1}}}"#,
    r#"{"kind":"approval","action":{"tool":"pay","arguments":{"n":1}},"audience":{"quorum":2},"fallback":"deny"}"#,
    r#"{"kind":"approval","action":{"tool":"pay","arguments":{"n":1}},
        "audience":{"quorum":2,"distinct_groups":true,"named":{"groups":["ops","law"]}}}"#,
    r#"{"kind":"approval","action":{"tool":"pay","arguments":{"n":1}},
        "audience":{"quorum":2,"four_eyes":true,"named":{"groups":["ops"]}},
        "requirements":[{"quorum":1,"named":{"roles":["admin","operator"]}},
                        {"quorum":2,"four_eyes":true,"named":{"groups":["ops"]}},
                        {"quorum":1,"named":{"users":["bob","victor"]}}]}"#,
    r#"{"kind":"confirmation","audience":{"quorum":1,"four_eyes":true},"fallback":"hold"}"#,
    r#"{"kind":"choice","multiple":true,"options":[{"id":"a","label":"A","effect":"provide","metadata":{"x":0.1}},
        {"id":"b","label":"B","effect":"provide"}],"fallback":{"option":"a"}}"#,
    r#"{"kind":"question","required":false,"fallback":{"value":"blue"}}"#,
    r#"{"kind":"form","schema":{"type":"object"},"required":false,
        "audience":{"quorum":1,"named":{"users":["victor","alice"]}}}"#,
    r#"{"kind":"secret","secrets":[{"name":"TOKEN","required":true}]}"#,
    r#"{"kind":"notice","required":false}"#,
    r#"{"kind":{"custom":"vote"},"audience":{"quorum":2,"named":{"roles":["viewer","operator"]}}}"#,
];

/// Answers that are given, valid or not.
pub(crate) const DRAFTS: [&str; 11] = [
    r#"{"effect":"approve"}"#,
    r#"{"effect":"approve","feedback":"fine"}"#,
    r#"{"effect":"edit","arguments":{"n":2}}"#,
    r#"{"effect":"edit"}"#,
    r#"{"effect":"retry","feedback":"smaller"}"#,
    r#"{"effect":"reject"}"#,
    r#"{"effect":"terminate"}"#,
    r#"{"effect":"skip"}"#,
    r#"{"options":["a"]}"#,
    r#"{"options":["b","a"]}"#,
    r#"{"data":{"TOKEN":"t"}}"#,
];

/// One action of a participant or of the clock.
#[derive(Debug, Clone)]
pub(crate) enum WorldAction {
    Ask { who: usize, template: usize, due: Option<i64> },
    Answer { who: usize, which: usize, draft: usize },
    Auto { who: usize, which: usize, draft: usize },
    Expire { which: usize },
    Cancel { who: usize, which: usize },
    Claim { who: usize, which: usize, span: i64 },
    Release { who: usize, which: usize },
    Take { who: usize, which: usize, span: i64 },
    Heartbeat { which: usize, back: usize, span: i64 },
    Complete { which: usize, back: usize },
    Fail { which: usize, back: usize, again: bool },
    Tick { which: usize },
    Jump(i64),
    Control { who: usize, command: Command },
}

/// Complete state of a session.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) session: Session,
    pub(crate) interactions: Vec<Interaction>,
    pub(crate) events: Vec<Event>,
    /// Leases of each question, the newest last.
    pub(crate) leases: Vec<Vec<LeaseId>>,
    pub(crate) now: i64,
    /// Lease that the last deed used.
    pub(crate) used: Option<LeaseId>,
    ids: u128,
}

impl World {
    pub(crate) fn new() -> Self {
        let (session, now) = (session(), 0);
        Self { session, interactions: vec![], events: vec![], leases: vec![], now, used: None, ids: 100 }
    }

    pub(crate) fn now(&self) -> Timestamp {
        at(self.now)
    }

    /// Applies a deed. A refused deed changes only the time.
    pub(crate) fn play(&mut self, deed: &WorldAction) {
        self.used = None;
        match *deed {
            WorldAction::Jump(span) => self.now += span,
            WorldAction::Ask { who, template, due } => self.ask(&actor(who), TEMPLATES[template], due),
            WorldAction::Control { who, command } => self.control(&actor(who), command),
            WorldAction::Answer { which, .. }
            | WorldAction::Auto { which, .. }
            | WorldAction::Expire { which }
            | WorldAction::Cancel { which, .. }
            | WorldAction::Claim { which, .. }
            | WorldAction::Release { which, .. }
            | WorldAction::Take { which, .. }
            | WorldAction::Heartbeat { which, .. }
            | WorldAction::Complete { which, .. }
            | WorldAction::Fail { which, .. }
            | WorldAction::Tick { which } => {
                if !self.interactions.is_empty() {
                    self.change(which % self.interactions.len(), deed);
                }
            }
        }
    }

    fn ask(&mut self, by: &Caller, template: &str, due: Option<i64>) {
        let mut fields: Value = serde_json::from_str(template).unwrap();
        match due {
            Some(due) => {
                fields["deadline"] = json!(at(self.now + due));
                fields["warn_at"] = json!(at(self.now + due - 60));
            }
            None => fields["fallback"] = Value::Null,
        }
        let question = question(fields).admit().unwrap();
        if self.session.count_opened(question.kind.blocks(), MOST).is_ok() {
            let id = InteractionId::from_uuid(self.id());
            let (asked, event_draft) = Interaction::ask(id, &self.session, by.actor.clone(), question, self.now());
            self.interactions.push(asked);
            self.leases.push(vec![]);
            self.record(&event_draft, Some(id));
        }
    }

    fn control(&mut self, by: &Caller, command: Command) {
        let note = Note { by: by.actor.clone(), at: self.now(), reason: Some("because".into()) };
        let Ok((session, event_draft)) = self.session.clone().control(command, note) else { return };
        self.session = session;
        self.record(&event_draft, None);
        if self.session.ended.is_some() {
            for index in 0..self.interactions.len() {
                let cancelled =
                    self.interactions[index].clone().cancel(by.actor.clone(), "it ended".into(), self.now());
                self.keep(index, cancelled.ok().map(|(after, event_draft)| (after, Some(event_draft))));
            }
        }
    }

    fn change(&mut self, index: usize, deed: &WorldAction) {
        let change = self.attempt(index, deed);
        self.keep(index, change);
        let terminated = match &self.interactions[index].state {
            State::Resolved { resolution: Resolution::Answered { answer, .. }, .. } => {
                answer.effect == Effect::Terminate
            }
            State::Resolved { .. } | State::Pending(_) => false,
        };
        if terminated {
            self.control(&caller("holdpoint", Role::Admin, &[]), Command::Cancel);
        }
    }

    fn attempt(&mut self, index: usize, deed: &WorldAction) -> Option<(Interaction, Option<EventDraft>)> {
        let (it, now) = (self.interactions[index].clone(), self.now());
        let later = |span: i64| at(self.now + span);
        let with_event = |change: Result<Change, Refusal>| change.ok().map(|(after, event)| (after, Some(event)));
        match *deed {
            WorldAction::Answer { who, draft, .. } => {
                let reviewer = it.admit(&actor(who)).ok()?;
                with_event(it.answer(&reviewer, self.answer_id(), said(draft), Some(FormProof::checked()), now))
            }
            WorldAction::Auto { who, draft, .. } => {
                let by = (self.answer_id(), actor(who).actor, AutoSource::AutoPolicy);
                with_event(it.auto_resolve(by, said(draft), Some(FormProof::checked()), now))
            }
            WorldAction::Expire { .. } => {
                with_event(it.expire(self.answer_id(), &holdpoint_domain::Actor::system(), now))
            }
            WorldAction::Cancel { who, .. } => with_event(it.cancel(actor(who).actor, "moot".into(), now)),
            WorldAction::Claim { who, span, .. } => {
                let reviewer = it.admit(&actor(who)).ok()?;
                with_event(it.claim(&reviewer, now, later(span)))
            }
            WorldAction::Release { who, .. } => with_event(it.release(&actor(who))),
            WorldAction::Take { who, span, .. } => {
                self.session.require_not_paused().ok()?;
                let until = later(span);
                let lease = LeaseId::from_uuid(self.id());
                let change = it.take(&actor(who).actor, lease, now, until).ok()?;
                self.leases[index].push(lease);
                with_event(Ok(change))
            }
            WorldAction::Heartbeat { back, span, .. } => {
                let until = later(span);
                let lease = self.lease(index, back)?;
                it.heartbeat(lease, now, until).ok().map(|after| (after, None))
            }
            WorldAction::Complete { back, .. } => with_event(it.complete(self.lease(index, back)?, now)),
            WorldAction::Fail { back, again, .. } => {
                with_event(it.fail(self.lease(index, back)?, "no".into(), again, now))
            }
            WorldAction::Tick { .. } => it.tick(self.answer_id(), now).map(|(after, event)| (after, Some(event))),
            WorldAction::Ask { .. } | WorldAction::Jump(_) | WorldAction::Control { .. } => None,
        }
    }

    /// Stores a change: the question, the number of open questions, and the event.
    fn keep(&mut self, index: usize, change: Option<(Interaction, Option<EventDraft>)>) {
        let Some((after, event_draft)) = change else { return };
        let closed = self.interactions[index].status() == Status::Pending && after.status() != Status::Pending;
        if closed {
            self.session.count_closed(after.question.kind.blocks());
        }
        let about = after.id;
        self.interactions[index] = after;
        if let Some(event_draft) = event_draft {
            self.record(&event_draft, Some(about));
        }
    }

    fn record(&mut self, event_draft: &EventDraft, about: Option<InteractionId>) {
        let (id, now) = (EventId::from_uuid(self.id()), self.now());
        let event = self.session.record(id, event_draft, about, now);
        self.events.push(event);
    }

    /// Lease of a question: the newest, or an older one.
    fn lease(&mut self, index: usize, back: usize) -> Option<LeaseId> {
        let given = &self.leases[index];
        self.used = given.len().checked_sub(1 + back).map(|newest| given[newest]);
        self.used
    }

    fn answer_id(&mut self) -> AnswerId {
        AnswerId::from_uuid(self.id())
    }

    fn id(&mut self) -> uuid::Uuid {
        self.ids += 1;
        uuid(self.ids)
    }
}

/// Caller with this number.
pub(crate) fn actor(number: usize) -> Caller {
    let (name, role, groups) = ACTORS[number];
    caller(name, role, groups)
}

fn said(number: usize) -> holdpoint_domain::AnswerDraft {
    draft(serde_json::from_str(DRAFTS[number]).unwrap())
}
