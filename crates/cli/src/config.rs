//! Everything that can be set, by flag or by environment variable. The environment is read here, and only here.

mod access;
mod audit;
mod bounds;
mod callers;
mod database;
mod webhooks;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use domain::{Role, SignedDuration, Timestamp};
use url::Url;
use zeroize::Zeroizing;

pub(crate) use access::{Keys, KeysCommand, Users, UsersCommand};
pub(crate) use audit::{Audit, AuditCommand, AuditExport, AuditPlace, AuditVerify};
pub(crate) use bounds::Bounds;
pub(crate) use callers::Callers;
pub(crate) use database::{Adopt, DatabaseCommand};
pub(crate) use webhooks::Webhooks;

/// The hold point for AI agents: an agent asks, its step sleeps durably, a person answers, the agent goes on, once.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server
    Serve(Box<Serve>),
    /// Run a worker beside the servers of a PostgreSQL database: it drives agents, and serves nothing but its figures
    Worker(Box<Worker>),
    /// Make, list and revoke keys
    Keys(Keys),
    /// Add people, and make links that sign them in
    Users(Users),
    /// Write what has left the hot tables
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Verify an export of the audit trail, export it, show the key that signs it
    Audit(Audit),
    /// Rotate the keys that secrets are sealed with
    Secrets(Secrets),
    /// Copy the SQLite database to a new file while the server goes on using it
    Backup(Backup),
    /// Look for damage in the SQLite database
    Check(Check),
    /// Look after the PostgreSQL database
    #[command(subcommand)]
    Database(DatabaseCommand),
    /// Look at policy files
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Look at definitions of agents
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// Look at definitions of flows
    #[command(subcommand)]
    Flows(FlowsCommand),
    /// Print the OpenAPI document
    Openapi,
}

/// Where everything is kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct Database {
    /// The directory of the SQLite database and of the master key
    #[arg(long, env = "HOLDPOINT_DATA", default_value = "data")]
    pub(crate) data: PathBuf,
    /// Keep everything in PostgreSQL instead, shared by any number of nodes (postgres://…); on the command line it is moved to the environment
    #[arg(long, env = "HOLDPOINT_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
    /// How many connections to PostgreSQL this node holds
    #[arg(long, env = "HOLDPOINT_DATABASE_CONNECTIONS", default_value_t = 16)]
    pub(crate) database_connections: u32,
}

/// What data keys are wrapped with.
#[derive(Debug, Clone, Args)]
pub(crate) struct MasterKeys {
    /// 32 bytes in hexadecimal or base64, in place of the file master.key in the data directory
    #[arg(long, env = "HOLDPOINT_MASTER_KEY", hide_env_values = true)]
    pub(crate) master_key: Option<String>,
    /// The key before that one, until `holdpoint secrets rotate` has ended
    #[arg(long, env = "HOLDPOINT_MASTER_KEY_PREVIOUS", hide_env_values = true, requires = "master_key")]
    pub(crate) master_key_previous: Option<String>,
}

