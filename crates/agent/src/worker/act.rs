//! Performs the effects of a turn: proposes its actions and asks its questions.

use std::sync::Arc;

use domain::agent::Provider;
use domain::{Action, ActionState, Call, Interaction, Kind, ProjectName, Refusal, Verdict};
use engine::{ActionReply, Error, HypotheticalCall, Propose};
use serde_json::{Value, json};

use super::StepError;
use super::run::Ready;
use super::step_run::{JournalExtras, StepRun};
use crate::ask_user;
use crate::machine::{CallEnd, Input, StepEffect, WaitingCall};
use crate::models;
use crate::tool::{ReplacedContent, ToolSpec};
use crate::tools;

/// Tool with which an agent would read the content that it replaces.
const READ: &str = "read_file";
/// Largest size of a call together with the content that it replaces, in bytes, at which both are shown.
const MOST_SHOWN: usize = 224 << 10;

/// Content that a call would replace.
#[derive(Default)]
pub(super) struct Replacement {
    /// Context that reviewers see beside the call.
    context: Value,
    /// Hash of the content that reviewers saw.
    expected_content: Option<String>,
}

/// Results of the calls of a turn, until they are entered in the journal together.
#[derive(Default)]
struct Batch {
    /// Calls that waited for people before the turn.
    waiting: Vec<WaitingCall>,
    inputs: Vec<Input>,
    extras: JournalExtras,
    /// Permitted calls, which run when all calls were proposed.
    ready: Vec<Ready>,
}

