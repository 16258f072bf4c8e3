//! All settings, as flags or environment variables. Only this module reads the environment.

#![expect(clippy::doc_markdown, reason = "the comments of flags are printed as they are by `--help`")]

mod access;
mod audit;
mod database;
mod node_limits;
mod policy;
mod tenant_limits;
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
pub(crate) use audit::{Audit, AuditCommand, AuditExport, AuditTenant, AuditVerify};
pub(crate) use database::{Adopt, DatabaseCommand};
pub(crate) use node_limits::NodeLimits;
pub(crate) use policy::{PolicyCommand, PolicyExplain, PolicyFile, PolicyNew, PolicySimulate, PolicyTest};
pub(crate) use tenant_limits::TenantLimits;
pub(crate) use webhooks::Webhooks;

/// Approval server for AI agents: an agent asks, its state is stored on disk, a person answers, and the agent continues
/// exactly once.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server with the API and the page
    Serve(Box<Serve>),
    /// Run a worker beside the servers of a PostgreSQL database. It runs hosted agents and serves only its metrics
    Worker(Box<Worker>),
    /// Create, list and revoke API keys
    Keys(Keys),
    /// Add people and create sign-in links
    Users(Users),
    /// Export archived questions as JSON Lines
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Verify or export the audit trail, or print the public key that signs it
    Audit(Audit),
    /// Rotate the keys that seal secrets
    Secrets(Secrets),
    /// Copy the SQLite database to a new file while the server is running
    Backup(Backup),
    /// Check the SQLite database for damage
    Check(Check),
    /// Maintain the PostgreSQL database
    #[command(subcommand)]
    Database(DatabaseCommand),
    /// Start, test, explain, check and simulate policy files
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Check definitions of agents
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// Check definitions of flows
    #[command(subcommand)]
    Flows(FlowsCommand),
    /// Print the OpenAPI document
    Openapi,
}

/// The database that a command uses.
#[derive(Debug, Clone, Args)]
pub(crate) struct Database {
    /// Directory of the SQLite database and of the master key
    #[arg(long, env = "HOLDPOINT_DATA", default_value = "data")]
    pub(crate) data: PathBuf,
    /// Use this PostgreSQL database (postgres://…) instead of SQLite; any number of nodes can share it. A value on the
    /// command line is moved to the environment, where other users cannot read it
    #[arg(long, env = "HOLDPOINT_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
    /// Largest number of connections from this node to PostgreSQL
    #[arg(long, env = "HOLDPOINT_DATABASE_CONNECTIONS", default_value_t = 16)]
    pub(crate) database_connections: u32,
}

/// Keys that wrap the data keys.
#[derive(Debug, Clone, Args)]
pub(crate) struct MasterKeys {
    /// Master key: 32 bytes in hexadecimal or base64. Without it, the file master.key in the data directory is used
    #[arg(long, env = "HOLDPOINT_MASTER_KEY", hide_env_values = true)]
    pub(crate) master_key: Option<String>,
    /// Previous master key, needed until `holdpoint secrets rotate` has finished
    #[arg(long, env = "HOLDPOINT_MASTER_KEY_PREVIOUS", hide_env_values = true, requires = "master_key")]
    pub(crate) master_key_previous: Option<String>,
}

