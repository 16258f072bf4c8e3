//! Moves secret values from an answer into the vault, keeps them for later if the person chooses to, and answers an agent's later question with
//! kept values.

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    Actor, AnswerDraft, AutoSource, FormProof, Interaction, KeptSecret, Kind, Question, Scope, SecretId, Session,
};
use serde_json::{Map, Value, json};
use store::{Cost, KeptSecretValue, SealedValue};
use zeroize::Zeroizing;

use crate::interactions;
use crate::run::transaction::Work;
use crate::secrets::vault::{SECRETS, SealContext};
use crate::{Engine, Error, Vault};

/// Maximum number of people that a reason names.
const MOST_NAMED: usize = 5;

/// Values of a secret question, until they are sealed.
#[derive(Clone)]
pub(crate) struct AnswerSecrets {
    values: Zeroizing<Vec<u8>>,
    keep: bool,
}

/// Kept values that answer a question.
pub(crate) struct KeptAnswer {
    values: Zeroizing<Vec<u8>>,
    reason: String,
    ids: Vec<SecretId>,
    names: Vec<String>,
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

/// Finds the secrets kept for the asking agent, if they include every required field of the question and fit its form.
pub(crate) async fn find_kept(
    engine: &Engine,
    scope: Scope,
    agent: &str,
    hosted: bool,
    question: &Question,
) -> Result<Option<KeptAnswer>, Error> {
    if question.kind != Kind::Secret || question.fresh {
        return Ok(None);
    }
    let agent = agent.to_owned();
    let mut kept = engine.read(Cost::Point, move |reads| Ok(reads.kept_secrets_for(&scope, &agent)?)).await?;
    kept.retain(|kept| kept.secret.hosted == Some(hosted));
    kept.retain(|kept| question.secrets.iter().any(|field| field.name == kept.secret.name));
    let has = |name: &str| kept.iter().any(|kept| kept.secret.name == name);
    if kept.is_empty() || question.secrets.iter().any(|field| field.required && !has(&field.name)) {
        return Ok(None);
    }
    let mut values = Map::new();
    for KeptSecretValue { secret, sealed } in &kept {
        let value = engine.vault.unseal(&SealContext::Kept(secret), sealed)?;
        let text = String::from_utf8_lossy(&value).into_owned();
        values.insert(secret.name.clone(), Value::String(text));
    }
    let values = Value::Object(values);
    if !interactions::forms_check::fits(engine, scope, question, &values).await? {
        return Ok(None);
    }
    Ok(Some(KeptAnswer {
        values: Zeroizing::new(values.to_string().into_bytes()),
        reason: reason(kept.iter().map(|kept| &kept.secret)),
        ids: kept.iter().map(|kept| kept.secret.id).collect(),
        names: kept.iter().map(|kept| kept.secret.name.clone()).collect(),
    }))
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

/// Answers a new question with kept values, unless one of them was deleted meanwhile.
pub(crate) fn answer_from_kept(
    work: &mut Work<'_>,
    vault: &Vault,
    session: &mut Session,
    interaction: Interaction,
    found: Option<&KeptAnswer>,
) -> Result<Interaction, Error> {
    let Some(KeptAnswer { values, reason, ids, names }) = found else { return Ok(interaction) };
    let agent = interaction.origin.asked_by.name.clone();
    let kept = work.tx.kept_secrets_for(&interaction.scope, &agent)?;
    if !ids.iter().all(|id| kept.iter().any(|kept| kept.secret.id == *id)) {
        return Ok(interaction);
    }
    for id in ids {
        work.tx.kept_secret_mark_used(&interaction.scope, *id, work.now)?;
    }
    let draft =
        AnswerDraft { data: json!({ "names": names }), feedback: Some(reason.clone()), ..AnswerDraft::default() };
    let signature = (work.ids.answer(work.now), Actor::system(), AutoSource::System);
    work.record_event(session, Some(interaction.id), KeptSecret::used(&agent, names))?;
    let was = interaction.status();
    let change = interaction.auto_resolve(signature, draft, Some(FormProof::checked()), work.now)?;
    let interaction = interactions::apply_change(work, session, was, change)?;
    seal(work, vault, &interaction, SECRETS, values)?;
    Ok(interaction)
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

/// Names the people who kept the values, and the times, so that readers see why nobody was asked.
fn reason<'a>(kept: impl Iterator<Item = &'a KeptSecret>) -> String {
    let said: BTreeSet<String> = kept.map(|secret| format!("{} at {}", secret.kept_by.name, secret.kept_at)).collect();
    let more = said.len().saturating_sub(MOST_NAMED);
    let named: Vec<String> = said.into_iter().take(MOST_NAMED).collect();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("answered with values kept by {}{more}", named.join(", "))
}
