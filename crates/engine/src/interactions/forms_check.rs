//! Validates forms and form data on blocking threads, with limits for each caller and tenant.
//!
//! The checks run before the transaction. Their result stays valid in it, because the schema of a question never changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::{
    AnswerDraft, Caller, Credential, Digest, Fallback, FormProof, Kind, Limit, Problem, ProjectId, Question, Refusal,
    Scope, TenantId, text,
};
use forms::{CheckError, Forms, SchemaError};
use serde_json::Value;
use store::StoreError;

use crate::run;
use crate::run::slots::{Slot, Slots};
use crate::{Engine, Error};

/// Longest time that a check may wait in each queue.
const LONGEST: Duration = Duration::from_secs(5);

/// Limits on the form checks that run at once. One check may occupy a processor for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckLimits {
    /// Maximum number of running checks. One tenant may have one less, so that its checks alone never make another tenant wait.
    pub all: usize,
    /// Maximum number of running checks of one key, of one signed-in person, or of one schema of a tool.
    pub key: usize,
    /// Maximum number of running and queued checks of one key. Further checks are refused at once.
    pub waiting: usize,
    /// Maximum size of the cache of compiled schemas, in bytes.
    pub cached_bytes: u64,
}

impl Default for CheckLimits {
    fn default() -> Self {
        Self { all: 4, key: 2, waiting: 64, cached_bytes: forms::FormLimits::default().cached_bytes }
    }
}

/// Account whose limits a check counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Account {
    /// Key or visit of a caller, and the caller's tenant.
    Caller(Credential, TenantId),
    /// Hosted agents of a project.
    Project(ProjectId, TenantId),
    /// Digest of a schema that an operator or an admin declared.
    Schema(Digest),
}

impl Account {
    pub(crate) fn of(caller: &Caller) -> Self {
        match caller.credential {
            Credential::Worker => Self::of_project(caller.scope),
            credential @ (Credential::Key(_) | Credential::Visit(_)) => Self::Caller(credential, caller.scope.tenant),
        }
    }

    pub(crate) const fn of_project(scope: Scope) -> Self {
        Self::Project(scope.project, scope.tenant)
    }

    const fn tenant(self) -> Option<TenantId> {
        match self {
            Self::Caller(_, tenant) | Self::Project(_, tenant) => Some(tenant),
            Self::Schema(_) => None,
        }
    }
}

/// Slots in which checks run.
pub(crate) struct Checks {
    waiting: Slots<Account>,
    accounts: Slots<Account>,
    tenants: Slots<TenantId>,
    all: Slots<()>,
}

/// Slots that one check holds until it ends.
struct Checking {
    _slots: [Option<Slot>; 4],
}

impl Checks {
    pub(crate) fn new(limits: CheckLimits) -> Self {
        let CheckLimits { all, key, waiting, .. } = limits;
        let tenants = Slots::new(all.saturating_sub(1).max(1));
        Self { waiting: Slots::new(waiting), accounts: Slots::new(key), tenants, all: Slots::new(all) }
    }

    /// Waits for a slot: first of the account, then of its tenant, then of the node.
    async fn wait_for_slot(&self, account: Account) -> Result<Checking, Error> {
        let busy = || Error::from(StoreError::Busy);
        let full = Refusal::LimitReached { limit: Limit::KeyForms, max: self.waiting.most() as u64 };
        let waiting = self.waiting.acquire(account).ok_or(full)?;
        let own = self.accounts.wait(account, LONGEST).await.ok_or_else(busy)?;
        let of_tenant = match account.tenant() {
            Some(tenant) => Some(self.tenants.wait(tenant, LONGEST).await.ok_or_else(busy)?),
            None => None,
        };
        let one = self.all.wait((), LONGEST).await.ok_or_else(busy)?;
        Ok(Checking { _slots: [Some(waiting), Some(own), of_tenant, Some(one)] })
    }
}

