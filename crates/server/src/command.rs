//! Commands: strict parsing of a request body, and its idempotency key.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::{Bytes, BytesMut};
use domain::exact_numbers::{ROUNDED, first_rounded};
use domain::{Credential, TenantId, text};
use engine::Idempotency;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use utoipa::IntoParams;

use crate::App;
use crate::error::ApiError;
use crate::frames::Unfinished;
use crate::replies::Addressee;

/// Time in which a body must arrive.
const BODY_TIME: Duration = Duration::from_secs(30);
/// Maximum size and time of a body whose sender is not authenticated yet.
const STRANGER_BODY: usize = 16 * 1024;
const STRANGER_BODY_TIME: Duration = Duration::from_secs(10);
/// Part of a body that is not counted against the budget, and the step in which the rest is counted.
const FREE_BODY: usize = 16 * 1024;
const BODY_STEP: usize = 64 * 1024;
/// Maximum length of an idempotency key.
const LONGEST_KEY: usize = 255;
/// Form of an idempotency key, for error messages.
pub(crate) const KEY_FORM: &str = "1 to 255 printable ASCII characters";

/// Header of a command that can be repeated, as the OpenAPI document describes it.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
pub struct IdempotencyKey {
    /// Idempotency key of the command. A repetition with an equal body returns the first result.
    #[param(rename = "Idempotency-Key")]
    #[expect(dead_code, reason = "`CommandRequest` reads the header")]
    key: Option<String>,
}

/// Extractor of a command: its body, and its idempotency key if the caller sent one. An absent body is an empty object.
pub struct CommandRequest<T> {
    pub body: T,
    pub idempotency: Option<Idempotency>,
}

impl<T: DeserializeOwned> FromRequest<App> for CommandRequest<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let key = idempotency_key(&parts.headers)?;
        let whose = parts.extensions.get::<Addressee>().and_then(Addressee::caller);
        let counted = whose.map(|whose| (&*app.unfinished, whose));
        let bytes = read_body(body, app.limits.body_bytes, BODY_TIME, counted).await?;
        let body = parse_body(&parts.headers, &bytes)?;
        let operation = format!("{} {}", parts.method, parts.uri.path());
        let idempotency = key.map(|key| Idempotency::new(key, &operation, &bytes));
        Ok(Self { body, idempotency })
    }
}

/// Extractor of a sign-in body, which has tighter limits because its sender is not authenticated.
pub(crate) struct SignInCommand<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for SignInCommand<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let most = app.limits.body_bytes.min(STRANGER_BODY);
        let bytes = read_body(body, most, STRANGER_BODY_TIME, None).await?;
        Ok(Self(parse_body(&parts.headers, &bytes)?))
    }
}

/// Reads a whole body within its size and time limits. The bytes of an authenticated caller are counted as they arrive:
/// many bodies that never end would fill the memory.
async fn read_body(
    body: Body,
    most: usize,
    longest: Duration,
    counted: Option<(&Unfinished, (TenantId, Credential))>,
) -> Result<Bytes, ApiError> {
    let mut body = Limited::new(body, most);
    let receiving = async {
        let (mut whole, mut held) = (BytesMut::new(), Vec::new());
        let mut room = FREE_BODY;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                if error.is::<LengthLimitError>() {
                    ApiError::BodyTooLarge(most)
                } else {
                    ApiError::MalformedJson(error.to_string())
                }
            })?;
            let Ok(piece) = frame.into_data() else { continue };
            let needed = whole.len() + piece.len();
            if let Some((budgets, whose)) = counted.filter(|_| needed > room) {
                let more = (needed - room).next_multiple_of(BODY_STEP);
                held.push(budgets.acquire_bytes(whose, more)?);
                room += more;
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    };
    tokio::time::timeout(longest, receiving).await.unwrap_or(Err(ApiError::BodyTimeout))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| is_idempotency_key(key));
    let wrong = || ApiError::HeaderInvalid(format!("Idempotency-Key must be {KEY_FORM}"));
    Ok(Some(key.ok_or_else(wrong)?.to_owned()))
}

