//! What a policy says about calls, and what is read of them.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

extern crate holdpoint_policy as policy;

mod actions;
mod asking;
mod bounds;
mod common;
mod corpus;
mod floor;
mod guide;
mod judge;
mod learn;
mod lint;
mod parsed_alike;
mod parsed_arguments;
mod parsed_bash;
mod parsed_output;
mod parsed_path;
mod parsed_program;
mod parsed_runner;
mod parsed_shell;
mod parsed_shell_any;
mod parsed_sql;
mod parsed_sql_doubt;
mod parsed_url;