/// Who else vouches for people.
#[derive(Debug, Clone, Args)]
pub(crate) struct Provider {
    /// Let people sign in through this OpenID Connect provider, as it calls itself (https://id.example.org)
    #[arg(long, env = "HOLDPOINT_OIDC_ISSUER", requires = "oidc_client_id")]
    pub(crate) oidc_issuer: Option<Url>,
    /// What the provider calls this server
    #[arg(long, env = "HOLDPOINT_OIDC_CLIENT_ID", requires = "oidc_issuer")]
    pub(crate) oidc_client_id: Option<String>,
    /// The file with the secret that this server proves itself to the provider with
    #[arg(long, env = "HOLDPOINT_OIDC_CLIENT_SECRET_FILE", requires = "oidc_issuer")]
    pub(crate) oidc_client_secret_file: Option<PathBuf>,
    /// The claim that has people's roles: admin, operator or viewer; dots lead into objects
    #[arg(long, env = "HOLDPOINT_OIDC_ROLE_CLAIM", default_value = "roles")]
    pub(crate) oidc_role_claim: String,
    /// The claim that names people, when they first come; dots lead into objects. If absent: the verified mail address, else the subject. Choose
    /// one that people cannot change themselves
    #[arg(long, env = "HOLDPOINT_OIDC_NAME_CLAIM")]
    pub(crate) oidc_name_claim: Option<String>,
    /// The tenant that the provider's people belong to
    #[arg(long, env = "HOLDPOINT_OIDC_TENANT", default_value = "default")]
    pub(crate) oidc_tenant: String,
    /// The project that they belong to
    #[arg(long, env = "HOLDPOINT_OIDC_PROJECT", default_value = "default")]
    pub(crate) oidc_project: String,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen
    #[arg(long, env = "HOLDPOINT_LISTEN", default_value = "127.0.0.1:8420")]
    pub(crate) listen: SocketAddr,
    /// Where people find the server, if not where it listens (https://holdpoint.example.org); with https, cookies are sent over TLS alone
    #[arg(long, env = "HOLDPOINT_PUBLIC_URL", value_parser = public_url)]
    pub(crate) public_url: Option<Url>,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
    #[command(flatten)]
    pub(crate) oidc: Provider,
    #[command(flatten)]
    pub(crate) terms: Terms,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    #[command(flatten)]
    pub(crate) agents: Agents,
    #[command(flatten)]
    pub(crate) webhooks: Webhooks,
    /// The largest request body, in bytes
    #[arg(long, env = "HOLDPOINT_BODY_BYTES", default_value_t = 1024 * 1024)]
    pub(crate) body_bytes: usize,
    /// How many requests a second one key may send to this node; 0 for no limit
    #[arg(long, env = "HOLDPOINT_RATE", default_value_t = 5000)]
    pub(crate) rate: u32,
    /// How many event streams may be open at this node
    #[arg(long, env = "HOLDPOINT_STREAMS", default_value_t = 50_000)]
    pub(crate) streams: usize,
    /// Requests come through one proxy: take where they come from out of the last word of its X-Forwarded-For
    #[arg(long, env = "HOLDPOINT_BEHIND_PROXY")]
    pub(crate) behind_proxy: bool,
    #[command(flatten)]
    pub(crate) callers: Callers,
    #[command(flatten)]
    pub(crate) telling: Telling,
}

#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// Where to show /metrics, /healthz and /readyz; nowhere if absent
    #[arg(long, env = "HOLDPOINT_METRICS_LISTEN")]
    pub(crate) metrics_listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
    #[command(flatten)]
    pub(crate) terms: Terms,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    #[command(flatten)]
    pub(crate) agents: Agents,
    #[command(flatten)]
    pub(crate) telling: Telling,
}

/// The agents that are run here.
#[derive(Debug, Clone, Args)]
pub(crate) struct Agents {
    /// The directory of the agents of the server, each of the projects that its file names; followed while the server runs
    #[arg(long, env = "HOLDPOINT_AGENTS")]
    pub(crate) agents: Option<PathBuf>,
    /// The directory of the flows, likewise
    #[arg(long, env = "HOLDPOINT_FLOWS", requires = "agents")]
    pub(crate) flows: Option<PathBuf>,
    /// The directory below which agents have their workspaces; not inside the data directory
    #[arg(long, env = "HOLDPOINT_WORKSPACES")]
    pub(crate) workspaces: Option<PathBuf>,
    /// How many bytes a workspace may hold while a command or an MCP server works in it
    #[arg(long, env = "HOLDPOINT_WORKSPACE_BYTES", default_value_t = 2 << 30)]
    pub(crate) workspace_bytes: u64,
    /// How many processes and threads a command or an MCP server may have at once
    #[arg(long, env = "HOLDPOINT_COMMAND_PROCESSES", default_value_t = 512)]
    pub(crate) command_processes: u32,
    /// Run commands and MCP servers with all rights of this process: one of them can make itself an admin
    #[arg(long, env = "HOLDPOINT_UNCONFINED_COMMANDS")]
    pub(crate) unconfined_commands: bool,
    /// How many steps of agents this process drives at once; 0 for none
    #[arg(long, env = "HOLDPOINT_WORKER_STEPS", default_value_t = 8)]
    pub(crate) worker_steps: usize,
    /// How many seconds a step is a worker's without a sign of life
    #[arg(long, env = "HOLDPOINT_STEP_LEASE_SECONDS", default_value_t = 30, hide = true)]
    pub(crate) step_lease_seconds: u32,
}

