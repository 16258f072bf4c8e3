//! Serves the schema of an action's arguments to people who edit them.

use domain::access::Right;
use domain::{Caller, InteractionId, Refusal};
use serde_json::Value;

use crate::interactions;
use crate::interactions::plan::AnswerSubject;
use crate::policy;
use crate::{Engine, Error};

impl Engine {
    /// Completes a partial set of arguments. A missing argument that the tool requires takes the value that people were shown; any other missing
    /// argument stays out.
    pub async fn complete_arguments(&self, caller: &Caller, id: InteractionId, given: Value) -> Result<Value, Error> {
        caller.require(Right::Answer)?;
        let Value::Object(mut given) = given else { return Ok(given) };
        let subject =
            interactions::plan::read(self, caller.scope, id, true).await?.ok_or(Refusal::NotFound("interaction"))?;
        let AnswerSubject { original, action: Some(action), tool_schema, .. } = subject else {
            return Ok(Value::Object(given));
        };
        let declared = policy::in_force::load(self, caller.scope).await?.policy.schema(&action.call.tool).cloned();
        let shown = original.question.call.map(|call| call.arguments).unwrap_or_default();
        for schema in declared.into_iter().chain(tool_schema) {
            let needed = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for name in needed.filter(|name| shown.get(name).is_some()) {
                given.entry(name).or_insert_with(|| shown[name].clone());
            }
        }
        Ok(Value::Object(given))
    }

    /// Schema of the arguments of the action that a question is about. The policy's schema comes first, then that of the agent's version or the tool.
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
