//! Numbers in JSON that would be rounded when they are read: they are refused, so that nobody approves another number than was sent.

/// Where the first number stands that a double, or a whole number of 64 bits, cannot hold exactly. The text must be JSON.
pub(crate) fn first_rounded(json: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at += string_length(&json[at..]),
            b'-' | b'0'..=b'9' => {
                let token = number_at(&json[at..]);
                if !is_kept(token) {
                    return Some(at);
                }
                at += token.len().max(1);
            }
            _ => at += 1,
        }
    }
    None
}

/// The length of the string that the text begins with, its quotes included.
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

/// Whether the number that is read means the same as the text.
fn is_kept(token: &str) -> bool {
    if token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok() {
        return true;
    }
    let read = token.parse::<f64>().ok().filter(|number| number.is_finite());
    read.is_some_and(|number| Decimal::of(&format!("{number:e}")) == Decimal::of(token))
}

/// A decimal number: its digits without zeros at either end, and the power of ten of the last one.
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
        // An exponent that no number of 64 bits holds is that of no double.
        let power =
            exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
        Some(Self { negative, digits, power })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_would_be_rounded_is_found_wherever_it_stands() {
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
            assert_eq!(first_rounded(format!("{{\"a\":[{rounded}]}}").as_bytes()), Some(6), "{rounded}");
        }
        assert_eq!(first_rounded(br#"{"1e-400": "1e-400 \" 1e-400", "b": "\\"}"#), None);
        assert_eq!(first_rounded(br#"{"a": "\\", "b": 1e-400}"#), Some(17));
    }
}
