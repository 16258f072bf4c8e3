//! Arguments of `holdpoint database`.

use clap::{Args, Subcommand};

use super::Database;

#[derive(Debug, Subcommand)]
pub(crate) enum DatabaseCommand {
    /// Adopt a database that was restored from a dump into another PostgreSQL cluster; stop every node first. New
    /// events and audit entries then come after those of the dump, old cursors stay valid, and audit entries without a
    /// place in their chain get one. Does nothing if the database needs no adoption
    Adopt(Adopt),
}

#[derive(Debug, Args)]
pub(crate) struct Adopt {
    #[command(flatten)]
    pub(crate) database: Database,
}