/// Guard of a caller that waits for a check. Dropping it tells the check to stop.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Engine {
    /// Checks a value against a schema that does not belong to a question, and returns every problem. The pointers begin with `under`.
    pub async fn check_value(&self, schema: Value, value: Value, under: &str) -> Result<Vec<Problem>, Error> {
        check_value(self, schema, value, under).await
    }
}

/// Checks a value against a schema that does not belong to a question. Problems have pointers that begin with `under`.
pub(crate) async fn check_value(
    engine: &Engine,
    schema: Value,
    value: Value,
    under: &str,
) -> Result<Vec<Problem>, Error> {
    let account = Account::Schema(Digest::of_json(&schema));
    match run_check(engine, account, move |forms, wanted| forms.check_while(&schema, &value, wanted)).await? {
        Ok(()) => Ok(Vec::new()),
        Err(CheckError::Schema(error)) => Err(Error::SchemaInvalid(vec![problem(&error)])),
        Err(CheckError::Fields(fields)) => Ok(problems(under, fields)),
    }
}

/// Refuses a question whose form has an invalid schema, or whose fallback value does not fit the form.
pub(crate) async fn admit(engine: &Engine, account: Account, question: &Question) -> Result<(), Error> {
    let Some(schema) = question.form() else { return Ok(()) };
    let fallback = match &question.fallback {
        Some(Fallback::Value(value)) => Some(value.clone()),
        _ => None,
    };
    let checked = run_check(engine, account, move |forms, wanted| {
        forms.admit_while(&schema, wanted).map_err(CheckError::Schema)?;
        fallback.map_or(Ok(()), |value| forms.check_while(&schema, &value, wanted))
    });
    match checked.await? {
        Ok(()) => Ok(()),
        Err(CheckError::Schema(error)) => Err(Error::SchemaInvalid(vec![of_secret(question, problem(&error))])),
        Err(CheckError::Fields(fields)) => Err(Refusal::QuestionInvalid(problems("/fallback/value", fields)).into()),
    }
}

/// Checks the data of a draft against the form of its question. Returns `None` if the question has no form or the answer carries no data for it.
pub(crate) async fn prove(
    engine: &Engine,
    caller: &Caller,
    question: &Question,
    draft: &AnswerDraft,
) -> Result<Option<FormProof>, Error> {
    let carries = question.effect_of(draft).is_some_and(domain::Effect::carries_form);
    let Some(schema) = question.form().filter(|_| carries) else { return Ok(None) };
    let data = draft.data.clone();
    let checked =
        run_check(engine, Account::of(caller), move |forms, wanted| forms.check_while(&schema, &data, wanted));
    match checked.await? {
        Ok(()) => Ok(Some(FormProof::checked())),
        Err(CheckError::Schema(error)) => Err(Error::SchemaInvalid(vec![problem(&error)])),
        Err(CheckError::Fields(fields)) => {
            Err(Refusal::AnswerInvalid(discreet(question, problems("/data", fields))).into())
        }
    }
}

/// Whether kept values fit the form of a question.
pub(crate) async fn fits(engine: &Engine, scope: Scope, question: &Question, values: &Value) -> Result<bool, Error> {
    let Some(schema) = question.form() else { return Ok(false) };
    let (account, values) = (Account::of_project(scope), values.clone());
    let checked = run_check(engine, account, move |forms, wanted| forms.check_while(&schema, &values, wanted));
    Ok(checked.await?.is_ok())
}

