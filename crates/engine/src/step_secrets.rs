//! The values that people gave for a step of ours, for the tools that it runs.

use std::collections::BTreeMap;

use domain::InteractionId;
use store::Cost;
use zeroize::Zeroizing;

use crate::drive::Claim;
use crate::vault::{Place, SECRETS};
use crate::{Engine, Error};

impl Engine {
    /// Secret questions of a step's session that people have answered, the oldest first.
    pub async fn step_secret_questions(&self, claim: &Claim) -> Result<Vec<InteractionId>, Error> {
        let (scope, session) = (claim.scope, claim.session);
        self.read(Cost::Point, move |reads| Ok(reads.sealed_of(&scope, session, SECRETS)?)).await
    }

    /// The values of these secret questions, by name; of two of one name the later one. Only for whoever has the step.
    pub async fn step_secrets(
        &self,
        claim: &Claim,
        questions: Vec<InteractionId>,
    ) -> Result<BTreeMap<String, Zeroizing<String>>, Error> {
        let scope = claim.scope;
        let held = claim.clone();
        let sealed = self.read(Cost::Point, move |reads| {
            let step = reads.step(&held.scope, held.step)?.ok_or(domain::Refusal::StepLost)?;
            step.held(held.number)?;
            let mut found = Vec::new();
            for id in &questions {
                let asked = reads.interaction(&scope, *id)?;
                // What one agent of a flow was given is not for the next one.
                let own = asked.is_some_and(|asked| {
                    let origin = &asked.origin;
                    origin.driven && origin.session == held.session && origin.asked_by == held.agent
                });
                if let Some(sealed) = reads.sealed(&scope, *id, SECRETS)?.filter(|_| own) {
                    found.push((*id, sealed));
                }
            }
            Ok(found)
        });
        let mut values = BTreeMap::new();
        for (id, sealed) in sealed.await? {
            let opened = self.vault.unseal(&Place::Question(&scope, id, SECRETS), &sealed)?;
            let opened: BTreeMap<String, String> = serde_json::from_slice(&opened).map_err(|_| Error::Sealed)?;
            values.extend(opened.into_iter().map(|(name, value)| (name, Zeroizing::new(value))));
        }
        Ok(values)
    }

    /// A secret that is kept for an agent, by its name: the key of its model, for one.
    pub async fn secret_of(&self, claim: &Claim, name: &str) -> Result<Option<Zeroizing<String>>, Error> {
        let (scope, agent, name) = (claim.scope, claim.agent.name.clone(), name.to_owned());
        let kept = self.read(Cost::Point, move |reads| Ok(reads.kept_for(&scope, &agent)?)).await?;
        let Some(found) = kept.into_iter().find(|kept| kept.secret.name == name) else { return Ok(None) };
        let value = self.vault.unseal(&Place::Kept(&found.secret), &found.sealed)?;
        Ok(Some(Zeroizing::new(String::from_utf8_lossy(&value).into_owned())))
    }
}
