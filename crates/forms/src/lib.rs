//! Forms: the JSON Schema of a question, and the answers that people give to it.
//!
//! An agent writes the schema, so a schema is hostile until it has been admitted. A person fills in the form, so errors are
//! reported field by field, in helpful words, and without repeating the input.
//!
//! The duty of this crate is to guard, compile, validate and explain. It is the only crate that knows the validator:
//! nothing of the `jsonschema` library appears in its public interface.
//!
//! Limits of its scope:
//! - It never reaches a store, a network or a file. Only references inside the schema itself are followed.
//! - It never matches a pattern by backtracking. A pattern that needs look-around is refused when the question is asked.
//! - It never compiles without a limit. Patterns, subschemas and values of a schema share one budget of bytes, compiling stops when
//!   the budget is used up, and the cache of compiled schemas is limited in bytes.
//! - It never validates without a limit. A schema has an estimated weight (how often it may visit one value), and weight, size
//!   and depth of the answer together stay under a budget.
//! - It never repeats an answer in a message: an answer can be a secret.
//!
//! All functions are synchronous and may take milliseconds, so callers run them off the async runtime's threads.
//!
//! Start reading at [`Forms`] in `forms.rs`. Then `guard.rs` (checks of a schema, with `keywords.rs` for the locations of its
//! subschemas and `cost.rs` for the estimate), `compile.rs` (the library), `measure.rs` (limits on the answer) and `explain.rs`
//! with `messages.rs` (the library's errors in plain English).

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod forms;

mod error;
mod limits;

mod compile;
mod cost;
mod guard;
mod keywords;
mod pointer;
mod schema_cache;

mod explain;
mod measure;
mod messages;

pub use error::{CheckError, FieldError, SchemaError, SchemaReason};
pub use forms::Forms;
pub use limits::FormLimits;
