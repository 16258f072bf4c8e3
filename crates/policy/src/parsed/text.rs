//! Characters that mean one thing to a reader and another to a program.

/// Finds a character that must not be in a text of one line or several: control characters, and everything that is not
/// seen, is seen as a blank, or turns the direction of writing.
pub(super) fn unseen(text: &str) -> Option<char> {
    text.chars().find(|c| match c {
        '\n' | '\t' => false,
        c => c.is_control() || invisible(*c) || (c.is_whitespace() && *c != ' '),
    })
}

/// Describes a character for a person, by its number.
pub(super) fn described(c: char) -> String {
    format!("the character U+{:04X}", u32::from(c))
}

/// Zero-width characters, marks of direction, fillers, tags, variation selectors, private use.
fn invisible(c: char) -> bool {
    matches!(u32::from(c),
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0xE000..=0xF8FF
        | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF | 0xF0000..=0x10FFFF)
}
