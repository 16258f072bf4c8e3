//! What was allowed is started with its permit, run, and reported.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use domain::{Action, ActionState, Caller, Outcome, PermitId, Refusal, SessionId, text};
use engine::{Acted, Claim, Engine, Error};
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};
use store::Topic;
use tokio_util::sync::CancellationToken;

use super::Trouble;
use super::act::Shown;
use super::drive::{Along, Driven};
use crate::machine::{CallEnd, Effect, Input};
use crate::tool::{Ran, Run, Tool};
use crate::tools::discreet;

/// How long a tool may run where its arguments do not say.
const USUAL: u64 = 120;
/// The longest that they may say.
const LONGEST: u64 = 600;
/// For how many seconds an action is waited for of which nothing is heard.
const LEASE: i64 = 30;
/// How often it is said that its tool still runs.
const BEAT: Duration = Duration::from_secs(10);
/// How often what became of an action is said again to a store that cannot be reached, and how long after each other.
const REPORTS: usize = 60;
const BETWEEN_REPORTS: Duration = Duration::from_secs(1);

/// An action that may run now.
pub(super) struct Ready {
    pub(super) call: String,
    pub(super) permit: String,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) arguments: Value,
    /// The mark of what it may replace.
    pub(super) seen: Option<String>,
}

impl Ready {
    pub(super) fn new(permit: String, tool: Arc<dyn Tool>, proposal: &Action) -> Self {
        let (call, arguments) = (proposal.call_id.clone(), proposal.effective().arguments);
        Self { call, permit, tool, arguments, seen: proposal.replaces().map(str::to_owned) }
    }
}

/// What runs actions of a step, and needs nothing else of it: so that what came of one can be journalled while others run.
#[derive(Clone)]
struct Runner<'a> {
    engine: &'a Engine,
    claim: Claim,
    caller: Caller,
    lost: CancellationToken,
}

impl Driven<'_> {
    /// Runs what may run, and says whether anything came of it: beside each other those whose tools say so, the others one after another.
    pub(super) async fn run_all(&mut self, ready: Vec<Ready>) -> Result<bool, Trouble> {
        let runner = Runner {
            engine: &self.worker.engine,
            claim: self.claim.clone(),
            caller: self.caller.clone(),
            lost: self.lost.clone(),
        };
        let (beside, alone): (Vec<Ready>, Vec<Ready>) = ready.into_iter().partition(|ready| ready.tool.spec().parallel);
        let mut progressed = if beside.is_empty() { false } else { self.run_beside(&runner, beside).await? };
        for ready in alone {
            if let Some(input) = runner.clone().run_one(ready).await? {
                self.enter(vec![input], Along::default()).await?;
                progressed = true;
            }
        }
        Ok(progressed)
    }

    /// Runs actions beside each other, and what is released meanwhile too. Whatever one of them meets with, the others come to their end, and
    /// what became of each is kept as soon as it is known.
    async fn run_beside(&mut self, runner: &Runner<'_>, beside: Vec<Ready>) -> Result<bool, Trouble> {
        let mut bell = runner.engine.bell().listen(Topic::Session(self.session.id));
        let mut begun: BTreeSet<String> = beside.iter().map(|ready| ready.call.clone()).collect();
        let mut running: FuturesUnordered<_> = beside.into_iter().map(|ready| runner.clone().run_one(ready)).collect();
        let (mut progressed, mut trouble) = (false, None);
        loop {
            let came = tokio::select! {
                biased;
                ran = running.next() => match ran {
                    Some(Ok(input)) => {
                        let more = std::iter::from_fn(|| running.next().now_or_never().flatten());
                        let (inputs, met): (Vec<_>, Vec<_>) = more.partition(Result::is_ok);
                        trouble = trouble.or(met.into_iter().find_map(Result::err));
                        let inputs: Vec<Input> = input.into_iter().chain(inputs.into_iter().flatten().flatten()).collect();
                        progressed |= !inputs.is_empty();
                        if inputs.is_empty() { Ok(()) } else { self.enter(inputs, Along::default()).await }
                    }
                    Some(Err(met)) => Err(met),
                    None => break,
                },
                () = bell.heard(), if trouble.is_none() => match self.released(&mut begun).await {
                    Ok(more) => {
                        running.extend(more.into_iter().map(|ready| runner.clone().run_one(ready)));
                        Ok(())
                    }
                    Err(met) => Err(met),
                },
            };
            trouble = trouble.or(came.err());
        }
        trouble.map_or(Ok(progressed), Err)
    }

    /// What people have released while others run, and may run beside them.
    async fn released(&self, begun: &mut BTreeSet<String>) -> Result<Vec<Ready>, Trouble> {
        let waiting: Vec<String> =
            self.state.waiting().into_iter().filter(|one| !one.own).map(|one| one.call).collect();
        let mut wanted: Vec<(String, String, Value)> = Vec::new();
        for effect in self.state.outstanding() {
            if let Effect::Act { call, tool, arguments } = effect
                && waiting.contains(&call)
                && !begun.contains(&call)
                && self.tools.get(&tool).is_some_and(|tool| tool.spec().parallel)
            {
                wanted.push((call, tool, arguments));
            }
        }
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let calls = wanted.iter().map(|(call, ..)| call.clone()).collect();
        let known = self.worker.engine.step_calls(&self.claim, calls).await?;
        let mut ready = Vec::new();
        for ((call, tool, arguments), (found, _)) in wanted.into_iter().zip(known) {
            let allowed = found.is_some_and(|found| matches!(found.state, ActionState::Allowed { .. }));
            let Some(run) = self.tools.get(&tool).filter(|_| allowed) else { continue };
            if let Ok((proposal, Some(permit))) = self.proposed(&call, &tool, &arguments, Shown::default()).await? {
                begun.insert(call);
                ready.push(Ready::new(permit, Arc::clone(run), &proposal));
            }
        }
        Ok(ready)
    }
}

