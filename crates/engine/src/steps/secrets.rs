//! Reads the secrets that people gave for a hosted step, for the tools that it runs.

use std::collections::BTreeMap;

use domain::{InteractionId, Scope, Session};
use store::{Cost, Sealed};
use zeroize::Zeroizing;

use crate::run::transaction::Work;
use crate::secrets::vault::{SECRETS, SealContext};
use crate::steps::lease::StepClaim;
use crate::{Engine, Error, Redactor, Vault};

/// Secrets that people gave to a session, by name.
#[derive(Debug, Default)]
pub struct StepSecrets {
    /// Secrets given to the agent of the step since the session last failed; the later of two with one name. Secrets of one agent of a flow are not
    /// given to the next one.
    pub given: BTreeMap<String, Zeroizing<String>>,
    /// All secrets given to any agent of the session, including replaced ones. They are redacted from every output.
    pub all: Vec<(String, Zeroizing<String>)>,
}

impl Engine {
    /// Returns the secrets that people gave to the session of a step. Refuses a claim that is no longer in force.
    pub async fn step_secrets(&self, claim: &StepClaim) -> Result<StepSecrets, Error> {
        let (scope, held) = (claim.scope, claim.clone());
        let sealed = self.read(Cost::Point, move |reads| {
            let step = reads.step(&held.scope, held.step)?.ok_or(domain::Refusal::StepLost)?;
            step.require_claim(held.number)?;
            let mut found = Vec::new();
            for id in reads.interactions_with_sealed_value(&scope, held.session, SECRETS)? {
                let asked = reads.interaction(&scope, id)?;
                let own = asked.is_some_and(|asked| {
                    let origin = &asked.origin;
                    let withheld = step.withheld_upto.is_some_and(|upto| origin.step <= upto);
                    !withheld
                        && asked.has_ended_with_secrets()
                        && origin.hosted
                        && origin.session == held.session
                        && origin.asked_by == held.agent
                });
                found.extend(reads.sealed_value(&scope, id, SECRETS)?.map(|sealed| (id, sealed, own)));
            }
            Ok(found)
        });
        let mut secrets = StepSecrets::default();
        for (id, sealed, own) in sealed.await? {
            for (name, value) in unseal_values(&self.vault, &scope, (id, &sealed))? {
                secrets.all.push((name.clone(), value.clone()));
                if own {
                    secrets.given.insert(name, value);
                }
            }
        }
        Ok(secrets)
    }

    /// Returns a secret that is kept for a hosted agent under this name, such as the key of its model.
    pub async fn hosted_secret(&self, claim: &StepClaim, name: &str) -> Result<Option<Zeroizing<String>>, Error> {
        let (scope, agent, name) = (claim.scope, claim.agent.name.clone(), name.to_owned());
        let kept = self.read(Cost::Point, move |reads| Ok(reads.kept_secrets_for(&scope, &agent)?)).await?;
        let Some(found) = kept.into_iter().find(|kept| kept.secret.name == name && kept.secret.hosted == Some(true))
        else {
            return Ok(None);
        };
        let value = self.vault.unseal(&SealContext::Kept(&found.secret), &found.sealed)?;
        Ok(Some(Zeroizing::new(String::from_utf8_lossy(&value).into_owned())))
    }
}

/// Creates a redactor for all secrets that people gave to a session.
pub(crate) fn read_given_secrets(work: &mut Work<'_>, vault: &Vault, session: &Session) -> Result<Redactor, Error> {
    let scope = session.scope;
    let mut values = Vec::new();
    for id in work.tx.interactions_with_sealed_value(&scope, session.id, SECRETS)? {
        if let Some(sealed) = work.tx.sealed_value(&scope, id, SECRETS)? {
            values.extend(unseal_values(vault, &scope, (id, &sealed))?);
        }
    }
    Ok(Redactor::new(values.iter().map(|(name, value)| (name, value))))
}

/// Unseals the values that were given to a question, by name.
fn unseal_values(
    vault: &Vault,
    scope: &Scope,
    (id, sealed): (InteractionId, &Sealed),
) -> Result<Vec<(String, Zeroizing<String>)>, Error> {
    let opened = vault.unseal(&SealContext::Question(scope, id, SECRETS), sealed)?;
    let values: BTreeMap<String, String> = serde_json::from_slice(&opened).map_err(|_| Error::Sealed)?;
    Ok(values.into_iter().map(|(name, value)| (name, Zeroizing::new(value))).collect())
}