/// What holds for questions and actions, wherever they come from: the same at every node.
#[derive(Debug, Clone, Args)]
pub(crate) struct Terms {
    /// The policy of projects that have none of their own; followed while the server runs
    #[arg(long, env = "HOLDPOINT_POLICY")]
    pub(crate) policy: Option<PathBuf>,
    /// Rules for every project that no project can loosen; followed while the server runs. Without it, the floor that is on record stays in force
    #[arg(long, env = "HOLDPOINT_POLICY_FLOOR", value_name = "FILE")]
    pub(crate) policy_floor: Option<PathBuf>,
    /// Take the floor that is on record out of force, on every server
    #[arg(long, env = "HOLDPOINT_NO_POLICY_FLOOR", conflicts_with = "policy_floor")]
    pub(crate) no_policy_floor: bool,
    /// How many seconds a permit is good for
    #[arg(long, env = "HOLDPOINT_PERMIT_SECONDS", default_value_t = 86_400)]
    pub(crate) permit_seconds: u32,
    /// Deadlines for questions that bring none, by kind: approval=300,form=1800
    #[arg(long, env = "HOLDPOINT_DEADLINES", value_delimiter = ',', value_parser = deadline)]
    pub(crate) deadlines: Vec<(String, SignedDuration)>,
    /// How many seconds before a deadline people are warned
    #[arg(long, env = "HOLDPOINT_WARNING_SECONDS", default_value_t = 60)]
    pub(crate) warning_seconds: u32,
    /// How many seconds an answer is leased to its agent unless it asks for another time
    #[arg(long, env = "HOLDPOINT_LEASE_SECONDS", default_value_t = 300)]
    pub(crate) lease_seconds: u32,
    /// How many seconds a claim holds
    #[arg(long, env = "HOLDPOINT_CLAIM_SECONDS", default_value_t = 600)]
    pub(crate) claim_seconds: u32,
    /// How many days closed questions stay before they are archived
    #[arg(long, env = "HOLDPOINT_RETENTION_DAYS", default_value_t = 30)]
    pub(crate) retention_days: u32,
    /// How many questions of one session may be open
    #[arg(long, env = "HOLDPOINT_MOST_OPEN", default_value_t = 1000)]
    pub(crate) most_open: u32,
}

