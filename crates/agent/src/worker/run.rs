//! Starts allowed actions with their permits, runs their tools, and reports the outcomes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use domain::{Action, ActionState, Caller, Outcome, PermitId, Refusal, SessionId, text};
use engine::{ActionReply, Engine, Error, StepClaim};
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};
use store::Topic;
use tokio_util::sync::CancellationToken;

use super::StepError;
use super::act::Replacement;
use super::step_run::{JournalExtras, StepRun};
use crate::machine::{CallEnd, Input, StepEffect};
use crate::tool::{Tool, ToolOutcome, ToolRun};
use crate::tools::redact;

/// Time limit of a tool in seconds, if its arguments do not set one.
const USUAL: u64 = 120;
/// Longest time limit that arguments may set, in seconds.
const LONGEST: u64 = 600;
/// Longest lease of a running action, in seconds. A shorter step lease shortens it, down to [`SHORTEST_LEASE`].
const LEASE: i64 = 30;

/// Shortest lease of a running action, in seconds. A database that stalls for a few seconds must not end the lease.
const SHORTEST_LEASE: i64 = 10;
/// Number of retries of a report to a store that cannot be reached, and the pause between them.
const REPORTS: usize = 60;
const BETWEEN_REPORTS: Duration = Duration::from_secs(1);

/// An action that may run now.
pub(super) struct Ready {
    pub(super) call: String,
    pub(super) permit: String,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) arguments: Value,
    /// Hash of the content that it may replace.
    pub(super) expected_content: Option<String>,
}

impl Ready {
    pub(super) fn new(permit: String, tool: Arc<dyn Tool>, action: &Action) -> Self {
        let (call, arguments) = (action.call_id.clone(), action.effective().arguments);
        Self { call, permit, tool, arguments, expected_content: action.replaces().map(str::to_owned) }
    }
}

/// Runs actions of a step without borrowing it, so that one result can be journalled while other actions run.
#[derive(Clone)]
struct Runner<'a> {
    engine: &'a Engine,
    claim: StepClaim,
    caller: Caller,
    lost: CancellationToken,
}

impl StepRun<'_> {
    /// Runs actions and returns whether the step progressed. Tools that allow it run in parallel, the others one after
    /// another.
    pub(super) async fn run_all(&mut self, ready: Vec<Ready>) -> Result<bool, StepError> {
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
                self.enter(vec![input], JournalExtras::default()).await?;
                progressed = true;
            }
        }
        Ok(progressed)
    }

    /// Runs actions in parallel, with those that people release in between. If one fails, the others still run to their
    /// end, and each result is journalled as soon as it is known.
    async fn run_beside(&mut self, runner: &Runner<'_>, beside: Vec<Ready>) -> Result<bool, StepError> {
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
                        if inputs.is_empty() { Ok(()) } else { self.enter(inputs, JournalExtras::default()).await }
                    }
                    Some(Err(met)) => Err(met),
                    None => break,
                },
                () = bell.wait(), if trouble.is_none() => match self.find_released(&mut begun).await {
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

    /// Actions that people have released while others run, and that may run in parallel.
    async fn find_released(&self, begun: &mut BTreeSet<String>) -> Result<Vec<Ready>, StepError> {
        let waiting: Vec<String> =
            self.state.waiting().into_iter().filter(|one| !one.is_question).map(|one| one.call).collect();
        let mut wanted: Vec<(String, String, Value)> = Vec::new();
        for effect in self.state.outstanding() {
            if let StepEffect::Act { call, tool, arguments } = effect
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
            if let Ok((action, Some(permit))) = self.propose(&call, &tool, &arguments, Replacement::default()).await? {
                begun.insert(call);
                ready.push(Ready::new(permit, Arc::clone(run), &action));
            }
        }
        Ok(ready)
    }
}

