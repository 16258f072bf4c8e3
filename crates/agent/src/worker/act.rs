//! What a turn wants done: proposed, where it acts; asked, where the model asks.

use std::sync::Arc;

use domain::agent::Provider;
use domain::{Action, ActionState, Call, Kind, ProjectName, Refusal, Verdict};
use engine::{Acted, Error, Propose, Supposed};
use serde_json::{Value, json};

use super::Trouble;
use super::drive::{Along, Driven};
use super::run::Ready;
use crate::ask_user;
use crate::machine::{CallEnd, Effect, Input};
use crate::models;
use crate::tool::{Replaced, ToolSpec};
use crate::tools;

/// The tool by which an agent would see what it replaces.
const READ: &str = "read_file";
/// How large a call may be together with what it replaces, so that both can be shown.
const MOST_SHOWN: usize = 224 << 10;

/// What is known of what a call would replace.
#[derive(Default)]
pub(super) struct Shown {
    /// What people see of it.
    context: Value,
    /// Its mark.
    seen: Option<String>,
}

impl Driven<'_> {
    /// Loads the tools that the step may use.
    pub(super) async fn equip(&mut self, project: &ProjectName) -> Result<(), Trouble> {
        let Some(agent) = &self.agent else { return Ok(()) };
        if let Some(workspace) = &agent.workspace {
            self.worker.engine.workspace_apart(self.claim.scope, workspace).await?;
        }
        let allowed = |name: &str| self.flow_step.as_ref().is_none_or(|step| step.allows(name));
        let mut specs = Vec::new();
        for tool in self.worker.kit.tools(project, agent).await? {
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
                        Some(found) if !matches!(found.state, ActionState::Allowed { .. }) => Ok((found, None)),
                        Some(_) => self.proposed(&call, &tool, &arguments, Shown::default()).await?,
                        None => {
                            let shown = self.shown(&tool, &arguments).await?;
                            self.proposed(&call, &tool, &arguments, shown).await?
                        }
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
                    } else if let ActionState::Waiting { interaction } = &proposal.state {
                        let interaction = interaction.to_string();
                        if !waiting.iter().any(|one| one.call == call && one.interaction == interaction) {
                            inputs.push(Input::Waiting { call, interaction });
                        }
                    } else if let (Some(permit), Some(tool)) = (permit, self.tools.get(&tool)) {
                        ready.push(Ready::new(permit, Arc::clone(tool), &proposal));
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
    pub(super) async fn proposed(
        &self,
        call: &str,
        tool: &str,
        arguments: &Value,
        Shown { context, seen }: Shown,
    ) -> Result<Result<(Action, Option<String>), String>, Trouble> {
        let Some(spec) = self.specs.iter().find(|spec| spec.name == tool) else {
            return Ok(Err(self.no_such(tool)));
        };
        if !arguments.is_object() {
            let given: String = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            let given: String = given.chars().take(120).collect();
            return Ok(Err(format!("The arguments of `{tool}` are not a JSON object: {given}")));
        }
        let client = !self.tools.contains_key(tool);
        if client && let Some(message) = self.misfit(spec, arguments).await? {
            return Ok(Err(message));
        }
        let propose = Propose {
            call: call.to_owned(),
            action: Call { tool: tool.to_owned(), arguments: arguments.clone() },
            context,
            seen,
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
            Err(Error::Refused(refusal @ (Refusal::TooManyOpen { .. } | Refusal::LimitReached { .. }))) => {
                Ok(Err(refusal.to_string()))
            }
            Err(Error::Refused(Refusal::SessionEnded { .. })) => Err(Trouble::Stopped),
            Err(error) => Err(error.into()),
        }
    }

    /// What a call would replace, and what whoever is asked about it sees of that.
    async fn shown(&self, tool: &str, arguments: &Value) -> Result<Shown, Trouble> {
        let Some(tool) = self.tools.get(tool) else { return Ok(Shown::default()) };
        let Some(Replaced { mark, text }) = tool.replaces(arguments).await else { return Ok(Shown::default()) };
        let context = match text {
            Some(before) => self.context(arguments, &before).await?,
            None => Value::Null,
        };
        Ok(Shown { context, seen: Some(mark) })
    }

    /// What is seen beside a call: the text that it would replace, where the agent might read that unasked.
    async fn context(&self, arguments: &Value, before: &str) -> Result<Value, Trouble> {
        if !self.specs.iter().any(|spec| spec.name == READ) {
            return Ok(Value::Null);
        }
        let reading = Supposed {
            tool: READ.to_owned(),
            arguments: json!({ "path": arguments["path"] }),
            agent: Some(self.caller.actor.name.clone()),
            user: Some(self.session.started_by.name.clone()),
            role: Some(self.caller.role),
            draft: None,
        };
        let ruling = self.worker.engine.policy_explain(&self.caller, reading).await?.ruling;
        if ruling.verdict != Verdict::Allow {
            return Ok(Value::Null);
        }
        let secrets = self.worker.engine.step_secrets(&self.claim).await?;
        let context = json!({ "before": tools::hidden(before, &secrets.all) });
        let room = arguments.to_string().len() + context.to_string().len() <= MOST_SHOWN;
        Ok(if room { context } else { Value::Null })
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
}
