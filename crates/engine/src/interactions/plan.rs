//! Prepares an answer before its transaction.
//!
//! The question, the action that it is about and the policy in force are each read once. Form data is validated, secret values are separated from
//! the draft, and edited arguments are judged and checked against the tool's schema. This file writes nothing: `answer.rs` runs the
//! transaction, and `policy::require_in_force` refuses a plan whose policy is no longer in force.

use domain::access::Right;
use domain::{
    Action, AgentVersion, AnswerDraft, AutoSource, Call, Caller, DefinitionKind, Effect, EntryPoint, FormProof,
    Interaction, InteractionId, Problem, Refusal, Remember, Scope, SessionId,
};
use serde_json::{Map, Value};
use store::{Cost, Reads, StoreError};

use crate::access::sight::Sight;
use crate::actions;
use crate::interactions;
use crate::interactions::open::QuestionTerms;
use crate::interactions::read::QuestionWithStep;
use crate::policy;
use crate::policy::in_force::InForce;
use crate::policy::learn;
use crate::policy::learn::suspend::CurrentRuling;
use crate::policy::ruling::{Judged, OnBehalfOf};
use crate::secrets;
use crate::secrets::answer_values::AnswerSecrets;
use crate::steps;
use crate::{Engine, Error};

/// Result of the preparation of an answer, for its transaction.
#[derive(Clone)]
pub(crate) struct AnswerPlan {
    /// Identifier of the question that is answered.
    pub(crate) interaction: InteractionId,
    /// Answer, with the names of secret values in place of the values.
    pub(crate) draft: AnswerDraft,
    /// Proof that the form data fits the schema.
    pub(crate) proof: Option<FormProof>,
    /// Secret values, to be sealed in the transaction.
    pub(crate) secrets: Option<AnswerSecrets>,
    /// Ruling on edited arguments, and the terms of the question if other people have to approve them.
    pub(crate) edit: Option<(Judged, QuestionTerms)>,
    /// Whether edited arguments are completed with those that people were shown.
    pub(crate) has_partial_arguments: bool,
    /// Grant that the person wants to give with the approval.
    pub(crate) remember: Option<Remember>,
    /// Ruling of today's policy on the action of the question.
    pub(crate) current: Option<CurrentRuling>,
}

impl AnswerPlan {
    /// Rulings whose policy must still be in force in the transaction of the answer.
    pub(crate) fn rulings(&self) -> impl Iterator<Item = &Judged> {
        let edit = self.edit.as_ref().map(|(judged, _)| judged);
        edit.into_iter().chain(self.current.as_ref().and_then(CurrentRuling::approved))
    }
}

/// Form of an answer. It decides which rulings and checks the answer needs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AnswerForm {
    /// A person answers. `with_schema` is set if the schema of the tool is read with the question.
    Person { with_schema: bool },
    /// A policy or a service answers in place of a person.
    Automatic(AutoSource),
}

impl AnswerForm {
    pub(crate) const fn is_of_person(self) -> bool {
        matches!(self, Self::Person { .. })
    }

    /// Whether the schema of the tool is read with the question.
    pub(crate) const fn has_schema(self) -> bool {
        matches!(self, Self::Person { with_schema: true })
    }
}

/// Name by which a caller refers to the question that it answers.
#[derive(Debug, Clone)]
pub enum AnswerTarget {
    /// A question by its id.
    Question(InteractionId),
    /// The first question about a call of a session, or a question of the session by its id.
    Call(SessionId, String),
}

/// Question as it is read before an answer, with the action that it is about.
#[derive(Debug)]
pub struct AnswerSubject {
    /// Question that is answered.
    pub asked: Interaction,
    /// Question that the agent asked. It differs from `asked` if the question was handed over.
    pub(crate) original: Interaction,
    /// Proposed action, if the question is about one.
    pub(crate) action: Option<Action>,
    /// Schema of the tool's arguments, as the agent's version or a tool of this server declares it.
    pub(crate) tool_schema: Option<Value>,
    /// Whether edited arguments are completed with those that people were shown.
    pub(crate) has_partial_arguments: bool,
}

