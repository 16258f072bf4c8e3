//! Forms: the JSON Schema of a question, and the answers that people give to it.
//!
//! An agent writes the schema, so a schema is hostile until it has been admitted; a person fills in the form, so what
//! is wrong with an answer is said field by field, in words that help, and without repeating what was typed.
//!
//! The duty of this crate is to guard, compile, validate and explain. It is the only crate that knows the validator:
//! nothing of the `jsonschema` library appears in its public interface.
//!
//! What is deliberately absent:
//! - It never reaches a store, a network or a file. Only references inside the schema itself are followed.
//! - It never matches a pattern by backtracking. A pattern that needs look-around is refused when the question is asked.
//! - It never compiles without a bound. Patterns, subschemas and values share one budget of bytes for a schema, compiling stops where it
//!   is used up, and the schemas that are kept are weighed in bytes.
//! - It never validates without a bound. A schema has an estimated weight (how often it may look at one value), and
//!   weight, size and depth of the answer together stay under a budget.
//! - It never repeats an answer in a message: an answer can be a secret.
//!
//! Everything is synchronous and may take milliseconds: callers run it off the reactor.
//!
//! Start reading at [`Forms`] in `forms.rs`. Then `guard.rs` (what a schema may contain, with `keywords.rs` for where
//! its subschemas are and `cost.rs` for the estimate), `compile.rs` (the library), `measure.rs` (bounds on the answer)
//! and `explain.rs` with `messages.rs` (the library's errors in plain English).

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
