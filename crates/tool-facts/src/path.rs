//! A path in its canonical form, without asking a file system.

use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use super::{Unparsed, text};

pub(super) mod steering;

/// The longest path, in bytes.
const LONGEST: usize = 4096;

/// Facts about a path. They are lexical: no file system is asked, so symbolic links are not followed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PathFacts {
    /// The canonical form: `.` and `..` resolved, one `/` between parts, none at the end, Unicode composed.
    pub canonical: String,
    /// The canonical form in lower case, to compare where case does not matter.
    pub lower: String,
    /// The path starts at the root, or at a drive.
    pub absolute: bool,
    /// The path is relative and leaves the directory in which it starts.
    pub escapes: bool,
    /// The components of the canonical form.
    pub components: Vec<String>,
    /// The last component.
    pub name: String,
    /// The part of the name after its last dot.
    pub extension: String,
    /// Some component is a file or directory from which programs take what they run, or how: `.git`, `.envrc`, `.github`, `.vscode`.
    pub steers: bool,
    /// Some component begins with a dot.
    pub hidden: bool,
    /// The path is a Windows path.
    pub windows: bool,
    /// The path has characters outside ASCII.
    pub non_ascii: bool,
    /// Unicode composition changed the path: the same name can be written in another way.
    pub recomposed: bool,
    /// The path as given ended in a slash, in `.` or in `..`.
    pub directory: bool,
}

impl PathFacts {
    /// Parses a path. Parts that a shell or a file system would still have to resolve (`~`, `$HOME`) and invisible characters are refused.
    pub fn parse(path: &str) -> Result<Self, Unparsed> {
        check(path)?;
        let composed: String = path.nfc().collect();
        check(&composed)?;
        let recomposed = composed != path;
        let windows = is_windows(&composed);
        let slashed = if windows { composed.replace('\\', "/") } else { composed };
        if !windows && slashed.contains('\\') {
            return Err(refused("the path contains a backslash, which systems read differently"));
        }
        let (root, rest) = root(&slashed, windows)?;
        let (components, escapes) = resolve(rest, !root.is_empty());
        let canonical = match (root.as_str(), components.is_empty()) {
            ("", true) => ".".to_owned(),
            _ => format!("{root}{}", components.join("/")),
        };
        // Without their `./`, the paths `./~`, `./C:` and `./file:` would mean something else.
        if root.is_empty() && (canonical.starts_with('~') || has_drive(&canonical) || check(&canonical).is_err()) {
            return Err(refused("the path looks like a home directory, a drive or a URL"));
        }
        let name = components.last().filter(|name| *name != "..").cloned().unwrap_or_default();
        let extension =
            name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension.to_owned());
        Ok(Self {
            lower: canonical.to_lowercase().nfc().collect(),
            absolute: !root.is_empty(),
            escapes,
            steers: components.iter().any(|part| steering::is_steering(&part.to_lowercase())),
            hidden: components.iter().any(|part| part.starts_with('.') && part != ".."),
            extension: extension.unwrap_or_default(),
            name,
            windows,
            non_ascii: !canonical.is_ascii(),
            recomposed,
            directory: matches!(slashed.rsplit('/').next(), Some("" | "." | "..")),
            canonical,
            components,
        })
    }
}

/// Says whether a path is a directory or lies in it, by the components of the canonical forms: `/tmp2` is not under `/tmp`, and neither is
/// `/tmp/../etc`. Case matters; compare the `lower` forms if it should not.
pub fn under(path: &str, dir: &str) -> Result<bool, Unparsed> {
    let (path, dir) = (PathFacts::parse(path)?, PathFacts::parse(dir)?);
    if path.absolute != dir.absolute || path.windows != dir.windows || root_of(&path) != root_of(&dir) {
        return Ok(false);
    }
    // A path that leaves the directory in which it starts may end anywhere.
    if path.escapes || dir.escapes {
        return Ok(false);
    }
    Ok(path.components.starts_with(&dir.components))
}

