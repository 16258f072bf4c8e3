//! Everything that can be set, by flag or by environment variable. The environment is read here, and only here.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use domain::{KeyId, Role, SignedDuration};

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
    Serve(Serve),
    /// Make, list and revoke keys
    Keys(Keys),
    /// Rotate the keys that secrets are sealed with
    Secrets(Secrets),
    /// Copy the SQLite database to a new file while the server goes on using it
    Backup(Backup),
    /// Look for damage in the SQLite database
    Check(Check),
    /// Print the OpenAPI document
    Openapi,
}

/// Where everything is kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct Database {
    /// The directory of the SQLite database and of the master key
    #[arg(long, env = "HOLDPOINT_DATA", default_value = "data")]
    pub(crate) data: PathBuf,
    /// Keep everything in PostgreSQL instead, shared by any number of nodes (postgres://…)
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

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen
    #[arg(long, env = "HOLDPOINT_LISTEN", default_value = "127.0.0.1:8420")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
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
    /// The largest request body, in bytes
    #[arg(long, env = "HOLDPOINT_BODY_BYTES", default_value_t = 1024 * 1024)]
    pub(crate) body_bytes: usize,
    /// How many requests a second one key may send to this node; 0 for no limit
    #[arg(long, env = "HOLDPOINT_RATE", default_value_t = 5000)]
    pub(crate) rate: u32,
    /// How many event streams may be open at this node
    #[arg(long, env = "HOLDPOINT_STREAMS", default_value_t = 50_000)]
    pub(crate) streams: usize,
    /// What is logged, for example info or holdpoint_engine=debug
    #[arg(long, env = "HOLDPOINT_LOG", default_value = "info")]
    pub(crate) log: String,
    /// Send traces to this OTLP endpoint (http://host:4318/v1/traces)
    #[arg(long, env = "HOLDPOINT_OTLP_ENDPOINT")]
    pub(crate) otlp_endpoint: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key and print it; it is shown this once
    Create(KeysCreate),
    /// List keys, without their secrets
    List(KeysList),
    /// Revoke a key; when this ends, no node accepts it any more
    Revoke(KeysRevoke),
}

/// Whose keys.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The tenant; made if absent
    #[arg(long, default_value = "default")]
    pub(crate) tenant: String,
    /// The project; made if absent
    #[arg(long, default_value = "default")]
    pub(crate) project: String,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Args)]
pub(crate) struct KeysCreate {
    /// admin, operator, viewer or agent
    #[arg(long, value_parser = role)]
    pub(crate) role: Role,
    /// In whose name the key acts
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// A group of that user; may be given several times
    #[arg(long = "group")]
    pub(crate) groups: Vec<String>,
    /// How many days the key is good for; for ever if absent
    #[arg(long)]
    pub(crate) expires_days: Option<u32>,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct KeysList {
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct KeysRevoke {
    /// The key's id, key_…
    pub(crate) id: KeyId,
    #[command(flatten)]
    pub(crate) place: Place,
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

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) database: Database,
}

impl Serve {
    pub(crate) fn settings(&self) -> engine::Settings {
        let seconds = |seconds: u32| SignedDuration::from_secs(i64::from(seconds));
        engine::Settings {
            most_open: self.most_open,
            lease: seconds(self.lease_seconds.max(1)),
            claim: seconds(self.claim_seconds.max(1)),
            warning: seconds(self.warning_seconds),
            retention: SignedDuration::from_hours(24 * i64::from(self.retention_days)),
            deadlines: self.deadlines.iter().cloned().collect::<HashMap<_, _>>(),
            ..engine::Settings::default()
        }
    }

    pub(crate) fn limits(&self) -> server::Limits {
        server::Limits { body_bytes: self.body_bytes, rate: NonZeroU32::new(self.rate), streams: self.streams }
    }
}

fn role(text: &str) -> Result<Role, String> {
    Role::named(text).ok_or_else(|| "must be admin, operator, viewer or agent".to_owned())
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
