//! Records the messages of a conversation: messages of people to a hosted agent, messages of an agent to people, and the replies.

use domain::event::MessageSent;
use domain::{
    Answer, Caller, EventDraft, EventKind, Interaction, Kind, Problem, Question, Refusal, Role, Session, SessionId,
    text,
};

use crate::access;
use crate::interactions;
use crate::interactions::forms_check::Account;
use crate::interactions::open::QuestionTerms;
use crate::run::transaction::Work;
use crate::sessions;
use crate::steps;
use crate::steps::server_files::OfferedDefinitions;
use crate::{Engine, Error, Idempotency};

/// Largest size of a message in bytes.
const MOST_SAID: usize = 64 * 1024;

impl Engine {
    /// Sends a message: to the hosted agent of a session, or, if an agent calls in its own session, to people.
    ///
    /// An agent's message that requires a reply becomes a question in the channel of the session.
    pub async fn session_message(
        &self,
        caller: &Caller,
        id: SessionId,
        content: String,
        requires_reply: bool,
        idempotency: Option<Idempotency>,
    ) -> Result<Session, Error> {
        check_content(&content)?;
        let question = Question { reply: true, ..Question::in_words(Kind::Question, content.clone(), None) };
        let time = interactions::ask::usual_time(self, &question.kind, caller.entry_point);
        let question = if requires_reply {
            Some(interactions::ask::admit(self, Account::of(caller), question, time).await?)
        } else {
            None
        };
        let asking = QuestionTerms { time, traceparent: None, within_budget: true };
        let offered = steps::server_files::offered(self, caller.scope).await?;
        self.command(caller, idempotency, move |work| {
            let caller = work.caller()?;
            let mut session = access::lock_session(work, &caller, id)?;
            let by = &caller.actor;
            let own = caller.role == Role::Agent && !session.hosted && session.require_owner(by).is_ok();
            match &question {
                Some(question) if own => {
                    interactions::open(work, &mut session, by.clone(), question.clone(), &asking)?;
                }
                None if own => {
                    session.require_alive()?;
                    let sent = MessageSent { content: content.clone(), requires_reply: false };
                    work.record_event(&mut session, None, EventDraft::by(by, EventKind::MessageSent(sent)))?;
                }
                asked => {
                    access::sight::require_may_steer(&caller, &session)?;
                    if asked.is_some() {
                        let problem = Problem::new("/requires_reply", "only an agent's message asks for a reply");
                        return Err(Refusal::QuestionInvalid(vec![problem]).into());
                    }
                    steps::deliver_message(work, &mut session, &offered, (by, &content))?;
                }
            }
            sessions::save(work, &session)?;
            Ok(session)
        })
        .await
    }
}

pub(crate) fn check_content(content: &str) -> Result<(), Error> {
    let mut problems = Vec::new();
    text::check_paragraphs("/content", content, &mut problems);
    if content.trim().is_empty() {
        problems.push(Problem::new("/content", "is empty"));
    }
    if content.len() > MOST_SAID {
        problems.push(Problem::new("/content", format!("is longer than {MOST_SAID} bytes")));
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

/// Sends a message to the agent of a locked session.
pub(crate) fn send_message(
    work: &mut Work<'_>,
    mut session: Session,
    offered: &OfferedDefinitions,
    (caller, content): (&Caller, &str),
) -> Result<Session, Error> {
    access::sight::require_may_steer(caller, &session)?;
    steps::deliver_message(work, &mut session, offered, (&caller.actor, content))?;
    sessions::save(work, &session)?;
    Ok(session)
}

/// Records the message of a question that requires a reply.
pub(crate) fn record_question_message(
    work: &mut Work<'_>,
    session: &mut Session,
    asked: &Interaction,
) -> Result<(), Error> {
    if !asked.question.reply {
        return Ok(());
    }
    let sent = MessageSent { content: asked.question.words().to_owned(), requires_reply: true };
    let draft = EventDraft::by(&asked.origin.asked_by, EventKind::MessageSent(sent));
    work.record_event(session, Some(asked.id), draft).map(drop)
}

/// Records the answer to a message that required a reply as a message too.
pub(crate) fn record_reply(
    work: &mut Work<'_>,
    session: &mut Session,
    asked: &Interaction,
    answer: &Answer,
) -> Result<(), Error> {
    let Some(content) = asked.question.reply_of(answer) else { return Ok(()) };
    let sent = MessageSent { content, requires_reply: false };
    let draft = EventDraft::by(&answer.by, EventKind::MessageSent(sent));
    work.record_event(session, Some(asked.id), draft).map(drop)
}
