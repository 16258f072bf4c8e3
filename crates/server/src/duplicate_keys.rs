//! Refuses JSON objects with a duplicate key, which parsers read in different ways.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Any JSON without duplicate keys. The values are discarded.
pub(crate) struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_unit<E>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueKeys, A::Error> {
        while items.next_element::<UniqueKeys>()?.is_some() {}
        Ok(UniqueKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<UniqueKeys, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            fields.next_value::<UniqueKeys>()?;
            if !names.insert(name) {
                return Err(A::Error::custom("an object contains a name twice"));
            }
        }
        Ok(UniqueKeys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, unique: bool) {
        assert_eq!(serde_json::from_str::<UniqueKeys>(json).is_ok(), unique, "{json}");
    }

    #[test]
    fn a_name_stands_once_in_its_object() {
        check(r#"{"a": 1, "b": [true, null, 1.5, -1, "x", {"a": 2}]}"#, true);
        check(r#"{"a": {"b": 1}, "b": {"b": 2}}"#, true);
        check(r#"{"a": 1, "a": 1}"#, false);
        check(r#"{"a": {"command": "rm x", "command": "ls"}}"#, false);
        check(r#"[{"a": 1, "\u0061": 2}]"#, false);
    }
}