/// Reads a question and its action, with the schema of the tool on request. Returns `None` if the question does not exist.
pub(crate) async fn read(
    engine: &Engine,
    scope: Scope,
    id: InteractionId,
    with_schema: bool,
) -> Result<Option<AnswerSubject>, Error> {
    let found = engine.read(Cost::Point, move |reads| {
        let Some(asked) = reads.interaction(&scope, id)? else { return Ok(None) };
        let mut subject = AnswerSubject::read(reads, asked, None)?;
        if with_schema {
            subject.add_client_schema(reads)?;
        }
        Ok(Some(subject))
    });
    let found = found.await?;
    Ok(found.map(|subject| if with_schema { subject.with_server_schema(engine) } else { subject }))
}

/// Reads a question that the caller may see and its action, with the schema of the tool.
pub(crate) async fn read_target(
    engine: &Engine,
    caller: &Caller,
    target: AnswerTarget,
) -> Result<AnswerSubject, Error> {
    let scope = caller.scope;
    let found = engine.read_by(caller, Cost::Point, move |reads, caller| {
        let sight = Sight::of(reads, caller)?;
        let (asked, action) = match &target {
            AnswerTarget::Question(id) => (Some(sight.question(reads, &scope, *id)?), None),
            AnswerTarget::Call(session, call) => {
                sight.session(reads, &scope, *session)?;
                let action = reads.action(&scope, *session, call)?;
                let asked = match &action {
                    Some(action) => action.asked.first().copied(),
                    None => call.parse().ok(),
                };
                let asked = asked.map(|id| reads.interaction(&scope, id)).transpose()?.flatten();
                (asked.filter(|asked| asked.origin.session == *session), action)
            }
        };
        let mut subject = AnswerSubject::read(reads, asked.ok_or(Refusal::NotFound("interaction"))?, action)?;
        subject.add_client_schema(reads)?;
        Ok(subject)
    });
    Ok(found.await?.with_server_schema(engine))
}

/// Reads a question of a session that the caller may see and its action, with the schema of the tool and the name of the step.
pub(crate) async fn read_with_step(
    engine: &Engine,
    caller: &Caller,
    session: SessionId,
    id: InteractionId,
) -> Result<(AnswerSubject, Option<String>), Error> {
    let found = engine.read_by(caller, Cost::Point, move |reads, caller| {
        let QuestionWithStep { interaction, step } = QuestionWithStep::read(reads, caller, session, id)?;
        let mut subject = AnswerSubject::read(reads, interaction, None)?;
        subject.add_client_schema(reads)?;
        Ok((subject, step))
    });
    let (subject, step) = found.await?;
    Ok((subject.with_server_schema(engine), step))
}

/// Validates the form data of an answer and separates its secret values.
pub(crate) async fn prepare(
    engine: &Engine,
    caller: &Caller,
    id: InteractionId,
    mut draft: AnswerDraft,
    subject: Option<&AnswerSubject>,
) -> Result<AnswerPlan, Error> {
    let (mut proof, mut secrets) = (None, None);
    if !draft.data.is_null() {
        let question = &subject.ok_or(Refusal::NotFound("interaction"))?.asked.question;
        proof = interactions::forms_check::prove(engine, caller, question, &draft).await?;
        secrets = secrets::answer_values::set_aside(question, &mut draft);
    }
    Ok(AnswerPlan {
        interaction: id,
        draft,
        proof,
        secrets,
        edit: None,
        has_partial_arguments: false,
        remember: None,
        current: None,
    })
}

/// Adds the rulings of today's policy on an answer: on the action of the question and, if a person answers, on edited arguments.
pub(crate) async fn add_rulings(
    engine: &Engine,
    caller: &Caller,
    form: AnswerForm,
    plan: &mut AnswerPlan,
    subject: Option<&AnswerSubject>,
) -> Result<(), Error> {
    if form.is_of_person() {
        plan.remember.clone_from(&plan.draft.remember);
    }
    if plan.remember.is_some() {
        caller.require(Right::Grant)?;
    }
    let Some(subject) = subject.filter(|subject| subject.original.question.call.is_some()) else { return Ok(()) };
    // People may answer even if the policy cannot be loaded. Without a policy, no action is allowed without an answer.
    let in_force = match policy::in_force::load(engine, subject.asked.scope).await {
        Err(Error::Store(StoreError::Corrupt(why))) => Err(why),
        found => Ok(found?),
    };
    if let Ok(in_force) = &in_force {
        plan.current = learn::suspend::judge_subject(engine, subject, &plan.draft, in_force.clone()).await?;
    }
    match &subject.action {
        Some(action) if form.is_of_person() => add_edit(engine, plan, subject, action, in_force).await,
        _ => Ok(()),
    }
}

