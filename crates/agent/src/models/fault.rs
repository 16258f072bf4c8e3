//! Failures of one attempt at a turn.

use std::time::Duration;

use serde_json::Value;

/// Longest text of a provider in the log, in characters.
const MAX_TEXT: usize = 500;

/// Error types of providers. Only these words are taken from an error body and shown to people.
const KINDS: [&str; 16] = [
    "api_error",
    "authentication_error",
    "billing_error",
    "context_length_exceeded",
    "insufficient_quota",
    "invalid_api_key",
    "invalid_request_error",
    "model_not_found",
    "not_found_error",
    "overloaded_error",
    "permission_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "request_too_large",
    "server_error",
    "timeout_error",
];

/// Reason why an attempt produced no turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// Retrying would not help.
    Refused(Reason),
    /// Retrying may help, but not before `after`, if the provider names a time.
    Again { why: Reason, after: Option<Duration> },
}

/// A reason in two parts, because addresses and the texts found there are for the operator only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    /// Text for people, in our own words.
    pub(super) text: String,
    /// Text for the log: the provider's words as they came. [`readable`] prepares them.
    pub(super) detail: String,
}

impl<T: Into<String>> From<T> for Reason {
    fn from(text: T) -> Self {
        Self { text: text.into(), detail: String::new() }
    }
}

impl Fault {
    /// A fault that retrying cannot repair.
    pub(super) fn refused(why: impl Into<Reason>) -> Self {
        Self::Refused(why.into())
    }

    /// A fault that retrying may repair.
    pub(super) fn again(why: impl Into<Reason>) -> Self {
        Self::Again { why: why.into(), after: None }
    }

    /// Fault of an answer with an error status.
    pub(super) fn of_status(status: u16, body: &[u8], after: Option<Duration>) -> Self {
        let body = String::from_utf8_lossy(body);
        let parsed = serde_json::from_str::<Value>(&body).unwrap_or(Value::Null);
        let detail = message(&parsed).unwrap_or(&body).to_owned();
        let why = Reason { text: format!("the provider answered {status}{}", named(&parsed)), detail };
        match status {
            // An exhausted quota does not recover within seconds, although the provider reports it as a rate limit.
            429 if kinds(&parsed).any(|kind| kind == "insufficient_quota") => Self::Refused(why),
            408 | 409 | 425 | 429 | 500.. => Self::Again { why, after },
            300..=399 => Self::refused(format!("the provider answered {status}, and redirects are not followed")),
            _ => Self::Refused(why),
        }
    }

    /// Fault of an error event within a stream.
    pub(super) fn of_event(event: &Value) -> Self {
        let detail = message(event).map_or_else(|| event.to_string(), str::to_owned);
        let why = Reason { text: format!("the provider ended its reply with an error{}", named(event)), detail };
        let permanent = kinds(event).any(|kind| {
            matches!(
                kind,
                "invalid_request_error"
                    | "authentication_error"
                    | "permission_error"
                    | "not_found_error"
                    | "billing_error"
                    | "request_too_large"
                    | "insufficient_quota"
                    | "context_length_exceeded"
            )
        });
        if permanent { Self::Refused(why) } else { Self::again(why) }
    }
}

/// Type of a provider's error in parentheses, if it is one of [`KINDS`].
fn named(body: &Value) -> String {
    let known = kinds(body).filter_map(|kind| KINDS.iter().find(|known| **known == kind));
    // The code is more specific than the type.
    known.last().map_or_else(String::new, |kind| format!(" ({kind})"))
}

/// Message of a provider's error: `{"error": {"message"}}` or a variant of it.
fn message(body: &Value) -> Option<&str> {
    ["/error/message", "/message", "/error", "/detail"].iter().find_map(|path| body.pointer(path)?.as_str())
}

/// Type and code of a provider's error.
fn kinds(body: &Value) -> impl Iterator<Item = &str> {
    ["/error/type", "/error/code"].iter().filter_map(|path| body.pointer(path)?.as_str())
}

/// A text on one line, without control characters, visibly cut.
fn plain(text: &str) -> String {
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let mut words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(MAX_TEXT) {
        words.truncate(end);
        words.push('…');
    }
    words
}

/// A provider's text for the log, without the key. The key is removed before the text is cut, because a part of a key
/// would not be recognised.
pub(super) fn readable(text: &str, key: Option<&str>) -> String {
    match key {
        Some(key) if !key.is_empty() => plain(&text.replace(key, "[key]")),
        _ => plain(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_text_contains_no_part_of_the_key() {
        for before in 480..=520 {
            let text =
                readable(&format!("{} sk-0123456789 {}", "x".repeat(before), "y ".repeat(100)), Some("sk-0123456789"));
            assert!(!text.contains("sk-") && text.ends_with('…') && text.chars().count() == 501, "{text}");
        }
    }
}
