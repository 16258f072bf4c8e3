//! Replaces secret values with their names in text, JSON and byte streams.

use serde_json::Value;
use zeroize::Zeroizing;

/// Secret values, and the texts that replace them.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Values and their replacements, the longest value first: where one value is a prefix of another, the longer one is replaced.
    known: Vec<(Zeroizing<Vec<u8>>, String)>,
    longest: usize,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.known.iter().map(|(_, shown)| shown)).finish()
    }
}

impl Redactor {
    /// Hides these values, each under its name. Empty values are left out, because they cannot be found in a text.
    pub fn new<'a>(values: impl Iterator<Item = (&'a String, &'a Zeroizing<String>)>) -> Self {
        let mut known: Vec<_> = values
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (Zeroizing::new(value.as_bytes().to_vec()), format!("[secret {name}]")))
            .collect();
        known.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        let longest = known.first().map_or(0, |(value, _)| value.len());
        Self { known, longest }
    }

    /// Hides the values in a text.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        if self.known.is_empty() {
            return text.to_owned();
        }
        let mut hidden = Vec::with_capacity(text.len());
        let mut hiding = StreamRedactor::new(self.clone());
        hiding.push(text.as_bytes(), &mut |bytes| hidden.extend_from_slice(bytes));
        hiding.finish(&mut |bytes| hidden.extend_from_slice(bytes));
        // Values are valid UTF-8, so the text between them is valid UTF-8 too.
        String::from_utf8_lossy(&hidden).into_owned()
    }

    /// Hides the values in every string, field name and number of a JSON value.
    #[must_use]
    pub fn hide_in(&self, value: Value) -> Value {
        if self.known.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.hide(&text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.hide_in(item)).collect()),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, item)| (self.hide(&name), self.hide_in(item))).collect())
            }
            Value::Number(number) => {
                let (written, hidden) = (number.to_string(), self.hide(&number.to_string()));
                if written == hidden { Value::Number(number) } else { Value::String(hidden) }
            }
            Value::Null | Value::Bool(_) => value,
        }
    }

    fn at(&self, bytes: &[u8]) -> Option<(usize, &str)> {
        self.known
            .iter()
            .find(|(value, _)| bytes.starts_with(value))
            .map(|(value, shown)| (value.len(), shown.as_str()))
    }
}

/// Hides values in a stream of bytes, also where a value spans two pieces.
#[derive(Debug)]
pub struct StreamRedactor {
    secrets: Redactor,
    /// Bytes that may be the beginning of a value.
    held: Vec<u8>,
}

impl StreamRedactor {
    /// Creates a redactor that holds no bytes yet.
    #[must_use]
    pub fn new(secrets: Redactor) -> Self {
        Self { secrets, held: Vec::new() }
    }

    /// Adds the next piece, and shows the part that cannot contain an incomplete value.
    pub fn push(&mut self, bytes: &[u8], show: &mut dyn FnMut(&[u8])) {
        if self.secrets.longest == 0 {
            return show(bytes);
        }
        self.held.extend_from_slice(bytes);
        let decided = (self.held.len() + 1).saturating_sub(self.secrets.longest);
        self.pass(decided, show);
    }

    /// Shows the held bytes at the end of the stream.
    pub fn finish(&mut self, show: &mut dyn FnMut(&[u8])) {
        self.pass(self.held.len(), show);
    }

    /// Shows everything that begins before `end`, with the values replaced.
    fn pass(&mut self, end: usize, show: &mut dyn FnMut(&[u8])) {
        let (mut at, mut plain) = (0, 0);
        while at < end {
            if let Some((length, shown)) = self.secrets.at(&self.held[at..]) {
                show(&self.held[plain..at]);
                show(shown.as_bytes());
                at += length;
                plain = at;
            } else {
                at += 1;
            }
        }
        show(&self.held[plain..at]);
        self.held.drain(..at);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn secrets(values: &[(&str, &str)]) -> Redactor {
        let values: Vec<_> =
            values.iter().map(|(name, value)| ((*name).to_owned(), Zeroizing::new((*value).to_owned()))).collect();
        Redactor::new(values.iter().map(|(name, value)| (name, value)))
    }

    #[test]
    fn longest_of_secrets_with_a_common_prefix_is_redacted() {
        let secrets = secrets(&[("A", "abc"), ("B", "abcdef")]);
        assert_eq!(secrets.hide("xabcdefabcd"), "x[secret B][secret A]d");
    }

    #[test]
    fn empty_secret_redacts_nothing() {
        assert_eq!(secrets(&[("EMPTY", "")]).hide("abc"), "abc");
    }

    #[test]
    fn every_string_key_and_number_of_a_result_is_redacted() {
        let result =
            json!({"stdout": "k3y", "lines": ["k3y", 1, null, {"x": "ak3yb"}], "k3y": 47_110_815, "pin": [4711]});
        let hidden = json!({"stdout": "[secret K]", "lines": ["[secret K]", 1, null, {"x": "a[secret K]b"}],
                            "[secret K]": "[secret PIN]0815", "pin": ["[secret PIN]"]});
        assert_eq!(secrets(&[("K", "k3y"), ("PIN", "4711")]).hide_in(result), hidden);
    }

    #[test]
    fn debug_output_contains_no_secret_values() {
        assert!(!format!("{:?}", secrets(&[("K", "k3y")])).contains("k3y"));
    }

    proptest! {
        #[test]
        fn stream_is_redacted_at_any_chunk_size(text in "[ab]{0,40}", first in "[ab]{1,5}", second in "[ab]{1,5}", size in 1_usize..7) {
            let secrets = secrets(&[("A", &first), ("B", &second)]);
            let mut hiding = StreamRedactor::new(secrets.clone());
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                hiding.push(piece, &mut |bytes| out.extend_from_slice(bytes));
            }
            hiding.finish(&mut |bytes| out.extend_from_slice(bytes));
            let out = String::from_utf8(out).unwrap();
            prop_assert_eq!(&out, &secrets.hide(&text));
            prop_assert!(!out.replace("[secret A]", "|").replace("[secret B]", "|").contains(&first));
        }
    }
}