impl StepRun<'_> {
    /// Loads the tools that the step may use.
    pub(super) async fn load_tools(&mut self, project: &ProjectName) -> Result<(), StepError> {
        let Some(agent) = &self.agent else { return Ok(()) };
        if let Some(workspace) = &agent.workspace {
            self.worker.engine.require_separate_workspace(self.claim.scope, workspace).await?;
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

    /// Performs effects and returns whether the step progressed.
    pub(super) async fn perform(&mut self, wanted: Vec<StepEffect>) -> Result<bool, StepError> {
        let mut batch = Batch { waiting: self.state.waiting(), ..Batch::default() };
        let mut progressed = false;
        let calls: Vec<String> = wanted
            .iter()
            .filter_map(|effect| if let StepEffect::Act { call, .. } = effect { Some(call.clone()) } else { None })
            .collect();
        let known = self.worker.engine.step_calls(&self.claim, calls).await?;
        let mut known = known.into_iter();
        for effect in wanted {
            match effect {
                StepEffect::AskBefore { call, question } => progressed |= self.ask_before(call, *question).await?,
                StepEffect::AskUser { call, tool, arguments } => {
                    progressed |= self.ask_user(call, &tool, &arguments).await?;
                }
                StepEffect::Act { call, tool, arguments } => {
                    let known = known.next().unwrap_or_default();
                    self.act(&mut batch, known, call, &tool, &arguments).await?;
                }
                StepEffect::CallModel
                | StepEffect::Finish { .. }
                | StepEffect::Fail { .. }
                | StepEffect::Reject { .. }
                | StepEffect::SendBack { .. }
                | StepEffect::Skip { .. } => {}
            }
        }
        progressed |= !batch.inputs.is_empty();
        if !batch.inputs.is_empty() {
            self.enter(batch.inputs, batch.extras).await?;
        }
        Ok(self.run_all(batch.ready).await? || progressed)
    }

    /// Proposes a call unless its action is known, and adds what follows to the batch.
    async fn act(
        &self,
        batch: &mut Batch,
        (found, asked): (Option<Action>, Option<Interaction>),
        call: String,
        tool: &str,
        arguments: &Value,
    ) -> Result<(), StepError> {
        let acted = match found {
            Some(found) if !matches!(found.state, ActionState::Allowed { .. }) => Ok((found, None)),
            Some(_) => self.propose(&call, tool, arguments, Replacement::default()).await?,
            None => {
                let shown = self.read_replaced(tool, arguments).await?;
                self.propose(&call, tool, arguments, shown).await?
            }
        };
        let (action, permit) = match acted {
            Ok(acted) => acted,
            Err(message) => {
                batch.extras.events.push(Self::unusable_event(&call, tool, &message));
                let end = CallEnd::Failed { message, result: Value::Null };
                batch.inputs.push(Input::Settled { call, end });
                return Ok(());
            }
        };
        if let Some(end) = Self::call_end(&action, asked.as_ref(), self.worker.engine.now()) {
            batch.inputs.push(Input::Settled { call, end });
        } else if let ActionState::Waiting { interaction } = &action.state {
            let interaction = interaction.to_string();
            if !batch.waiting.iter().any(|one| one.call == call && one.interaction == interaction) {
                batch.inputs.push(Input::Waiting { call, interaction });
            }
        } else if let (Some(permit), Some(tool)) = (permit, self.tools.get(tool)) {
            batch.ready.push(Ready::new(permit, Arc::clone(tool), &action));
        }
        Ok(())
    }

    /// Proposes a call. The inner error is the reason why it cannot be proposed, in words for the model.
    pub(super) async fn propose(
        &self,
        call: &str,
        tool: &str,
        arguments: &Value,
        Replacement { context, expected_content }: Replacement,
    ) -> Result<Result<(Action, Option<String>), String>, StepError> {
        let Some(spec) = self.specs.iter().find(|spec| spec.name == tool) else {
            return Ok(Err(self.unknown_tool_message(tool)));
        };
        if !arguments.is_object() {
            let given: String = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            let given: String = given.chars().take(120).collect();
            return Ok(Err(format!("The arguments of `{tool}` are not a JSON object: {given}")));
        }
        let client = !self.tools.contains_key(tool);
        if client && let Some(message) = self.explain_misfit(spec, arguments).await? {
            return Ok(Err(message));
        }
        let propose = Propose {
            call_id: call.to_owned(),
            call: Call { tool: tool.to_owned(), arguments: arguments.clone() },
            context,
            expected_content,
            traceparent: None,
            repeatable: spec.repeatable,
            client,
            deadline_seconds: self.deadline(&Kind::Approval),
        };
        match self.worker.engine.action_propose(&self.caller, self.session.id, propose, None).await {
            Ok(ActionReply { action, permit, .. }) => Ok(Ok((action, permit))),
            Err(Error::Refused(Refusal::QuestionInvalid(problems))) => {
                let problems: Vec<String> =
                    problems.iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect();
                Ok(Err(format!("The call could not be proposed: {}.", problems.join("; "))))
            }
            Err(Error::Refused(refusal @ (Refusal::TooManyOpen { .. } | Refusal::LimitReached { .. }))) => {
                Ok(Err(refusal.to_string()))
            }
            Err(Error::Refused(Refusal::SessionEnded { .. })) => Err(StepError::Stopped),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the content that a call would replace, with the context that reviewers see.
    async fn read_replaced(&self, tool: &str, arguments: &Value) -> Result<Replacement, StepError> {
        let Some(tool) = self.tools.get(tool) else { return Ok(Replacement::default()) };
        let Some(ReplacedContent { content_hash, text }) = tool.replaces(arguments).await else {
            return Ok(Replacement::default());
        };
        let context = match text {
            Some(before) => self.context(arguments, &before).await?,
            None => Value::Null,
        };
        Ok(Replacement { context, expected_content: Some(content_hash) })
    }

    /// Context with the text that a call would replace, if the agent might read that file without approval.
    async fn context(&self, arguments: &Value, before: &str) -> Result<Value, StepError> {
        if !self.specs.iter().any(|spec| spec.name == READ) {
            return Ok(Value::Null);
        }
        let reading = HypotheticalCall {
            tool: READ.to_owned(),
            arguments: json!({ "path": arguments["path"] }),
            agent: Some(self.caller.actor.name.clone()),
            user: Some(self.session.started_by.name.clone()),
            role: Some(self.caller.role),
            environment: self.caller.environment.clone(),
            draft: None,
        };
        let ruling = self.worker.engine.policy_explain(&self.caller, reading).await?.ruling;
        if ruling.verdict != Verdict::Allow {
            return Ok(Value::Null);
        }
        let secrets = self.worker.engine.step_secrets(&self.claim).await?;
        let context = json!({ "before": tools::redact_text(before, &secrets.all) });
        let room = arguments.to_string().len() + context.to_string().len() <= MOST_SHOWN;
        Ok(if room { context } else { Value::Null })
    }

    /// Message for the model about arguments of a client tool that do not fit its schema. Workspace tools and MCP
    /// servers check their arguments themselves.
    async fn explain_misfit(&self, spec: &ToolSpec, arguments: &Value) -> Result<Option<String>, StepError> {
        if spec.schema.is_null() {
            return Ok(None);
        }
        let problems = self.worker.engine.check_value(spec.schema.clone(), arguments.clone(), "").await?;
        let problems: Vec<String> =
            problems.iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect();
        let message = format!("The arguments do not fit `{}`: {}.", spec.name, problems.join("; "));
        Ok((!problems.is_empty()).then_some(message))
    }

    /// Message for the model about a tool that it was not offered, with the tool names that the model knows.
    pub(super) fn unknown_tool_message(&self, tool: &str) -> String {
        let own = self.agent.as_ref().is_none_or(|agent| agent.model.provider == Provider::Scripted);
        let names = if own {
            self.specs.iter().map(|spec| spec.name.clone()).collect()
        } else {
            models::provider_names(&self.specs)
        };
        format!("There is no tool `{tool}`. There are: {}.", names.join(", "))
    }
}
