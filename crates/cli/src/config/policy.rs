//! Settings of the commands about policy files.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use domain::Timestamp;

use super::{Database, MasterKeys};

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print a policy to start from
    New(PolicyNew),
    /// Judge a command line or another call by a policy file, without a server, and say why part by part. The exit
    /// code is 0 for allow, 3 for ask, 4 for deny, and 1 if the file is refused
    Explain(PolicyExplain),
    /// Judge the examples of a policy file and list all its problems with line and column. Fails if an example fails or
    /// the file would be refused
    Test(PolicyTest),
    /// List all problems of policy files with line and column. Fails if a file would be refused
    Check(PolicyFile),
    /// Compare a draft with the actions of a project: what would change, and which decisions of people it contradicts.
    /// Works while a server is running and without one
    Simulate(PolicySimulate),
}

#[derive(Debug, Args)]
pub(crate) struct PolicySimulate {
    /// Draft of a policy file
    pub(crate) file: PathBuf,
    /// Largest number of actions to compare, newest first, at most 10000
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    /// Only actions at or after this time (2026-11-01T00:00:00Z)
    #[arg(long)]
    pub(crate) since: Option<Timestamp>,
    /// Name of the tenant
    #[arg(long, default_value = "default")]
    pub(crate) tenant: String,
    /// Name of the project
    #[arg(long, default_value = "default")]
    pub(crate) project: String,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyFile {
    /// Policy files to check
    #[arg(required_unless_present = "floor")]
    pub(crate) files: Vec<PathBuf>,
    /// File to check as the floor of a server
    #[arg(long, value_name = "FILE")]
    pub(crate) floor: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyNew {
    /// Name of the policy
    #[arg(value_parser = PossibleValuesParser::new(policy::presets()))]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyExplain {
    /// Policy file
    pub(crate) file: PathBuf,
    /// Command line, as one argument: 'cargo test 2>&1 | tail'
    #[arg(required_unless_present = "tool")]
    pub(crate) line: Option<String>,
    /// Name of the tool. Without it, a command line is one of the tool that the file declares with `shell`, or of the
    /// client's tool for commands
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Arguments of the tool, a JSON object
    #[arg(long, value_name = "JSON", requires = "tool", conflicts_with = "line")]
    pub(crate) arguments: Option<String>,
    /// Client that calls the tool, as the key says: the catalogue declares the tools of known clients. Without --tool,
    /// and without a tool with `shell` in the file, it is holdpoint, the client of hosted agents
    #[arg(long, value_parser = PossibleValuesParser::new(policy::CommandTool::clients()))]
    pub(crate) client: Option<String>,
    /// Directory in which the agent works: relative patterns of the file start there
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Name of the agent; none if absent
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// User who started the session
    #[arg(long, default_value = "example")]
    pub(crate) user: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyTest {
    /// Policy file
    pub(crate) file: PathBuf,
}
