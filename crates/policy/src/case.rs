//! One call that is being judged, with the facts parsed so far.

use std::{cell::OnceCell, sync::LazyLock};

use domain::Digest;
use serde::Serialize;
use serde_json::{Value, json};
use tool_facts::{
    Assignment, CallFacts, Declaration, PathFacts, Redirect, Shell, Simple, Sql, Statement, Unparsed, UrlFacts,
};

use crate::PolicyInput;

/// A sample value of every variable except `args`, with one element in each list: the fields that expressions may examine.
pub(crate) static SHAPES: LazyLock<Value> = LazyLock::new(|| {
    let text = || vec![String::new()];
    let simple = Simple {
        args: text(),
        words: text(),
        assignments: vec![Assignment { name: String::new(), value: String::new() }],
        redirects: vec![Redirect { kind: "", target: String::new() }],
        via: text(),
        ..Simple::default()
    };
    let shell = Shell {
        commands: vec![simple],
        functions: text(),
        reads: text(),
        writes: text(),
        doubt: Some(Unparsed::new("", "")),
        ..Shell::default()
    };
    let statement = Statement { reads: text(), writes: text(), functions: text(), ..Statement::default() };
    let sql = Sql {
        statements: vec![statement],
        verbs: text(),
        reads: text(),
        writes: text(),
        functions: text(),
        doubt: Some(Unparsed::new("", "")),
        ..Sql::default()
    };
    let path = located("", &Ok(PathFacts { components: text(), ..PathFacts::default() }));
    let mut shapes = json!({ "shell": shell, "path": path, "paths": [path], "url": UrlFacts::default(), "sql": sql });
    for fact in ["/shell", "/path", "/paths/0", "/url", "/sql"] {
        if let Some(fields) = shapes.pointer_mut(fact).and_then(Value::as_object_mut) {
            fields.insert(UNPARSED.to_owned(), "".into());
        }
    }
    shapes["tool"] = "".into();
    shapes["caller"] = json!({ "agent": "", "user": "", "role": "" });
    shapes
});

/// The only field of a fact that could not be parsed.
const UNPARSED: &str = "unparsed";

/// A call whose arguments are parsed when a rule first examines them.
pub(crate) struct Case<'a> {
    pub(crate) call: &'a PolicyInput<'a>,
    declaration: Option<&'a Declaration>,
    parsed: OnceCell<CallFacts>,
    facts: OnceCell<Value>,
    digest: OnceCell<Digest>,
}

impl<'a> Case<'a> {
    /// A call of a tool of which nothing is declared.
    pub(crate) const fn new(call: &'a PolicyInput<'a>) -> Self {
        Self::declared(call, None)
    }

    /// A call of a tool with its declaration.
    pub(crate) const fn declared(call: &'a PolicyInput<'a>, declaration: Option<&'a Declaration>) -> Self {
        Self { call, declaration, parsed: OnceCell::new(), facts: OnceCell::new(), digest: OnceCell::new() }
    }

    /// The facts about the call.
    pub(crate) fn parsed(&self) -> &CallFacts {
        self.parsed.get_or_init(|| CallFacts::of_declared(self.call.tool, self.call.arguments, self.declaration))
    }

    /// The digest of its arguments in their canonical form.
    pub(crate) fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Digest::of_json(self.call.arguments))
    }

    /// The facts as expressions and people see them: `null` for a fact that the call does not have, one field `unparsed` for a fact that
    /// could not be parsed.
    pub(crate) fn facts(&self) -> &Value {
        self.facts.get_or_init(|| {
            let parsed = self.parsed();
            let paths: Vec<Value> = parsed.paths.iter().map(|one| located(&one.place, &one.path)).collect();
            let path = match paths.as_slice() {
                [] => Value::Null,
                [path] => path.clone(),
                // A rule that examines `path` means the only path; a second path must not stay unexamined.
                _ => json!({ UNPARSED: "the call names several paths; use `paths`" }),
            };
            json!({
                "shell": parsed.shell.as_ref().map(shown),
                "path": path,
                "paths": paths,
                "url": parsed.url.as_ref().map(shown),
                "sql": parsed.sql.as_ref().map(shown),
            })
        })
    }

    /// The fact of this name.
    pub(crate) fn fact(&self, name: &str) -> &Value {
        &self.facts()[name]
    }
}

/// The facts of a path with the position of its argument.
fn located(argument: &str, path: &Result<PathFacts, Unparsed>) -> Value {
    let mut value = shown(path);
    value["argument"] = argument.into();
    value
}

fn shown<T: Serialize>(facts: &Result<T, Unparsed>) -> Value {
    match facts {
        Ok(facts) => json!(facts),
        Err(unparsed) => json!({ UNPARSED: unparsed.reason }),
    }
}
