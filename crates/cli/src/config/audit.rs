//! Arguments of `holdpoint audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Database, MasterKeys};

#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Verify an export offline. Names the first entry that was changed, removed, added or reordered
    Verify(AuditVerify),
    /// Write the whole chain of a tenant to standard output, for `audit verify`
    Export(AuditExport),
    /// Print the public key that signs the chain of a tenant
    Key(AuditTenant),
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerify {
    /// File of the export
    pub(crate) file: PathBuf,
    /// Accept only signatures of this key (64 hexadecimal digits, from `holdpoint audit key`). Without it, the key in
    /// the file is trusted
    #[arg(long)]
    pub(crate) public_key: Option<String>,
    /// Require this hash at this entry: a checkpoint that was kept elsewhere. The export may begin there
    #[arg(long, value_name = "SEQ:HASH", value_parser = checkpoint)]
    pub(crate) from_checkpoint: Option<(u64, String)>,
    /// Refuse entries that contain only their digest
    #[arg(long)]
    pub(crate) whole: bool,
    /// Accept an export that does not begin at the first entry
    #[arg(long)]
    pub(crate) partial: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditExport {
    /// Begin after the entry with this number
    #[arg(long, default_value_t = 0)]
    pub(crate) after: u64,
    #[command(flatten)]
    pub(crate) place: AuditTenant,
}

/// Tenant of the audit trail.
#[derive(Debug, Args)]
pub(crate) struct AuditTenant {
    /// Name of the tenant
    #[arg(long, default_value = "default")]
    pub(crate) tenant: String,
    #[command(flatten)]
    pub(crate) master: MasterKeys,
    #[command(flatten)]
    pub(crate) database: Database,
}

fn checkpoint(text: &str) -> Result<(u64, String), String> {
    let wrong = || format!("`{text}` is not SEQ:HASH");
    let (seq, hash) = text.split_once(':').ok_or_else(wrong)?;
    Ok((seq.parse().map_err(|_| wrong())?, hash.to_owned()))
}
