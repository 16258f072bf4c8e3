//! Integration tests of the facts that are read from the arguments of calls.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing helper fails its test")]

mod alike;
mod arguments;
mod bash;
mod catalogue;
mod data;
mod declared;
mod output;
mod path;
mod program;
mod runner;
mod seed;
mod shell;
mod shell_any;
mod sql;
mod sql_dialect;
mod sql_doubt;
mod url;
