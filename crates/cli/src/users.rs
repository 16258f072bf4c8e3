//! `holdpoint users`: adds people, and creates sign-in links.

use engine::NewUser;

use crate::config::{Users, UsersCommand};
use crate::failure::Failure;
use crate::open_store::{engine_without_vault, open_existing, open_or_create};

/// Adds people or creates sign-in links, for anyone with access to the database. Works while a server is running and
/// without one.
pub(crate) async fn users(users: Users) -> Result<(), Failure> {
    match users.command {
        UsersCommand::Create(create) => {
            let new = NewUser {
                name: create.name,
                display: create.display,
                role: create.role,
                groups: create.groups,
                join_keys: create.join_keys,
            };
            let engine = engine_without_vault(open_or_create(&create.place.database)?);
            let added = engine.user_install(&create.place.tenant, &create.place.project, new).await?;
            println!("{} is in {}", added.user.name, create.place.project);
            if added.existing {
                println!(
                    "the account existed before: its password, links and signed-in browsers are no longer valid; \
                     create a link with `holdpoint users link`"
                );
            }
        }
        UsersCommand::Link(link) => {
            let engine = engine_without_vault(open_existing(&link.place.database)?);
            let token = engine.user_link_install(&link.place.tenant, &link.place.project, &link.name).await?;
            println!("{}", address(link.public_url.as_str(), &token));
        }
    }
    Ok(())
}

/// Address of a sign-in link. A browser never sends the part after the hash to a server.
pub(crate) fn address(base: &str, token: &str) -> String {
    format!("{}/sign-in#token={token}", base.trim_end_matches('/'))
}
