//! Finds characters that a person and a program read differently.

use unicode_normalization::UnicodeNormalization;

/// Finds a control character, or one that is invisible, looks like a blank, or changes the direction of writing. Line ends, tabs and
/// blanks are allowed.
pub(super) fn find_invisible(text: &str) -> Option<char> {
    text.chars().find(|c| match c {
        '\n' | '\t' => false,
        c => c.is_control() || is_invisible(*c) || (c.is_whitespace() && *c != ' '),
    })
}

/// Like [`find_invisible`], but accepts the marks that make a symbol an emoji: people write them in commit messages.
pub(super) fn find_invisible_beside_emoji(text: &str) -> Option<char> {
    let mut before = ' ';
    text.chars().find_map(|c| {
        let symbol = !before.is_ascii() && !before.is_alphanumeric() && !before.is_whitespace();
        let mark = matches!(c, '\u{FE0F}' | '\u{200D}') && symbol && (before == '\u{FE0F}' || !is_invisible(before));
        before = c;
        find_invisible(c.encode_utf8(&mut [0; 4])).filter(|_| !mark)
    })
}

/// Describes a character by its code point, for a person.
pub(super) fn describe(c: char) -> String {
    format!("the character U+{:04X}", u32::from(c))
}

/// Says whether a character may pass for ASCII punctuation, or be converted to it by another encoding.
///
/// Outside ASCII only letters and digits certainly cannot, apart from modifier letters and those that decompose into
/// other characters.
pub(super) fn is_like_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return false;
    }
    let sign = matches!(u32::from(c),
        // Letters by their Unicode class that look like a quote, a colon or a bar.
        0x01C0..=0x01C3 | 0x02B0..=0x036F | 0x0559 | 0x055A | 0x07F4 | 0x07F5 | 0x0F0B..=0x0F14
        | 0x1D2C..=0x1D6A | 0x1D78 | 0x1D9B..=0x1DBF | 0x3031..=0x3035 | 0x3005..=0x3007 | 0xA4F8..=0xA4FF
        | 0xA60C..=0xA60F | 0xA717..=0xA721 | 0xA788..=0xA78C | 0xFF00..=0xFFEF);
    let parts = std::iter::once(c).nfkd();
    sign || !c.is_alphanumeric() || parts.filter(char::is_ascii).any(|part| !part.is_ascii_alphanumeric())
}

/// Says whether a character is zero-width, a mark of direction, a filler, a tag, a variation selector, or for private
/// use.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0xE000..=0xF8FF
        | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF | 0xF_0000..=0x10_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_emoji_are_accepted_only_after_a_symbol() {
        for good in
            ["", "fix \u{26A0}\u{FE0F} it", "\u{1F9D1}\u{200D}\u{1F4BB}", "\u{2764}\u{FE0F}\u{200D}\u{1F525}", "é\n\tx"]
        {
            assert_eq!(find_invisible_beside_emoji(good), None, "{good:?}");
        }
        for bad in [
            "a\u{FE0F}",
            "\u{FE0F}",
            " \u{200D}",
            "g\u{200D}it",
            "é\u{FE0F}",
            "\u{26A0}\u{202E}",
            "\u{26A0}\u{FE0F}\u{FE0F}\u{200B}",
        ] {
            assert!(find_invisible_beside_emoji(bad).is_some(), "{bad:?}");
        }
    }
}
