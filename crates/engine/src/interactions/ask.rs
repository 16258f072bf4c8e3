//! Puts a question to people and its step to sleep, in one transaction.

use domain::access::Right;
use domain::{Caller, EntryPoint, Interaction, Kind, Problem, Question, Refusal, Scope, SessionId, SignedDuration};
use serde_json::Value;
use store::Reads;
use zeroize::Zeroizing;

use crate::access;
use crate::access::sight::may_ask_in;
use crate::interactions;
use crate::interactions::forms_check::Account;
use crate::interactions::open::QuestionTerms;
use crate::secrets;
use crate::secrets::vault::RESUME_POINT;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

/// The longest time that a question may be given.
const LONGEST: i64 = 366 * 24 * 3600;

/// How large a question may be, its resume point apart.
const MOST_BYTES: usize = 256 * 1024;

/// What is asked, with how long people have.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The question; its deadline is set from `deadline_seconds`.
    pub question: Question,
    /// How long people have.
    pub deadline_seconds: Option<i64>,
    /// The agent's own state, to be given back with the answer.
    pub resume_point: Option<Value>,
    /// The trace that it was asked in.
    pub traceparent: Option<String>,
}

impl Engine {
    /// Puts a question to people.
    pub async fn ask(
        &self,
        caller: &Caller,
        session: SessionId,
        ask: Ask,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Ask)?;
        let Ask { question, deadline_seconds, resume_point, traceparent } = ask;
        let seconds = self.time_to_answer(&question.kind, deadline_seconds, caller.entry_point)?;
        let question = self.admitted(Account::of(caller), question, seconds).await?;
        let resume_point = self.packed(resume_point)?;
        let kept = self.kept_for_agent(caller.scope, (&caller.actor.name, caller.is_worker()), &question).await?;
        let (scope, actor) = (caller.scope, caller.actor.clone());
        let asking = QuestionTerms { time: seconds, traceparent, within_budget: true };
        let vault = std::sync::Arc::clone(&self.vault);
        self.command(caller, once, move |work| {
            let asker = work.caller()?;
            let mut session = access::lock_session(work, &asker, session)?;
            may_ask_in(&asker, &session)?;
            let interaction = interactions::open(work, &mut session, actor.clone(), question.clone(), &asking)?;
            if let Some(packed) = &resume_point {
                secrets::seal(work, &vault, &interaction, RESUME_POINT, packed)?;
                work.tx.interaction_add_bytes(&scope, interaction.id, packed.len() as u64)?;
            }
            let interaction = secrets::answer_from_kept(work, &vault, &mut session, interaction, kept.as_ref())?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
    }

    /// A question that can be answered, or everything for which it cannot.
    pub(crate) async fn admitted(
        &self,
        account: Account,
        question: Question,
        time: Option<SignedDuration>,
    ) -> Result<Question, Error> {
        // A moment for the checks that need one; the real one is set in the transaction.
        let admitted = question.timed(time, self.settings().warning, self.now()).admit();
        let question = admitted.map_err(Refusal::QuestionInvalid)?;
        sized(&question)?;
        self.admit_form(account, &question).await?;
        Ok(question)
    }

    /// From the question or the agent's version, else from the configuration by kind, else from the wire that it is asked on.
    pub(crate) fn time_to_answer(
        &self,
        kind: &Kind,
        given: Option<i64>,
        wire: EntryPoint,
    ) -> Result<Option<SignedDuration>, Error> {
        match given {
            Some(seconds) if (1..=LONGEST).contains(&seconds) => Ok(Some(SignedDuration::from_secs(seconds))),
            Some(_) => {
                let problem = Problem::new("/deadline_seconds", format!("must be 1 to {LONGEST}"));
                Err(Refusal::QuestionInvalid(vec![problem]).into())
            }
            None => Ok(self.usual_time(kind, wire)),
        }
    }

    /// From the configuration by kind, else from the wire that it is asked on.
    pub(crate) fn usual_time(&self, kind: &Kind, wire: EntryPoint) -> Option<SignedDuration> {
        let configured = self.settings().deadlines.get(kind.name()).copied();
        configured.or_else(|| wire.time_to_answer(kind))
    }

    fn packed(&self, resume_point: Option<Value>) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        let Some(value) = resume_point else { return Ok(None) };
        let packed = Zeroizing::new(value.to_string().into_bytes());
        let most = self.settings().resume_point_bytes;
        if packed.len() > most {
            let problem = Problem::new("/resume_point", format!("is larger than {most} bytes"));
            return Err(Refusal::QuestionInvalid(vec![problem]).into());
        }
        Ok(Some(packed))
    }
}

/// The wire whose figures hold for what an agent of ours asks: the one that its session was opened on.
pub(crate) fn opened_on(reads: &mut dyn Reads, scope: &Scope, session: SessionId) -> Result<EntryPoint, Error> {
    let luggage = reads.session_input(scope, session)?.unwrap_or_default();
    Ok(luggage.entry_point.unwrap_or(EntryPoint::Worker))
}

/// A list shows whole questions, so that one must not be as large as a body may be.
pub(crate) fn sized(question: &Question) -> Result<(), Error> {
    let bytes = serde_json::to_vec(question).map_or(usize::MAX, |json| json.len());
    if bytes > MOST_BYTES {
        let problem =
            Problem::new("", format!("the question is larger than {MOST_BYTES} bytes: leave a reference instead"));
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    Ok(())
}
