//! What is done to the database as a whole.

use clap::{Args, Subcommand};

use super::Database;

#[derive(Debug, Subcommand)]
pub(crate) enum DatabaseCommand {
    /// Adopt a database that was restored from a dump into another PostgreSQL cluster, with every node stopped. New events and audit
    /// entries then come after those of the dump, old cursors stay good, and entries that were written before this get their place in
    /// the audit trail. Does nothing where nothing is wrong
    Adopt(Adopt),
}

#[derive(Debug, Args)]
pub(crate) struct Adopt {
    #[command(flatten)]
    pub(crate) database: Database,
}
