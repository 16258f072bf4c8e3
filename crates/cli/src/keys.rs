//! `holdpoint keys`: creates, lists and revokes API keys in the configured database.

use domain::{AgentEnvironment, Key, SignedDuration, Timestamp};
use engine::NewKey;

use crate::config::{Keys, KeysCommand};
use crate::failure::Failure;
use crate::open_store::{engine_without_vault, open_existing, open_or_create};

/// Creates, lists or revokes keys. Works while a server is running and without one.
pub(crate) async fn keys(keys: Keys) -> Result<(), Failure> {
    match keys.command {
        KeysCommand::Create(create) => {
            let lifetime = create.expires_days.map(|days| SignedDuration::from_hours(24 * i64::from(days)));
            let new = NewKey {
                role: create.role,
                user: create.user,
                groups: create.groups,
                lifetime,
                join_account: create.join_account,
                environment: AgentEnvironment { client: create.client, root: create.root },
            };
            let engine = engine_without_vault(open_or_create(&create.place.database)?);
            let (_, secret) = engine.key_install(&create.place.tenant, &create.place.project, new).await?;
            println!("{secret}");
        }
        KeysCommand::List(list) => {
            let engine = engine_without_vault(open_existing(&list.place.database)?);
            for key in engine.list_installed_keys(&list.place.tenant, &list.place.project).await? {
                println!("{}", line(&key));
            }
        }
        KeysCommand::Revoke(revoke) => {
            let engine = engine_without_vault(open_existing(&revoke.place.database)?);
            engine.key_uninstall(&revoke.place.tenant, &revoke.place.project, revoke.id).await?;
            println!("{} is revoked", revoke.id);
        }
    }
    Ok(())
}

fn line(key: &Key) -> String {
    let at =
        |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    let state = if key.revoked_at.is_some() { "revoked" } else { "active" };
    format!(
        "{} {:8} {:7} user={} groups={} client={} root={} created={} expires={} last_used={}",
        key.id,
        key.role.name(),
        state,
        key.user.as_deref().unwrap_or("-"),
        if key.groups.is_empty() { "-".to_owned() } else { key.groups.join(",") },
        key.environment.client.as_deref().unwrap_or("-"),
        key.environment.root.as_deref().unwrap_or("-"),
        at(Some(key.created_at)),
        at(key.expires_at),
        at(key.last_used_at),
    )
}
