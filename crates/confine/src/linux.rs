//! The helper on Linux. Start reading at `helper.rs`.

mod filter;
mod group;
mod helper;
mod init;
mod measure;
mod namespaces;
mod privileges;
mod rules;
mod view;
mod watch;

use std::ffi::OsString;
use std::fmt::Display;
use std::process::ExitCode;

use crate::confinement::Confinement;

/// Answers a call: `confine SPECIFICATION PROGRAM ARGUMENTS…` confines a program, `confine init` is the first process
/// of its namespace.
pub(crate) fn answer(arguments: &[OsString]) -> Result<ExitCode, String> {
    match arguments {
        [word] if word == init::WORD => init::run(),
        [specification, program, arguments @ ..] => {
            let specification = specification.to_str().doing("read the specification of the confinement")?;
            let confinement: Confinement =
                serde_json::from_str(specification).doing("read the specification of the confinement")?;
            helper::run(&confinement, program, arguments)
        }
        _ => Err("the helper needs a specification of the confinement and a program".to_owned()),
    }
}

/// Adds the failed operation to an error.
trait ErrorContext<T> {
    fn doing(self, what: &str) -> Result<T, String>;
}

impl<T, E: Display> ErrorContext<T> for Result<T, E> {
    fn doing(self, what: &str) -> Result<T, String> {
        self.map_err(|error| format!("cannot {what}: {error}"))
    }
}

impl<T> ErrorContext<T> for Option<T> {
    fn doing(self, what: &str) -> Result<T, String> {
        self.ok_or_else(|| format!("cannot {what}"))
    }
}
