//! Turns the errors of the validator into messages for fields.

use std::collections::BTreeSet;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::error::FieldError;
use crate::{messages, pointer};

/// Lists the errors of an answer, in words for the person who gave it.
///
/// The validator collects all errors before it returns the first one. A limit of zero avoids this and reports one general error.
pub(crate) fn errors(validator: &Validator, data: &Value, limit: usize) -> Vec<FieldError> {
    if validator.is_valid(data) {
        return Vec::new();
    }
    if limit == 0 {
        return vec![FieldError::new("", "limit", "The answer does not fit the form, and is too large to say where.")];
    }
    let mut report = Report { limit, fields: BTreeSet::new() };
    for error in validator.iter_errors(data) {
        report.add(&error);
    }
    if report.fields.is_empty() {
        report.put(FieldError::new("", "schema", "Is not accepted."));
    }
    report.fields.into_iter().collect()
}

/// The first errors in the order of their pointers, up to a limit.
struct Report {
    limit: usize,
    fields: BTreeSet<FieldError>,
}

impl Report {
    fn put(&mut self, field: FieldError) {
        self.fields.insert(field);
        if self.fields.len() > self.limit {
            self.fields.pop_last();
        }
    }

    fn add(&mut self, error: &ValidationError<'_>) {
        let kind = error.kind();
        let at = error.instance_path().as_str();
        match kind {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                self.put(FieldError::new(pointer::child(at, name), kind.keyword(), "This field is required."));
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    let message = "This field is not part of the form.";
                    self.put(FieldError::new(pointer::child(at, name), kind.keyword(), message));
                }
            }
            ValidationErrorKind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default();
                let message =
                    format!("The name of this field is not allowed. {}", messages::of(inner.kind(), inner.instance()));
                self.put(FieldError::new(pointer::child(at, name), kind.keyword(), message));
            }
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                self.add_alternatives(error, context);
            }
            _ => self.put(FieldError::new(at, kind.keyword(), messages::of(kind, error.instance()))),
        }
    }

    /// Reports the errors of the alternative that was meant, if it can be determined, instead of reporting that no alternative fits.
    fn add_alternatives(&mut self, error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) {
        let at = error.instance_path().as_str();
        if let Some(message) = constants(context, at) {
            return self.put(FieldError::new(at, error.kind().keyword(), message));
        }
        match meant(context, at) {
            Some(branch) => branch.iter().for_each(|inner| self.add(inner)),
            None => self.put(FieldError::new(at, error.kind().keyword(), messages::of(error.kind(), error.instance()))),
        }
    }
}

/// Picks the only alternative of the right type, or among several of the right type the only one whose fixed values (its tag) all fit.
fn meant<'e>(context: &'e [Vec<ValidationError<'static>>], at: &str) -> Option<&'e [ValidationError<'static>]> {
    let right_type = |branch: &&'e Vec<ValidationError<'static>>| {
        !branch.iter().any(|error| {
            matches!(error.kind(), ValidationErrorKind::Type { .. } | ValidationErrorKind::FalseSchema)
                && error.instance_path().as_str() == at
        })
    };
    let right_tag = |branch: &&'e Vec<ValidationError<'static>>| {
        !branch.iter().any(|error| {
            matches!(error.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. })
        })
    };
    let typed: Vec<_> = context.iter().filter(right_type).collect();
    if let [only] = typed[..] {
        return Some(only);
    }
    let tagged: Vec<_> = typed.into_iter().filter(right_tag).collect();
    if let [only] = tagged[..] { Some(only) } else { None }
}

/// Lists the values of alternatives that are all `const`, which act as a select.
fn constants(context: &[Vec<ValidationError<'static>>], at: &str) -> Option<String> {
    let mut options = Vec::with_capacity(context.len());
    for branch in context {
        let [error] = &branch[..] else { return None };
        let ValidationErrorKind::Constant { expected_value } = error.kind() else { return None };
        if error.instance_path().as_str() != at {
            return None;
        }
        options.push(expected_value.as_ref());
    }
    Some(messages::one_of(&options))
}
