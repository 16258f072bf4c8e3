//! Restarts the program with a changed environment: secrets are moved there from the command line, which every user can
//! read, and settings of the C library's allocator, which it reads only at the start.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::failure::Failure;

/// Flags with a secret value and their environment variables.
const SECRET_FLAGS: &[(&str, &str)] = &[
    ("--database-url", "HOLDPOINT_DATABASE_URL"),
    ("--master-key", "HOLDPOINT_MASTER_KEY"),
    ("--master-key-previous", "HOLDPOINT_MASTER_KEY_PREVIOUS"),
];

/// Commands that run for long and hold large bodies for a moment.
const SERVING: &[&str] = &["serve", "worker"];

/// Settings of glibc's allocator: large buffers go back to the system when they are freed, and there are few pools. By
/// default it keeps several times as much memory as is used.
const ALLOCATOR: &[(&str, &str)] = &[("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "65536")];

/// Executes this program again in the same process with the changed environment. Returns if nothing has to change.
pub(crate) fn with_environment() -> Result<(), Failure> {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let (rest, private) = split_secrets(arguments);
    let serves = rest.first().is_some_and(|command| SERVING.iter().any(|serving| command == serving));
    let reads = serves && cfg!(all(target_os = "linux", target_env = "gnu"));
    let unset = |(variable, _): &&(&str, &str)| reads && std::env::var_os(variable).is_none();
    let allocator: Vec<_> = ALLOCATOR.iter().filter(unset).copied().collect();
    if private.is_empty() && allocator.is_empty() {
        return Ok(());
    }
    // `exec` returns only if it failed.
    Err(Failure::Runtime(Command::new("/proc/self/exe").arg0(name).args(rest).envs(private).envs(allocator).exec()))
}

/// The arguments without secrets, and the secrets as variables. A flag without a value stays and is refused by the
/// argument parser.
fn split_secrets(arguments: impl Iterator<Item = OsString>) -> (Vec<OsString>, Vec<(&'static str, OsString)>) {
    let (mut rest, mut private) = (Vec::new(), Vec::new());
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            rest.push(argument);
            rest.extend(arguments);
            break;
        }
        let found = SECRET_FLAGS.iter().find_map(|(flag, variable)| {
            let after = argument.as_bytes().strip_prefix(flag.as_bytes())?;
            let value = after.strip_prefix(b"=").map(|value| OsStr::from_bytes(value).to_owned());
            (after.is_empty() || value.is_some()).then_some((*variable, value))
        });
        match found {
            Some((variable, Some(value))) => private.push((variable, value)),
            Some((variable, None)) if arguments.peek().is_some_and(|next| !next.as_bytes().starts_with(b"-")) => {
                private.push((variable, arguments.next().unwrap_or_default()));
            }
            _ => rest.push(argument),
        }
    }
    (rest, private)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> (Vec<OsString>, Vec<(&'static str, OsString)>) {
        split_secrets(words.iter().map(OsString::from))
    }

    #[test]
    fn secrets_are_moved_from_the_command_line_to_the_environment() {
        let (rest, private) = of(&["serve", "--database-url", "postgres://a:b@c", "--data", "d", "--master-key=00"]);
        assert_eq!(rest, ["serve", "--data", "d"]);
        let expected = [("HOLDPOINT_DATABASE_URL", "postgres://a:b@c".into()), ("HOLDPOINT_MASTER_KEY", "00".into())];
        assert_eq!(private, expected);
    }

    #[test]
    fn arguments_that_are_no_secret_flags_are_not_moved() {
        for words in [
            &["serve", "--database-url"][..],
            &["serve", "--database-url", "--data"],
            &["--database-urls=x"],
            &["--", "--database-url=x"],
        ] {
            let (rest, private) = of(words);
            assert_eq!((rest, private.len()), (words.iter().map(OsString::from).collect(), 0));
        }
    }
}
