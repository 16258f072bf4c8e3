//! A secret value that outlives its question, because the person who gave it said so.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Actor, Happening, Scope, SecretId};

/// What is known of a kept secret, its value apart: that is sealed, and leaves only with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSecret {
    /// Its id. A value that is kept again gets a new one.
    pub id: SecretId,
    /// Where it may be used.
    pub scope: Scope,
    /// The agent that may be given it: the name of the key that asked, never what a session calls itself.
    pub agent: String,
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
    pub fn kept<'a>(by: &Actor, agent: &str, names: impl Iterator<Item = &'a String>) -> Happening {
        Happening::by("secret.kept", by, json!({ "agent": agent, "names": names.collect::<Vec<_>>() }))
    }

    /// What everybody is told when kept secrets answer a question in place of a person: their names.
    #[must_use]
    pub fn used(agent: &str, names: &[String]) -> Happening {
        Happening::by("secret.used", &Actor::system(), json!({ "agent": agent, "names": names }))
    }
}