/// Adds the ruling on edited arguments, if the answer has any. `in_force` is the policy, or the reason why it cannot be loaded.
async fn add_edit(
    engine: &Engine,
    plan: &mut AnswerPlan,
    subject: &AnswerSubject,
    action: &Action,
    in_force: Result<InForce, String>,
) -> Result<(), Error> {
    let unreadable = |why: &str| Error::from(StoreError::Corrupt(why.to_owned()));
    if let Some(Value::Object(given)) = plan.draft.arguments.as_mut().filter(|_| plan.has_partial_arguments) {
        let in_force = in_force.as_ref().map_err(|why| unreadable(why))?;
        subject.complete_arguments(action, given, in_force);
    }
    if subject.has_argument_data(&plan.draft) {
        let in_force = in_force.as_ref().map_err(|why| unreadable(why))?;
        subject.require_shown_arguments(action, &plan.draft, in_force)?;
    }
    let floor_asks = |judged: &Judged| judged.ruling.floor_asks();
    if plan.remember.is_some() && plan.current.as_ref().and_then(CurrentRuling::approved).is_some_and(floor_asks) {
        return Err(grant_without_effect());
    }
    if let Some(arguments) = plan.draft.arguments.clone().filter(Value::is_object) {
        let in_force = in_force.map_err(|why| unreadable(&why))?;
        let (judged, asking) = judge_edit(engine, subject, action, arguments, in_force).await?;
        if plan.remember.is_some() && floor_asks(&judged) {
            return Err(grant_without_effect());
        }
        plan.edit = Some((judged, asking));
    }
    Ok(())
}

/// Judges edited arguments and checks them against the schema of the tool.
async fn judge_edit(
    engine: &Engine,
    subject: &AnswerSubject,
    action: &Action,
    arguments: Value,
    in_force: InForce,
) -> Result<(Judged, QuestionTerms), Error> {
    let origin = &subject.original.origin;
    let edited = Call { tool: action.call.tool.clone(), arguments };
    let in_force = learn::suggest::disable_rules_of_hosted_agents(
        engine,
        in_force,
        subject.asked.scope,
        &action.proposed_by.name,
        action.hosted,
    )
    .await?;
    let behalf = OnBehalfOf::of(action, origin.started_by.name.clone());
    let judged = policy::ruling::judge(engine, in_force, behalf, edited).await?;
    for schema in judged.schema().into_iter().chain(subject.tool_schema.clone()) {
        let arguments = judged.call.arguments.clone();
        let problems = interactions::forms_check::check_value(engine, schema, arguments, "/arguments").await?;
        if !problems.is_empty() {
            return Err(Refusal::AnswerInvalid(problems).into());
        }
    }
    let asking =
        actions::propose::question_terms(engine, &judged, None, EntryPoint::Worker, origin.traceparent.clone());
    // If no rule sets a deadline for the second question, it gets the time to answer of the first.
    let first = subject.original.question.deadline.map(|deadline| deadline.duration_since(origin.at));
    Ok((judged, QuestionTerms { time: asking.time.or(first), within_budget: false, ..asking }))
}

impl AnswerSubject {
    /// Accepts partial arguments in an edit: a missing argument that the tool requires takes the value that people were shown.
    #[must_use]
    pub fn with_partial_arguments(self) -> Self {
        Self { has_partial_arguments: true, ..self }
    }