/// Runs a check on a blocking thread once it has its slots. The check can ask whether its caller still waits. It holds its slots until it ends,
/// even if the caller has gone.
async fn run_check<T: Send + 'static>(
    engine: &Engine,
    account: Account,
    check: impl FnOnce(&Forms, &dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, Error> {
    let slot = engine.checks.wait_for_slot(account).await?;
    let wanted = Arc::new(AtomicBool::new(true));
    let (forms, waiting) = (Arc::clone(&engine.forms), Waiting(Arc::clone(&wanted)));
    let checked = run::heavy_work::off_reactor(move || {
        let done = check(&forms, &|| wanted.load(Ordering::Relaxed));
        drop(slot);
        done
    });
    let checked = checked.await;
    drop(waiting);
    checked
}

fn problem(error: &SchemaError) -> Problem {
    Problem::new(format!("/schema{}", error.pointer), error.reason.to_string())
}

/// Moves the pointer of a problem from the generated form of a secret question to the field in `secrets` that it comes from. The server generates
/// that form, so the agent never saw it.
fn of_secret(question: &Question, problem: Problem) -> Problem {
    let place = question.secrets.iter().enumerate().find_map(|(index, field)| {
        let rest = problem.pointer.strip_prefix(&text::field("/schema/properties", &field.name))?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("/secrets/{index}{rest}"))
    });
    Problem { pointer: place.unwrap_or(problem.pointer), ..problem }
}

/// Removes unknown field names from the problems of a secret question. A person may have typed a secret where a name belongs, so it must not be
/// repeated in an error.
fn discreet(question: &Question, problems: Vec<Problem>) -> Vec<Problem> {
    if question.kind != Kind::Secret {
        return problems;
    }
    let named = |problem: &Problem| {
        let name = text::unescaped(problem.pointer.split('/').nth(2).unwrap_or_default());
        name.is_empty() || question.secrets.iter().any(|field| field.name == name)
    };
    let (mut told, slipped): (Vec<_>, Vec<_>) = problems.into_iter().partition(named);
    if !slipped.is_empty() {
        told.push(Problem::new("/data", "Has a name that was not asked for."));
    }
    told
}

fn problems(under: &str, fields: Vec<forms::FieldError>) -> Vec<Problem> {
    fields.into_iter().map(|field| Problem::new(format!("{under}{}", field.pointer), field.message)).collect()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn account(key: u128, tenant: u128) -> Account {
        let key = domain::KeyId::from_uuid(Uuid::from_u128(key));
        Account::Caller(Credential::Key(key), TenantId::from_uuid(Uuid::from_u128(tenant)))
    }

    /// Takes a slot without waiting.
    async fn at_once(checks: &Checks, account: Account) -> Option<Checking> {
        tokio::time::timeout(Duration::ZERO, checks.wait_for_slot(account)).await.ok()?.ok()
    }

    #[tokio::test]
    async fn concurrent_form_checks_of_a_key_and_tenant_are_limited() {
        let checks = Checks::new(CheckLimits { all: 4, key: 2, waiting: 3, ..CheckLimits::default() });
        let (first, second) = (at_once(&checks, account(1, 1)).await, at_once(&checks, account(1, 1)).await);
        assert!(first.is_some() && second.is_some());
        assert!(at_once(&checks, account(1, 1)).await.is_none(), "the key has all of its slots");
        let third = at_once(&checks, account(2, 1)).await;
        assert!(third.is_some(), "another key of the tenant has slots of its own");
        assert!(at_once(&checks, account(2, 1)).await.is_none(), "the tenant leaves one slot to others");
        assert!(at_once(&checks, account(3, 2)).await.is_some());
        drop(first);
        assert!(at_once(&checks, account(1, 1)).await.is_some(), "a slot comes back when its check has ended");
    }

    #[tokio::test]
    async fn full_form_check_queue_of_a_key_refuses_further_checks() {
        let checks = Checks::new(CheckLimits { all: 4, key: 1, waiting: 2, ..CheckLimits::default() });
        let running = at_once(&checks, account(1, 1)).await.unwrap();
        let mut waiting = Box::pin(checks.wait_for_slot(account(1, 1)));
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        let full = Refusal::LimitReached { limit: Limit::KeyForms, max: 2 };
        assert_eq!(checks.wait_for_slot(account(1, 1)).await.map(drop), Err(full.into()));
        drop(running);
        assert!(waiting.await.is_ok());
    }
}
