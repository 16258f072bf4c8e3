//! The binary `holdpoint`: arguments, configuration and wiring of the parts.
//!
//! It contains no rule of the domain. Start reading at `config.rs` (all settings) and `serve.rs` (what runs).

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod archive;
mod audit;
mod config;
mod database;
mod definitions;
mod failure;
mod hosted_agents;
mod keys;
mod kit;
mod master_key;
mod open_store;
mod policy;
mod programs;
mod restart;
mod secrets;
mod serve;
mod signals;
mod simulate;
mod sqlite;
mod telemetry;
mod users;
mod worker;

use std::alloc::System;
use std::process::ExitCode;

use clap::Parser;
use zeroizing_alloc::ZeroAlloc;

use crate::config::{ArchiveCommand, Cli, Command, PolicyCommand};
use crate::failure::Failure;

/// Overwrites freed memory, so that request bodies, buffers and parsed values leave no secrets behind in the process.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<System> = ZeroAlloc(System);

fn main() -> ExitCode {
    if let Some(answered) = confine::answer_call() {
        return answered;
    }
    match restart::with_environment().and_then(|()| run(Cli::parse().command)) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("holdpoint: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command. The code with which the process ends is zero, except for `policy explain`.
fn run(command: Command) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Runtime::new().map_err(Failure::Runtime)?;
    match command {
        Command::Serve(serve) => serve::serve(&runtime, &serve),
        Command::Worker(worker) => worker::worker(&runtime, &worker),
        Command::Keys(keys) => runtime.block_on(keys::keys(keys)),
        Command::Users(users) => runtime.block_on(users::users(users)),
        Command::Archive(ArchiveCommand::Export(export)) => runtime.block_on(archive::export(&export)),
        Command::Audit(audit) => runtime.block_on(audit::audit(audit)),
        Command::Secrets(secrets) => runtime.block_on(secrets::secrets(secrets)),
        Command::Backup(backup) => sqlite::backup(&backup),
        Command::Check(check) => sqlite::check(&check),
        Command::Database(command) => runtime.block_on(database::database(command)),
        Command::Policy(PolicyCommand::New(new)) => {
            policy::new(&new);
            Ok(())
        }
        Command::Policy(PolicyCommand::Explain(explain)) => return policy::explain(&explain),
        Command::Policy(PolicyCommand::Test(test)) => policy::test(&test),
        Command::Policy(PolicyCommand::Check(files)) => policy::check(files),
        Command::Policy(PolicyCommand::Simulate(draft)) => runtime.block_on(simulate::simulate(draft)),
        Command::Agents(command) => definitions::agents(&command),
        Command::Flows(command) => definitions::flows(&command),
        Command::Openapi => {
            let document = server::document(dialects::dialects()).to_pretty_json().map_err(Failure::Document)?;
            println!("{document}");
            Ok(())
        }
    }?;
    Ok(ExitCode::SUCCESS)
}
