//! `holdpoint secrets rotate`: seals everything again under the newest master key.

use engine::{Engine, Ids, RotationReport, Settings, Vault};

use crate::config::{Rotate, Secrets, SecretsCommand};
use crate::failure::Failure;
use crate::master_key::{KeyFileRotation, from_environment};
use crate::open_store::open_existing;

/// Rotates keys. Works while servers are running and without one.
pub(crate) async fn secrets(secrets: Secrets) -> Result<(), Failure> {
    let SecretsCommand::Rotate(rotate) = secrets.command;
    match from_environment(&rotate.master)? {
        Some(keys) if keys.len() == 1 => Err(Failure::NoPreviousMasterKey),
        Some(_) if rotate.prepare => Err(Failure::NothingToPrepare),
        Some(keys) => {
            let rotated = engine(&rotate, Vault::over(keys, Box::new(Vec::new))).await?.rotate_master_key().await?;
            println!("{}; start every node without HOLDPOINT_MASTER_KEY_PREVIOUS now", report_lines(rotated));
            Ok(())
        }
        None => rotate_file(&rotate).await,
    }
}

/// Adds the new key to the file, seals everything with it, then removes the old keys from the file.
async fn rotate_file(rotate: &Rotate) -> Result<(), Failure> {
    let file = KeyFileRotation::begin(&rotate.database.data)?;
    let engine = engine(rotate, file.vault()?).await?;
    let begun = file.prepare()?;
    if rotate.prepare {
        println!(
            "master.key has a new key: copy it to every node that has a copy, then run `holdpoint secrets rotate` without --prepare"
        );
        return Ok(());
    }
    if !begun {
        println!("continuing with the new key that is already in master.key");
    }
    let rotated = engine.rotate_master_key().await?;
    file.finish()?;
    println!("{}; master.key contains only the new key: keep it with the next backup", report_lines(rotated));
    Ok(())
}

async fn engine(rotate: &Rotate, vault: Vault) -> Result<Engine, Failure> {
    let (store, clock) = open_existing(&rotate.database)?;
    let engine = Engine::new(store, clock, Ids::default(), vault, Settings::default());
    engine.check_master_key().await?;
    Ok(engine)
}

fn report_lines(RotationReport { tenants, values, forgotten }: RotationReport) -> String {
    format!("rotated: {tenants} tenants have new keys, {values} values were sealed again, {forgotten} old keys deleted")
}
