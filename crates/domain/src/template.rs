//! Templates: texts with placeholders such as `{{ steps.draft.output.text }}`.
//!
//! A placeholder contains only a path: a template contains no code, and the braces cannot be escaped. Inserted values are never parsed as
//! templates again. A path that ends with `?` is optional; any other path without a value is an error.

use serde_json::Value;

use crate::text;

/// Largest size of the result in bytes of JSON.
pub const MOST_BYTES: usize = 1 << 20;

/// Reason why a template cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The text between the braces is not a path.
    #[error("`{0}` is not a path: write {{{{ path.to.value }}}}")]
    NoPath(String),
    /// The braces are not closed.
    #[error("`{{{{` is not closed")]
    Open,
    /// The path has no value.
    #[error("there is no `{0}`")]
    Missing(String),
    /// The result would be too large, or nested too deeply.
    #[error("the result is larger than {MOST_BYTES} bytes, or nested deeper than {} levels", text::DEPTH)]
    TooLarge,
}

/// Path to a value: names of fields and indexes of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    parts: Vec<String>,
    optional: bool,
}

/// One part of a text: plain text or a placeholder.
enum Piece<'t> {
    Text(&'t str),
    Place(Path),
}

impl Path {
    /// Parses the text between the braces.
    pub fn parse(written: &str) -> Result<Self, TemplateError> {
        let trimmed = written.trim();
        let (path, optional) = trimmed.strip_suffix('?').map_or((trimmed, false), |path| (path, true));
        let part =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
        if !parts.iter().all(|name| part(name)) {
            return Err(TemplateError::NoPath(trimmed.chars().take(text::NAME).collect()));
        }
        Ok(Self { parts, optional })
    }

    /// Parts of the path, the outermost first.
    #[must_use]
    pub fn parts(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }

    fn find<'v>(&self, values: &'v Value) -> Result<&'v Value, TemplateError> {
        let step = |value: &'v Value, part: &String| match value {
            Value::Object(fields) => fields.get(part),
            Value::Array(items) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        match self.parts.iter().try_fold(values, step) {
            Some(found) => Ok(found),
            None if self.optional => Ok(&Value::Null),
            None => Err(TemplateError::Missing(self.parts.join("."))),
        }
    }
}

/// All placeholders in a value, with the JSON Pointer of their text below `at`.
#[must_use]
pub fn placeholders(at: &str, template: &Value) -> Vec<(String, Result<Path, TemplateError>)> {
    let mut found = Vec::new();
    gather(at, template, text::DEPTH, &mut found);
    found
}

/// Fills in every text of a value. A text that is a single placeholder becomes the value itself, with its type.
pub fn fill(template: &Value, values: &Value) -> Result<Value, TemplateError> {
    let mut left = MOST_BYTES;
    let filled = fill_within(template, values, text::DEPTH, &mut left)?;
    let mut problems = Vec::new();
    text::check_depth("", &filled, &mut problems);
    if problems.is_empty() { Ok(filled) } else { Err(TemplateError::TooLarge) }
}

/// Fills in one text. The result is always a text.
pub fn fill_text(template: &str, values: &Value) -> Result<String, TemplateError> {
    let mut left = MOST_BYTES;
    joined(&pieces(template)?, values, &mut left)
}

fn gather(at: &str, template: &Value, depth: usize, found: &mut Vec<(String, Result<Path, TemplateError>)>) {
    match template {
        _ if depth == 0 => found.push((at.to_owned(), Err(TemplateError::TooLarge))),
        Value::String(text) => match pieces(text) {
            Ok(pieces) => found.extend(pieces.into_iter().filter_map(|piece| match piece {
                Piece::Place(path) => Some((at.to_owned(), Ok(path))),
                Piece::Text(_) => None,
            })),
            Err(error) => found.push((at.to_owned(), Err(error))),
        },
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| gather(&format!("{at}/{index}"), item, depth - 1, found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| gather(&text::field(at, key), value, depth - 1, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn fill_within(template: &Value, values: &Value, depth: usize, left: &mut usize) -> Result<Value, TemplateError> {
    let deeper = depth.checked_sub(1).ok_or(TemplateError::TooLarge)?;
    match template {
        Value::String(text) => {
            let pieces = pieces(text)?;
            if let [Piece::Place(path)] = pieces.as_slice() {
                let found = path.find(values)?;
                spend(json_bytes(found), left)?;
                return Ok(found.clone());
            }
            joined(&pieces, values, left).map(Value::String)
        }
        Value::Array(items) => {
            spend(items.len() + 2, left)?;
            items.iter().map(|item| fill_within(item, values, deeper, left)).collect()
        }
        Value::Object(fields) => {
            let mut filled = serde_json::Map::new();
            for (key, value) in fields {
                spend(key.len() + 4, left)?;
                filled.insert(key.clone(), fill_within(value, values, deeper, left)?);
            }
            Ok(Value::Object(filled))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            spend(json_bytes(template), left)?;
            Ok(template.clone())
        }
    }
}

fn joined(pieces: &[Piece<'_>], values: &Value, left: &mut usize) -> Result<String, TemplateError> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(plain) => append(&mut text, plain, left)?,
            Piece::Place(path) => match path.find(values)? {
                Value::Null => {}
                Value::String(found) => append(&mut text, found, left)?,
                found @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    append(&mut text, &found.to_string(), left)?;
                }
            },
        }
    }
    Ok(text)
}

fn append(text: &mut String, more: &str, left: &mut usize) -> Result<(), TemplateError> {
    spend(more.len(), left)?;
    text.push_str(more);
    Ok(())
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, TemplateError> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, place)) = rest.split_once("{{") {
        let (written, after) = place.split_once("}}").ok_or(TemplateError::Open)?;
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(Piece::Place(Path::parse(written)?));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// Subtracts from the remaining size, before data is copied.
fn spend(bytes: usize, left: &mut usize) -> Result<(), TemplateError> {
    *left = left.checked_sub(bytes).ok_or(TemplateError::TooLarge)?;
    Ok(())
}

/// Size of a value in bytes of JSON, without allocating the text.
fn json_bytes(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
}

#[cfg(test)]
mod tests;
