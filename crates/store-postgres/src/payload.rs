//! Encoding of topics in the payload of a notification: one line each.

use std::collections::HashSet;

use domain::{ProjectId, SessionId};
use store::Topic;
use uuid::Uuid;

/// Largest payload. PostgreSQL refuses 8,000 bytes.
const MOST_BYTES: usize = 7_900;
/// Number of payloads above which one payload that wakes all readers is cheaper.
const MOST_PAYLOADS: usize = 16;
/// Payload that wakes all readers.
const EVERYTHING: &str = "*";

/// Packs topics into as few payloads as possible.
pub(crate) fn encode(topics: &HashSet<Topic>) -> Vec<String> {
    let everything = || vec![EVERYTHING.to_owned()];
    if topics.contains(&Topic::Everything) {
        return everything();
    }
    let mut payloads: Vec<String> = Vec::new();
    for topic in topics {
        let line = line(topic);
        if line.len() > MOST_BYTES {
            return everything();
        }
        match payloads.last_mut() {
            Some(last) if last.len() + 1 + line.len() <= MOST_BYTES => {
                last.push('\n');
                last.push_str(&line);
            }
            _ => payloads.push(line),
        }
    }
    if payloads.len() > MOST_PAYLOADS { everything() } else { payloads }
}

/// Returns the topics of a payload. A line that cannot be read means [`Topic::Everything`].
pub(crate) fn decode(payload: &str) -> Vec<Topic> {
    payload.split('\n').map(|line| topic(line).unwrap_or(Topic::Everything)).collect()
}

fn line(topic: &Topic) -> String {
    match topic {
        Topic::Session(session) => format!("s{}", session.uuid().simple()),
        Topic::Project(project) => format!("p{}", project.uuid().simple()),
        Topic::Agent(project, name) => named('a', *project, name),
        Topic::Channel(project, name) => named('c', *project, name),
        Topic::Timers => "t".into(),
        Topic::Steps => "w".into(),
        Topic::Everything => EVERYTHING.into(),
    }
}

/// Encodes a topic with a name. The name is JSON, so that a line break in it stays on one line.
fn named(sort: char, project: ProjectId, name: &str) -> String {
    format!("{sort}{}{}", project.uuid().simple(), serde_json::Value::from(name))
}

fn topic(line: &str) -> Option<Topic> {
    let (sort, rest) = line.split_at_checked(1)?;
    match sort {
        "s" => Some(Topic::Session(SessionId::from_uuid(Uuid::try_parse(rest).ok()?))),
        "p" => Some(Topic::Project(ProjectId::from_uuid(Uuid::try_parse(rest).ok()?))),
        "a" | "c" => {
            let (project, name) = rest.split_at_checked(32)?;
            let project = ProjectId::from_uuid(Uuid::try_parse(project).ok()?);
            let name = serde_json::from_str(name).ok()?;
            Some(if sort == "a" { Topic::Agent(project, name) } else { Topic::Channel(project, name) })
        }
        "t" if rest.is_empty() => Some(Topic::Timers),
        "w" if rest.is_empty() => Some(Topic::Steps),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> ProjectId {
        ProjectId::from_uuid(Uuid::from_u128(7))
    }

    fn check(topics: &[Topic], payloads: usize, expected: &[Topic]) {
        let given: HashSet<Topic> = topics.iter().cloned().collect();
        let encoded = encode(&given);
        assert_eq!(encoded.len(), payloads, "{encoded:?}");
        assert!(encoded.iter().all(|payload| payload.len() < 8_000 && !payload.is_empty()));
        let decoded: HashSet<Topic> = encoded.iter().flat_map(|payload| decode(payload)).collect();
        assert_eq!(decoded, expected.iter().cloned().collect());
    }

    #[test]
    fn topics_survive_encoding_and_decoding() {
        let agent = |name: &str| Topic::Agent(project(), name.into());
        let session = |number| Topic::Session(SessionId::from_uuid(Uuid::from_u128(number)));
        let few = [
            session(1),
            Topic::Project(project()),
            agent("deployer"),
            agent("two\nlines \0 \"ü\""),
            agent(""),
            Topic::Channel(project(), "chat-7".into()),
        ];
        check(&few, 1, &few);
        check(&[Topic::Timers], 1, &[Topic::Timers]);
        check(&[Topic::Steps], 1, &[Topic::Steps]);
        check(&[Topic::Everything, Topic::Timers], 1, &[Topic::Everything]);
        let many: Vec<Topic> = (0..1000).map(session).collect();
        check(&many, 5, &many);
        let too_many: Vec<Topic> = (0..10_000).map(session).collect();
        check(&too_many, 1, &[Topic::Everything]);
        check(&[agent(&"x".repeat(10_000))], 1, &[Topic::Everything]);
        check(&[], 0, &[]);
    }

    #[test]
    fn unknown_payload_is_decoded_as_everything() {
        for payload in ["", "x", "s", "sno-uuid", "t1", "a00000000000000000000000000000007deployer", "ü", "*"] {
            assert_eq!(decode(payload), [Topic::Everything], "{payload:?}");
        }
    }
}
