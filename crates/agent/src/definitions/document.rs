//! A TOML text as JSON, with the line of each value.

use std::collections::BTreeMap;
use std::path::Path;

use domain::{Digest, Problem, text};
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::finding::FileFinding;

/// Largest size of a file, in bytes.
pub(super) const MOST_BYTES: usize = 512 << 10;
/// Deepest nesting of a file; no definition needs more.
const MOST_DEPTH: usize = 100;
/// Stack size of the parser thread: dotted keys nest as deep as they are long, and nested tables are dropped
/// recursively.
const STACK: usize = 128 << 20;

/// Number of digest digits in a generated version.
const AUTO_DIGITS: usize = 12;

/// A parsed file, perhaps with a script file inserted.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) value: Value,
    file: String,
    places: BTreeMap<String, (String, usize)>,
}

impl Document {
    /// Parses a text, or lists all its syntax errors.
    pub(super) fn parse(text: &str, file: &Path) -> Result<Self, Vec<FileFinding>> {
        if text.len() > MOST_BYTES {
            return Err(vec![FileFinding::whole(file, format!("has more than {MOST_BYTES} bytes"))]);
        }
        let parsed = std::thread::scope(|scope| {
            let parser = std::thread::Builder::new().name("definitions".into()).stack_size(STACK);
            parser.spawn_scoped(scope, || parse(text, file)).map(std::thread::ScopedJoinHandle::join)
        });
        match parsed {
            Ok(Ok(parsed)) => parsed,
            _ => Err(vec![FileFinding::whole(
                file,
                "could not be parsed because of a defect in Holdpoint: please report it",
            )]),
        }
    }

    /// Inserts another file at a pointer.
    pub(super) fn insert(&mut self, at: &str, other: Self) {
        if let Some(value) = self.value.pointer_mut(at) {
            *value = other.value;
        }
        self.places.insert(at.to_owned(), (other.file, 1));
        self.places.extend(other.places.into_iter().map(|(pointer, place)| (format!("{at}{pointer}"), place)));
    }

    /// Adds a version computed from the content, if the file names none: every change makes another version.
    pub(super) fn add_version(&mut self) {
        let digest = Digest::of_json(&self.value).to_string();
        if let Some(object) = self.value.as_object_mut().filter(|object| !object.contains_key("version")) {
            let short = digest.get(..AUTO_DIGITS).unwrap_or(&digest);
            object.insert("version".to_owned(), Value::from(format!("auto-{short}")));
        }
    }

    /// Removes a key from a table. Its line stays known for findings about its value.
    pub(super) fn remove(&mut self, table: &str, key: &str) -> Option<Value> {
        self.value.pointer_mut(table)?.as_object_mut()?.remove(key)
    }

    /// A finding at a pointer, or at the nearest enclosing one that is in the file.
    pub(super) fn finding(&self, pointer: &str, message: impl Into<String>) -> FileFinding {
        let mut near = pointer;
        let (file, line) = loop {
            match (self.places.get(near), near.rfind('/')) {
                (Some((file, line)), _) => break (file.clone(), *line),
                (None, Some(end)) => near = near.get(..end).unwrap_or_default(),
                (None, None) => break (self.file.clone(), 1),
            }
        };
        FileFinding { file, line, message: message.into() }
    }

    /// A problem that the domain reports, as a finding.
    pub(super) fn problem(&self, problem: &Problem) -> FileFinding {
        let key = key(&problem.pointer);
        let message = if key.is_empty() { problem.message.clone() } else { format!("`{key}`: {}", problem.message) };
        self.finding(&problem.pointer, message)
    }
}

/// A pointer as the dotted keys of the file, without list indices.
pub(super) fn key(pointer: &str) -> String {
    let parts = pointer.split('/').skip(1).filter(|part| part.parse::<usize>().is_err());
    parts.map(text::unescaped).collect::<Vec<_>>().join(".")
}

fn parse(text: &str, file: &Path) -> Result<Document, Vec<FileFinding>> {
    let mut reader = TomlReader {
        file: file.display().to_string(),
        lines: std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect(),
        places: BTreeMap::new(),
        findings: Vec::new(),
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        reader.add_finding(error.span().map_or(0, |span| span.start), error.message());
    }
    let value = reader.object("", table.get_ref(), MOST_DEPTH);
    match value {
        Some(value) if reader.findings.is_empty() => Ok(Document { value, file: reader.file, places: reader.places }),
        _ => Err(reader.findings),
    }
}

struct TomlReader {
    file: String,
    lines: Vec<usize>,
    places: BTreeMap<String, (String, usize)>,
    findings: Vec<FileFinding>,
}

impl TomlReader {
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    fn add_finding(&mut self, at: usize, message: impl Into<String>) {
        let line = self.line(at);
        self.findings.push(FileFinding { file: self.file.clone(), line, message: message.into() });
    }

    fn place(&mut self, pointer: &str, at: usize) {
        let place = (self.file.clone(), self.line(at));
        self.places.insert(pointer.to_owned(), place);
    }

    fn object(&mut self, pointer: &str, table: &DeTable<'_>, depth: usize) -> Option<Value> {
        let mut object = Map::new();
        for (key, value) in table {
            let pointer = text::field(pointer, key.get_ref());
            self.place(&pointer, key.span().start);
            object.insert(key.get_ref().to_string(), self.value(&pointer, value, depth)?);
        }
        Some(Value::Object(object))
    }

    fn value(&mut self, pointer: &str, value: &Spanned<DeValue<'_>>, depth: usize) -> Option<Value> {
        let at = value.span().start;
        let Some(deeper) = depth.checked_sub(1) else {
            self.add_finding(at, format!("is nested deeper than {MOST_DEPTH} levels"));
            return None;
        };
        let read = match value.get_ref() {
            DeValue::String(text) => Some(Value::from(text.as_ref())),
            DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix()).ok().map(Value::from),
            DeValue::Float(float) => float.as_str().parse().ok().and_then(Number::from_f64).map(Value::Number),
            DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
            DeValue::Datetime(moment) => Some(Value::from(moment.to_string())),
            DeValue::Table(table) => return self.object(pointer, table, deeper),
            DeValue::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let pointer = format!("{pointer}/{index}");
                    self.place(&pointer, item.span().start);
                    list.push(self.value(&pointer, item, deeper)?);
                }
                return Some(Value::Array(list));
            }
        };
        if read.is_none() {
            self.add_finding(at, format!("`{}`: is a number that JSON cannot represent", key(pointer)));
        }
        read
    }
}
