//! The error body, `application/problem+json` (RFC 9457).

use domain::Problem;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ResolutionView;

/// What went wrong. `code` is stable; `docs/errors.md` has a heading for each.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "type": "urn:holdpoint:problem:interaction_already_resolved",
    "title": "this question is already resolved",
    "status": 409,
    "code": "interaction_already_resolved"
}))]
pub struct ProblemBody {
    /// The code as a URN.
    #[serde(rename = "type")]
    pub kind: String,
    /// What went wrong, in a sentence.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// Stable, for programs.
    pub code: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The limit that was reached (`docs/limits.md` lists them), where it is a refusal by limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The value of that limit, where it has one number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Where in the body, each with a JSON Pointer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
    /// How the question ended, where somebody else was first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Box<ResolutionView>>,
}

/// One thing that is wrong with a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "pointer": "/data/amount", "message": "must be at most 100" }))]
pub struct FieldProblem {
    /// JSON Pointer into the body that was sent.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl From<Problem> for FieldProblem {
    fn from(Problem { pointer, message }: Problem) -> Self {
        Self { pointer, message }
    }
}