/// The OpenID Connect provider.
#[derive(Debug, Clone, Args)]
pub(crate) struct Provider {
    /// Issuer URL of an OpenID Connect provider through which people sign in (https://id.example.org)
    #[arg(long, env = "HOLDPOINT_OIDC_ISSUER", requires = "oidc_client_id")]
    pub(crate) oidc_issuer: Option<Url>,
    /// Client ID of this server at the provider
    #[arg(long, env = "HOLDPOINT_OIDC_CLIENT_ID", requires = "oidc_issuer")]
    pub(crate) oidc_client_id: Option<String>,
    /// File with the client secret of this server at the provider
    #[arg(long, env = "HOLDPOINT_OIDC_CLIENT_SECRET_FILE", requires = "oidc_issuer")]
    pub(crate) oidc_client_secret_file: Option<PathBuf>,
    /// Claim with a person's role: admin, operator or viewer. Dots lead into nested objects
    #[arg(long, env = "HOLDPOINT_OIDC_ROLE_CLAIM", default_value = "roles")]
    pub(crate) oidc_role_claim: String,
    /// Claim with a person's name, read at the first sign-in. Dots lead into nested objects. Default: the verified
    /// email address, else the subject. Choose a claim that people cannot change themselves
    #[arg(long, env = "HOLDPOINT_OIDC_NAME_CLAIM")]
    pub(crate) oidc_name_claim: Option<String>,
    /// Tenant of people who sign in through the provider
    #[arg(long, env = "HOLDPOINT_OIDC_TENANT", default_value = "default")]
    pub(crate) oidc_tenant: String,
    /// Project of people who sign in through the provider
    #[arg(long, env = "HOLDPOINT_OIDC_PROJECT", default_value = "default")]
    pub(crate) oidc_project: String,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on
    #[arg(long, env = "HOLDPOINT_LISTEN", default_value = "127.0.0.1:8420")]
    pub(crate) listen: SocketAddr,
    /// Public URL of the server, if it differs from the listen address (https://holdpoint.example.org). With https,
    /// cookies are sent over TLS only
    #[arg(long, env = "HOLDPOINT_PUBLIC_URL", value_parser = public_url)]
    pub(crate) public_url: Option<Url>,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
    #[command(flatten)]
    pub(crate) oidc: Provider,
    #[command(flatten)]
    pub(crate) options: EngineOptions,
    #[command(flatten)]
    pub(crate) tenant_limits: TenantLimits,
    #[command(flatten)]
    pub(crate) agents: Agents,
    #[command(flatten)]
    pub(crate) webhooks: Webhooks,
    /// Largest request body, in bytes
    #[arg(long, env = "HOLDPOINT_BODY_BYTES", default_value_t = 1024 * 1024)]
    pub(crate) body_bytes: usize,
    /// Largest number of requests and socket messages per second of one key or browser at this node; 0 for no limit
    #[arg(long, env = "HOLDPOINT_RATE", default_value_t = 5000)]
    pub(crate) rate: u32,
    /// Largest number of open event streams and sockets at this node
    #[arg(long, env = "HOLDPOINT_STREAMS", default_value_t = 50_000)]
    pub(crate) streams: usize,
    /// Requests come through one reverse proxy: read the client address from the last entry of X-Forwarded-For
    #[arg(long, env = "HOLDPOINT_BEHIND_PROXY")]
    pub(crate) behind_proxy: bool,
    #[command(flatten)]
    pub(crate) node_limits: NodeLimits,
    #[command(flatten)]
    pub(crate) telemetry: TelemetryOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// Address and port of /metrics, /healthz and /readyz; not served if absent
    #[arg(long, env = "HOLDPOINT_METRICS_LISTEN")]
    pub(crate) metrics_listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
    #[command(flatten)]
    pub(crate) options: EngineOptions,
    #[command(flatten)]
    pub(crate) tenant_limits: TenantLimits,
    #[command(flatten)]
    pub(crate) agents: Agents,
    #[command(flatten)]
    pub(crate) telemetry: TelemetryOptions,
}

/// Settings of hosted agents and flows.
#[derive(Debug, Clone, Args)]
pub(crate) struct Agents {
    /// Directory of agent definitions. Each file names its projects. Changes are loaded while the server is running
    #[arg(long, env = "HOLDPOINT_AGENTS")]
    pub(crate) agents: Option<PathBuf>,
    /// Directory of flow definitions. Changes are loaded while the server is running
    #[arg(long, env = "HOLDPOINT_FLOWS", requires = "agents")]
    pub(crate) flows: Option<PathBuf>,
    /// Directory of the agents' workspaces; must be outside the data directory
    #[arg(long, env = "HOLDPOINT_WORKSPACES")]
    pub(crate) workspaces: Option<PathBuf>,
    /// Largest size of a workspace while a command or an MCP server works in it, in bytes
    #[arg(long, env = "HOLDPOINT_WORKSPACE_BYTES", default_value_t = 2 << 30)]
    pub(crate) workspace_bytes: u64,
    /// Largest number of processes and threads of a command or an MCP server
    #[arg(long, env = "HOLDPOINT_COMMAND_PROCESSES", default_value_t = 512)]
    pub(crate) command_processes: u32,
    /// Run commands and MCP servers without confinement, with all rights of this process. Such a command can read the
    /// keys and make itself an admin
    #[arg(long, env = "HOLDPOINT_UNCONFINED_COMMANDS")]
    pub(crate) unconfined_commands: bool,
    /// Largest number of agent steps that this process runs at once; 0 runs none
    #[arg(long, env = "HOLDPOINT_WORKER_STEPS", default_value_t = 8)]
    pub(crate) worker_steps: usize,
    /// Lease of a step, in seconds. Another worker takes the step over when the lease is not extended in time
    #[arg(long, env = "HOLDPOINT_STEP_LEASE_SECONDS", default_value_t = 30, hide = true)]
    pub(crate) step_lease_seconds: u32,
}

