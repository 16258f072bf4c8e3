//! Keys and people, on the command line.

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
    /// Make a key and print it; it is shown this once
    Create(KeysCreate),
    /// List keys, without their secrets
    List(KeysList),
    /// Revoke a key; when this ends, no node accepts it any more
    Revoke(KeysRevoke),
}

/// Whose keys or people.
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
    /// In whose name the key acts; the name of an account needs --join-account
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// The key belongs to the person whose account has this name; without this, such a name is taken
    #[arg(long, requires = "user")]
    pub(crate) join_account: bool,
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
    /// What the person is called
    pub(crate) name: String,
    /// admin, operator or viewer
    #[arg(long, value_parser = role)]
    pub(crate) role: Role,
    /// How the person is shown
    #[arg(long)]
    pub(crate) display: Option<String>,
    /// A group of the person; may be given several times
    #[arg(long = "group")]
    pub(crate) groups: Vec<String>,
    /// Keys of the project that have this name already are this person's; without this, such a name is taken
    #[arg(long)]
    pub(crate) join_keys: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct UsersLink {
    /// What the person is called
    pub(crate) name: String,
    /// Where people find the server
    #[arg(long, env = "HOLDPOINT_PUBLIC_URL", value_parser = public_url, default_value = "http://127.0.0.1:8420")]
    pub(crate) public_url: Url,
    #[command(flatten)]
    pub(crate) place: Place,
}
