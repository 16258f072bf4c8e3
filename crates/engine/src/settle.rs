//! What the end of a question does to the action that it was about.

use domain::access::Right;
use domain::action::{Change, same_but_text, verdict_of};
use domain::interaction::Origin;
use domain::{
    Action, ActionState, Actor, AgentVersion, AnswerDraft, Call, Caller, Choice, DefinitionKind, Effect, EntryPoint,
    Interaction, InteractionId, Kind, Problem, Question, Refusal, Remember, Resolution, Scope, Session, SignedDuration,
    State, Status, Verdict,
};
use serde_json::Value;
use store::{Cost, Reads, StoreError};

use crate::ask::opened_on;
use crate::definitions::body;
use crate::doubt::ByNow;
use crate::judge::{Behalf, Judged};
use crate::propose::question_about;
use crate::sight::Sight;
use crate::work::{Asking, Work};
use crate::{Engine, Error};

/// What an answer brings with it beyond what the question keeps.
#[derive(Clone, Default)]
pub(crate) struct Alongside {
    /// The ruling on edited arguments, and how others would be asked about them.
    pub(crate) edit: Option<(Judged, Asking)>,
    /// What is to hold for more than this one action.
    pub(crate) remember: Option<Remember>,
    /// What policy says by now of the action as it was asked about.
    pub(crate) by_now: Option<ByNow>,
}

