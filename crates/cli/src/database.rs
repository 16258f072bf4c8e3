//! `holdpoint database`: adopts a database that was restored into another cluster.

use store::LineageAdoption;

use crate::config::{Adopt, DatabaseCommand};
use crate::failure::Failure;
use crate::open_store::{engine_without_vault, open_existing};

/// Adopts a restored database.
pub(crate) async fn database(command: DatabaseCommand) -> Result<(), Failure> {
    let DatabaseCommand::Adopt(Adopt { database }) = command;
    let Some(url) = &database.database_url else { return Err(Failure::PostgresOnly("database adopt")) };
    // Counted before this command opens connections of its own.
    let connections = store_postgres::connections(url)?;
    if connections > 0 {
        return Err(Failure::NodesRunning(connections));
    }
    let adopted = engine_without_vault(open_existing(&database)?).database_adopt().await?;
    if !adopted.has_changes() {
        println!("nothing to adopt: the transaction ids of this database and its cluster match");
        return Ok(());
    }
    let LineageAdoption { raised, events, entries } = adopted;
    println!(
        "adopted: transaction ids are raised by {raised} from now on; {events} events and {entries} audit entries that were \
         written since the dump was restored come after those of the dump"
    );
    Ok(())
}
