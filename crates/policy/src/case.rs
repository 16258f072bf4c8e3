//! One call being judged, and what has been found out about it so far.

use std::cell::OnceCell;

use serde::Serialize;
use serde_json::{Value, json};

use crate::{Call, Parsed, Unparsed};

/// A call whose parts are parsed when a rule first looks at them.
pub(crate) struct Case<'a> {
    pub(crate) call: &'a Call<'a>,
    parsed: OnceCell<Parsed>,
}

impl<'a> Case<'a> {
    pub(crate) const fn new(call: &'a Call<'a>) -> Self {
        Self { call, parsed: OnceCell::new() }
    }

    /// The facts about what it would do.
    pub(crate) fn parsed(&self) -> &Parsed {
        self.parsed.get_or_init(|| Parsed::of(self.call.tool, self.call.arguments))
    }

    /// The same as JSON, for people.
    pub(crate) fn facts_shown(&self) -> Value {
        let parsed = self.parsed();
        let paths: Vec<Value> =
            parsed.paths.iter().map(|(argument, path)| json!({ "argument": argument, "path": shown(path) })).collect();
        json!({
            "shell": parsed.shell.as_ref().map(shown),
            "paths": paths,
            "url": parsed.url.as_ref().map(shown),
            "sql": parsed.sql.as_ref().map(shown),
        })
    }
}

fn shown<T: Serialize>(facts: &Result<T, Unparsed>) -> Value {
    match facts {
        Ok(facts) => json!(facts),
        Err(unparsed) => json!({ "unparsed": unparsed.reason }),
    }
}