fn root_of(path: &PathFacts) -> &str {
    let parts = path.components.join("/");
    path.canonical.strip_suffix(parts.as_str()).filter(|_| path.absolute).unwrap_or_default()
}

fn check(path: &str) -> Result<(), Unparsed> {
    if path.is_empty() {
        return Err(refused("the path is empty"));
    }
    if path.len() > LONGEST {
        return Err(refused(format!("the path is longer than {LONGEST} bytes")));
    }
    if let Some(c) = path.chars().find(|c| matches!(c, '\n' | '\t')).or_else(|| text::find_invisible(path)) {
        return Err(refused(format!("{} is in the path", text::describe(c))));
    }
    if path.starts_with('~') {
        return Err(refused("the home directory of `~` is known only when the call runs"));
    }
    if path.contains('$') || path.contains('`') || (path.contains('%') && path.matches('%').count() > 1) {
        return Err(refused("the value of a variable in the path is known only when the call runs"));
    }
    // Some tools decode percent signs, and find a slash or dots in them.
    let hex = |pair: &[u8]| matches!(pair, [b'%', one, two] if one.is_ascii_hexdigit() && two.is_ascii_hexdigit());
    if path.as_bytes().windows(3).any(hex) {
        return Err(refused("a character in the path is written with a percent sign"));
    }
    if path.split(['/', '\\']).any(|part| part.starts_with(' ') || part.ends_with(' ')) {
        return Err(refused("a part of the path begins or ends with a blank"));
    }
    if path.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
        return Err(refused("the path is a URL"));
    }
    if may_climb(path) {
        return Err(refused("a pattern in the path may become `..`"));
    }
    if has_slash_lookalike(path) {
        return Err(refused("a character in the path looks like a slash or a dot"));
    }
    Ok(())
}

/// Says whether a pattern in a path (`{..,x}`, `.[.]`, `.?`) may become `..`.
pub(super) fn may_climb(path: &str) -> bool {
    if !path.contains(['{', '[', '?', '*', '(']) {
        return false;
    }
    // A path with too many alternatives is refused without checking each of them.
    let Some(written_out) = alternatives(path) else { return true };
    let spelt = path.contains('{');
    written_out.iter().any(|path| {
        path.split(['/', '\\']).any(|part| {
            let wild = spelt || part.contains(['[', '?', '*']);
            let nested = ["@(", "+(", "?(", "*(", "!("].iter().any(|start| part.contains(start)) && part.contains('.');
            nested || (wild && can_match_dots(&part.chars().collect::<Vec<_>>(), 2, true))
        })
    })
}

/// The paths that the braces of a path expand to. `None` if there are too many, or a brace is not closed.
fn alternatives(path: &str) -> Option<Vec<String>> {
    const MOST: usize = 256;
    let (mut done, mut open) = (Vec::new(), vec![path.to_owned()]);
    while let Some(path) = open.pop() {
        if done.len() + open.len() > MOST {
            return None;
        }
        // The last opening brace has no other brace inside.
        let Some((before, rest)) = path.rsplit_once('{') else {
            done.push(path);
            continue;
        };
        let (inner, after) = rest.split_once('}')?;
        // An inner choice becomes a choice of the outer braces.
        open.extend(inner.split(',').map(|choice| format!("{before}{choice}{after}")));
    }
    Some(done)
}

/// Says whether a pattern can match exactly `left` dots. A leading star matches no name that begins with a dot.
fn can_match_dots(pattern: &[char], left: usize, first: bool) -> bool {
    match pattern {
        [] => left == 0,
        ['*', ..] if first => false,
        ['*', rest @ ..] if matches!(rest, ['*', ..]) => can_match_dots(rest, left, first),
        ['*', rest @ ..] => (0..=left).any(|less| can_match_dots(rest, less, false)),
        ['.' | '?', rest @ ..] => left > 0 && can_match_dots(rest, left - 1, false),
        ['[', rest @ ..] => {
            let Some(end) = rest.iter().skip(1).position(|c| *c == ']') else { return false };
            let (class, rest) = rest.split_at(end + 1);
            let fits = class.iter().any(|c| matches!(c, '.' | '-')) || matches!(class, ['!' | '^', ..]);
            fits && left > 0 && can_match_dots(rest.get(1..).unwrap_or_default(), left - 1, false)
        }
        _ => false,
    }
}

