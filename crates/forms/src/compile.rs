//! Compiles schemas and patterns with the `jsonschema` and `regex_automata` libraries, within limits.

use std::borrow::Cow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::LazyLock;

use jsonschema::{Draft, PatternOptions, ValidationError, ValidationOptions, Validator};
use regex_automata::meta;
use serde_json::{Value, json};

use crate::error::{SchemaError, SchemaReason};
use crate::messages;

/// Largest memory of the automaton of one pattern, which also limits the cost of a match for each byte of text.
const PATTERN_SIZE: usize = 1024 * 1024;
/// Largest memory that a pattern may keep after a match, to match faster the next time.
pub(crate) const PATTERN_CACHE: usize = 64 * 1024;

/// Supported drafts of JSON Schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    Draft7,
    Draft201909,
    #[default]
    Draft202012,
}

impl Dialect {
    pub(crate) fn from_uri(uri: &str) -> Option<Self> {
        match Draft::from_schema_uri(uri) {
            Draft::Draft7 => Some(Self::Draft7),
            Draft::Draft201909 => Some(Self::Draft201909),
            Draft::Draft202012 => Some(Self::Draft202012),
            _ => None,
        }
    }

    fn draft(self) -> Draft {
        match self {
            Self::Draft7 => Draft::Draft7,
            Self::Draft201909 => Draft::Draft201909,
            Self::Draft202012 => Draft::Draft202012,
        }
    }

    fn validate_schema(self, schema: &Value) -> Result<(), ValidationError<'_>> {
        match self {
            Self::Draft7 => jsonschema::draft7::meta::validate(schema),
            Self::Draft201909 => jsonschema::draft201909::meta::validate(schema),
            Self::Draft202012 => jsonschema::draft202012::meta::validate(schema),
        }
    }
}

/// Compiles a schema that the guard has accepted.
pub(crate) fn compile(schema: &Value, dialect: Dialect) -> Result<Validator, SchemaError> {
    let schema = without_id(schema);
    catch_panic(|| {
        dialect.validate_schema(&schema).map_err(|error| {
            let message = messages::of(error.kind(), error.instance());
            SchemaError::new(SchemaReason::Invalid { message }, error.instance_path().as_str())
        })?;
        options(dialect)
            .build(&schema)
            .map_err(|error| SchemaError::new(SchemaReason::Unusable, error.schema_path().as_str()))
    })
    .unwrap_or_else(|| Err(SchemaError::new(SchemaReason::Unusable, "")))
}

/// Reason why a pattern has no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unmeasured {
    /// The pattern takes more memory than allowed.
    TooLarge,
    /// The pattern is invalid, or the linear regular expression engine cannot run it.
    Unsupported,
}

/// Compiles a pattern in the way the validator does, and returns the bytes that it takes. Compiling stops as soon as the
/// automaton has more than `most` bytes, which limits the time as well.
pub(crate) fn pattern_bytes(pattern: &str, most: usize) -> Result<usize, Unmeasured> {
    let compiled = catch_panic(|| {
        let pattern = jsonschema_regex::to_rust_regex(pattern).map_err(|()| Unmeasured::Unsupported)?;
        let config =
            meta::Config::new().nfa_size_limit(Some(most.min(PATTERN_SIZE))).hybrid_cache_capacity(PATTERN_CACHE);
        meta::Builder::new().configure(config).build(&pattern).map_err(|error| match error.size_limit() {
            Some(_) => Unmeasured::TooLarge,
            None => Unmeasured::Unsupported,
        })
    });
    let bytes = compiled.unwrap_or(Err(Unmeasured::Unsupported))?.memory_usage();
    if bytes > most { Err(Unmeasured::TooLarge) } else { Ok(bytes) }
}

/// Runs code of the library, which may panic on its own assertions. A panic becomes `None` and never ends a worker.
pub(crate) fn catch_panic<T>(run: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(run)).ok()
}

fn options(dialect: Dialect) -> ValidationOptions<'static> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_CACHE);
    let options = jsonschema::options()
        .with_draft(dialect.draft())
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .with_pattern_options(patterns);
    match dialect {
        Dialect::Draft7 => options.with_format("uuid", is_uuid).with_format("duration", is_duration),
        Dialect::Draft201909 | Dialect::Draft202012 => options,
    }
}

/// Removes the identifier of the top level: no reference may use it, and it could be equal to the identifier of a meta-schema.
fn without_id(schema: &Value) -> Cow<'_, Value> {
    match schema {
        Value::Object(map) if map.contains_key("$id") => {
            let mut map = map.clone();
            map.remove("$id");
            Cow::Owned(Value::Object(map))
        }
        _ => Cow::Borrowed(schema),
    }
}

/// Checks a UUID. Draft-07 defines neither this format nor `duration`, but schemas that are generated for draft-07 use both.
fn is_uuid(text: &str) -> bool {
    static UUID: LazyLock<Option<Validator>> = LazyLock::new(|| format_only("uuid"));
    UUID.as_ref().is_none_or(|validator| validator.is_valid(&Value::from(text)))
}

fn is_duration(text: &str) -> bool {
    static DURATION: LazyLock<Option<Validator>> = LazyLock::new(|| format_only("duration"));
    DURATION.as_ref().is_none_or(|validator| validator.is_valid(&Value::from(text)))
}

fn format_only(format: &str) -> Option<Validator> {
    options(Dialect::default()).build(&json!({ "format": format })).ok()
}
