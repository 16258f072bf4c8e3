//! SHA-256 digests of canonical JSON (RFC 8785): JSON texts with equal meaning have equal digests.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, displayed in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Digest with these stored bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Digest of plain bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Digest of a JSON value in its canonical form.
    ///
    /// The canonical form knows only doubles, so 2^53 and 2^53 + 1 would have equal digests. A value with such a number is therefore
    /// digested as it was written, with sorted keys and a prefix of its own.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        let canonical = if is_exact(value) { serde_json_canonicalizer::to_vec(value).ok() } else { None };
        Self::of_bytes(&canonical.unwrap_or_else(|| format!("as written:{value}").into_bytes()))
    }
}

/// Whether a double can represent every integer in the value exactly.
fn is_exact(value: &Value) -> bool {
    const LAST: u64 = 1 << 53;
    match value {
        Value::Number(number) => {
            let whole = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            whole.is_none_or(|whole| whole < LAST)
        }
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(fields) => fields.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Writes bytes in lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads hexadecimal digits of either case into `bytes`. Returns `None` if the text has other characters or another length.
#[must_use]
pub fn read_hex(text: &str, bytes: &mut [u8]) -> Option<()> {
    if text.len() != 2 * bytes.len() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let &[high, low] = pair else { return None };
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_ignores_key_order_and_spelling() {
        let one: Value = serde_json::from_str(r#"{"b": 1.0, "a": "\u0041"}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"a":"A","b":1}"#).unwrap();
        assert_eq!(Digest::of_json(&one), Digest::of_json(&two));
        let digest = |number: u64| Digest::of_json(&Value::from(number));
        assert_ne!(digest(9_007_199_254_740_992), digest(9_007_199_254_740_993));
        assert_eq!(
            Digest::of_bytes(b"").to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn hexadecimal_is_read_as_it_was_written() {
        let read = |text: &str| {
            let mut bytes = [0; 2];
            read_hex(text, &mut bytes).map(|()| bytes)
        };
        assert_eq!(read(&hex(&[0x0f, 0xa0])), Some([0x0f, 0xa0]));
        assert_eq!(read("0FA0"), Some([0x0f, 0xa0]));
        for text in ["", "0fa", "0fa00", "+fa0", "0g00", "é00"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
