//! Counts what happened in a project, and what waits in the whole installation.
//!
//! `summary.rs` returns the statistics of a project to the API and the page, and the counts of the whole installation to the command line, which
//! publishes them as metrics. `details.rs` breaks the statistics of a project down by age, kind, person and rule. Metrics of single questions are not
//! here but in `run/telemetry.rs`. Nothing here changes the state. Start with `summary.rs`.

mod details;
mod summary;

pub use details::{StatsDetails, Tally};