impl Runner<'_> {
    /// Lease of a running action, in seconds. It is extended three times within its length.
    fn action_lease(&self) -> i64 {
        self.engine.settings().step_lease.as_secs().clamp(SHORTEST_LEASE, LEASE)
    }

    /// Extends the lease of an action while its tool runs.
    async fn keep_lease<T>(
        &self,
        action: &(SessionId, String),
        run: Option<PermitId>,
        running: impl Future<Output = T>,
    ) -> T {
        tokio::pin!(running);
        let lease = self.action_lease();
        let mut beat = tokio::time::interval(Duration::from_secs(lease.unsigned_abs()) / 3);
        beat.tick().await;
        loop {
            tokio::select! {
                biased;
                ran = &mut running => return ran,
                _ = beat.tick() => {
                    if let Err(error) = self.engine.action_extend_lease(&self.caller, action.clone(), lease, run).await {
                        tracing::debug!(%error, call = action.1, "the lease of a running action could not be extended");
                    }
                }
            }
        }
    }

    /// Starts an action with its permit, runs its tool, and reports the outcome.
    async fn run_one(self, ready: Ready) -> Result<Option<Input>, StepError> {
        let Ready { call, permit, tool, arguments, expected_content } = ready;
        let limit = tool.seconds(&arguments).unwrap_or(USUAL).min(LONGEST);
        let action = (self.claim.session, call.clone());
        let secrets = self.engine.step_secrets(&self.claim).await?;
        let started =
            match self.engine.action_start(&self.caller, action.clone(), permit, Some(self.action_lease()), None).await
            {
                Ok(started) => started,
                Err(Error::Refused(Refusal::SessionPaused(_))) => return Ok(None),
                Err(Error::Refused(Refusal::SessionEnded { .. })) => return Err(StepError::Stopped),
                Err(Error::Refused(Refusal::ActionNot { .. } | Refusal::ActionStepEnded)) => return Ok(None),
                Err(Error::Refused(refusal)) => {
                    // The person who approved the action reads the same reason as the model.
                    let message = refusal.to_string();
                    self.engine.action_abandon(&self.caller, action, message.clone()).await?;
                    let end = CallEnd::Failed { message, result: Value::Null };
                    return Ok(Some(Input::Settled { call, end }));
                }
                Err(error) => return Err(error.into()),
            };
        let this_run = started.action.state.run();
        let run = ToolRun { cancel: self.lost.clone(), secrets: secrets.given, hidden: secrets.all, expected_content };
        let within = Duration::from_secs(limit + 15);
        let running = tokio::time::timeout(within, tool.run(&arguments, &run));
        let ran = redact(self.keep_lease(&action, this_run, running).await.unwrap_or(ToolOutcome::Unknown), &run);
        // A tool that was interrupted because its worker stopped or lost the step may have done anything. Only if its
        // session has ended is the failure reported as such.
        let cut = self.lost.is_cancelled() && !self.engine.is_step_session_ended(&self.claim).await.unwrap_or(false);
        let outcome = match ran {
            ToolOutcome::Done(result) => Outcome::Done { result },
            ToolOutcome::Failed { .. } if cut => Outcome::Unknown,
            ToolOutcome::Failed { message, result } => Outcome::Failed { message: text::sayable(&message), result },
            ToolOutcome::Unknown => Outcome::Unknown,
        };
        let reported = match self.report(&action, outcome, this_run).await {
            Err(Error::Refused(Refusal::QuestionInvalid(problems))) => {
                let problems: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
                let message = format!("It ran, but its result cannot be stored: {}", problems.join("; "));
                self.report(&action, Outcome::Failed { message, result: json!(null) }, this_run).await
            }
            reported => reported,
        };
        let reported = match reported {
            // Another run of the action was started in between; the outcome of that run counts.
            Err(Error::Refused(Refusal::ActionNot { .. } | Refusal::AnotherRun(_))) => return Ok(None),
            reported => reported?,
        };
        Ok(StepRun::call_end(&reported.action, None, self.engine.now()).map(|end| Input::Settled { call, end }))
    }

    /// Reports the outcome of a run. Retries while the store cannot be reached, because nobody else knows the outcome.
    async fn report(
        &self,
        action: &(SessionId, String),
        outcome: Outcome,
        run: Option<PermitId>,
    ) -> Result<ActionReply, Error> {
        for _ in 0..REPORTS {
            match self.engine.action_outcome(&self.caller, action.clone(), outcome.clone(), run, None).await {
                Err(Error::Store(error)) => {
                    tracing::warn!(%error, call = action.1, "the outcome of an action could not be stored; retrying");
                    tokio::time::sleep(BETWEEN_REPORTS).await;
                }
                reported => return reported,
            }
        }
        self.engine.action_outcome(&self.caller, action.clone(), outcome, run, None).await
    }
}