/// What is told of what goes on inside.
#[derive(Debug, Clone, Args)]
pub(crate) struct Telling {
    /// What is logged, for example info or holdpoint_engine=debug
    #[arg(long, env = "HOLDPOINT_LOG", default_value = "info")]
    pub(crate) log: String,
    /// Send traces to this OTLP endpoint (http://host:4318/v1/traces)
    #[arg(long, env = "HOLDPOINT_OTLP_ENDPOINT")]
    pub(crate) otlp_endpoint: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ArchiveCommand {
    /// Write the questions of the archive as JSON Lines, each with everything that is known of it; beside a running server or without one
    Export(ArchiveExport),
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveExport {
    /// The new file; standard output if absent
    pub(crate) file: Option<PathBuf>,
    /// Only what was resolved before this moment (2026-11-01T00:00:00Z)
    #[arg(long)]
    pub(crate) before: Option<Timestamp>,
    /// Only what was resolved at this moment or after it
    #[arg(long)]
    pub(crate) after: Option<Timestamp>,
    /// Only of this tenant
    #[arg(long)]
    pub(crate) tenant: Option<String>,
    /// Only of the projects of this name
    #[arg(long)]
    pub(crate) project: Option<String>,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Args)]
pub(crate) struct Secrets {
    #[command(subcommand)]
    pub(crate) command: SecretsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Make a new master key and new data keys, and seal everything with them, while servers go on
    Rotate(Rotate),
}

#[derive(Debug, Args)]
pub(crate) struct Rotate {
    /// Only add the new key to master.key, so that it can be copied to other nodes first
    #[arg(long)]
    pub(crate) prepare: bool,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The new file
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Say everything that is wrong with policy files, with line and column; fails if one would be refused
    Check(PolicyFile),
    /// Hold a draft against what was proposed in a project: what would change, and which decisions of people it contradicts; beside a running
    /// server or without one
    Simulate(PolicySimulate),
}

#[derive(Debug, Args)]
pub(crate) struct PolicySimulate {
    /// The draft
    pub(crate) file: PathBuf,
    /// At most so many actions, the newest; up to 10000
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    /// No actions from before this moment (2026-11-01T00:00:00Z)
    #[arg(long)]
    pub(crate) since: Option<Timestamp>,
    /// The tenant
    #[arg(long, default_value = "default")]
    pub(crate) tenant: String,
    /// The project
    #[arg(long, default_value = "default")]
    pub(crate) project: String,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyFile {
    /// The files
    #[arg(required_unless_present = "floor")]
    pub(crate) files: Vec<PathBuf>,
    /// A file to check as the floor of a server
    #[arg(long, value_name = "FILE")]
    pub(crate) floor: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// Say everything that is wrong with the agents of a directory, by file and line; fails if there is anything
    Check(AgentsCheck),
}

#[derive(Debug, Args)]
pub(crate) struct AgentsCheck {
    /// The directory
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowsCommand {
    /// Say everything that is wrong with the flows of a directory, by file and line; fails if there is anything
    Check(FlowsCheck),
}

#[derive(Debug, Args)]
pub(crate) struct FlowsCheck {
    /// The directory
    pub(crate) dir: PathBuf,
    /// The directory of the agents that the flows name
    #[arg(long)]
    pub(crate) agents: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) database: Database,
}

impl Terms {
    pub(crate) fn settings(&self, agents: &Agents) -> engine::Settings {
        let seconds = |seconds: u32| SignedDuration::from_secs(i64::from(seconds));
        engine::Settings {
            most_open: self.most_open,
            step_lease: seconds(agents.step_lease_seconds.max(1)),
            lease: seconds(self.lease_seconds.max(1)),
            claim: seconds(self.claim_seconds.max(1)),
            warning: seconds(self.warning_seconds),
            permit: seconds(self.permit_seconds.max(1)),
            retention: SignedDuration::from_hours(24 * i64::from(self.retention_days)),
            deadlines: self.deadlines.iter().cloned().collect::<HashMap<_, _>>(),
            ..engine::Settings::default()
        }
    }
}

impl Serve {
    pub(crate) fn limits(&self) -> server::Limits {
        server::Limits {
            body_bytes: self.body_bytes,
            rate: NonZeroU32::new(self.rate),
            key_reply_bytes: self.bounds.key_reply_bytes,
            tenant_reply_bytes: self.bounds.tenant_reply_bytes,
            streams: self.streams,
            ..self.callers.limits(self.behind_proxy)
        }
    }
}

/// A variable that the definition of an agent names for a key or a token. Only a file of whoever runs the server may name one.
#[expect(clippy::disallowed_methods, reason = "the environment is read in this file")]
pub(crate) fn variable(name: &str) -> Option<Zeroizing<String>> {
    std::env::var(name).ok().map(Zeroizing::new)
}

fn role(text: &str) -> Result<Role, String> {
    Role::named(text).ok_or_else(|| "must be admin, operator, viewer or agent".to_owned())
}

fn public_url(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|error| format!("{error}"))?;
    let plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if ["http", "https"].contains(&url.scheme()) && url.has_host() && plain {
        Ok(url)
    } else {
        Err("must be http://HOST or https://HOST, without a path".to_owned())
    }
}

fn deadline(text: &str) -> Result<(String, SignedDuration), String> {
    let wrong = || format!("`{text}` is not KIND=SECONDS");
    let (kind, seconds) = text.split_once('=').ok_or_else(wrong)?;
    let seconds: u32 = seconds.parse().map_err(|_| wrong())?;
    let known = !matches!(domain::Kind::named(kind), domain::Kind::Custom(name) if name != "custom");
    if !known || seconds == 0 {
        return Err(wrong());
    }
    Ok((kind.to_owned(), SignedDuration::from_secs(i64::from(seconds))))
}
