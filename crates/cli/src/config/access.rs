//! Arguments of `holdpoint keys` and `holdpoint users`.

use clap::{Args, Subcommand};
use domain::{KeyId, Role};
use url::Url;

use super::{Database, public_url, role};

#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key and print it; it is shown only once
    Create(KeysCreate),
    /// List keys without their secrets
    List(KeysList),
    /// Revoke a key. When the command ends, no node accepts the key any more
    Revoke(KeysRevoke),
}

/// Tenant and project of keys or people.
#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    /// Name of the tenant; the `create` commands create it if it is missing
    #[arg(long, default_value = "default")]
    pub(crate) tenant: String,
    /// Name of the project; the `create` commands create it if it is missing
    #[arg(long, default_value = "default")]
    pub(crate) project: String,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Args)]
pub(crate) struct KeysCreate {
    /// Role of the key: admin, operator, viewer or agent
    #[arg(long, value_parser = role)]
    pub(crate) role: Role,
    /// Name of the user for whom the key acts. The name of an existing account needs --join-account
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// Let the key belong to the existing account of that name; without this flag such a name is refused
    #[arg(long, requires = "user")]
    pub(crate) join_account: bool,
    /// Group of that user; can be given several times
    #[arg(long = "group")]
    pub(crate) groups: Vec<String>,
    /// Days until the key expires; never if absent
    #[arg(long)]
    pub(crate) expires_days: Option<u32>,
    /// Client for which the key is made, such as claude-code: the policy then knows the tools of that client
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Absolute path of the directory in which the agent works; relative patterns of the policy begin there
    #[arg(long)]
    pub(crate) root: Option<String>,
    #[command(flatten)]
    pub(crate) place: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct KeysList {
    #[command(flatten)]
    pub(crate) place: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct KeysRevoke {
    /// Identifier of the key (key_…)
    pub(crate) id: KeyId,
    #[command(flatten)]
    pub(crate) place: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Users {
    #[command(subcommand)]
    pub(crate) command: UsersCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UsersCommand {
    /// Add a person to a project
    Create(UsersCreate),
    /// Print a link that signs a person in once, within 15 minutes
    Link(UsersLink),
}

#[derive(Debug, Args)]
pub(crate) struct UsersCreate {
    /// Name of the person
    pub(crate) name: String,
    /// Role of the person: admin, operator or viewer
    #[arg(long, value_parser = role)]
    pub(crate) role: Role,
    /// Display name of the person
    #[arg(long)]
    pub(crate) display: Option<String>,
    /// Group of the person; can be given several times
    #[arg(long = "group")]
    pub(crate) groups: Vec<String>,
    /// Let existing keys of that name in the project belong to this person; without this flag such a name is refused
    #[arg(long)]
    pub(crate) join_keys: bool,
    #[command(flatten)]
    pub(crate) place: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UsersLink {
    /// Name of the person
    pub(crate) name: String,
    /// Public URL of the server
    #[arg(long, env = "HOLDPOINT_PUBLIC_URL", value_parser = public_url, default_value = "http://127.0.0.1:8420")]
    pub(crate) public_url: Url,
    #[command(flatten)]
    pub(crate) place: ProjectArgs,
}
