//! `holdpoint audit`: exports a tenant's audit trail, and verifies an export without a server.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use domain::audit::seal::ALL;
use domain::audit::verify::{Demands, Report, verify};
use engine::{Engine, ExportRange, Ids, Settings};

use crate::config::{Audit, AuditCommand, AuditExport, AuditTenant, AuditVerify};
use crate::failure::Failure;
use crate::master_key::vault;
use crate::open_store::open_existing;

/// Verifies or exports the audit trail, or prints its public key. Works while a server is running and without one.
pub(crate) async fn audit(audit: Audit) -> Result<(), Failure> {
    match audit.command {
        AuditCommand::Verify(verify) => verify_export(verify),
        AuditCommand::Export(export) => write_export(&export).await,
        AuditCommand::Key(place) => {
            println!("{}", engine(&place).await?.audit_key_of(&place.tenant).await?);
            Ok(())
        }
    }
}

/// Verifies an export from the file alone.
fn verify_export(
    AuditVerify { file, public_key, from_checkpoint, whole, partial }: AuditVerify,
) -> Result<(), Failure> {
    let opened = File::open(&file).map_err(|error| Failure::Data(file.clone(), error))?;
    let mut lines = Lines { reader: BufReader::new(opened), failed: None };
    let demands = Demands { public_key, checkpoint: from_checkpoint, whole, partial };
    let outcome = verify(&mut lines, &demands);
    if let Some(error) = lines.failed {
        return Err(Failure::Data(file, error));
    }
    let report = outcome.map_err(|finding| Failure::NotVerified(file, finding.to_string()))?;
    println!("{}", report_lines(&report));
    if demands.public_key.is_none() {
        println!(
            "warning: the key in the file was not compared with a known key, so the maker of the file may have \
             signed it with a key of their own: give --public-key"
        );
    }
    Ok(())
}

/// Describes the result of a verification, one line for each fact.
fn report_lines(report: &Report) -> String {
    let Report { first, entries, digests_only, checkpoints, last: (seq, hash), shown, at, public_key } = report;
    let range = if *entries == 0 { "no entries".to_owned() } else { format!("entries {first} to {seq}") };
    let mut lines =
        vec![format!("verified: {range}, {checkpoints} checkpoints, exported {at}, signed by {public_key}")];
    if *first > 1 {
        lines.push(format!("partial export: entries 1 to {} are not in it", first - 1));
    }
    if shown != ALL {
        lines.push(format!("the export shows only entries of the project {shown}"));
    }
    if *digests_only > 0 {
        lines.push(format!("{digests_only} of {entries} entries have only a digest"));
    }
    lines.push(format!("last checkpoint: {seq}:{hash}"));
    lines.join("\n")
}

/// The lines of a file with their line ends. A read error is kept, so that it is not taken for the end of the file.
struct Lines<R> {
    reader: R,
    failed: Option<io::Error>,
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        match self.reader.read_until(b'\n', &mut line) {
            Ok(0) => None,
            Ok(_) => Some(line),
            Err(error) => {
                self.failed = Some(error);
                None
            }
        }
    }
}

async fn write_export(export: &AuditExport) -> Result<(), Failure> {
    let engine = engine(&export.place).await?;
    let wanted = ExportRange { after: export.after, ..ExportRange::default() };
    let mut lines = engine.audit_export_all(&export.place.tenant, wanted).await?;
    let mut out = io::stdout().lock();
    while let Some(lines) = lines.next().await? {
        out.write_all(lines.as_bytes()).map_err(Failure::Export)?;
    }
    out.flush().map_err(Failure::Export)
}

async fn engine(place: &AuditTenant) -> Result<Engine, Failure> {
    let (store, clock) = open_existing(&place.database)?;
    let vault = vault(&place.master, &place.database.data)?;
    let engine = Engine::new(store, clock, Ids::default(), vault, Settings::default());
    engine.check_master_key().await?;
    Ok(engine)
}
