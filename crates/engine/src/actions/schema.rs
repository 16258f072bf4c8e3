//! Serves the schema of an action's arguments to people who edit them.

use domain::access::Right;
use domain::{Caller, InteractionId, Refusal};
use serde_json::Value;

use crate::interactions;
use crate::interactions::plan::AnswerSubject;
use crate::policy;
use crate::{Engine, Error};

impl Engine {
    /// Returns the schema of the arguments of the action that a question is about: the schema of the policy, otherwise of the agent's version,
    /// otherwise of the tool.
    pub async fn interaction_schema(&self, caller: &Caller, id: InteractionId) -> Result<Option<Value>, Error> {
        caller.require(Right::Read)?;
        interactions::read::read_question(self, caller, id).await?;
        let subject =
            interactions::plan::read(self, caller.scope, id, true).await?.ok_or(Refusal::NotFound("interaction"))?;
        let AnswerSubject { action: Some(action), tool_schema, .. } = subject else { return Ok(None) };
        let policy = policy::in_force::load(self, caller.scope).await?.policy;
        Ok(policy.schema(&action.call.tool).cloned().or(tool_schema))
    }
}
