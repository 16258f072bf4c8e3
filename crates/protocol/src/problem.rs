//! Error body of the API, `application/problem+json` (RFC 9457).

use domain::Problem;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ResolutionView;

/// An error. Its `code` is stable; `docs/errors.md` describes every code.
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
    /// Summary of the error in one sentence.
    pub title: String,
    /// Status code of the HTTP reply.
    pub status: u16,
    /// Stable error code for programs.
    pub code: String,
    /// Explanation of the error and of its remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Name of the exceeded limit, if a limit caused the error. `docs/limits.md` lists all limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Value of the exceeded limit, if it is a single number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Invalid parts of the request body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
    /// Resolution of the question, if the question was already closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Box<ResolutionView>>,
}

/// An invalid part of the request body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "pointer": "/data/amount", "message": "must be at most 100" }))]
pub struct FieldProblem {
    /// JSON Pointer into the request body.
    pub pointer: String,
    /// Description of the error.
    pub message: String,
}

impl From<Problem> for FieldProblem {
    fn from(Problem { pointer, message }: Problem) -> Self {
        Self { pointer, message }
    }
}
