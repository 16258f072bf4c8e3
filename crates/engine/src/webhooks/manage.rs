//! Creates, lists, switches, rotates and deletes the webhooks of a project.

use std::sync::Arc;

use ::policy::Pattern;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::access::Right;
use domain::audit::kind::{WebhookCreated, WebhookNamed, WebhookRotated};
use domain::webhook::{MOST, Subject};
use domain::{
    AuditDraft, AuditKind, Caller, Problem, Refusal, SignedDuration, Timestamp, Webhook, WebhookId, text, user,
};
use store::{Bounded, Cost, Page, WebhookSecret};
use url::{Host, Url};
use zeroize::Zeroizing;

use crate::run::transaction::Work;
use crate::secrets::vault::SealContext;
use crate::{Engine, Error, Idempotency, Vault};

/// Prefix of every webhook secret, as the Standard Webhooks specification defines it.
const MARK: &str = "whsec_";
/// Maximum length of a URL in bytes.
const LONGEST_URL: usize = 2048;
/// Maximum number of event types that a webhook may name.
const MOST_TYPES: usize = 50;
/// Default time for which the old secret signs beside the new one.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);
/// Maximum overlap of the old and the new secret, in seconds.
const LONGEST_OVERLAP: i64 = 30 * 24 * 3600;

/// Settings of a new webhook.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// URL of the endpoint.
    pub url: String,
    /// Messages that the webhook sends: events or answers.
    pub subject: Subject,
    /// Purpose of the webhook, for people.
    pub description: Option<String>,
    /// Whether the webhook sends messages from the beginning.
    pub enabled: bool,
}

impl Engine {
    /// Creates a webhook in the caller's project. Events are sent from now on, and the secret is returned only here.
    ///
    /// A repeated command with the same idempotency key returns the same secret, as for API keys.
    pub async fn webhook_create(
        &self,
        caller: &Caller,
        new: NewWebhook,
        idempotency: Option<Idempotency>,
    ) -> Result<(Webhook, String), Error> {
        caller.require(Right::ManageWebhooks)?;
        check_webhook(self, &new)?;
        let (scope, vault) = (caller.scope, Arc::clone(&self.vault));
        let made = self.command_with_secret(caller, "webhook", idempotency, move |work, secret| {
            if work.tx.webhook_count(&scope)? >= MOST {
                return Err(Refusal::TooManyWebhooks { most: MOST }.into());
            }
            if let Subject::Events { session: Some(session), .. } = &new.subject {
                work.tx.session(&scope, *session)?.ok_or(Refusal::NotFound("session"))?;
            }
            let NewWebhook { url, subject, description, enabled } = new.clone();
            let (id, now) = (work.ids.webhook(work.now), work.now);
            let webhook = Webhook {
                id,
                scope,
                url,
                subject,
                description,
                created_by: work.by().clone(),
                created_at: now,
                disabled: None,
                failures: 0,
            };
            let webhook = if enabled { webhook } else { webhook.disable(work.by(), "created disabled".into(), now).0 };
            let head = work.tx.project_head(&scope)?;
            work.tx.webhook_insert(&webhook, head)?;
            keep_secret(work, &vault, &webhook, 1, secret)?;
            let created = WebhookCreated {
                webhook: id,
                url: without_query(&webhook.url).to_owned(),
                subject: webhook.subject.clone(),
                enabled,
            };
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::WebhookCreated(created)))?;
            Ok(webhook)
        });
        let (webhook, secret) = made.await?;
        Ok((webhook, format_secret(&secret)))
    }

    /// Lists the webhooks of the caller's project, the newest first.
    pub async fn webhook_list(&self, caller: &Caller, page: Page<WebhookId>) -> Result<Bounded<Webhook>, Error> {
        caller.require(Right::ManageWebhooks)?;
        let scope = caller.scope;
        self.list(caller, move |reads, _| Ok(reads.webhooks(&scope, page)?)).await
    }

    /// Returns a webhook of the caller's project.
    pub async fn webhook_get(&self, caller: &Caller, id: WebhookId) -> Result<Webhook, Error> {
        caller.require(Right::ManageWebhooks)?;
        let scope = caller.scope;
        let found = self.read(Cost::Point, move |reads| Ok(reads.webhook(&scope, id)?)).await?;
        Ok(found.ok_or(Refusal::NotFound("webhook"))?)
    }

    /// Deletes a webhook. A message that is being sent may still arrive.
    pub async fn webhook_delete(&self, caller: &Caller, id: WebhookId) -> Result<(), Error> {
        caller.require(Right::ManageWebhooks)?;
        let scope = caller.scope;
        self.command(caller, None, move |work| {
            if !work.tx.webhook_delete(&scope, id, work.now)? {
                return Err(Refusal::NotFound("webhook").into());
            }
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::WebhookDeleted(WebhookNamed { webhook: id })))
        })
        .await
    }

    /// Switches a webhook on or off. Events that occur while it is off are sent when it is on again.
    pub async fn webhook_switch(
        &self,
        caller: &Caller,
        id: WebhookId,
        enabled: bool,
        reason: Option<String>,
    ) -> Result<Webhook, Error> {
        caller.require(Right::ManageWebhooks)?;
        let mut problems = Vec::new();
        reason.iter().for_each(|reason| text::check_line("/reason", reason, &mut problems));
        refuse(problems)?;
        let scope = caller.scope;
        self.command(caller, None, move |work| {
            let webhook = work.tx.webhook_lock(&scope, id)?.ok_or(Refusal::NotFound("webhook"))?;
            if webhook.is_enabled() == enabled {
                return Ok(webhook);
            }
            let reason = reason.clone().unwrap_or_else(|| format!("disabled by {}", work.by().name));
            let (webhook, told) =
                if enabled { webhook.enable(work.by()) } else { webhook.disable(work.by(), reason, work.now) };
            work.tx.webhook_save(&webhook)?;
            work.tx.webhook_wake(&scope, id, work.now)?;
            work.append_audit(&scope, &told)?;
            Ok(webhook)
        })
        .await
    }

    /// Creates a new secret. Until the old secret expires, messages are signed with both.
    pub async fn webhook_rotate(
        &self,
        caller: &Caller,
        id: WebhookId,
        overlap: Option<i64>,
        idempotency: Option<Idempotency>,
    ) -> Result<(Webhook, String, Timestamp), Error> {
        caller.require(Right::ManageWebhooks)?;
        let overlap = match overlap {
            None => OVERLAP,
            Some(seconds) if (0..=LONGEST_OVERLAP).contains(&seconds) => SignedDuration::from_secs(seconds),
            Some(_) => {
                let problem = Problem::new("/overlap_seconds", format!("must be 0 to {LONGEST_OVERLAP}"));
                return Err(Refusal::QuestionInvalid(vec![problem]).into());
            }
        };
        let (scope, vault) = (caller.scope, Arc::clone(&self.vault));
        let rotated = self.command_with_secret(caller, "webhook_rotate", idempotency, move |work, secret| {
            let webhook = work.tx.webhook_lock(&scope, id)?.ok_or(Refusal::NotFound("webhook"))?;
            let newest = work.tx.webhook_secrets(&scope, id)?.first().map_or(0, |secret| secret.number);
            let until = work.now.saturating_add(overlap).unwrap_or(work.now);
            work.tx.webhook_secrets_expire(&scope, id, until)?;
            keep_secret(work, &vault, &webhook, newest + 1, secret)?;
            let rotated = WebhookRotated { webhook: id, old_until: until };
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::WebhookRotated(rotated)))?;
            Ok((webhook, until))
        });
        let ((webhook, until), secret) = rotated.await?;
        Ok((webhook, format_secret(&secret), until))
    }
}

