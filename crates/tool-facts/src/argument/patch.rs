//! Patches, which name the files that they change.

use serde_json::Value;

use super::name::plain;
use super::unnamed_path::is_text;
use super::{CallArguments, beside_fact};

/// Beginnings of the lines that name a file, in all patch formats.
const HEADS: &[&str] = &["+++ ", "--- ", "rename to ", "rename from ", "copy to ", "copy from ", "Index: ", "Prereq: "];

/// Adds the paths of every patch in a call. A quoted file name has its own escapes and is not relied on.
pub(super) fn add<'a>(tool: &str, arguments: &'a Value, found: &mut CallArguments<'a>) {
    Patches { patches: says_patch(tool), found }.look(arguments, "", "");
}

/// The files that the text of a patch names. `Err` if it names none, or one in quotes, which has its own escapes.
pub(crate) fn named_files(patch: &str) -> Result<Vec<&str>, &'static str> {
    // In this format, every line of content has a mark before it.
    let marked = patch.contains("*** Begin Patch");
    let lines = patch.lines();
    let named: Vec<&str> = if marked {
        lines.filter_map(|line| headed(line.trim_start())).map(str::trim).collect()
    } else {
        lines.flat_map(files).map(|file| file.split('\t').next().unwrap_or_default().trim()).collect()
    };
    if named.iter().any(|file| file.is_empty() || file.starts_with('"')) {
        return Err("a file in the patch has an unusual name");
    }
    let named: Vec<&str> = named.into_iter().filter(|file| *file != "/dev/null").collect();
    if named.is_empty() { Err("the text is not a patch that names its files") } else { Ok(named) }
}

struct Patches<'f, 'a> {
    /// Whether the tool's name says that it takes a patch.
    patches: bool,
    found: &'f mut CallArguments<'a>,
}

impl<'a> Patches<'_, 'a> {
    fn look(&mut self, value: &'a Value, name: &str, place: &str) {
        match value {
            Value::String(text) if self.is_patch(name, text) => self.take(text, place),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, item)| self.look(item, name, &format!("{place}[{at}]")));
            }
            Value::Object(fields) => {
                for (name, inner) in fields {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    self.look(inner, name, &place);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn take(&mut self, text: &'a str, place: &str) {
        for file in text.lines().flat_map(files) {
            let file = file.split('\t').next().unwrap_or_default().trim();
            match file {
                "/dev/null" => {}
                file if file.is_empty() || file.starts_with('"') => self.found.packed.push(place.to_owned()),
                file => self.found.keys.push((place.to_owned(), file)),
            }
        }
    }

    /// Says whether a text is a patch: by the name of the argument or the tool, or because it has a patch heading and is not plain content.
    fn is_patch(&self, name: &str, text: &str) -> bool {
        let plain = plain(name);
        says_patch(name)
            || (self.patches && !beside_fact::is_text(&plain) && text.lines().any(reads_like_one))
            || (!is_text(&plain) && text.lines().any(|line| headed(line.trim_start()).is_some()))
    }
}

/// Says whether a name is that of a patch, or of a tool that takes one.
fn says_patch(name: &str) -> bool {
    let name = plain(name);
    name.replace("dispatch", "").contains("patch") || name.contains("diff")
}

/// Says whether a line belongs to a patch. A line that begins with `--- ` does not count: other texts have such lines, and a patch has others too.
fn reads_like_one(line: &str) -> bool {
    !line.trim_start().starts_with("--- ") && !files(line).is_empty()
}

/// The files that a line of a patch names.
fn files(line: &str) -> Vec<&str> {
    let line = line.trim_start();
    if let Some(file) = headed(line) {
        return vec![file];
    }
    if let Some(both) = line.strip_prefix("diff --git ") {
        return both.split(' ').map(bare).collect();
    }
    // The older form of patches: `*** name`, and `*** 1,5 ****` for lines.
    if let Some(file) = line.strip_prefix("*** ") {
        let marks = ["Begin Patch", "End Patch", "End of File"].contains(&file.trim_end()) || file.ends_with(" ****");
        return if marks { Vec::new() } else { vec![file] };
    }
    HEADS.iter().find_map(|head| line.strip_prefix(head)).map(bare).into_iter().collect()
}

/// The file name after `*** Update File:` and similar headings.
fn headed(line: &str) -> Option<&str> {
    let (head, file) = line.strip_prefix("*** ")?.split_once(':')?;
    let head = head.to_ascii_lowercase();
    (head.ends_with(" file") || head == "move to").then_some(file)
}

/// A name without the `a/` or `b/` that `git` puts before it.
fn bare(file: &str) -> &str {
    file.strip_prefix("a/").or_else(|| file.strip_prefix("b/")).unwrap_or(file)
}
