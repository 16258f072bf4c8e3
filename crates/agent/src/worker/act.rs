//! What a turn wants done: proposed, and run once it is allowed; asked, where the model asks.

use std::sync::Arc;
use std::time::Duration;

use domain::agent::Provider;
use domain::{Action, Kind, Outcome, Proposal, Refusal, Standing, text};
use engine::{Acted, Error, Propose};
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};

use super::Trouble;
use super::drive::{Along, Driven};
use crate::ask_user;
use crate::machine::{CallEnd, Effect, Input};
use crate::models;
use crate::tool::{Ran, Run, Tool, ToolSpec};

/// How long a tool may run where its arguments do not say.
const USUAL: u64 = 120;
/// The longest that they may say.
const LONGEST: u64 = 600;
/// How much longer than its tool an action is waited for.
const MARGIN: i64 = 30;

/// An action that may run now.
struct Ready {
    call: String,
    permit: String,
    tool: Arc<dyn Tool>,
    arguments: Value,
}

impl Driven<'_> {
    /// Loads the tools that the step may use.
    pub(super) async fn equip(&mut self) -> Result<(), Trouble> {
        let Some(agent) = &self.agent else { return Ok(()) };
        let allowed = |name: &str| self.flow_step.as_ref().is_none_or(|step| step.allows(name));
        let mut specs = Vec::new();
        for tool in self.worker.kit.tools(agent).await? {
            let spec = tool.spec().clone();
            if allowed(&spec.name) {
                self.tools.insert(spec.name.clone(), tool);
                specs.push(spec);
            }
        }
        specs.extend(agent.client_tools.iter().filter(|tool| allowed(&tool.name)).map(Into::into));
        if agent.tools.iter().any(|name| name == "ask_user") {
            specs.extend(ask_user::specs().into_iter().filter(|spec| allowed(&spec.name)));
        }
        self.specs = specs;
        Ok(())
    }

    /// Does what is wanted, and says whether anything came of it.
    pub(super) async fn act(&mut self, wanted: Vec<Effect>) -> Result<bool, Trouble> {
        let (mut inputs, mut along, mut ready) = (Vec::new(), Along::default(), Vec::new());
        let mut progressed = false;
        let waiting = self.state.waiting();
        let calls: Vec<String> = wanted
            .iter()
            .filter_map(|effect| match effect {
                Effect::Act { call, .. } => Some(call.clone()),
                _ => None,
            })
            .collect();
        let known = self.worker.engine.step_calls(&self.claim, calls).await?;
        let mut known = known.into_iter();
        for effect in wanted {
            match effect {
                Effect::AskBefore { call, question } => progressed |= self.ask_before(call, *question).await?,
                Effect::AskUser { call, tool, arguments } => {
                    progressed |= self.ask_user(call, &tool, &arguments).await?;
                }
                Effect::Act { call, tool, arguments } => {
                    let (found, asked) = known.next().unwrap_or_default();
                    let acted = match found {
                        Some(found) if !matches!(found.standing, Standing::Allowed { .. }) => Ok((found, None)),
                        _ => self.proposed(&call, &tool, &arguments).await?,
                    };
                    let (proposal, permit) = match acted {
                        Ok(acted) => acted,
                        Err(message) => {
                            along.told.push(Self::unheard(&call, &tool, &message));
                            let end = CallEnd::Failed { message, result: Value::Null };
                            inputs.push(Input::Settled { call, end });
                            continue;
                        }
                    };
                    if let Some(end) = Self::ended(&proposal, asked.as_ref(), self.worker.engine.now()) {
                        inputs.push(Input::Settled { call, end });
                    } else if let Standing::Waiting { interaction } = &proposal.standing {
                        let interaction = interaction.to_string();
                        if !waiting.iter().any(|one| one.call == call && one.interaction == interaction) {
                            inputs.push(Input::Waiting { call, interaction });
                        }
                    } else if let (Some(permit), Some(tool)) = (permit, self.tools.get(&tool)) {
                        let arguments = proposal.effective().arguments;
                        ready.push(Ready { call, permit, tool: Arc::clone(tool), arguments });
                    }
                }
                Effect::CallModel
                | Effect::Finish { .. }
                | Effect::Fail { .. }
                | Effect::Reject { .. }
                | Effect::SendBack { .. }
                | Effect::Skip { .. } => {}
            }
        }
        progressed |= !inputs.is_empty();
        if !inputs.is_empty() {
            self.enter(inputs, along).await?;
        }
        Ok(self.run_all(ready).await? || progressed)
    }

    /// Proposes a call; or why it cannot be, in words for the model.
    async fn proposed(
        &self,
        call: &str,
        tool: &str,
        arguments: &Value,
    ) -> Result<Result<(Proposal, Option<String>), String>, Trouble> {
        let Some(spec) = self.specs.iter().find(|spec| spec.name == tool) else {
            return Ok(Err(self.no_such(tool)));
        };
        if !arguments.is_object() {
            return Ok(Err(format!("The arguments of `{tool}` are not a JSON object.")));
        }
        let client = !self.tools.contains_key(tool);
        if client && let Some(message) = self.misfit(spec, arguments).await? {
            return Ok(Err(message));
        }
        let propose = Propose {
            call: call.to_owned(),
            action: Action { tool: tool.to_owned(), arguments: arguments.clone() },
            context: Value::Null,
            traceparent: None,
            repeatable: spec.repeatable,
            client,
            deadline_seconds: self.deadline(&Kind::Approval),
        };
        match self.worker.engine.propose(&self.caller, self.session.id, propose, None).await {
            Ok(Acted { proposal, permit, .. }) => Ok(Ok((proposal, permit))),
            Err(Error::Refused(Refusal::QuestionInvalid(problems))) => {
                let problems: Vec<String> =
                    problems.iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect();
                Ok(Err(format!("The call could not be proposed: {}.", problems.join("; "))))
            }
            Err(Error::Refused(refusal @ Refusal::TooManyOpen { .. })) => Ok(Err(refusal.to_string())),
            Err(Error::Refused(Refusal::SessionEnded { .. })) => Err(Trouble::Stopped),
            Err(error) => Err(error.into()),
        }
    }

    /// What the model is told of arguments that a client would be handed and that do not fit its tool: our own tools, and those of MCP
    /// servers, say so themselves.
    async fn misfit(&self, spec: &ToolSpec, arguments: &Value) -> Result<Option<String>, Trouble> {
        if spec.schema.is_null() {
            return Ok(None);
        }
        let problems = self.worker.engine.misfits(spec.schema.clone(), arguments.clone(), "").await?;
        let problems: Vec<String> =
            problems.iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect();
        let message = format!("The arguments do not fit `{}`: {}.", spec.name, problems.join("; "));
        Ok((!problems.is_empty()).then_some(message))
    }

    /// What the model is told of a tool that it was not offered, in the names that it knows.
    pub(super) fn no_such(&self, tool: &str) -> String {
        let own = self.agent.as_ref().is_none_or(|agent| agent.model.provider == Provider::Scripted);
        let names = if own {
            self.specs.iter().map(|spec| spec.name.clone()).collect()
        } else {
            models::wire_names(&self.specs)
        };
        format!("There is no tool `{tool}`. There are: {}.", names.join(", "))
    }

    /// Runs what may run, and says whether anything came of it: beside each other those whose tools say so, the others one after another.
    async fn run_all(&mut self, ready: Vec<Ready>) -> Result<bool, Trouble> {
        let (beside, alone): (Vec<Ready>, Vec<Ready>) = ready.into_iter().partition(|ready| ready.tool.spec().parallel);
        let mut done = Vec::new();
        {
            let this = &*self;
            let mut running: FuturesUnordered<_> = beside.into_iter().map(|ready| this.run_one(ready)).collect();
            while let Some(input) = running.next().await {
                done.extend(input?);
            }
        }
        let mut progressed = !done.is_empty();
        if progressed {
            self.enter(done, Along::default()).await?;
        }
        for ready in alone {
            if let Some(input) = self.run_one(ready).await? {
                self.enter(vec![input], Along::default()).await?;
                progressed = true;
            }
        }
        Ok(progressed)
    }

    /// Starts an action with its permit, runs its tool, and reports what became of it.
    async fn run_one(&self, ready: Ready) -> Result<Option<Input>, Trouble> {
        let Ready { call, permit, tool, arguments } = ready;
        let engine = &self.worker.engine;
        let limit = arguments.get("timeout_seconds").and_then(Value::as_u64).unwrap_or(USUAL).min(LONGEST);
        let seconds = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(MARGIN);
        let place = (self.session.id, call.clone());
        let secrets = engine.step_secrets(&self.claim, self.secret_questions().await?).await?;
        match engine.action_start(&self.caller, place.clone(), permit, Some(seconds), None).await {
            Ok(_) => {}
            Err(Error::Refused(Refusal::SessionPaused(_))) => return Ok(None),
            Err(Error::Refused(Refusal::SessionEnded { .. })) => return Err(Trouble::Stopped),
            Err(Error::Refused(Refusal::DeniedByNow(ruling))) => {
                return Ok(Some(Input::Settled { call, end: CallEnd::Denied { reason: ruling.reason } }));
            }
            Err(Error::Refused(Refusal::ActionNot { .. })) => return Ok(None),
            Err(Error::Refused(refusal)) => {
                let end = CallEnd::Failed { message: refusal.to_string(), result: Value::Null };
                return Ok(Some(Input::Settled { call, end }));
            }
            Err(error) => return Err(error.into()),
        }
        let run = Run { cancel: self.lost.clone(), secrets };
        let within = Duration::from_secs(limit + 15);
        let ran = tokio::time::timeout(within, tool.run(&arguments, &run)).await.unwrap_or(Ran::Unknown);
        let outcome = match ran {
            Ran::Done(result) => Outcome::Done { result },
            Ran::Failed { message, result } => Outcome::Failed { message: text::sayable(&message), result },
            Ran::Unknown => Outcome::Unknown,
        };
        let reported = match engine.action_outcome(&self.caller, place.clone(), outcome, None).await {
            Err(Error::Refused(Refusal::QuestionInvalid(problems))) => {
                let problems: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
                let message = format!("It ran, and what came of it cannot be kept: {}", problems.join("; "));
                let outcome = Outcome::Failed { message, result: json!(null) };
                engine.action_outcome(&self.caller, place, outcome, None).await?
            }
            reported => reported?,
        };
        let now = self.worker.engine.now();
        Ok(Self::ended(&reported.proposal, None, now).map(|end| Input::Settled { call, end }))
    }
}