fn check_webhook(engine: &Engine, new: &NewWebhook) -> Result<(), Error> {
    let mut problems = Vec::new();
    if let Err(problem) = check_url(engine, &new.url) {
        problems.push(Problem::new("/url", problem));
    }
    new.description.iter().for_each(|line| text::check_line("/description", line, &mut problems));
    match &new.subject {
        Subject::Answers { agent } => user::check_name("/answers_of", agent, &mut problems),
        Subject::Events { types, agent, .. } => {
            if types.is_empty() || types.len() > MOST_TYPES {
                problems.push(Problem::new("/events", format!("must be 1 to {MOST_TYPES} types")));
            }
            for (index, text) in types.iter().enumerate() {
                if let Err(problem) = Pattern::new(text) {
                    problems.push(Problem::new(format!("/events/{index}"), problem));
                }
            }
            agent.iter().for_each(|agent| text::check_line("/agent", agent, &mut problems));
        }
    }
    refuse(problems)
}

/// Checks the URL of an endpoint. An IP address can be refused at once; a host name is resolved, and its addresses are checked, only
/// when a message is sent.
fn check_url(engine: &Engine, text: &str) -> Result<(), String> {
    let url = Url::parse(text).map_err(|error| format!("is not a URL: {error}"))?;
    if text.len() > LONGEST_URL {
        return Err(format!("is longer than {LONGEST_URL} bytes"));
    }
    if !["http", "https"].contains(&url.scheme()) {
        return Err("must begin with https:// or http://".into());
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("must not contain a user or a fragment: endpoints verify messages by their signature".into());
    }
    let address = match url.host() {
        Some(Host::Ipv4(address)) => Some(address.into()),
        Some(Host::Ipv6(address)) => Some(address.into()),
        Some(Host::Domain(_)) => None,
        None => return Err("has no host".into()),
    };
    if address.is_some_and(|address| !engine.settings().webhook_networks.allow(address)) {
        return Err("is an address that this server does not send to".into());
    }
    Ok(())
}

/// Removes the query from a URL for the audit trail, because a query often contains credentials.
fn without_query(url: &str) -> &str {
    url.split_once('?').map_or(url, |(before, _)| before)
}

fn refuse(problems: Vec<Problem>) -> Result<(), Error> {
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

/// Seals a secret and stores it with its webhook.
fn keep_secret(
    work: &mut Work<'_>,
    vault: &Vault,
    webhook: &Webhook,
    number: u32,
    secret: &[u8; 32],
) -> Result<(), Error> {
    let context = SealContext::Webhook(&webhook.scope, webhook.id, number);
    let sealed = vault.seal(work, &context, secret)?;
    let secret = WebhookSecret { scope: webhook.scope, webhook: webhook.id, number, until: None, sealed };
    Ok(work.tx.webhook_secret_insert(&secret)?)
}

/// Formats a secret as it is shown to the caller.
fn format_secret(secret: &[u8; 32]) -> String {
    format!("{MARK}{}", BASE64_STANDARD.encode(secret))
}

/// Unseals a signing secret of a webhook.
pub(super) fn unseal(vault: &Vault, secret: &WebhookSecret) -> Result<Zeroizing<Vec<u8>>, Error> {
    vault.unseal(&SealContext::Webhook(&secret.scope, secret.webhook, secret.number), &secret.sealed)
}
