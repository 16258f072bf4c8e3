//! Asks people a question in a transaction, and computes the time that they have to answer.

use domain::access::Right;
use domain::{Caller, EntryPoint, Interaction, Kind, Problem, Question, Refusal, Scope, SessionId, SignedDuration};
use serde_json::Value;
use store::Reads;
use zeroize::Zeroizing;

use crate::access;
use crate::interactions;
use crate::interactions::forms_check::Account;
use crate::interactions::open::QuestionTerms;
use crate::secrets;
use crate::secrets::vault::RESUME_POINT;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

/// Longest time to answer that a question may have, in seconds.
const LONGEST: i64 = 366 * 24 * 3600;

/// Maximum size of a question without its resume point, in bytes.
const MOST_BYTES: usize = 256 * 1024;

/// Question as an agent asks it, with the time to answer and the agent's resume point.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Question for people. Its deadline is computed from `deadline_seconds`.
    pub question: Question,
    /// Time that people have to answer, in seconds.
    pub deadline_seconds: Option<i64>,
    /// State of the agent, which it gets back with the answer.
    pub resume_point: Option<Value>,
    /// W3C `traceparent` of the trace in which the agent asks.
    pub traceparent: Option<String>,
}

impl Engine {
    /// Opens a question. A secret question is answered at once if the values that it asks for are kept for the agent.
    pub async fn interaction_ask(
        &self,
        caller: &Caller,
        session: SessionId,
        ask: Ask,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Ask)?;
        let Ask { question, deadline_seconds, resume_point, traceparent } = ask;
        let seconds = time_to_answer(self, &question.kind, deadline_seconds, caller.entry_point)?;
        let question = admit(self, Account::of(caller), question, seconds).await?;
        let resume_point = pack(self, resume_point)?;
        let kept =
            interactions::kept_answer::find(self, caller.scope, &caller.actor.name, caller.is_worker(), &question)
                .await?;
        let (scope, actor) = (caller.scope, caller.actor.clone());
        let asking = QuestionTerms { time: seconds, traceparent, within_budget: true };
        let vault = std::sync::Arc::clone(&self.vault);
        self.command(caller, idempotency, move |work| {
            let asker = work.caller()?;
            let mut session = access::lock_session(work, &asker, session)?;
            access::sight::require_may_ask(&asker, &session)?;
            let interaction = interactions::open(work, &mut session, actor.clone(), question.clone(), &asking)?;
            if let Some(packed) = &resume_point {
                secrets::seal(work, &vault, &interaction, RESUME_POINT, packed)?;
                work.tx.interaction_add_bytes(&scope, interaction.id, packed.len() as u64)?;
            }
            let interaction =
                interactions::kept_answer::answer(work, &vault, &mut session, interaction, kept.as_ref())?;
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
    }
}

/// Validates a question: its fields, its size and its form. The error lists every problem.
pub(crate) async fn admit(
    engine: &Engine,
    account: Account,
    question: Question,
    time: Option<SignedDuration>,
) -> Result<Question, Error> {
    // `admit` needs a deadline to check; `interactions::open` sets the real one in the transaction.
    let admitted = question.set_time(time, engine.settings().warning, engine.now()).admit();
    let question = admitted.map_err(Refusal::QuestionInvalid)?;
    check_size(&question)?;
    interactions::forms_check::admit(engine, account, &question).await?;
    Ok(question)
}

/// Time to answer: the `given` seconds of the question or of the agent's version, else the usual time of the kind and the entry point.
pub(crate) fn time_to_answer(
    engine: &Engine,
    kind: &Kind,
    given: Option<i64>,
    entry_point: EntryPoint,
) -> Result<Option<SignedDuration>, Error> {
    match given {
        Some(seconds) if (1..=LONGEST).contains(&seconds) => Ok(Some(SignedDuration::from_secs(seconds))),
        Some(_) => {
            let problem = Problem::new("/deadline_seconds", format!("must be 1 to {LONGEST}"));
            Err(Refusal::QuestionInvalid(vec![problem]).into())
        }
        None => Ok(usual_time(engine, kind, entry_point)),
    }
}

/// Usual time to answer: the configured time for the kind, else the time that the entry point gives it.
pub(crate) fn usual_time(engine: &Engine, kind: &Kind, entry_point: EntryPoint) -> Option<SignedDuration> {
    let configured = engine.settings().deadlines.get(kind.name()).copied();
    configured.or_else(|| entry_point.time_to_answer(kind))
}

fn pack(engine: &Engine, resume_point: Option<Value>) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    let Some(value) = resume_point else { return Ok(None) };
    let packed = Zeroizing::new(value.to_string().into_bytes());
    let most = engine.settings().resume_point_bytes;
    if packed.len() > most {
        let problem = Problem::new("/resume_point", format!("is larger than {most} bytes"));
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    Ok(Some(packed))
}

/// Entry point on which a session was opened. It decides the usual time to answer for the questions of a hosted agent.
pub(crate) fn read_entry_point(reads: &mut dyn Reads, scope: &Scope, session: SessionId) -> Result<EntryPoint, Error> {
    let session_input = reads.session_input(scope, session)?.unwrap_or_default();
    Ok(session_input.entry_point.unwrap_or(EntryPoint::Worker))
}

/// Refuses a question that is too large. Lists return whole questions, so the limit is lower than the limit of a request body.
pub(crate) fn check_size(question: &Question) -> Result<(), Error> {
    let bytes = serde_json::to_vec(question).map_or(usize::MAX, |json| json.len());
    if bytes > MOST_BYTES {
        let problem =
            Problem::new("", format!("the question is larger than {MOST_BYTES} bytes: leave a reference instead"));
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    Ok(())
}
