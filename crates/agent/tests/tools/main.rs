//! The tools of a workspace, on real files and with real processes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]
#![expect(clippy::panic, reason = "helpers of tests fail by panicking, as tests do")]

mod command;
mod confinement;
mod cut;
mod files;
mod ground;
mod search;
mod writing;
