//! Secrets: the values that a question may ask for, and values that are kept after their question because the person who gave them chose
//! so.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::SecretNames;
use crate::question::MOST_ITEMS;
use crate::{Actor, EventDraft, EventKind, Problem, Question, Scope, SecretId, text};

/// Input types of a secret.
const INPUTS: [&str; 3] = ["password", "text", "multiline"];

/// A kept secret without its value. The value is stored sealed and is returned only as part of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSecret {
    /// Identifier of the secret. Storing a secret of this name again creates a new identifier.
    pub id: SecretId,
    /// Tenant and project in which the secret may be used.
    pub scope: Scope,
    /// Agent that may receive the secret: the name of the key that asked, never the agent name that a session states; or the name of the
    /// hosted agent.
    pub agent: String,
    /// Whether the secret belongs to the hosted agent of that name or to a key of that name. One never receives a secret of the other.
    /// `None` in older secrets, which no agent receives.
    #[serde(rename = "driven")]
    pub hosted: Option<bool>,
    /// Name of the secret, for example the name of an environment variable.
    pub name: String,
    /// Person who gave the secret and chose to keep it.
    pub kept_by: Actor,
    /// Time at which the secret was stored.
    pub kept_at: Timestamp,
    /// Time at which the secret last answered a question.
    pub used_at: Option<Timestamp>,
}

impl KeptSecret {
    /// Event draft that reports the names of the secrets that a person kept for an agent.
    pub fn kept<'a>(by: &Actor, agent: &str, names: impl Iterator<Item = &'a String>) -> EventDraft {
        let kept = SecretNames { agent: agent.to_owned(), names: names.cloned().collect() };
        EventDraft::by(by, EventKind::SecretKept(kept))
    }

    /// Event draft that reports the names of the kept secrets that answered a question in place of a person.
    #[must_use]
    pub fn used(agent: &str, names: &[String]) -> EventDraft {
        let used = SecretNames { agent: agent.to_owned(), names: names.to_vec() };
        EventDraft::by(&Actor::system(), EventKind::SecretUsed(used))
    }
}

impl Question {
    /// Checks the fields of a secret question: unique names, known types, readable labels.
    pub(crate) fn check_secrets(&self, problems: &mut Vec<Problem>) {
        if self.secrets.len() > MOST_ITEMS {
            problems.push(Problem::new("/secrets", format!("must have at most {MOST_ITEMS} items")));
        }
        for (index, field) in self.secrets.iter().enumerate() {
            text::check_identifier(&format!("/secrets/{index}/name"), &field.name, problems);
            if self.secrets[..index].iter().any(|earlier| earlier.name == field.name) {
                problems.push(Problem::new(format!("/secrets/{index}/name"), "is named twice"));
            }
            if field.input.as_deref().is_some_and(|input| !INPUTS.contains(&input)) {
                let problem = format!("must be one of {}", INPUTS.join(", "));
                problems.push(Problem::new(format!("/secrets/{index}/type"), problem));
            }
            for (part, line) in [("label", &field.label), ("placeholder", &field.placeholder)] {
                if let Some(line) = line {
                    text::check_line(&format!("/secrets/{index}/{part}"), line, problems);
                }
            }
        }
    }

    /// JSON Schema of the named secrets: only the declared names, each a string that fits its pattern.
    pub(crate) fn secrets_schema(&self) -> Value {
        let properties = self.secrets.iter().map(|field| {
            let mut schema = json!({ "type": "string", "maxLength": 65_536 });
            if field.required {
                schema["minLength"] = json!(1);
            }
            if let Some(pattern) = &field.pattern {
                schema["pattern"] = json!(pattern);
            }
            if field.input.as_deref().is_some_and(|input| input != "multiline") {
                schema["allOf"] = json!([{ "pattern": "^[^\\r\\n]*$" }]);
            }
            (field.name.clone(), schema)
        });
        let required: Vec<&String> =
            self.secrets.iter().filter(|field| field.required).map(|field| &field.name).collect();
        json!({
            "type": "object",
            "properties": properties.collect::<serde_json::Map<_, _>>(),
            "required": required,
            "additionalProperties": false,
        })
    }
}
