//! Versions of agents and flows, and what people usually answer to them.

use domain::{Definition, DefinitionKind, Scope, Timestamp};
use serde_json::Value;

use crate::{Bounded, Page, StoreResult};

/// Where an answer was given: what its like are counted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSource {
    /// The step of a flow, or the agent.
    pub place: String,
    /// The kind of question.
    pub kind: String,
}

/// What can be read of them.
pub trait DefinitionReads {
    /// A version.
    fn definition(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        version: &str,
    ) -> StoreResult<Option<Definition>>;
    /// The version of this name that came last and is not retired.
    fn definition_newest(&mut self, scope: &Scope, kind: DefinitionKind, name: &str)
    -> StoreResult<Option<Definition>>;
    /// All versions, by name and version, after this one.
    fn definitions(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        page: Page<(String, String)>,
    ) -> StoreResult<Bounded<Definition>>;
    /// The most frequent answers at a place, with how often each was given.
    fn frequent_answers(&mut self, scope: &Scope, place: &AnswerSource, limit: u32) -> StoreResult<Vec<(Value, u64)>>;
}

/// What can be written of them.
pub trait DefinitionWrites {
    /// Keeps a version; `false` if there is one of this name already.
    fn definition_insert(&mut self, scope: &Scope, definition: &Definition) -> StoreResult<bool>;
    /// Has no new session use a version, given by name and version; `false` if there is none that could be.
    fn definition_retire(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        named: (&str, &str),
        at: Timestamp,
    ) -> StoreResult<bool>;
    /// Counts an answer, known by its digest.
    fn answer_count_increment(
        &mut self,
        scope: &Scope,
        place: &AnswerSource,
        digest: &str,
        answer: &Value,
        at: Timestamp,
    ) -> StoreResult<()>;
}
