//! Runs a program so that it reaches only its workspace and the programs and libraries of the machine.
//!
//! [`Confinement`] lists the files and resources that a program may use, [`Helper`] starts it through a helper process,
//! and [`answer_call`] is the helper. The helper is the same binary, called with `confine` as its first argument.
//!
//! This crate never decides which programs are confined, and never reads configuration: its callers pass the
//! confinement.
//!
//! Start reading at `linux/helper.rs`, which lists the steps in their order. `docs/decisions/0020-confinement.md` gives
//! the reasons for them.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod confinement;
mod helper;
#[cfg(target_os = "linux")]
mod linux;

use std::ffi::OsString;
use std::process::ExitCode;

pub use confinement::{Confinement, Programs};
pub use helper::Helper;

/// First argument of a helper call.
pub(crate) const CALL: &str = "confine";

/// Exit code of the helper if it refused or ended the program itself. Its last line on standard error gives the reason.
pub const REFUSED: u8 = 125;

/// Beginning of that line on standard error.
pub const SAYS: &str = "holdpoint: ";

/// Does the work of the helper, if this process was started as one, and returns its exit code.
///
/// `main` must call it first, before any thread is started: a process with several threads cannot enter a user
/// namespace.
#[must_use]
pub fn answer_call() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != CALL {
        return None;
    }
    let rest: Vec<OsString> = arguments.collect();
    Some(answer(&rest).unwrap_or_else(|why| {
        eprintln!("{SAYS}{why}");
        ExitCode::from(REFUSED)
    }))
}

#[cfg(target_os = "linux")]
fn answer(arguments: &[OsString]) -> Result<ExitCode, String> {
    linux::answer(arguments)
}

#[cfg(not(target_os = "linux"))]
fn answer(_: &[OsString]) -> Result<ExitCode, String> {
    Err("programs can only be confined on Linux".to_owned())
}
