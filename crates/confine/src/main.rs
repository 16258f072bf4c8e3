//! The helper by itself, for the tests of this crate; `holdpoint` has it inside.

use std::process::ExitCode;

fn main() -> ExitCode {
    holdpoint_confine::answer_call().unwrap_or_else(|| {
        eprintln!("this program confines others for Holdpoint, and is not called by hand");
        ExitCode::FAILURE
    })
}