    /// Reads the question that the agent asked and the action that it is about, unless it is the `known` one. The schema of the tool is left out.
    pub(crate) fn read(reads: &mut dyn Reads, asked: Interaction, known: Option<Action>) -> Result<Self, Error> {
        let scope = asked.scope;
        // The action is in the session where it was proposed, even if the question was handed over to another session.
        let mut original = asked.clone();
        while let Some(from) = original.origin.handed_from.take() {
            original = reads.interaction(&scope, from.interaction)?.ok_or(Refusal::NotFound("interaction"))?;
        }
        let is_about = |action: &Action| {
            original.question.call_id.as_ref() == Some(&action.call_id) && action.session == original.origin.session
        };
        let action = match (known.filter(is_about), &original.question.call_id) {
            (None, Some(call)) => reads.action(&scope, original.origin.session, call)?,
            (known, _) => known,
        };
        Ok(Self { asked, original, action, tool_schema: None, has_partial_arguments: false })
    }

    /// Reads the schema that the version of a hosted agent declares for a tool that the client runs.
    fn add_client_schema(&mut self, reads: &mut dyn Reads) -> Result<(), Error> {
        if let Some(action) = &self.action {
            self.tool_schema = client_schema(reads, &self.original, action)?;
        }
        Ok(())
    }

    /// Adds the schema of a tool of this server, if the agent's version declares none.
    fn with_server_schema(mut self, engine: &Engine) -> Self {
        if let Some(action) = self.action.as_ref().filter(|action| action.hosted && action.runner.is_none()) {
            self.tool_schema = self.tool_schema.take().or_else(|| engine.filed.schema(&action.call.tool));
        }
        self
    }

    /// Completes edited arguments. A missing argument that the tool requires takes the value that people were shown; any other missing argument
    /// stays out.
    fn complete_arguments(&self, action: &Action, given: &mut Map<String, Value>, in_force: &InForce) {
        let Some(shown) = self.original.question.call.as_ref().map(|call| &call.arguments) else { return };
        for schema in in_force.policy.schema(&action.call.tool).into_iter().chain(&self.tool_schema) {
            let needed = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for name in needed.filter(|name| shown.get(name).is_some()) {
                given.entry(name).or_insert_with(|| shown[name].clone());
            }
        }
    }

    /// Whether an approval carries data that could be meant as arguments.
    fn has_argument_data(&self, draft: &AnswerDraft) -> bool {
        let data = draft.data.as_object().is_some_and(|given| !given.is_empty());
        let question = &self.original.question;
        data && question.form().is_none() && question.effect_of(draft) == Some(Effect::Approve)
    }

    /// Refuses an approval whose data gives an argument of the tool another value than people were shown. The action would run with the shown value,
    /// against the intention of the answer.
    fn require_shown_arguments(&self, action: &Action, draft: &AnswerDraft, in_force: &InForce) -> Result<(), Error> {
        let declared = in_force.policy.schema(&action.call.tool);
        let shown = action.effective().arguments;
        let is_argument = |name: &str| {
            let mut schemas = declared.into_iter().chain(&self.tool_schema);
            schemas.any(|schema| schema["properties"].get(name).is_some())
        };
        let given = draft.data.as_object().into_iter().flatten();
        if given.into_iter().any(|(name, value)| is_argument(name) && shown.get(name) != Some(value)) {
            let problem = Problem::new("/data", domain::answer::AS_PROPOSED);
            return Err(Refusal::AnswerInvalid(vec![problem]).into());
        }
        Ok(())
    }
}

/// Refusal of a grant for an action about which the floor asks every time, because such a grant would never be used.
fn grant_without_effect() -> Error {
    let problem = Problem::new("/remember", "the floor of the server asks about this action every time");
    Refusal::AnswerInvalid(vec![problem]).into()
}

/// Schema that the version of a hosted agent declares for a tool that the client runs.
fn client_schema(reads: &mut dyn Reads, asked: &Interaction, action: &Action) -> Result<Option<Value>, Error> {
    if !action.hosted || action.runner.is_none() {
        return Ok(None);
    }
    let Some(step) = reads.step(&asked.scope, asked.origin.step)? else { return Ok(None) };
    let (Some(name), Some(version)) = (&step.agent, &step.agent_version) else { return Ok(None) };
    let Some(found) = reads.definition(&asked.scope, DefinitionKind::Agent, name, version)? else { return Ok(None) };
    let agent: AgentVersion = steps::definitions::body(found)?;
    let tool = agent.client_tools.into_iter().find(|tool| tool.name == action.call.tool);
    Ok(tool.map(|tool| tool.schema).filter(|schema| !schema.is_null()))
}
