//! Finds JSON numbers that would be rounded when they are read. They are refused, so that people never approve another number than the one
//! that was sent.
//!
//! A number is accepted if it is an integer of 64 bits, or if the nearest double has equal decimal digits. The server shows such a number
//! as it is stored, and the page shows the digits that the server sends instead of converting them to a JavaScript number.

use crate::text;

/// Message for a number that would be rounded.
pub const ROUNDED: &str = "has a number that cannot be kept exactly: send it as text";

/// JSON Pointer to the first number that neither a double nor a 64-bit integer represents exactly. The text must be valid JSON.
#[must_use]
pub fn first_rounded(json: &[u8]) -> Option<String> {
    let mut within: Vec<Container> = Vec::new();
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        let length = match byte {
            b'"' => string_length(&json[at..]),
            b'-' | b'0'..=b'9' => number_at(&json[at..]).len().max(1),
            _ => 1,
        };
        let token = &json[at..(at + length).min(json.len())];
        match byte {
            b'{' => within.push(Container::Object { key: String::new(), keyed: false }),
            b'[' => within.push(Container::List { index: 0 }),
            b'}' | b']' => drop(within.pop()),
            b',' => within.iter_mut().rev().take(1).for_each(Container::next),
            b'"' => within.iter_mut().rev().take(1).for_each(|container| container.read_string(token)),
            b'-' | b'0'..=b'9' if !is_kept(number_at(token)) => {
                return Some(within.iter().map(Container::pointer).collect());
            }
            _ => {}
        }
        at += length;
    }
    None
}

/// Object or list that contains the current value, and the position in it.
enum Container {
    Object { key: String, keyed: bool },
    List { index: usize },
}

impl Container {
    /// Reads a string. The first string of a field is its key.
    fn read_string(&mut self, token: &[u8]) {
        if let Self::Object { key, keyed } = self
            && !std::mem::replace(keyed, true)
        {
            *key = serde_json::from_slice(token).unwrap_or_default();
        }
    }

    fn next(&mut self) {
        match self {
            Self::Object { keyed, .. } => *keyed = false,
            Self::List { index } => *index += 1,
        }
    }

    fn pointer(&self) -> String {
        match self {
            Self::Object { key, .. } => text::field("", key),
            Self::List { index } => format!("/{index}"),
        }
    }
}

/// Length of the string at the beginning of the text, including its quotes.
fn string_length(json: &[u8]) -> usize {
    let mut at = 1;
    loop {
        match json.get(at) {
            None | Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

fn number_at(json: &[u8]) -> &str {
    let end = json.iter().position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'));
    std::str::from_utf8(&json[..end.unwrap_or(json.len())]).unwrap_or_default()
}

/// Whether the parsed number is equal to the text.
fn is_kept(token: &str) -> bool {
    if token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok() {
        return true;
    }
    let read = token.parse::<f64>().ok().filter(|number| number.is_finite());
    read.is_some_and(|number| Decimal::of(&format!("{number:e}")) == Decimal::of(token))
}

/// A decimal number: its digits without leading and trailing zeros, and the power of ten of the last digit.
#[derive(PartialEq)]
struct Decimal {
    negative: bool,
    digits: String,
    power: i64,
}

impl Decimal {
    fn of(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_end_matches('0');
        let zeros = i64::try_from(all.len() - significant.len()).ok()?;
        let digits = significant.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { negative: false, digits, power: 0 });
        }
        // A double cannot have an exponent that does not fit into 64 bits.
        let power =
            exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
        Some(Self { negative, digits, power })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_would_be_rounded_is_found_with_its_pointer() {
        for exact in [
            "0",
            "-0",
            "0.0",
            "0e5",
            "1.5",
            "-1.50",
            "0.1",
            "1e2",
            "1E+2",
            "1e-7",
            "100000000000000000000",
            "1e22",
            "9007199254740993",
            "1e300",
            "5e-324",
            "18446744073709551615",
            "-9223372036854775808",
            "123456789.125",
            "1.7976931348623157e308",
        ] {
            assert_eq!(first_rounded(format!("{{\"a\":[{exact}]}}").as_bytes()), None, "{exact}");
        }
        for rounded in [
            "1e-400",
            "-1e-400",
            "0.1e-999999999999999999999",
            "18446744073709551617",
            "9007199254740993.0",
            "1e309",
            "0.1000000000000000055511151231257827",
            "3.14159265358979323846",
            "1e99999999999999999999",
        ] {
            assert_eq!(first_rounded(format!("{{\"a\":[{rounded}]}}").as_bytes()), Some("/a/0".into()), "{rounded}");
        }
        assert_eq!(first_rounded(br#"{"1e-400": "1e-400 \" 1e-400", "b": "\\"}"#), None);
        assert_eq!(first_rounded(br#"{"a": "\\", "b/c": {"d": [1, "x", {}, [2], 1e-400]}}"#), Some("/b~1c/d/4".into()));
    }
}