/// Whether a text has the form of an idempotency key.
pub(crate) fn is_idempotency_key(key: &str) -> bool {
    (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}

fn parse_body<T: DeserializeOwned>(headers: &HeaderMap, bytes: &Bytes) -> Result<T, ApiError> {
    parse_object(if bytes.is_empty() { b"{}".as_slice() } else { json_only(headers, bytes)? })
}

/// Parses a JSON object strictly: of type `T`, without duplicate keys, and without numbers that would be rounded.
pub fn parse_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        // Serde would accept an array in place of an object, field by field.
        return Err(match serde_json::from_slice::<IgnoredAny>(bytes) {
            Ok(_) => ApiError::invalid("", "must be an object"),
            Err(error) => ApiError::MalformedJson(error.to_string()),
        });
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let pointer = json_pointer(error.path());
        let inner = error.into_inner();
        let said = serde_message(&inner);
        match inner.classify() {
            serde_json::error::Category::Data => ApiError::invalid(pointer, said),
            // serde_json reports a number in place of an enum value as a syntax error: it is an error of type.
            _ if said == "expected value" && serde_json::from_slice::<IgnoredAny>(bytes).is_ok() => {
                ApiError::invalid(pointer, "is of the wrong type")
            }
            _ => ApiError::MalformedJson(inner.to_string()),
        }
    })?;
    deserializer.end().map_err(|error| ApiError::MalformedJson(error.to_string()))?;
    let mut again = serde_json::Deserializer::from_slice(bytes);
    let unique: Result<UniqueKeys, _> = serde_path_to_error::deserialize(&mut again);
    unique.map_err(|error| ApiError::invalid(json_pointer(error.path()), "an object contains a name twice"))?;
    if let Some(pointer) = first_rounded(bytes) {
        return Err(ApiError::invalid(pointer, ROUNDED));
    }
    Ok(read)
}

/// Parses a part of a body; `under` is the JSON Pointer of that part.
pub fn parse_part<T: DeserializeOwned>(under: &str, value: Value) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let at = format!("{under}{}", json_pointer(error.path()));
        ApiError::invalid(at, serde_message(&error.into_inner()))
    })
}

fn json_only<'a>(headers: &HeaderMap, bytes: &'a Bytes) -> Result<&'a [u8], ApiError> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = content_type.split(';').next().unwrap_or("").trim();
    let json = essence.eq_ignore_ascii_case("application/json") || essence.to_ascii_lowercase().ends_with("+json");
    if json { Ok(bytes) } else { Err(ApiError::NotJson) }
}

/// JSON Pointer of a deserialization error.
#[must_use]
pub fn json_pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        pointer = match segment {
            Segment::Seq { index } => format!("{pointer}/{index}"),
            Segment::Map { key } => text::field(&pointer, key),
            Segment::Enum { variant } => format!("{pointer}/{variant}"),
            Segment::Unknown => format!("{pointer}/?"),
        };
    }
    pointer
}

/// Message of a serde error without the line and column, which the pointer replaces, and without the value, which may be a secret.
#[must_use]
pub fn serde_message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]);
    let repeats = text.starts_with("invalid ") || text.starts_with("unknown variant ");
    match (text.find(['"', '`']), text.rfind(", expected ")) {
        (Some(begin), Some(end)) if repeats && begin < end => {
            text::misread(&format!("{}{}", text[..begin].trim_end(), &text[end..]))
        }
        _ => text::misread(text),
    }
}

/// Any JSON without duplicate keys, which parsers read in different ways. The values are discarded.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_unit<E>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueKeys, A::Error> {
        while items.next_element::<UniqueKeys>()?.is_some() {}
        Ok(UniqueKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<UniqueKeys, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            fields.next_value::<UniqueKeys>()?;
            if !names.insert(name) {
                return Err(A::Error::custom("an object contains a name twice"));
            }
        }
        Ok(UniqueKeys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, unique: bool) {
        assert_eq!(serde_json::from_str::<UniqueKeys>(json).is_ok(), unique, "{json}");
    }

    #[test]
    fn duplicate_key_within_one_object_is_refused() {
        check(r#"{"a": 1, "b": [true, null, 1.5, -1, "x", {"a": 2}]}"#, true);
        check(r#"{"a": {"b": 1}, "b": {"b": 2}}"#, true);
        check(r#"{"a": 1, "a": 1}"#, false);
        check(r#"{"a": {"command": "rm x", "command": "ls"}}"#, false);
        check(r#"[{"a": 1, "\u0061": 2}]"#, false);
    }
}
