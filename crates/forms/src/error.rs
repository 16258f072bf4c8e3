//! Defines the errors about schemas and about answers.

use thiserror::Error;

/// Reason why a schema was refused, and its location.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason} (at \"{pointer}\" of the schema)")]
pub struct SchemaError {
    /// Problem of the schema.
    pub reason: SchemaReason,
    /// JSON Pointer into the schema; empty for the whole schema.
    pub pointer: String,
}

impl SchemaError {
    pub(crate) fn new(reason: SchemaReason, pointer: impl Into<String>) -> Self {
        Self { reason, pointer: pointer.into() }
    }
}

/// Problems of a schema, in terms that its author can act on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaReason {
    /// The top level is neither an object nor a boolean.
    #[error("a schema must be an object or a boolean")]
    NotASchema,
    /// The schema has too many bytes.
    #[error("the schema is larger than {limit} bytes")]
    TooLarge { limit: usize },
    /// The schema is nested too deeply.
    #[error("the schema is nested deeper than {limit} levels")]
    TooDeep { limit: usize },
    /// The schema has too many references.
    #[error("the schema has more than {limit} references")]
    TooManyRefs { limit: usize },
    /// The schema has too many alternatives and conditions.
    #[error("the schema has more than {limit} branches (allOf, anyOf, oneOf, not, if and so on)")]
    TooManyBranches { limit: usize },
    /// The schema has too many named subschemas.
    #[error("the schema has more than {limit} properties and definitions")]
    TooManyProperties { limit: usize },
    /// A reference leads out of the schema.
    #[error("only references inside the schema are followed: write \"#/$defs/...\"")]
    RemoteReference,
    /// A reference has no target.
    #[error("the reference has no target in the schema")]
    UnknownReference,
    /// References lead back to where they started without going down into the value.
    #[error("the reference leads back to itself without describing a part of the value")]
    ReferenceLoop,
    /// Validation could visit one value too often, typically because references double.
    #[error("checking an answer could look at one value more than {limit} times")]
    TooExpensive { limit: u64 },
    /// Validation could go through too many nested subschemas.
    #[error("checking an answer could go more than {limit} subschemas deep")]
    TooNested { limit: u64 },
    /// A subschema has its own `$id`, which changes the meaning of references.
    #[error("only the top level may have an \"$id\"")]
    EmbeddedResource,
    /// Two subschemas have the same anchor.
    #[error("the anchor is used twice")]
    DuplicateAnchor,
    /// The `$schema` is not one of the supported drafts, or is below the top level.
    #[error("\"$schema\" must be draft 2020-12, 2019-09 or draft-07, and only at the top level")]
    UnsupportedDialect,
    /// A regular expression is too long.
    #[error("the pattern is longer than {limit} bytes")]
    PatternTooLong { limit: usize },
    /// The patterns, subschemas and values of the schema take too much memory after compilation.
    #[error(
        "the schema compiles to more than {limit} bytes in all: use fewer or shorter patterns, and smaller repeats"
    )]
    CompiledTooLarge { limit: usize },
    /// The check was stopped because its caller has gone.
    #[error("the check was stopped because its caller has gone")]
    Abandoned,
    /// A regular expression is invalid, or needs look-around or backreferences.
    #[error("the pattern cannot be compiled: look-around and backreferences are not supported")]
    UnsupportedPattern,
    /// The schema breaks the rules of its draft.
    #[error("the schema is not valid: {message}")]
    Invalid { message: String },
    /// The schema passed every check, but the validator cannot use it.
    #[error("the schema cannot be used")]
    Unusable,
}

impl SchemaReason {
    /// Stable name of the reason, for error bodies and metrics.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotASchema => "not_a_schema",
            Self::TooLarge { .. } => "too_large",
            Self::TooDeep { .. } => "too_deep",
            Self::TooManyRefs { .. } => "too_many_refs",
            Self::TooManyBranches { .. } => "too_many_branches",
            Self::TooManyProperties { .. } => "too_many_properties",
            Self::RemoteReference => "remote_reference",
            Self::UnknownReference => "unknown_reference",
            Self::ReferenceLoop => "reference_loop",
            Self::TooExpensive { .. } => "too_expensive",
            Self::TooNested { .. } => "too_nested",
            Self::EmbeddedResource => "embedded_resource",
            Self::DuplicateAnchor => "duplicate_anchor",
            Self::UnsupportedDialect => "unsupported_dialect",
            Self::PatternTooLong { .. } => "pattern_too_long",
            Self::CompiledTooLarge { .. } => "compiled_too_large",
            Self::Abandoned => "abandoned",
            Self::UnsupportedPattern => "unsupported_pattern",
            Self::Invalid { .. } => "invalid",
            Self::Unusable => "unusable",
        }
    }
}

/// Error of one field of an answer, for the person who filled it in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldError {
    /// JSON Pointer into the answer; for a missing field, the location where it should be.
    pub pointer: String,
    /// One or two plain sentences that never repeat the value.
    pub message: String,
    /// Keyword of the schema that was not met, or `limit` if the answer exceeds a limit of the server.
    pub keyword: String,
}

impl FieldError {
    pub(crate) fn new(pointer: impl Into<String>, keyword: &str, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), keyword: keyword.to_owned() }
    }
}

/// Reason why an answer was not accepted: the form itself is unusable, or fields are wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CheckError {
    /// The schema would not have been admitted.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The errors of fields, sorted and without duplicates; never empty.
    #[error("{} not accepted", if .0.len() == 1 { "1 field was" } else { "several fields were" })]
    Fields(Vec<FieldError>),
}
