//! Search text of a question: its words and names in one text that is compared without regard to case.

use serde_json::Value;
use uuid::Uuid;

use crate::{Interaction, InteractionId, SessionId};

/// Largest number of characters of the search text. People usually search for the beginning of a question.
const MOST: usize = 10_000;

/// Largest number of bytes of one argument, so that the content of a file does not displace its path.
const MOST_OF_ONE: usize = 4_000;

/// Builds the search text of a question: its title, message, tool and argument values, the agent, and the name of its session.
///
/// The text contains no answers, and therefore no secret values that people gave.
#[must_use]
pub fn search_text(interaction: &Interaction, session: Option<&str>) -> String {
    let Interaction { origin, question, .. } = interaction;
    let mut said = String::new();
    let tool = question.call.as_ref().map(|call| &*call.tool);
    for part in [Some(&*question.title), tool, origin.agent.as_deref(), session, question.message.as_deref()] {
        add(&mut said, part.unwrap_or_default());
    }
    if let Some(call) = &question.call {
        values(&mut said, &call.arguments);
    }
    let end = said.char_indices().nth(MOST).map_or(said.len(), |(end, _)| end);
    said.truncate(end);
    said
}

/// Search term in the form in which it is compared with the search text.
#[must_use]
pub fn sought(text: &str) -> String {
    // PostgreSQL cannot store NUL in text, so it is replaced in both the search text and the term.
    text.to_lowercase().replace('\0', " ")
}

/// UUID of a session or question, if the search term is an identifier.
#[must_use]
pub fn sought_id(text: &str) -> Option<Uuid> {
    let text = text.trim();
    let session = text.parse().map(SessionId::uuid);
    session.or_else(|_| text.parse().map(InteractionId::uuid)).ok()
}

fn add(said: &mut String, part: &str) {
    if !part.is_empty() {
        said.push_str(&sought(part));
        said.push('\n');
    }
}

/// Adds the strings and numbers in a value, without the names of fields.
fn values(said: &mut String, value: &Value) {
    if said.len() > 4 * MOST {
        return;
    }
    match value {
        Value::String(text) => add(said, text.get(..text.floor_char_boundary(MOST_OF_ONE)).unwrap_or(text)),
        Value::Number(number) => add(said, &number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| values(said, item)),
        Value::Object(fields) => fields.values().for_each(|field| values(said, field)),
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Actor, ActorKind, ProjectId, Question, Scope, Session, SessionHead, StepId, TenantId};
    use jiff::Timestamp;
    use serde_json::json;

    fn asked(question: Value) -> Interaction {
        let nobody = Uuid::nil();
        let scope = Scope { tenant: TenantId::from_uuid(nobody), project: ProjectId::from_uuid(nobody) };
        let by = Actor { kind: ActorKind::Agent, name: "release-bot".into() };
        let head = SessionHead {
            agent: Some("Release-Bot".into()),
            agent_version: None,
            channel: "chat-7".into(),
            title: None,
            flow: None,
            flow_version: None,
        };
        let (id, step) = (SessionId::from_uuid(nobody), StepId::from_uuid(nobody));
        let session = Session::start(id, scope, head, step, by.clone(), Timestamp::UNIX_EPOCH).0;
        let question: Question = serde_json::from_value(question).unwrap();
        Interaction::ask(InteractionId::from_uuid(nobody), &session, by, question, Timestamp::UNIX_EPOCH).0
    }

    #[test]
    fn search_finds_values_of_a_question_and_not_its_field_names() {
        let arguments =
            json!({ "command": "rm -rf \"/srv/ОТЧЁТ\"", "tries": 42, "env": { "KEY": ["a\0b", true, null] } });
        let question = json!({ "kind": "approval", "title": "Run it?", "message": "Two\nLines", "required": true,
            "action": { "tool": "execute_command", "arguments": arguments } });
        let said = search_text(&asked(question), Some("Friday\u{2019}s release"));
        for text in [
            "RUN IT",
            "two\nlines",
            "Execute_Command",
            "rm -rf \"/srv/отчёт\"",
            "42",
            "A\0B",
            "release-bot",
            "FRIDAY\u{2019}S",
        ] {
            assert!(said.contains(&sought(text)), "{text} in {said}");
        }
        for text in ["command\n\"", "tries", "KEY", "true", "null", "chat-7", "approval", "int_"] {
            assert!(!said.contains(&sought(text)), "{text} in {said}");
        }
    }

    #[test]
    fn id_is_recognised_with_and_without_its_prefix() {
        let uuid = Uuid::from_u128(7);
        for text in [format!("ses_{uuid}"), format!(" int_{uuid}\n"), uuid.to_string()] {
            assert_eq!(sought_id(&text), Some(uuid), "{text}");
        }
        assert_eq!(sought_id(&format!("key_{uuid}")), None);
    }

    #[test]
    fn search_text_of_a_long_question_is_its_beginning() {
        let content = format!("begins {} ends", "ж".repeat(2 * MOST));
        let question = json!({ "kind": "approval", "title": "Write?", "required": true,
            "action": { "tool": "write_file", "arguments": { "content": content } } });
        let said = search_text(&asked(question), None);
        assert!(said.contains("begins") && !said.contains("ends"));
        assert!(said.chars().count() <= MOST);
    }

    #[test]
    fn search_text_of_a_long_write_contains_its_path() {
        let arguments = json!({ "content": "ж".repeat(3 * MOST), "path": "/srv/far/away.toml" });
        let question = json!({ "kind": "approval", "title": "Write?", "required": true,
            "action": { "tool": "write_file", "arguments": arguments } });
        assert!(search_text(&asked(question), None).contains("away.toml"));
    }
}
