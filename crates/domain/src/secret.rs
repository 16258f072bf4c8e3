//! Secrets: what a question may ask for, and values that outlive their question because the person who gave them said so.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::question::MOST_ITEMS;
use crate::{Actor, EventDraft, Problem, Question, Scope, SecretId, text};

/// How a secret may be typed in.
const INPUTS: [&str; 3] = ["password", "text", "multiline"];

/// What is known of a kept secret, its value apart: that is sealed, and leaves only with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSecret {
    /// Its id. A value that is kept again gets a new one.
    pub id: SecretId,
    /// Where it may be used.
    pub scope: Scope,
    /// The agent that may be given it: the name of the key that asked, never what a session calls itself; or of the agent that our workers run.
    pub agent: String,
    /// Whether it is for the agent of that name that our workers run, or for a key of that name. One is never given what is kept for the
    /// other. Of older secrets it may be unknown: then nobody is given it.
    #[serde(rename = "driven")]
    pub hosted: Option<bool>,
    /// Its name, for example of an environment variable.
    pub name: String,
    /// Who gave it and said that it be kept.
    pub kept_by: Actor,
    /// When.
    pub kept_at: Timestamp,
    /// When it last answered a question.
    pub used_at: Option<Timestamp>,
}

impl KeptSecret {
    /// What everybody is told when a person keeps secrets for an agent: their names.
    pub fn kept<'a>(by: &Actor, agent: &str, names: impl Iterator<Item = &'a String>) -> EventDraft {
        EventDraft::by("secret.kept", by, json!({ "agent": agent, "names": names.collect::<Vec<_>>() }))
    }

    /// What everybody is told when kept secrets answer a question in place of a person: their names.
    #[must_use]
    pub fn used(agent: &str, names: &[String]) -> EventDraft {
        EventDraft::by("secret.used", &Actor::system(), json!({ "agent": agent, "names": names }))
    }
}

impl Question {
    /// Checks what is asked for: names of their own, known types, labels that can be read.
    pub(crate) fn check_secrets(&self, problems: &mut Vec<Problem>) {
        if self.secrets.len() > MOST_ITEMS {
            problems.push(Problem::new("/secrets", format!("are more than {MOST_ITEMS}")));
        }
        for (index, field) in self.secrets.iter().enumerate() {
            text::identifier(&format!("/secrets/{index}/name"), &field.name, problems);
            if self.secrets[..index].iter().any(|earlier| earlier.name == field.name) {
                problems.push(Problem::new(format!("/secrets/{index}/name"), "is named twice"));
            }
            if field.input.as_deref().is_some_and(|input| !INPUTS.contains(&input)) {
                let problem = format!("must be one of {}", INPUTS.join(", "));
                problems.push(Problem::new(format!("/secrets/{index}/type"), problem));
            }
            for (part, line) in [("label", &field.label), ("placeholder", &field.placeholder)] {
                if let Some(line) = line {
                    text::line(&format!("/secrets/{index}/{part}"), line, problems);
                }
            }
        }
    }

    /// Named secrets as the form that they are: declared names only, each a text that fits its pattern.
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
