//! Runs the helper as a separate binary for the tests of this crate; `holdpoint` contains the helper itself.

use std::process::ExitCode;

fn main() -> ExitCode {
    holdpoint_confine::answer_call().unwrap_or_else(|| {
        eprintln!(
            "this program is a helper of Holdpoint that confines other programs; it is not meant to be called by hand"
        );
        ExitCode::FAILURE
    })
}