impl Work<'_> {
    /// Saves a step of an action and records it.
    pub(crate) fn acted(&mut self, session: &mut Session, (proposal, happening): Change) -> Result<Action, Error> {
        self.tx.proposal_save(&proposal)?;
        self.woken_at(proposal.wake_at());
        let about = proposal.asked.last().copied();
        self.happened(session, about, happening)?;
        // Whoever reports may have lost the step meanwhile to one that sleeps on just this.
        self.wake(session)?;
        Ok(proposal)
    }

    /// Carries the end of a question over to the action that waits on it.
    pub(crate) fn settle(&mut self, session: &mut Session, interaction: &Interaction) -> Result<(), Error> {
        let Some(call) = &interaction.question.call_id else { return Ok(()) };
        let Some(proposal) = self.tx.proposal(&interaction.scope, session.id, call)? else { return Ok(()) };
        let Some((by, effect, feedback)) = verdict_of(interaction) else { return Ok(()) };
        match &proposal.state {
            ActionState::Waiting { interaction: asked } if *asked == interaction.id => {}
            ActionState::Unknown { interaction: Some(asked), .. } if *asked == interaction.id => {
                return self.recounted(session, proposal, interaction);
            }
            _ => return Ok(()),
        }
        match effect {
            Some(Effect::Approve) => self.released(session, proposal, interaction, &by, None),
            Some(Effect::Edit) => self.edited(session, proposal, interaction, &by),
            _ => self.acted(session, proposal.reject(by, effect, feedback)?).map(drop),
        }
    }

    fn released(
        &mut self,
        session: &mut Session,
        proposal: Action,
        interaction: &Interaction,
        by: &Actor,
        edited: Option<Value>,
    ) -> Result<(), Error> {
        let arguments = edited.as_ref().or(proposal.edited.as_ref()).unwrap_or(&proposal.call.arguments);
        let permit = self.permit(&Call { tool: proposal.call.tool.clone(), arguments: arguments.clone() });
        let proposal = self.acted(session, proposal.release(by, permit, edited)?)?;
        self.remembered(session, &proposal, interaction, by)
    }

    /// An edit was judged again before the transaction: it runs, or others are asked, or it is refused to whoever made it.
    fn edited(
        &mut self,
        session: &mut Session,
        proposal: Action,
        interaction: &Interaction,
        by: &Actor,
    ) -> Result<(), Error> {
        let State::Resolved { resolution: Resolution::Answered { answer, votes }, .. } = &interaction.state else {
            return Err(StoreError::Conflict.into());
        };
        let (Some(arguments), Some((judged, asking))) = (&answer.arguments, self.alongside.edit.clone()) else {
            return Err(StoreError::Conflict.into());
        };
        if judged.action.arguments != *arguments {
            return Err(StoreError::Conflict.into());
        }
        let agreeing: Vec<_> = if votes.is_empty() {
            vec![answer]
        } else {
            votes.iter().filter(|vote| vote.agrees_with(answer)).collect()
        };
        match judged.ruling.verdict {
            Verdict::Deny => Err(Refusal::EditDenied(Box::new(judged.ruling)).into()),
            Verdict::Ask if !judged.is_settled_by(&agreeing, &interaction.origin.started_by) => {
                if self.alongside.remember.is_some() {
                    let problem = Problem::new("/remember", "others still have to approve this edit");
                    return Err(Refusal::AnswerInvalid(vec![problem]).into());
                }
                let context = still_beside(&interaction.question, arguments);
                let question = question_about(&judged, proposal.call_id.clone(), context)?;
                let asked_by = proposal.proposed_by.clone();
                let asked = self.ask(session, asked_by, question, &asking)?;
                let step = proposal.ask_others(by, asked.id, arguments.clone(), judged.ruling)?;
                self.acted(session, step).map(drop)
            }
            Verdict::Allow | Verdict::Ask => self.released(session, proposal, interaction, by, Some(arguments.clone())),
        }
    }

    /// A person has said what to do about an action of which nobody knows what became.
    fn recounted(&mut self, session: &mut Session, proposal: Action, interaction: &Interaction) -> Result<(), Error> {
        let Some((by, effect, feedback)) = verdict_of(interaction) else { return Ok(()) };
        if effect == Some(Effect::Approve) {
            return self.released(session, proposal, interaction, &by, None);
        }
        self.acted(session, proposal.recount(&by, effect, feedback)?).map(drop)
    }

    /// Asks a person about an action of which nobody knows what became, while its session lives.
    pub(crate) fn puzzled(&mut self, session: &mut Session, proposal: Action) -> Result<Action, Error> {
        if !matches!(proposal.state, ActionState::Unknown { interaction: None, .. }) || session.alive().is_err() {
            return Ok(proposal);
        }
        if !self.step_goes_on(session, &proposal)? {
            // Nobody is left who would go on from the answer.
            return Ok(proposal);
        }
        // Whoever had to approve it has to say whether it runs again.
        let granted = match proposal.grant {
            Some(grant) => self.tx.grant(&session.scope, grant)?.map(|grant| grant.interaction),
            None => None,
        };
        let before = match proposal.asked.last().copied().or(granted) {
            Some(asked) => self.tx.interaction(&session.scope, asked)?,
            None => None,
        };
        let audiences = before.map(|before| before.question.audiences().to_vec()).unwrap_or_default();
        let question = what_became_of(&proposal).asked_of(audiences);
        let question = question.admit().map_err(Refusal::QuestionInvalid)?;
        let asking = Asking {
            time: self.time_for(session, &proposal, &question.kind)?,
            traceparent: None,
            within_budget: false,
        };
        let asked = match self.ask(session, proposal.proposed_by.clone(), question, &asking) {
            // It is seen as unknown all the same; the time of others must not stand still for it.
            Err(Error::Refused(Refusal::TooManyOpen { .. })) => return Ok(proposal),
            asked => asked?,
        };
        let proposal = proposal.puzzled(asked.id);
        self.tx.proposal_save(&proposal)?;
        Ok(proposal)
    }

    /// How long people have to say what became of an action: as long as for anything else of its kind that is asked there.
    fn time_for(&mut self, session: &Session, proposal: &Action, kind: &Kind) -> Result<Option<SignedDuration>, Error> {
        let configured = self.settings.deadlines.get(kind.name()).copied();
        if configured.is_some() || !proposal.hosted {
            return Ok(configured);
        }
        Ok(opened_on(&mut *self.tx, &session.scope, session.id)?.time_to_answer(kind))
    }

    /// Closes a question that has lost its point.
    pub(crate) fn withdraw(&mut self, session: &mut Session, id: InteractionId, why: &str) -> Result<(), Error> {
        let scope = session.scope;
        let Some(interaction) = self.tx.interaction(&scope, id)? else { return Ok(()) };
        if interaction.status() != Status::Pending {
            return Ok(());
        }
        let change = interaction.cancel(Actor::system(), why.to_owned(), self.now)?;
        self.changed(session, Status::Pending, change).map(drop)
    }
}

/// What people are asked about an action that was started and never reported.
fn what_became_of(proposal: &Action) -> Question {
    let mut again = Choice::new("run_again", "Run it again", Effect::Approve);
    again.dangerous = true;
    Question {
        message: Some("It was started, and its outcome was never reported. It may have run, wholly or in part.".into()),
        call: Some(proposal.effective()),
        options: vec![
            Choice::new("it_ran", "It ran", Effect::Provide),
            Choice::new("it_failed", "It did not run, or failed", Effect::Reject),
            again,
            Choice::new("leave", "Leave it unknown", Effect::Skip),
        ],
        call_id: Some(proposal.call_id.clone()),
        ..Question::plain(Kind::Choice, format!("What became of {}?", proposal.call.tool))
    }
}

