//! Translates the errors of serde for the author of a file.

use serde_json::{Value, json};

use super::shape::{put, remove};

/// One error of serde.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SerdeError {
    /// A key that the table does not have.
    UnknownKey { name: String, known: Vec<String> },
    /// A key that the table must have.
    Missing { name: String },
    /// A word that is not among the allowed ones.
    UnknownWord { word: String, known: Vec<String> },
    /// A value of another type.
    Wrong { found: String, wanted: String },
    /// Any other error, as its text.
    Other(String),
}

impl SerdeError {
    pub(super) fn of(message: &str) -> Self {
        let mut names = message.split('`').skip(1).step_by(2).map(str::to_owned);
        let mut first = || names.next().unwrap_or_default();
        if message.starts_with("unknown field") {
            Self::UnknownKey { name: first(), known: names.collect() }
        } else if message.starts_with("unknown variant") {
            Self::UnknownWord { word: first(), known: names.collect() }
        } else if message.starts_with("missing field") {
            Self::Missing { name: first() }
        } else if let Some(rest) =
            message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))
            && let Some((found, wanted)) = rest.rsplit_once(", expected ")
        {
            Self::Wrong { found: found.to_owned(), wanted: wanted.to_owned() }
        } else {
            Self::Other(message.to_owned())
        }
    }

    /// Message for the author about the value under this key.
    pub(super) fn message(&self, key: &str) -> String {
        let within = if key.is_empty() { "the file".to_owned() } else { format!("`{key}`") };
        match self {
            Self::UnknownKey { name, known } => {
                let parent = key.rsplit_once('.').map_or("the file".to_owned(), |(parent, _)| format!("`{parent}`"));
                format!("{parent} has no key `{}`; {}", cut(name), hint(name, known, "it takes"))
            }
            Self::Missing { name } => format!("{within} needs `{name}`"),
            Self::UnknownWord { word, known } => {
                format!("{within} cannot be `{}`; {}", cut(word), hint(word, known, "it is one of"))
            }
            Self::Wrong { found, wanted } => format!("{within} must be {}, not {}", meant(wanted), seen(found)),
            Self::Other(message) => format!("{within}: {message}"),
        }
    }

    /// Repairs the value that the error names, so that the next error can be found. Returns the pointer of the repaired
    /// value.
    pub(super) fn repair(&self, trial: &mut Value, pointer: &str) -> Option<String> {
        match self {
            Self::UnknownKey { .. } => remove(trial, pointer)?,
            Self::Missing { name } => {
                let missing = domain::text::field(pointer, name);
                put(trial, &missing, json!("x"))?;
                return Some(missing);
            }
            Self::UnknownWord { known, .. } => put(trial, pointer, json!(known.first()?))?,
            Self::Wrong { wanted, .. } => put(trial, pointer, example(wanted)?)?,
            Self::Other(_) => return None,
        }
        Some(pointer.to_owned())
    }
}

/// Name of a serde type in the words of a TOML file.
fn meant(wanted: &str) -> String {
    match wanted {
        "a string" => "a text".into(),
        "a boolean" => "true or false".into(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0".into(),
        "i32" | "i64" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        "a sequence" => "a list".into(),
        "a map" => "a table".into(),
        "string or map" => "a text or a table".into(),
        other if other.starts_with("struct ") => "a table".into(),
        other if other.starts_with("enum ") || other.starts_with("variant") => "a text".into(),
        other => other.to_owned(),
    }
}

/// The value found, shortened to fit in a line.
fn seen(found: &str) -> String {
    let word = match found {
        "map" => "a table",
        "sequence" => "a list",
        "null" => "nothing",
        other => other,
    };
    let (kind, value) = word.split_once(' ').unwrap_or((word, ""));
    match kind {
        "string" => format!("the text {}", cut(value)),
        "boolean" | "integer" => cut(value.trim_matches('`')),
        "floating" => cut(value.trim_start_matches("point ").trim_matches('`')),
        _ => word.to_owned(),
    }
}

fn example(wanted: &str) -> Option<Value> {
    match meant(wanted).as_str() {
        "a text" | "a text or a table" => Some(json!("x")),
        "true or false" => Some(json!(false)),
        "a whole number of at least 0" | "a whole number" | "a number" => Some(json!(1)),
        "a list" => Some(json!([])),
        "a table" => Some(json!({})),
        _ => None,
    }
}

fn hint(name: &str, known: &[String], takes: &str) -> String {
    let distance = |known: &&String| strsim::damerau_levenshtein(name, known);
    let nearest = known.iter().filter(|_| name.len() <= 64).min_by_key(distance);
    match nearest.filter(|known| distance(known) <= 2.max(known.len() / 3)) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("{takes} {}", known.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ")),
    }
}

fn cut(text: &str) -> String {
    const SHOWN: usize = 60;
    if text.chars().count() <= SHOWN { text.to_owned() } else { text.chars().take(SHOWN).chain(['…']).collect() }
}
