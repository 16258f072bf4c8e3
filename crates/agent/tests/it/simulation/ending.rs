//! The end of a simulation: nobody dies any more, models finish, people answer, and nothing may be left open.

use domain::{AnswerDraft, Command, Effect, Interaction, Kind, SignedDuration, Status};
use holdpoint_agent::history::history;
use holdpoint_agent::machine::Input;
use holdpoint_agent::model::Message;
use serde_json::json;

use crate::simulation::check::holds;
use crate::simulation::deeds::{DeedKind, PersonAction};
use crate::simulation::stored_state::StoredSession;
use crate::simulation::world::{Verdict, World};

/// Number of quiet rounds after which every session must have ended.
const PATIENCE: usize = 60;

impl World {
    /// Checks that every session can be brought to an end.
    pub(crate) async fn check_that_every_session_ends(&mut self) -> Verdict {
        self.play.stage.lock().quiet = true;
        for round in 0..PATIENCE {
            let mut deeds = self.last_deeds(round);
            if deeds.is_empty() && self.is_over() {
                break;
            }
            deeds.push(PersonAction { by: self.people[0].clone(), what: DeedKind::FireDue });
            self.clock.advance(SignedDuration::from_secs(31));
            self.round(deeds, false).await?;
        }
        let left = self
            .stored_state
            .sessions
            .values()
            .find(|held| held.session.ended.is_none() && !self.listens(held.session.id));
        holds!(left.is_none(), "a session does not end: {left:?}");
        let listening: Vec<_> = self.live();
        let cancel = |session| DeedKind::Controls { session, command: Command::Cancel };
        let deeds =
            listening.into_iter().map(|session| PersonAction { by: self.people[0].clone(), what: cancel(session) });
        let deeds: Vec<PersonAction> = deeds.collect();
        self.round(deeds, false).await?;
        holds!(self.live().is_empty(), "a session cannot be cancelled");
        self.check_that_no_message_is_lost()
    }

    fn live(&self) -> Vec<domain::SessionId> {
        let live = self.stored_state.sessions.values().filter(|held| held.session.ended.is_none());
        live.map(|held| held.session.id).collect()
    }

    /// Whether a session only waits for a message.
    fn listens(&self, session: domain::SessionId) -> bool {
        let held = &self.stored_state.sessions[&session];
        let Some(kept) = held.steps.iter().find(|kept| kept.step.id == held.session.step) else { return false };
        let state = kept.state.as_ref().filter(|state| state.upto == kept.journal.len() as u64);
        state.is_some_and(|state| state.body["phase"]["phase"] == "listening")
    }

    fn is_over(&self) -> bool {
        self.live().into_iter().all(|session| self.listens(session))
    }

    /// Actions of people that let every session end: they resume paused sessions and answer open questions.
    fn last_deeds(&mut self, round: usize) -> Vec<PersonAction> {
        let mut deeds = Vec::new();
        let alice = self.people[0].clone();
        for held in self.stored_state.sessions.values().filter(|held| held.session.ended.is_none()) {
            let session = held.session.id;
            if held.session.paused.is_some() {
                deeds.push(PersonAction {
                    by: alice.clone(),
                    what: DeedKind::Controls { session, command: Command::Resume },
                });
            }
            let waits = |action: &domain::Action| {
                action.runner.is_some() && matches!(action.state, domain::ActionState::Allowed { .. })
            };
            if held.actions.iter().any(waits) {
                deeds.push(PersonAction { by: alice.clone(), what: DeedKind::Edits { session } });
            }
        }
        // Another person answers in each round, because a question may need two people.
        let by = self.people[round % self.people.len()].clone();
        let open = self.stored_state.questions.values().filter(|question| question.status() == Status::Pending);
        for question in open {
            let what = DeedKind::Answers { id: question.id, draft: Box::new(plain(question)) };
            deeds.push(PersonAction { by: by.clone(), what });
        }
        deeds
    }

    /// Checks that every accepted message is in a journal and was shown to one model at most. The last attempt at a
    /// step has all messages of the earlier attempts, and the next step has the messages that the step before it did
    /// not read.
    fn check_that_no_message_is_lost(&self) -> Verdict {
        let steps = || self.stored_state.sessions.values().flat_map(StoredSession::last_attempts);
        let shown: Vec<Vec<Message>> = steps()
            .map(|kept| {
                let inputs = kept.inputs();
                let last = inputs.iter().rposition(|input| matches!(input, Input::Turn(_))).unwrap_or_default();
                history(&inputs[..last])
            })
            .collect();
        for said in &self.said {
            let says = |(_, input): &&(u64, Input)| matches!(input, Input::Message { content, .. } if content == said);
            let written: Vec<usize> = steps().map(|kept| kept.journal.iter().filter(says).count()).collect();
            let in_one_journal = written.iter().all(|count| *count <= 1) && written.contains(&1);
            holds!(in_one_journal, "the message {said} is not in exactly one journal");
            let message = Message::User { content: said.clone() };
            let readers = shown.iter().filter(|messages| messages.contains(&message)).count();
            holds!(readers <= 1, "{said} was shown to {readers} models");
        }
        Ok(())
    }
}

/// An answer that ends a question.
fn plain(asked: &Interaction) -> AnswerDraft {
    let wanted = [Effect::Approve, Effect::Provide, Effect::Custom, Effect::Reject];
    let offered = |effect: &Effect| asked.question.options.iter().find(|option| option.effect == *effect);
    let safe = asked.question.options.iter().find(|option| option.id == "it_ran");
    if let Some(option) = safe.or_else(|| wanted.iter().find_map(offered)) {
        return AnswerDraft { options: vec![option.id.clone()], ..AnswerDraft::default() };
    }
    let data = match asked.question.kind {
        Kind::Form => json!({ "n": 1 }),
        Kind::Secret => json!({ "TOKEN": "s3cr3t" }),
        _ => json!("as you like"),
    };
    AnswerDraft { data, ..AnswerDraft::default() }
}