impl Runner<'_> {
    /// Has an action waited for as long as its tool runs.
    async fn kept<T>(&self, place: &(SessionId, String), run: Option<PermitId>, running: impl Future<Output = T>) -> T {
        tokio::pin!(running);
        let mut beat = tokio::time::interval(BEAT);
        beat.tick().await;
        loop {
            tokio::select! {
                biased;
                ran = &mut running => return ran,
                _ = beat.tick() => {
                    if let Err(error) = self.engine.action_keep(&self.caller, place.clone(), LEASE, run).await {
                        tracing::debug!(%error, call = place.1, "nobody could be told that a tool still runs");
                    }
                }
            }
        }
    }

    /// Starts an action with its permit, runs its tool, and reports what became of it.
    async fn run_one(self, ready: Ready) -> Result<Option<Input>, Trouble> {
        let Ready { call, permit, tool, arguments, seen } = ready;
        let limit = tool.seconds(&arguments).unwrap_or(USUAL).min(LONGEST);
        let place = (self.claim.session, call.clone());
        let secrets = self.engine.step_secrets(&self.claim).await?;
        let started = match self.engine.action_start(&self.caller, place.clone(), permit, Some(LEASE), None).await {
            Ok(started) => started,
            Err(Error::Refused(Refusal::SessionPaused(_))) => return Ok(None),
            Err(Error::Refused(Refusal::SessionEnded { .. })) => return Err(Trouble::Stopped),
            Err(Error::Refused(Refusal::ActionNot { .. })) => return Ok(None),
            Err(Error::Refused(refusal)) => {
                // Whoever approved it reads the same reason as the model.
                let message = refusal.to_string();
                self.engine.action_left(&self.caller, place, message.clone()).await?;
                let end = CallEnd::Failed { message, result: Value::Null };
                return Ok(Some(Input::Settled { call, end }));
            }
            Err(error) => return Err(error.into()),
        };
        let this_run = started.proposal.state.run();
        let run = Run { cancel: self.lost.clone(), secrets: secrets.given, hidden: secrets.all, seen };
        let within = Duration::from_secs(limit + 15);
        let running = tokio::time::timeout(within, tool.run(&arguments, &run));
        let ran = discreet(self.kept(&place, this_run, running).await.unwrap_or(Ran::Unknown), &run);
        // What was ended because its worker stops, or has lost it, may have done anything; only the end of its session is its own end.
        let cut = self.lost.is_cancelled() && !self.engine.step_session_ended(&self.claim).await.unwrap_or(false);
        let outcome = match ran {
            Ran::Done(result) => Outcome::Done { result },
            Ran::Failed { .. } if cut => Outcome::Unknown,
            Ran::Failed { message, result } => Outcome::Failed { message: text::sayable(&message), result },
            Ran::Unknown => Outcome::Unknown,
        };
        let reported = match self.reported(&place, (outcome, this_run)).await {
            Err(Error::Refused(Refusal::QuestionInvalid(problems))) => {
                let problems: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
                let message = format!("It ran, and what came of it cannot be kept: {}", problems.join("; "));
                self.reported(&place, (Outcome::Failed { message, result: json!(null) }, this_run)).await
            }
            reported => reported,
        };
        let reported = match reported {
            // Somebody had it run again meanwhile: that run is the one that counts, and whoever has it says what became of it.
            Err(Error::Refused(Refusal::ActionNot { .. } | Refusal::AnotherRun(_))) => return Ok(None),
            reported => reported?,
        };
        Ok(Driven::ended(&reported.proposal, None, self.engine.now()).map(|end| Input::Settled { call, end }))
    }

    /// Says what became of a run. A store that cannot be reached for a while is waited for: nobody else knows.
    async fn reported(&self, place: &(SessionId, String), ran: (Outcome, Option<PermitId>)) -> Result<Acted, Error> {
        for _ in 0..REPORTS {
            match self.engine.action_outcome(&self.caller, place.clone(), ran.clone(), None).await {
                Err(Error::Store(error)) => {
                    tracing::warn!(%error, call = place.1, "what became of an action could not be kept; it is said again");
                    tokio::time::sleep(BETWEEN_REPORTS).await;
                }
                reported => return reported,
            }
        }
        self.engine.action_outcome(&self.caller, place.clone(), ran, None).await
    }
}
