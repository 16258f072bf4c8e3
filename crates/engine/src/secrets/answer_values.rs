//! Moves secret values from an answer into the vault, and keeps them for later if the person chooses to.

use std::collections::BTreeMap;

use domain::{AnswerDraft, Interaction, KeptSecret, Kind, Question, Session};
use serde_json::{Value, json};
use store::{KeptSecretValue, SealedValue};
use zeroize::Zeroizing;

use crate::interactions;
use crate::run::transaction::Work;
use crate::secrets::vault::{SECRETS, SealContext};
use crate::{Error, Vault};

/// Values of a secret question, until they are sealed.
#[derive(Clone)]
pub(crate) struct AnswerSecrets {
    pub(crate) values: Zeroizing<Vec<u8>>,
    /// Whether the values are kept for the agent's later questions.
    pub(crate) keep: bool,
}

/// Takes the values of a secret question out of a draft, to be sealed with the answer, and leaves their names.
pub(crate) fn set_aside(question: &Question, draft: &mut AnswerDraft) -> Option<AnswerSecrets> {
    if question.kind != Kind::Secret {
        return None;
    }
    let values = Zeroizing::new(draft.data.to_string().into_bytes());
    draft.data = names_only(&draft.data);
    Some(AnswerSecrets { values, keep: draft.keep })
}

/// Seals the values of the answer with which a question has ended, and keeps them for later if the person has chosen to. Values of a vote that
/// does not end the question are not stored.
pub(crate) fn seal_answer_values(
    work: &mut Work<'_>,
    vault: &Vault,
    session: &mut Session,
    interaction: &Interaction,
    AnswerSecrets { values, keep }: &AnswerSecrets,
) -> Result<(), Error> {
    // The agent reads the values from the question that it asked, even where a handed-over copy of it was answered.
    let asked = interactions::find_original_question(work, interaction)?;
    seal_final_values(work, vault, &asked, values)?;
    let Some(by) = interaction.final_answer().filter(|_| *keep).map(|answer| answer.by.clone()) else { return Ok(()) };
    let values: BTreeMap<String, String> = serde_json::from_slice(values).map_err(|_| Error::Sealed)?;
    let mut values: BTreeMap<_, _> = values.into_iter().map(|(name, value)| (name, Zeroizing::new(value))).collect();
    values.retain(|_, value| !value.is_empty());
    let agent = &interaction.origin.asked_by.name;
    for (name, value) in &values {
        let secret = KeptSecret {
            id: work.ids.secret(work.now),
            scope: interaction.scope,
            agent: agent.clone(),
            hosted: Some(interaction.origin.hosted),
            name: name.clone(),
            kept_by: by.clone(),
            kept_at: work.now,
            used_at: None,
        };
        let sealed = vault.seal(work, &SealContext::Kept(&secret), value.as_bytes())?;
        work.tx.kept_secret_save(&KeptSecretValue { secret, sealed })?;
    }
    work.record_event(session, Some(interaction.id), KeptSecret::kept(&by, agent, values.keys()))?;
    Ok(())
}

/// Seals the values with which a secret question has ended. They replace values sealed with a vote, which earlier versions stored.
fn seal_final_values(work: &mut Work<'_>, vault: &Vault, asked: &Interaction, values: &[u8]) -> Result<(), Error> {
    let Some(vote) = work.tx.sealed_value(&asked.scope, asked.id, SECRETS)? else {
        return seal(work, vault, asked, SECRETS, values);
    };
    let sealed = vault.seal(work, &SealContext::Question(&asked.scope, asked.id, SECRETS), values)?;
    let at = SealedValue { scope: asked.scope, interaction: asked.id, name: SECRETS.into(), body: sealed.body };
    Ok(work.tx.sealed_value_reseal(vote.key.id, &at, sealed.key.id)?)
}

/// Seals a value and stores it with a question.
pub(crate) fn seal(
    work: &mut Work<'_>,
    vault: &Vault,
    interaction: &Interaction,
    name: &str,
    value: &[u8],
) -> Result<(), Error> {
    let sealed = vault.seal(work, &SealContext::Question(&interaction.scope, interaction.id, name), value)?;
    Ok(work.tx.sealed_value_insert(&interaction.scope, interaction.id, name, &sealed)?)
}

/// Data of an answer to a secret question in place of the values: the names of the fields.
fn names_only(data: &Value) -> Value {
    let names = data.as_object().map(|fields| fields.keys().cloned().map(Value::String).collect());
    json!({ "names": Value::Array(names.unwrap_or_default()) })
}
