//! Converts JSON to a definition, or lists all its unknown keys and wrong values.
//!
//! The Rust type of the definition is the only list of keys. Serde reports one error at a time, so each reported error
//! is noted and repaired in a copy, and the copy is read again.

use std::collections::BTreeSet;

use domain::text::unescaped;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::document::{Document, key};
use super::finding::FileFinding;
use super::serde_error::SerdeError;

/// Largest number of errors that are looked for in one file.
const MOST: usize = 500;

/// Reads the definition, or lists all its errors.
pub(super) fn read<T: DeserializeOwned>(document: &Document) -> Result<T, Vec<FileFinding>> {
    let mut trial = document.value.clone();
    let (mut ours, mut findings) = (BTreeSet::new(), Vec::new());
    for _ in 0..MOST {
        let error = match serde_path_to_error::deserialize::<_, T>(&trial) {
            Ok(definition) if findings.is_empty() => return Ok(definition),
            Ok(_) => break,
            Err(error) => error,
        };
        let pointer = pointer(error.path());
        let serde_error = SerdeError::of(&error.inner().to_string());
        if !ours.iter().any(|ours: &String| pointer == *ours || pointer.starts_with(&format!("{ours}/"))) {
            let message = serde_error.message(&key(&pointer));
            findings.push(document.finding(&pointer, message));
        }
        let Some(touched) = serde_error.repair(&mut trial, &pointer) else { break };
        ours.insert(touched);
    }
    findings.sort();
    Err(findings)
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        pointer = match segment {
            Segment::Seq { index } => format!("{pointer}/{index}"),
            Segment::Map { key } => domain::text::field(&pointer, key),
            Segment::Enum { variant } => domain::text::field(&pointer, variant),
            Segment::Unknown => pointer,
        };
    }
    pointer
}

/// Removes the key at a pointer.
pub(super) fn remove(trial: &mut Value, pointer: &str) -> Option<()> {
    let (parent, name) = pointer.rsplit_once('/')?;
    trial.pointer_mut(parent)?.as_object_mut()?.remove(&unescaped(name)).map(drop)
}

/// Sets the value at a pointer.
pub(super) fn put(trial: &mut Value, pointer: &str, value: Value) -> Option<()> {
    if let Some(there) = trial.pointer_mut(pointer) {
        *there = value;
        return Some(());
    }
    let (parent, name) = pointer.rsplit_once('/')?;
    trial.pointer_mut(parent)?.as_object_mut()?.insert(unescaped(name), value);
    Some(())
}
