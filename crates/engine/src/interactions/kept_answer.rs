//! Answers an agent's question with secrets that were kept from an earlier answer.

use std::collections::BTreeSet;

use domain::{
    Actor, AnswerDraft, AutoSource, FormProof, Interaction, KeptSecret, Kind, Question, Scope, SecretId, Session,
};
use serde_json::{Map, Value, json};
use store::{Cost, KeptSecretValue};
use zeroize::Zeroizing;

use crate::interactions;
use crate::interactions::close::PlannedAnswer;
use crate::interactions::plan::AnswerPlan;
use crate::run::transaction::Work;
use crate::secrets::answer_values::AnswerSecrets;
use crate::secrets::vault::SealContext;
use crate::{Engine, Error, Vault};

/// Maximum number of people that a reason names.
const MOST_NAMED: usize = 5;

/// Kept values that answer a question.
pub(crate) struct KeptAnswer {
    secrets: AnswerSecrets,
    reason: String,
    ids: Vec<SecretId>,
    names: Vec<String>,
}

/// Finds the secrets kept for the asking agent, if they include every required field of the question and fit its form.
pub(crate) async fn find(
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
        secrets: AnswerSecrets { values: Zeroizing::new(values.to_string().into_bytes()), keep: false },
        reason: reason(kept.iter().map(|kept| &kept.secret)),
        ids: kept.iter().map(|kept| kept.secret.id).collect(),
        names: kept.iter().map(|kept| kept.secret.name.clone()).collect(),
    }))
}

/// Answers a new question with kept values, unless one of them was deleted meanwhile.
pub(crate) fn answer(
    work: &mut Work<'_>,
    vault: &Vault,
    session: &mut Session,
    interaction: Interaction,
    found: Option<&KeptAnswer>,
) -> Result<Interaction, Error> {
    let Some(KeptAnswer { secrets, reason, ids, names }) = found else { return Ok(interaction) };
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
    let plan = AnswerPlan {
        interaction: interaction.id,
        draft,
        proof: Some(FormProof::checked()),
        secrets: Some(secrets.clone()),
        edit: None,
        has_partial_arguments: false,
        remember: None,
        current: None,
    };
    let signature = (work.ids.answer(work.now), Actor::system(), AutoSource::System);
    work.record_event(session, Some(interaction.id), KeptSecret::used(&agent, names))?;
    let was = interaction.status();
    let change = interaction.auto_resolve(signature, plan.draft.clone(), plan.proof, work.now)?;
    interactions::apply_answer(work, session, was, change, Some(PlannedAnswer { plan: &plan, vault }))
}

/// Names the people who kept the values, and the times, so that readers see why nobody was asked.
fn reason<'a>(kept: impl Iterator<Item = &'a KeptSecret>) -> String {
    let said: BTreeSet<String> = kept.map(|secret| format!("{} at {}", secret.kept_by.name, secret.kept_at)).collect();
    let more = said.len().saturating_sub(MOST_NAMED);
    let named: Vec<String> = said.into_iter().take(MOST_NAMED).collect();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("answered with values kept by {}{more}", named.join(", "))
}