/// Rules for questions and actions; they must be equal on every node.
#[derive(Debug, Clone, Args)]
pub(crate) struct EngineOptions {
    /// Policy file of projects without a policy of their own. Changes are loaded while the server is running
    #[arg(long, env = "HOLDPOINT_POLICY")]
    pub(crate) policy: Option<PathBuf>,
    /// Policy file with rules that no project can loosen. Changes are loaded while the server is running. Without this
    /// flag, the recorded floor stays in force
    #[arg(long, env = "HOLDPOINT_POLICY_FLOOR", value_name = "FILE")]
    pub(crate) policy_floor: Option<PathBuf>,
    /// Remove the recorded floor, on every server
    #[arg(long, env = "HOLDPOINT_NO_POLICY_FLOOR", conflicts_with = "policy_floor")]
    pub(crate) no_policy_floor: bool,
    /// Validity of a permit, in seconds
    #[arg(long, env = "HOLDPOINT_PERMIT_SECONDS", default_value_t = 86_400)]
    pub(crate) permit_seconds: u32,
    /// Default deadlines by kind of question, in seconds: approval=300,form=1800
    #[arg(long, env = "HOLDPOINT_DEADLINES", value_delimiter = ',', value_parser = deadline)]
    pub(crate) deadlines: Vec<(String, SignedDuration)>,
    /// Time before a deadline at which people are warned, in seconds
    #[arg(long, env = "HOLDPOINT_WARNING_SECONDS", default_value_t = 60)]
    pub(crate) warning_seconds: u32,
    /// Default lease of an answer that an agent takes, in seconds
    #[arg(long, env = "HOLDPOINT_LEASE_SECONDS", default_value_t = 300)]
    pub(crate) lease_seconds: u32,
    /// Time for which a person's claim on a question holds, in seconds
    #[arg(long, env = "HOLDPOINT_CLAIM_SECONDS", default_value_t = 600)]
    pub(crate) claim_seconds: u32,
    /// Days after which closed questions are archived
    #[arg(long, env = "HOLDPOINT_RETENTION_DAYS", default_value_t = 30)]
    pub(crate) retention_days: u32,
    /// Largest number of open questions in one session
    #[arg(long, env = "HOLDPOINT_MOST_OPEN", default_value_t = 1000)]
    pub(crate) most_open: u32,
}

/// Settings of logs and traces.
#[derive(Debug, Clone, Args)]
pub(crate) struct TelemetryOptions {
    /// Log filter, for example info or holdpoint_engine=debug
    #[arg(long, env = "HOLDPOINT_LOG", default_value = "info")]
    pub(crate) log: String,
    /// OTLP endpoint for traces (http://host:4318/v1/traces); no traces if absent
    #[arg(long, env = "HOLDPOINT_OTLP_ENDPOINT")]
    pub(crate) otlp_endpoint: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ArchiveCommand {
    /// Write archived questions as JSON Lines, each with its events. Works while a server is running and
    /// without one
    Export(ArchiveExport),
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveExport {
    /// New file; standard output if absent
    pub(crate) file: Option<PathBuf>,
    /// Only questions resolved before this time (2026-11-01T00:00:00Z)
    #[arg(long)]
    pub(crate) before: Option<Timestamp>,
    /// Only questions resolved at or after this time
    #[arg(long)]
    pub(crate) after: Option<Timestamp>,
    /// Only questions of this tenant
    #[arg(long)]
    pub(crate) tenant: Option<String>,
    /// Only questions of projects with this name
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
    /// Create a new master key and new data keys and seal all secrets with them, while servers keep running
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
    /// File that the backup creates
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List all problems of the agents in a directory by file and line. Fails if there are any
    Check(AgentsCheck),
}

#[derive(Debug, Args)]
pub(crate) struct AgentsCheck {
    /// Directory of agent definitions
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowsCommand {
    /// List all problems of the flows in a directory by file and line. Fails if there are any
    Check(FlowsCheck),
}

#[derive(Debug, Args)]
pub(crate) struct FlowsCheck {
    /// Directory of flow definitions
    pub(crate) dir: PathBuf,
    /// Directory of the agents that the flows name
    #[arg(long)]
    pub(crate) agents: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) database: Database,
}

impl EngineOptions {
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
    pub(crate) fn limits(&self) -> server::ServerLimits {
        server::ServerLimits {
            body_bytes: self.body_bytes,
            rate: NonZeroU32::new(self.rate),
            key_reply_bytes: self.tenant_limits.key_reply_bytes,
            tenant_reply_bytes: self.tenant_limits.tenant_reply_bytes,
            streams: self.streams,
            ..self.node_limits.limits(self.behind_proxy)
        }
    }
}

/// Value of an environment variable that an agent definition names for a key or token. Only files of the operator may
/// name one.
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
    if domain::Kind::named(kind).custom_name().is_some() || seconds == 0 {
        return Err(wrong());
    }
    Ok((kind.to_owned(), SignedDuration::from_secs(i64::from(seconds))))
}
