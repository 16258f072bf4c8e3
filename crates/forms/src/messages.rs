//! Words the messages about wrong values.

use jsonschema::JsonType;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

const OPTIONS_SHOWN: usize = 20;
const TEXT_SHOWN: usize = 60;

/// Describes in plain English the value that the schema expects. The given value only selects the advice and is never repeated.
pub(crate) fn of(kind: &Kind, value: &Value) -> String {
    match kind {
        Kind::Type { kind } => format!("Must be {}.", types(kind)),
        Kind::Format { format } => format_advice(format, value.as_str().unwrap_or_default()),
        Kind::Enum { options } => {
            one_of(&options.as_array().map(|options| options.iter().collect::<Vec<_>>()).unwrap_or_default())
        }
        Kind::Constant { expected_value } => format!("Must be exactly {}.", format_value(expected_value)),
        Kind::Pattern { pattern } => format!("Must match the pattern {}.", cut(pattern)),
        Kind::MinLength { limit: 1 } => "Must not be empty.".into(),
        Kind::MinLength { limit } => format!("Must have at least {}.", count(*limit, "character")),
        Kind::MaxLength { limit } => format!("Must have at most {}.", count(*limit, "character")),
        Kind::Minimum { limit } => format!("Must be {} or more.", format_value(limit)),
        Kind::Maximum { limit } => format!("Must be {} or less.", format_value(limit)),
        Kind::ExclusiveMinimum { limit } => format!("Must be more than {}.", format_value(limit)),
        Kind::ExclusiveMaximum { limit } => format!("Must be less than {}.", format_value(limit)),
        Kind::MultipleOf { multiple_of } => format!("Must be a multiple of {multiple_of}."),
        Kind::MinItems { limit } => format!("Must have at least {}.", count(*limit, "item")),
        Kind::MaxItems { limit } => format!("Must have at most {}.", count(*limit, "item")),
        Kind::AdditionalItems { limit } => format!("Must have at most {}.", count(*limit as u64, "item")),
        Kind::UnevaluatedItems { .. } => "Has items that are not part of the form.".into(),
        Kind::UniqueItems => "Must not contain the same item twice.".into(),
        Kind::Contains => "Must contain items of the expected kind, in the expected number.".into(),
        Kind::MinProperties { limit } => format!("Must have at least {}.", count(*limit, "field")),
        Kind::MaxProperties { limit } => format!("Must have at most {}.", count(*limit, "field")),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            "Has fields that are not part of the form.".into()
        }
        Kind::Required { property } => format!("Must have the field {}.", format_value(property)),
        Kind::PropertyNames { .. } => "Has a field whose name is not allowed.".into(),
        Kind::FalseSchema => "Nothing is accepted here.".into(),
        Kind::Not { .. } => "Must not have this value.".into(),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "Does not fit any of the accepted alternatives.".into(),
        Kind::OneOfMultipleValid { .. } => "Fits more than one of the alternatives; it must fit exactly one.".into(),
        Kind::ContentEncoding { content_encoding } => format!("Must be encoded as {}.", cut(content_encoding)),
        Kind::ContentMediaType { content_media_type } => format!("Must be valid {}.", cut(content_media_type)),
        Kind::FromUtf8 { .. } => "Must contain encoded UTF-8 text.".into(),
        Kind::Custom { .. }
        | Kind::BacktrackLimitExceeded { .. }
        | Kind::RegexEngineFailure { .. }
        | Kind::Referencing(_) => "Could not be checked.".into(),
    }
}

/// Lists the options, up to a length that a person would still read.
pub(crate) fn one_of(options: &[&Value]) -> String {
    let listed: Vec<String> = options.iter().take(OPTIONS_SHOWN).map(|option| format_value(option)).collect();
    let more = options.len().saturating_sub(OPTIONS_SHOWN);
    match more {
        0 => format!("Must be one of: {}.", listed.join(", ")),
        _ => format!("Must be one of: {} and {more} more.", listed.join(", ")),
    }
}

fn types(kind: &TypeKind) -> String {
    let names: Vec<&str> = match kind {
        TypeKind::Single(one) => vec![type_name(*one)],
        TypeKind::Multiple(set) => set.iter().map(type_name).collect(),
    };
    names.join(" or ")
}

fn type_name(name: JsonType) -> &'static str {
    match name {
        JsonType::String => "text",
        JsonType::Integer => "a whole number",
        JsonType::Number => "a number",
        JsonType::Boolean => "true or false",
        JsonType::Array => "a list",
        JsonType::Object => "an object with fields",
        JsonType::Null => "null",
    }
}

fn format_advice(format: &str, text: &str) -> String {
    match format {
        "date-time" => date_time_advice(text).into(),
        "time" if lacks_offset(text) => {
            "The time has no offset: add one such as Z or +02:00, as in 10:00:00+02:00.".into()
        }
        "time" => "Must be a time with seconds and an offset, such as 10:00:00Z or 10:00:00+02:00.".into(),
        "date" => "Must be a date written as year-month-day, such as 2026-11-15.".into(),
        "duration" => "Must be an ISO 8601 duration, such as PT30M or P1DT12H.".into(),
        "email" => "Must be an email address, such as name@example.com.".into(),
        "uri" => "Must be a full URL, such as https://example.com/page.".into(),
        "uuid" => "Must be a UUID, such as 123e4567-e89b-12d3-a456-426614174000.".into(),
        "ipv4" => "Must be an IPv4 address, such as 192.0.2.1.".into(),
        "ipv6" => "Must be an IPv6 address, such as 2001:db8::1.".into(),
        "hostname" => "Must be a host name, such as www.example.com.".into(),
        "regex" => "Must be a valid regular expression.".into(),
        "json-pointer" => "Must be a JSON Pointer, such as /field/0.".into(),
        other => format!("Must be a valid {}.", cut(other)),
    }
}

/// Advises on date and time. A browser's own control sends no offset and usually no seconds.
fn date_time_advice(text: &str) -> &'static str {
    let time = text.split_once(['T', 't', ' ']).map_or("", |(_, time)| time);
    if lacks_offset(time) {
        return "The date and time has no offset: add one such as Z or +02:00, as in 2026-11-15T10:00:00+02:00.";
    }
    "Must be a date and time with seconds and an offset, such as 2026-11-15T10:00:00Z or 2026-11-15T10:00:00+02:00."
}

fn lacks_offset(time: &str) -> bool {
    time.starts_with(|first: char| first.is_ascii_digit())
        && time.chars().all(|each| each.is_ascii_digit() || matches!(each, ':' | '.'))
}

fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text),
        other => cut(&other.to_string()),
    }
}

fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(TEXT_SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
