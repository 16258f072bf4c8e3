//! Shortens long texts with a visible mark.

/// Mark for a shortened text: `[cut: 12,345 of 99,999 bytes shown]`.
pub(super) fn mark(shown: u64, of: u64, what: &str) -> String {
    format!("[cut: {} of {} {what} shown]", thousands(shown), thousands(of))
}

/// Returns the first `most` bytes of a text, cut between characters and followed by a mark, and whether the text was cut.
pub(super) fn beginning(text: &str, most: usize) -> (String, bool) {
    if text.len() <= most {
        return (text.to_owned(), false);
    }
    let shown = &text[..text.floor_char_boundary(most)];
    (format!("{shown}\n{}", mark(shown.len() as u64, text.len() as u64, "bytes")), true)
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_shows_the_kept_and_the_total_size() {
        assert_eq!(mark(12_345, 99_999, "bytes"), "[cut: 12,345 of 99,999 bytes shown]");
        assert_eq!(mark(0, 1_000_000, "entries"), "[cut: 0 of 1,000,000 entries shown]");
    }

    #[test]
    fn text_is_cut_at_a_character_boundary() {
        assert_eq!(beginning("äöü", 3), ("ä\n[cut: 2 of 6 bytes shown]".to_owned(), true));
        assert_eq!(beginning("äöü", 6), ("äöü".to_owned(), false));
    }
}
