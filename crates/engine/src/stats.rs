//! Counts what happened in a project, and what waits in the whole installation.
//!
//! `summary.rs` counts the questions of a project for the API and the page, and the questions, answers and steps of the whole installation for
//! `/metrics`. `details.rs` breaks the statistics of a project down by age, kind, person and rule. Metrics of single questions are not
//! here but in `run/telemetry.rs`. Nothing here changes the state. Start with `summary.rs`.

mod details;
mod summary;

pub use details::{StatsDetails, Tally};