impl Engine {
    /// What an answer brings with it for the action that it is about: an edit is held against the tool's schema and judged again.
    pub(crate) async fn alongside(
        &self,
        caller: &Caller,
        id: InteractionId,
        draft: &AnswerDraft,
    ) -> Result<Alongside, Error> {
        let remember = draft.remember.clone();
        if remember.is_some() {
            caller.require(Right::Grant)?;
        }
        let by_now = self.by_now(caller, id, draft).await?;
        self.nothing_otherwise(caller, id, draft).await?;
        if remember.is_some() && by_now.as_ref().and_then(ByNow::approved).is_some_and(|by| by.ruling.floor_asks()) {
            return Err(not_remembered());
        }
        let Some(arguments) = draft.arguments.clone().filter(Value::is_object) else {
            return Ok(Alongside { edit: None, remember, by_now });
        };
        let scope = caller.scope;
        let Some((asked, proposal, schema)) = self.proposed_in(scope, id).await? else {
            return Ok(Alongside { edit: None, remember, by_now });
        };
        let action = Call { tool: proposal.call.tool, arguments };
        let Origin { started_by, traceparent, at, .. } = asked.origin;
        let in_force = self.in_force_for(scope, (&proposal.proposed_by.name, proposal.hosted)).await?;
        let agent = Some(proposal.proposed_by.name);
        let behalf = Behalf { agent, user: started_by.name, role: proposal.role };
        let judged = self.judge_by(in_force, behalf, action).await?;
        self.fits_tool(&judged, schema).await?;
        if remember.is_some() && judged.ruling.floor_asks() {
            return Err(not_remembered());
        }
        let asking = self.asking(&judged, None, EntryPoint::Worker, traceparent);
        // Where nobody says otherwise they have as long as those who were asked first.
        let first = asked.question.deadline.map(|deadline| deadline.duration_since(at));
        let asking = Asking { time: asking.time.or(first), within_budget: false, ..asking };
        Ok(Alongside { edit: Some((judged, asking)), remember, by_now })
    }

    /// Refuses an approval whose data names arguments that the tool knows and people were not shown: it would run without them.
    async fn nothing_otherwise(&self, caller: &Caller, id: InteractionId, draft: &AnswerDraft) -> Result<(), Error> {
        let Some(given) = draft.data.as_object().filter(|given| !given.is_empty()) else { return Ok(()) };
        let Some((asked, proposal, schema)) = self.proposed_in(caller.scope, id).await? else { return Ok(()) };
        if asked.question.form().is_some() || asked.question.effect_of(draft) != Some(Effect::Approve) {
            return Ok(());
        }
        let declared = self.in_force(caller.scope).await?.policy.schema(&proposal.call.tool).cloned();
        let shown = proposal.effective().arguments;
        let known = |name: &str| {
            let mut schemas = declared.iter().chain(schema.iter());
            schemas.any(|schema| schema["properties"].get(name).is_some())
        };
        if given.iter().any(|(name, value)| known(name) && shown.get(name) != Some(value)) {
            let problem = Problem::new("/data", domain::answer::AS_PROPOSED);
            return Err(Refusal::AnswerInvalid(vec![problem]).into());
        }
        Ok(())
    }

    /// The whole arguments that somebody means who names those that are to be otherwise: what is not named is left out, but for what the tool
    /// cannot do without, which stays as people were shown it.
    pub async fn arguments_meant(&self, caller: &Caller, id: InteractionId, given: Value) -> Result<Value, Error> {
        caller.require(Right::Answer)?;
        let Value::Object(mut given) = given else { return Ok(given) };
        let Some((asked, proposal, schema)) = self.proposed_in(caller.scope, id).await? else {
            return Ok(Value::Object(given));
        };
        let declared = self.in_force(caller.scope).await?.policy.schema(&proposal.call.tool).cloned();
        let shown = asked.question.call.map(|action| action.arguments).unwrap_or_default();
        for schema in declared.into_iter().chain(schema) {
            let needed = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for name in needed.filter(|name| shown.get(name).is_some()) {
                given.entry(name).or_insert_with(|| shown[name].clone());
            }
        }
        Ok(Value::Object(given))
    }

