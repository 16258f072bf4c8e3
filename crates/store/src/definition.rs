//! Versions of agents and flows, and counts of the answers that people give.

use domain::{Definition, DefinitionKind, KindName, Scope, Timestamp};
use serde_json::Value;

use crate::{Bounded, Page, StoreResult};

/// Group in which equal answers are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSource {
    /// Step of the flow that asked, as `FLOW/STEP`. Without a flow, the name of the agent.
    pub place: String,
    /// Kind of the question.
    pub kind: KindName,
}

/// Reads of definitions and answer counts.
pub trait DefinitionReads {
    /// Returns a version of a definition.
    fn definition(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        version: &str,
    ) -> StoreResult<Option<Definition>>;
    /// Returns the newest version with this name that is not retired.
    fn definition_newest(&mut self, scope: &Scope, kind: DefinitionKind, name: &str)
    -> StoreResult<Option<Definition>>;
    /// Lists all versions by name and version.
    fn definitions(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        page: Page<(String, String)>,
    ) -> StoreResult<Bounded<Definition>>;
    /// Returns the most frequent answers of a group, each with its count.
    fn frequent_answers(&mut self, scope: &Scope, place: &AnswerSource, limit: u32) -> StoreResult<Vec<(Value, u64)>>;
}

/// Writes of definitions and answer counts.
pub trait DefinitionWrites {
    /// Inserts a version; `false` if this version of the name exists.
    fn definition_insert(&mut self, scope: &Scope, definition: &Definition) -> StoreResult<bool>;
    /// Retires a version, given by name and version, so that no new session uses it; `false` if there is none or it is retired already.
    fn definition_retire(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        named: (&str, &str),
        at: Timestamp,
    ) -> StoreResult<bool>;
    /// Increments the count of an answer, which is identified by its digest.
    fn answer_count_increment(
        &mut self,
        scope: &Scope,
        place: &AnswerSource,
        digest: &str,
        answer: &Value,
        at: Timestamp,
    ) -> StoreResult<()>;
}
