//! Forms, checked off the reactor and before the transaction: a schema never changes once it was asked.

use std::sync::Arc;
use std::time::Duration;

use domain::{Caller, Draft, Fallback, FormProof, InteractionId, Kind, Problem, Question, Refusal};
use forms::{CheckError, SchemaError};
use serde_json::Value;
use store::{Cost, StoreError};

use crate::{Engine, Error};

/// How long a check may take. The bounds on schemas and data keep it far below.
const LONGEST: Duration = Duration::from_secs(5);

impl Engine {
    /// Refuses a question whose form could not be filled in, or whose fallback does not fit it.
    pub(crate) async fn admit_form(&self, question: &Question) -> Result<(), Error> {
        let Some(schema) = question.form() else { return Ok(()) };
        let fallback = match &question.fallback {
            Some(Fallback::Value(value)) => Some(value.clone()),
            _ => None,
        };
        let forms = Arc::clone(&self.forms);
        let checked = off_reactor(move || {
            forms.admit(&schema).map_err(CheckError::Schema)?;
            fallback.map_or(Ok(()), |value| forms.check(&schema, &value))
        });
        match checked.await? {
            Ok(()) => Ok(()),
            Err(CheckError::Schema(error)) => Err(Error::SchemaInvalid(vec![of_secret(question, problem(&error))])),
            Err(CheckError::Fields(fields)) => {
                Err(Refusal::QuestionInvalid(problems("/fallback/value", fields)).into())
            }
        }
    }

    /// Checks the data of a draft against the form of its question, where both are there.
    pub(crate) async fn prove_form(
        &self,
        caller: &Caller,
        id: InteractionId,
        draft: &Draft,
    ) -> Result<(Option<Question>, Option<FormProof>), Error> {
        if draft.data.is_null() {
            return Ok((None, None));
        }
        let scope = caller.scope;
        let found = self.read(Cost::Point, move |reads| Ok(reads.interaction(&scope, id)?)).await?;
        let question = found.ok_or(Refusal::NotFound("interaction"))?.question;
        let carries = question.effect_of(draft).is_some_and(domain::Effect::carries_form);
        let Some(schema) = question.form().filter(|_| carries) else { return Ok((Some(question), None)) };
        let (forms, data) = (Arc::clone(&self.forms), draft.data.clone());
        match off_reactor(move || forms.check(&schema, &data)).await? {
            Ok(()) => Ok((Some(question), Some(FormProof::checked()))),
            Err(CheckError::Schema(error)) => Err(Error::SchemaInvalid(vec![problem(&error)])),
            Err(CheckError::Fields(fields)) => {
                Err(Refusal::AnswerInvalid(discreet(&question, problems("/data", fields))).into())
            }
        }
    }

    /// Everything in which a value does not fit a schema that is not a question's own.
    pub async fn misfits(&self, schema: Value, value: Value, under: &str) -> Result<Vec<Problem>, Error> {
        let forms = Arc::clone(&self.forms);
        match off_reactor(move || forms.check(&schema, &value)).await? {
            Ok(()) => Ok(Vec::new()),
            Err(CheckError::Schema(error)) => Err(Error::SchemaInvalid(vec![problem(&error)])),
            Err(CheckError::Fields(fields)) => Ok(problems(under, fields)),
        }
    }

    /// Whether kept values still fit what a question asks for.
    pub(crate) async fn fits(&self, question: &Question, values: &Value) -> Result<bool, Error> {
        let Some(schema) = question.form() else { return Ok(false) };
        let (forms, values) = (Arc::clone(&self.forms), values.clone());
        Ok(off_reactor(move || forms.check(&schema, &values)).await?.is_ok())
    }
}

pub(crate) async fn off_reactor<T: Send + 'static>(check: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let running = tokio::task::spawn_blocking(check);
    match tokio::time::timeout(LONGEST, running).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(_)) => Err(StoreError::Panicked.into()),
        Err(_) => Err(StoreError::Busy.into()),
    }
}

fn problem(error: &SchemaError) -> Problem {
    Problem::new(format!("/schema{}", error.pointer), error.reason.to_string())
}

/// What is wrong with the form of a secret question is wrong with one of its secrets: the form is ours.
fn of_secret(question: &Question, problem: Problem) -> Problem {
    let place = question.secrets.iter().enumerate().find_map(|(index, field)| {
        let name = field.name.replace('~', "~0").replace('/', "~1");
        let rest = problem.pointer.strip_prefix(&format!("/schema/properties/{name}"))?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("/secrets/{index}{rest}"))
    });
    Problem { pointer: place.unwrap_or(problem.pointer), ..problem }
}

/// What stands where a name of a secret should be may be a secret that slipped: it is not repeated.
fn discreet(question: &Question, problems: Vec<Problem>) -> Vec<Problem> {
    if question.kind != Kind::Secret {
        return problems;
    }
    let named = |problem: &Problem| {
        let name = problem.pointer.split('/').nth(2).unwrap_or_default().replace("~1", "/").replace("~0", "~");
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