/// Says whether a path has a character that a reader takes for `/`, `\`, `.` or `..`: division signs, full-width forms, leaders.
fn has_slash_lookalike(path: &str) -> bool {
    path.chars().filter(|c| !c.is_ascii()).any(|c| {
        // `℀` decomposes into `a/c`.
        std::iter::once(c).nfkd().any(|part| matches!(part, '/' | '\\' | '.' | '~' | '\u{2044}'))
            || matches!(
                c,
                '\u{2044}'
                    | '\u{2215}'
                    | '\u{29F8}'
                    | '\u{FF0F}'
                    | '\u{FF3C}'
                    | '\u{2216}'
                    | '\u{29F5}'
                    | '\u{2024}'
                    | '\u{2025}'
                    | '\u{2026}'
                    | '\u{FF0E}'
                    | '\u{FE52}'
                    | '\u{2571}'
                    | '\u{3002}'
                    | '\u{FF61}'
                    | '\u{B7}'
                    | '\u{701}'
                    | '\u{702}'
                    | '\u{6D4}'
                    | '\u{2027}'
                    | '\u{2219}'
                    | '\u{22C5}'
                    | '\u{A4F8}'
                    | '\u{A60E}'
                    | '\u{10A50}'
                    | '\u{1D16D}'
                    | '\u{FE68}'
            )
    })
}

fn has_drive(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':')
}

fn is_windows(path: &str) -> bool {
    has_drive(path)
        || path.starts_with("\\\\")
        || path.starts_with('\\')
        || (path.contains('\\') && !path.contains('/'))
}

/// Splits a path into its root and the rest.
fn root(path: &str, windows: bool) -> Result<(String, &str), Unparsed> {
    if !windows {
        return Ok(match path.strip_prefix('/') {
            Some(rest) => ("/".to_owned(), rest),
            None => (String::new(), path),
        });
    }
    if path.split('/').any(|part| part != "." && part != ".." && (part.ends_with('.') || part.ends_with(' '))) {
        return Err(refused("Windows drops the dots and blanks at the end of a name"));
    }
    if path.get(2..).is_some_and(|rest| rest.contains(':')) || path.starts_with("//?") || path.starts_with("//.") {
        return Err(refused("the path is a device, a stream or a raw path of Windows"));
    }
    if path.contains('~') {
        return Err(refused("a short name of Windows is known only to the file system"));
    }
    if has_drive(path) {
        let (letter, rest) = path.split_at(2);
        let rest =
            rest.strip_prefix('/').ok_or_else(|| refused("the path depends on the current directory of its drive"))?;
        return Ok((format!("{}/", letter.to_ascii_uppercase()), rest));
    }
    if let Some(rest) = path.strip_prefix("//") {
        let (server, rest) = rest.split_once('/').unwrap_or((rest, ""));
        if matches!(server, "" | "." | "..") {
            return Err(refused("the path is a share without a server"));
        }
        // The canonical form is parsed as a share again.
        return Ok((format!("\\\\{}/", server.to_lowercase()), rest));
    }
    if path.starts_with('/') {
        return Err(refused("the path depends on the current drive"));
    }
    Ok((String::new(), path))
}

/// Resolves `.` and `..`. A `..` that leaves the start of a relative path is kept; the root has no parent.
fn resolve(rest: &str, absolute: bool) -> (Vec<String>, bool) {
    let mut parts: Vec<String> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(last) if last != ".." => {
                    parts.pop();
                }
                _ if absolute => {}
                _ => parts.push("..".to_owned()),
            },
            part => parts.push(part.to_owned()),
        }
    }
    let escapes = parts.first().is_some_and(|first| first == "..");
    (parts, escapes)
}

fn refused(reason: impl Into<String>) -> Unparsed {
    Unparsed::new("path", reason)
}