    /// What the arguments of the action that a question is about must be: as the policy declares it, else as the agent's version or the tool does.
    pub async fn action_schema(&self, caller: &Caller, id: InteractionId) -> Result<Option<Value>, Error> {
        caller.require(Right::Read)?;
        let reader = caller.clone();
        self.read(Cost::Point, move |reads| Sight::of(reads, &reader)?.question(reads, &reader.scope, id)).await?;
        let Some((_, proposal, of_tool)) = self.proposed_in(caller.scope, id).await? else { return Ok(None) };
        let policy = self.in_force(caller.scope).await?.policy;
        Ok(policy.schema(&proposal.call.tool).cloned().or(of_tool))
    }

    /// The question that was asked first, the action that it is about, and the schema of its tool where we run it or its client does.
    async fn proposed_in(
        &self,
        scope: Scope,
        id: InteractionId,
    ) -> Result<Option<(Interaction, Action, Option<Value>)>, Error> {
        let found = self.read(Cost::Point, move |reads| {
            let mut asked = reads.interaction(&scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
            // The action is in the session where it was proposed, wherever the question went.
            while let Some(from) = asked.origin.handed_from.take() {
                asked = reads.interaction(&scope, from.interaction)?.ok_or(Refusal::NotFound("interaction"))?;
            }
            let Some(call) = &asked.question.call_id else { return Ok(None) };
            let Some(proposal) = reads.proposal(&scope, asked.origin.session, call)? else { return Ok(None) };
            let schema = client_schema(reads, &asked, &proposal)?;
            Ok(Some((asked, proposal, schema)))
        });
        Ok(found.await?.map(|(asked, proposal, of_client)| {
            let ours = proposal.hosted && proposal.runner.is_none();
            let of_ours = if ours { self.filed.schema(&proposal.call.tool) } else { None };
            (asked, proposal, of_client.or(of_ours))
        }))
    }

    /// Refuses arguments that do not fit the schema of their tool, where the policy or the agent's version declares one, or the tool is our own.
    async fn fits_tool(&self, judged: &Judged, of_tool: Option<Value>) -> Result<(), Error> {
        for schema in judged.schema().into_iter().chain(of_tool) {
            let problems = self.misfits(schema, judged.action.arguments.clone(), "/arguments").await?;
            if !problems.is_empty() {
                return Err(Refusal::AnswerInvalid(problems).into());
            }
        }
        Ok(())
    }
}

/// A grant for what the floor asks about would never be used.
fn not_remembered() -> Error {
    let problem = Problem::new("/remember", "the floor of the server asks about this action every time");
    Refusal::AnswerInvalid(vec![problem]).into()
}

/// The schema that an agent of ours declares for a tool that its client runs.
fn client_schema(reads: &mut dyn Reads, asked: &Interaction, proposal: &Action) -> Result<Option<Value>, Error> {
    if !proposal.hosted || proposal.runner.is_none() {
        return Ok(None);
    }
    let Some(step) = reads.step(&asked.scope, asked.origin.step)? else { return Ok(None) };
    let (Some(name), Some(version)) = (&step.agent, &step.agent_version) else { return Ok(None) };
    let Some(found) = reads.definition(&asked.scope, DefinitionKind::Agent, name, version)? else { return Ok(None) };
    let agent: AgentVersion = body(found)?;
    let tool = agent.client_tools.into_iter().find(|tool| tool.name == proposal.call.tool);
    Ok(tool.map(|tool| tool.schema).filter(|schema| !schema.is_null()))
}

/// What was shown beside an action, as far as it still belongs to what a person made of it: the text that a call replaces is that of the same
/// place only where nothing but the new text was changed.
fn still_beside(question: &Question, edited: &Value) -> Value {
    let mut context = question.context.clone();
    let there = question.call.as_ref().is_some_and(|action| same_but_text(&action.arguments, edited));
    if !there && let Some(fields) = context.as_object_mut() {
        fields.remove("before");
    }
    context
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_before_stays_with_the_place_that_it_is_of() {
        let check = |edited: Value, expected: Value| {
            let arguments = json!({ "path": "a", "content": "new" });
            let action = Some(Call { tool: "write_file".into(), arguments });
            let context = json!({ "before": "old", "why": "so" });
            let question = Question { call: action, context, ..Question::plain(Kind::Approval, "Write?".into()) };
            assert_eq!(still_beside(&question, &edited), expected, "{edited}");
        };
        check(json!({ "path": "a", "content": "newer" }), json!({ "before": "old", "why": "so" }));
        check(json!({ "path": "b", "content": "new" }), json!({ "why": "so" }));
        check(json!({ "content": "new" }), json!({ "why": "so" }));
    }
}
