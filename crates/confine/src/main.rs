//! Runs the helper as a separate binary for the tests of this crate; `holdpoint` contains the helper itself.

use std::process::ExitCode;

fn main() -> ExitCode {
    holdpoint_confine::answer_call().unwrap_or_else(|| {
        eprintln!("this program confines others for Holdpoint, and is not called by hand");
        ExitCode::FAILURE
    })
}
