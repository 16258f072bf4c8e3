//! `holdpoint archive export`: writes archived questions with their events, one line of JSON for each question.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use engine::{ArchivedQuestion, Engine, Ids, Settings, Span};
use protocol::ArchivedView;

use crate::config::ArchiveExport;
use crate::failure::Failure;
use crate::master_key::vault;
use crate::open_store::open_existing;

/// Writes the archive, one line for each question. Works while a server is running and without one.
pub(crate) async fn export(export: &ArchiveExport) -> Result<(), Failure> {
    let (store, clock) = open_existing(&export.database)?;
    let vault = vault(&export.master, &export.database.data)?;
    let engine = Engine::new(store, clock, Ids::default(), vault, Settings::default());
    let span = Span { after: export.after, before: export.before };
    let mut archive = engine.archive_export(export.tenant.clone(), export.project.clone(), span).await?;
    let mut out: Box<dyn Write> = match &export.file {
        Some(file) => {
            let made = File::options().write(true).create_new(true).open(file);
            Box::new(BufWriter::new(made.map_err(|error| Failure::Data(file.clone(), error))?))
        }
        None => Box::new(io::stdout().lock()),
    };
    while let Some(found) = archive.next().await? {
        for ArchivedQuestion { project: (tenant, project), interaction, events } in found {
            let events = events.into_iter().map(Into::into).collect();
            let line = ArchivedView { tenant, project, interaction: interaction.into(), events };
            let line = serde_json::to_string(&line).map_err(|error| Failure::Export(error.into()))?;
            writeln!(out, "{line}").map_err(Failure::Export)?;
        }
    }
    out.flush().map_err(Failure::Export)
}
