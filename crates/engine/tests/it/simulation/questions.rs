//! Generates the questions of agents and the answers of people.

use domain::{AnswerDraft, Effect, Interaction, Kind, Question};
use holdpoint_engine::Ask;
use serde_json::{Value, json};
use testkit::Random;

/// Marker in secrets, which must never appear in an event, in a question, or for another agent.
pub(crate) const MARKER: &str = "s3cr3t";

/// Resume point that an agent leaves with a question of this title.
pub(crate) fn resume_point(title: &str) -> Value {
    json!({ "left with": title })
}

/// Secret that a person gives to a question of this title.
pub(crate) fn secret(title: &str, person: &str) -> Value {
    json!({ "TOKEN": format!("{MARKER} of {person} for {title}") })
}

/// A question of any kind, with any audience, deadline and fallback; occasionally one that must be refused.
pub(crate) fn ask(random: &mut Random, title: &str) -> Ask {
    let kinds = ["approval", "approval", "confirmation", "choice", "question", "form", "secret", "review", "notice"];
    let kind = random.pick(&kinds).copied().unwrap_or("custom");
    let kind = if random.one_in(12) { json!({ "custom": "poll" }) } else { json!(kind) };
    let mut question = json!({ "kind": kind, "title": title, "required": random.one_in(2) });
    let mut fallbacks = vec![json!("hold"), json!("deny")];
    match kind.as_str() {
        Some("approval") => {
            question["action"] = json!({ "tool": "deploy", "arguments": { "to": "production" } });
            fallbacks.extend([json!({ "option": "approve" }), json!({ "option": "terminate" })]);
        }
        Some("confirmation") => fallbacks.push(json!({ "option": "confirm" })),
        Some("choice") => {
            let option = |id: &str| json!({ "id": id, "label": id, "effect": "custom", "metadata": { "chosen": id } });
            question["options"] = json!([option("left"), option("right")]);
            question["multiple"] = json!(random.one_in(2));
            fallbacks.push(json!({ "option": "left" }));
        }
        Some("form") => {
            let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
            question["schema"] = schema;
            fallbacks.push(json!({ "value": { "n": 0 } }));
        }
        Some("secret") => question["secrets"] = json!([{ "name": "TOKEN", "required": true }]),
        Some("question") => fallbacks.push(json!({ "value": "as you like" })),
        _ => {}
    }
    if kind != json!("secret") || random.one_in(2) {
        question["audience"] = audience(random, kind != json!("secret"));
    }
    let deadline_seconds = (!random.one_in(3)).then(|| [1, 30, 90, 600, 4000][random.below(5)]);
    if deadline_seconds.is_some() && !random.one_in(4) {
        question["fallback"] = fallbacks.swap_remove(random.below(fallbacks.len()));
    }
    if random.one_in(25) {
        question["options"] = json!([{ "id": "not an id", "label": "", "effect": "custom" }]);
    }
    let question: Question = serde_json::from_value(question).unwrap();
    let resume_point = random.one_in(3).then(|| resume_point(title));
    Ask { question, deadline_seconds, resume_point, traceparent: None }
}

fn audience(random: &mut Random, many: bool) -> Value {
    match random.below(8) {
        0 => json!({ "quorum": 1, "four_eyes": true }),
        1 => json!({ "quorum": 1, "named": { "users": ["alice", "dave"] } }),
        2 => json!({ "quorum": 1, "named": { "roles": ["viewer", "admin"] } }),
        3 if many => json!({ "quorum": 2 }),
        4 if many => json!({ "quorum": 2, "four_eyes": true, "named": { "users": ["alice", "bob", "dave"] } }),
        5 if many => json!({ "quorum": 2, "distinct_groups": true, "named": { "groups": ["ops", "security"] } }),
        _ => json!({ "quorum": 1 }),
    }
}

/// A possible answer of a person to a question; occasionally one that does not fit.
pub(crate) fn draft(random: &mut Random, asked: &Interaction, person: &str) -> AnswerDraft {
    let question = &asked.question;
    if random.one_in(12) {
        return AnswerDraft { options: vec!["no such option".into()], ..AnswerDraft::default() };
    }
    if random.one_in(8) {
        return AnswerDraft { effect: Some(Effect::Skip), ..AnswerDraft::default() };
    }
    if let Some(option) = random.pick(&question.options) {
        let arguments = (option.effect == Effect::Edit).then(|| json!({ "to": "staging" }));
        let feedback = option.requires_input.then(|| "smaller, please".to_owned());
        return AnswerDraft { options: vec![option.id.clone()], arguments, feedback, ..AnswerDraft::default() };
    }
    let data = match question.kind {
        Kind::Form => json!({ "n": 1 }),
        Kind::Secret => secret(&question.title, person),
        _ => json!("as you like"),
    };
    AnswerDraft { data, ..AnswerDraft::default() }
}
