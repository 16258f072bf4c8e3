//! Reads TOML value by value, so that every error is listed with its position.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::finding::Findings;

/// A value, and the byte at which it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Located<T> {
    pub(crate) at: usize,
    pub(crate) it: T,
}

/// One table of the file, with its name for messages.
#[derive(Clone, Copy)]
pub(crate) struct Table<'d> {
    pub(crate) at: usize,
    what: &'d str,
    entries: &'d DeTable<'d>,
}

impl<'d> Table<'d> {
    pub(crate) fn new(what: &'d str, table: &'d Spanned<DeTable<'d>>) -> Self {
        Self { at: table.span().start, what, entries: table.get_ref() }
    }

    /// Adds an error for every key that is not one of these, with the key that was probably meant.
    pub(crate) fn only(&self, keys: &[&str], findings: &mut Findings<'_>) {
        for key in self.entries.keys() {
            let name: &str = key.get_ref();
            if keys.contains(&name) {
                continue;
            }
            let hint = match nearest(name, keys) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("it takes {}", listed(keys)),
            };
            let shown: String = name.chars().take(60).collect();
            findings.error(key.span().start, "unknown_key", format!("{} has no key `{shown}`; {hint}", self.what));
        }
    }

    /// Position of a key, or of the table if the key is absent.
    pub(crate) fn place(&self, key: &str) -> usize {
        self.entries.get_key_value(key).map_or(self.at, |(key, _)| key.span().start)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// A required text.
    pub(crate) fn required(&self, key: &str, findings: &mut Findings<'_>) -> Option<Located<&'d str>> {
        if !self.has(key) {
            findings.error(self.at, "missing_key", format!("{} needs `{key}`", self.what));
        }
        self.text(key, findings)
    }

    pub(crate) fn text(&self, key: &str, findings: &mut Findings<'_>) -> Option<Located<&'d str>> {
        self.typed(key, "a text", findings, DeValue::as_str)
    }

    pub(crate) fn flag(&self, key: &str, findings: &mut Findings<'_>) -> Option<Located<bool>> {
        self.typed(key, "true or false", findings, DeValue::as_bool)
    }

    pub(crate) fn whole(&self, key: &str, findings: &mut Findings<'_>) -> Option<Located<i64>> {
        self.typed(key, "a whole number", findings, |value| {
            value.as_integer().and_then(|whole| i64::from_str_radix(whole.as_str(), whole.radix()).ok())
        })
    }

    /// A list of texts, each with its position.
    pub(crate) fn texts(&self, key: &str, findings: &mut Findings<'_>) -> Option<Located<Vec<Located<&'d str>>>> {
        let list = self.typed(key, "a list of texts", findings, DeValue::as_array)?;
        let mut texts = Vec::with_capacity(list.it.len());
        for item in list.it {
            let at = item.span().start;
            match item.get_ref().as_str() {
                Some(it) => texts.push(Located { at, it }),
                None => findings.error(at, "wrong_type", format!("`{key}` must be a list of texts")),
            }
        }
        Some(Located { at: list.at, it: texts })
    }

    pub(crate) fn table(&self, key: &str, what: &'d str, findings: &mut Findings<'_>) -> Option<Table<'d>> {
        let entries = self.typed(key, "a table", findings, DeValue::as_table)?;
        Some(Self { at: entries.at, what, entries: entries.it })
    }

    /// The tables of a list.
    pub(crate) fn tables(&self, key: &str, what: &'d str, findings: &mut Findings<'_>) -> Vec<Table<'d>> {
        let Some(list) = self.typed(key, "a list of tables", findings, DeValue::as_array) else { return Vec::new() };
        let mut tables = Vec::with_capacity(list.it.len());
        for item in list.it {
            match item.get_ref().as_table() {
                Some(entries) => tables.push(Self { at: item.span().start, what, entries }),
                None => findings.error(item.span().start, "wrong_type", format!("`{key}` must be a list of tables")),
            }
        }
        tables
    }

    /// The keys with their positions.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&'d str, usize)> {
        self.entries.keys().map(|key| (key.get_ref().as_ref(), key.span().start))
    }

    /// The table under a key, if the value is one.
    pub(crate) fn inner(&self, key: &str, what: &'d str) -> Option<Self> {
        let value = self.entries.get(key)?;
        value.get_ref().as_table().map(|entries| Self { at: value.span().start, what, entries })
    }

    /// Any value, as JSON.
    pub(crate) fn json(&self, key: &str, findings: &mut Findings<'_>) -> Option<Located<Value>> {
        let value = self.entries.get(key)?;
        Some(Located { at: value.span().start, it: json(value, findings)? })
    }

    /// The whole table, as JSON.
    pub(crate) fn to_json(self, findings: &mut Findings<'_>) -> Option<Value> {
        object(self.entries, findings)
    }

    fn typed<T>(
        &self,
        key: &str,
        wanted: &str,
        findings: &mut Findings<'_>,
        read: impl FnOnce(&'d DeValue<'d>) -> Option<T>,
    ) -> Option<Located<T>> {
        let value: &'d Spanned<DeValue<'d>> = self.entries.get(key)?;
        let at = value.span().start;
        let it = read(value.get_ref());
        if it.is_none() {
            let found = value.get_ref().type_str();
            findings.error(at, "wrong_type", format!("`{key}` must be {wanted}, not {found}"));
        }
        Some(Located { at, it: it? })
    }
}

/// The name that was probably meant.
pub(crate) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if name.len() > 64 {
        return None;
    }
    let distances = known.iter().map(|known| (strsim::damerau_levenshtein(name, known), *known));
    distances.min().filter(|(distance, known)| *distance <= 2.max(known.len() / 3)).map(|(_, known)| known)
}

/// Names in backticks, with commas.
pub(crate) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn json(value: &Spanned<DeValue<'_>>, findings: &mut Findings<'_>) -> Option<Value> {
    let at = value.span().start;
    let read = match value.get_ref() {
        DeValue::String(text) => Some(Value::from(text.as_ref())),
        DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix()).ok().map(Value::from),
        DeValue::Float(float) => float.as_str().parse().ok().and_then(Number::from_f64).map(Value::Number),
        DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
        DeValue::Datetime(moment) => {
            let message = format!("{moment} is a date, and JSON has none: write it as a text, in quotes");
            findings.error(at, "wrong_type", message);
            return None;
        }
        DeValue::Array(items) => return items.iter().map(|item| json(item, findings)).collect(),
        DeValue::Table(entries) => return object(entries, findings),
    };
    if read.is_none() {
        findings.error(at, "wrong_type", "JSON cannot represent this number");
    }
    read
}

fn object(entries: &DeTable<'_>, findings: &mut Findings<'_>) -> Option<Value> {
    let mut object = Map::new();
    for (key, value) in entries {
        object.insert(key.get_ref().to_string(), json(value, findings)?);
    }
    Some(Value::Object(object))
}
