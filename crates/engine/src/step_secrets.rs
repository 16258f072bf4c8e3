//! The values that people gave for a step of ours, for the tools that it runs.

use std::collections::BTreeMap;

use domain::{InteractionId, Scope, Session};
use store::{Cost, Sealed};
use zeroize::Zeroizing;

use crate::drive::Claim;
use crate::vault::{Place, SECRETS};
use crate::work::Work;
use crate::{Engine, Error, Hidden, Vault};

/// What people gave a session in secret, by name.
#[derive(Debug, Default)]
pub struct StepSecrets {
    /// What the agent that has the step was given, since the session last failed; of two of one name the later. What one agent of a flow was
    /// given is not for the next one.
    pub given: BTreeMap<String, Zeroizing<String>>,
    /// All of it, whoever was given it and whatever has replaced it since: nothing of it is shown.
    pub all: Vec<(String, Zeroizing<String>)>,
}

impl Engine {
    /// What people gave the session of a step in secret. Only for whoever has the step.
    pub async fn step_secrets(&self, claim: &Claim) -> Result<StepSecrets, Error> {
        let (scope, held) = (claim.scope, claim.clone());
        let sealed = self.read(Cost::Point, move |reads| {
            let step = reads.step(&held.scope, held.step)?.ok_or(domain::Refusal::StepLost)?;
            step.held(held.number)?;
            let mut found = Vec::new();
            for id in reads.sealed_of(&scope, held.session, SECRETS)? {
                let asked = reads.interaction(&scope, id)?;
                let own = asked.is_some_and(|asked| {
                    let origin = &asked.origin;
                    let withheld = step.withheld_upto.is_some_and(|upto| origin.step <= upto);
                    !withheld
                        && asked.ended_with_secrets()
                        && origin.hosted
                        && origin.session == held.session
                        && origin.asked_by == held.agent
                });
                found.extend(reads.sealed(&scope, id, SECRETS)?.map(|sealed| (id, sealed, own)));
            }
            Ok(found)
        });
        let mut secrets = StepSecrets::default();
        for (id, sealed, own) in sealed.await? {
            for (name, value) in opened(&self.vault, &scope, (id, &sealed))? {
                secrets.all.push((name.clone(), value.clone()));
                if own {
                    secrets.given.insert(name, value);
                }
            }
        }
        Ok(secrets)
    }

    /// A secret that is kept for an agent that our workers run, by its name: the key of its model, for one.
    pub async fn secret_of(&self, claim: &Claim, name: &str) -> Result<Option<Zeroizing<String>>, Error> {
        let (scope, agent, name) = (claim.scope, claim.agent.name.clone(), name.to_owned());
        let kept = self.read(Cost::Point, move |reads| Ok(reads.kept_for(&scope, &agent)?)).await?;
        let Some(found) = kept.into_iter().find(|kept| kept.secret.name == name && kept.secret.hosted == Some(true))
        else {
            return Ok(None);
        };
        let value = self.vault.unseal(&Place::Kept(&found.secret), &found.sealed)?;
        Ok(Some(Zeroizing::new(String::from_utf8_lossy(&value).into_owned())))
    }
}

impl Work<'_> {
    /// Everything that people gave a session in secret, to be hidden.
    pub(crate) fn given_in_secret(&mut self, vault: &Vault, session: &Session) -> Result<Hidden, Error> {
        let scope = session.scope;
        let mut values = Vec::new();
        for id in self.tx.sealed_of(&scope, session.id, SECRETS)? {
            if let Some(sealed) = self.tx.sealed(&scope, id, SECRETS)? {
                values.extend(opened(vault, &scope, (id, &sealed))?);
            }
        }
        Ok(Hidden::new(values.iter().map(|(name, value)| (name, value))))
    }
}

/// The values that were given to a question, by name.
fn opened(
    vault: &Vault,
    scope: &Scope,
    (id, sealed): (InteractionId, &Sealed),
) -> Result<Vec<(String, Zeroizing<String>)>, Error> {
    let opened = vault.unseal(&Place::Question(scope, id, SECRETS), sealed)?;
    let values: BTreeMap<String, String> = serde_json::from_slice(&opened).map_err(|_| Error::Sealed)?;
    Ok(values.into_iter().map(|(name, value)| (name, Zeroizing::new(value))).collect())
}
