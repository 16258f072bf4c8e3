//! Tests of suggested answers and of the counts of earlier answers.

use jiff::Timestamp;
use uuid::Uuid;

use super::*;
use crate::interaction::Origin;
use crate::resolution::AutoSource;
use crate::{Actor, AnswerId, Choice, Delivery, InteractionId, ProjectId, Scope, SessionId, StepId, TenantId};

fn suggestion(id: &str, source: SuggestionSource, data: Value) -> Suggestion {
    let count = (source == SuggestionSource::Analytics).then_some(7);
    Suggestion { id: id.into(), label: id.into(), source, option: None, data, count }
}

fn question(kind: Kind) -> Question {
    let mut question = Question::plain(kind, "Which one?".into());
    question.options =
        vec![Choice::new("a", "The first", Effect::Provide), Choice::new("b", "The second", Effect::Custom)];
    question
}

fn answer() -> Answer {
    Answer {
        entry_point: None,
        id: AnswerId::from_uuid(Uuid::nil()),
        by: Actor { kind: ActorKind::User, name: "alice".into() },
        groups: Vec::new(),
        role: None,
        at: Timestamp::UNIX_EPOCH,
        effect: Effect::Provide,
        options: vec!["a".into()],
        metadata: Value::Null,
        arguments: None,
        data: Value::Null,
        feedback: None,
    }
}

fn ended(question: Question, resolution: Resolution) -> Interaction {
    let nil = Uuid::nil();
    let agent = Actor { kind: ActorKind::Agent, name: "bot".into() };
    Interaction {
        id: InteractionId::from_uuid(nil),
        scope: Scope { tenant: TenantId::from_uuid(nil), project: ProjectId::from_uuid(nil) },
        origin: Origin {
            session: SessionId::from_uuid(nil),
            step: StepId::from_uuid(nil),
            channel: "chat".into(),
            agent: None,
            agent_version: None,
            hosted: false,
            asked_by: agent.clone(),
            started_by: agent,
            at: Timestamp::UNIX_EPOCH,
            traceparent: None,
            handed_from: None,
        },
        question,
        state: State::Resolved {
            resolution,
            at: Timestamp::UNIX_EPOCH,
            delivery: Delivery::Waiting { attempt: 0 },
            handed_over: None,
        },
        revision: 2,
    }
}

fn check(question: Question, answer: Answer, counted: Option<(Option<&str>, Value)>) {
    let shown = format!("{answer:?}");
    let pattern = AnswerPattern::of(&ended(question, Resolution::Answered { answer, votes: Vec::new() }));
    let found = pattern.map(|pattern| (pattern.option, pattern.data));
    assert_eq!(found, counted.map(|(option, data)| (option.map(str::to_owned), data)), "{shown}");
}

#[test]
fn configured_suggestions_come_first_and_replace_duplicates() {
    use SuggestionSource::{Analytics, Llm, Rule};
    let rule = vec![suggestion("x", Rule, json!(1)), suggestion("y", Rule, json!(2))];
    let llm = vec![suggestion("x", Llm, json!(3)), suggestion("z", Llm, json!(4))];
    let analytics = vec![
        suggestion("z", Analytics, json!(5)),
        suggestion("w", Analytics, json!(2)),
        suggestion("v", Analytics, json!(6)),
    ];
    let combined = combine(rule, llm, analytics);
    let shown: Vec<_> = combined.iter().map(|s| (s.id.as_str(), s.source, s.data.clone(), s.count)).collect();
    assert_eq!(
        shown,
        [
            ("x", Rule, json!(1), None),
            ("y", Rule, json!(2), Some(7)),
            ("z", Llm, json!(4), None),
            ("v", Analytics, json!(6), Some(7)),
        ]
    );
}

#[test]
fn combined_suggestions_stay_within_the_limit() {
    let many = |source, prefix: &str| -> Vec<Suggestion> {
        (0..80).map(|n| suggestion(&format!("{prefix}{n}"), source, json!(format!("{prefix}{n}")))).collect()
    };
    let combined = combine(many(SuggestionSource::Rule, "r"), many(SuggestionSource::Llm, "l"), Vec::new());
    assert_eq!(combined.len(), MOST_ITEMS);
    assert!(combined[..80].iter().all(|suggestion| suggestion.source == SuggestionSource::Rule));
}

#[test]
fn the_most_frequent_answers_that_are_still_offered_are_suggested() {
    let counted = |option: Option<&str>, data: Value, count| Counted { option: option.map(Into::into), data, count };
    let before = vec![
        counted(Some("a"), Value::Null, 2),
        counted(Some("gone"), Value::Null, 90),
        counted(Some("b"), json!({ "size": 3, "name": "x" }), 12),
        counted(None, json!("by \u{202E}mail\n"), 1),
    ];
    let suggested = analytics(before.clone(), &question(Kind::Question), 5);
    let shown: Vec<_> = suggested.iter().map(|s| (s.label.as_str(), s.option.as_deref(), s.count)).collect();
    let second = ("The second: name x, size 3 (12 times before)", Some("b"), Some(12));
    assert_eq!(
        shown,
        [second, ("The first (2 times before)", Some("a"), Some(2)), ("by  mail  (once before)", None, Some(1))]
    );
    assert_eq!(analytics(before.clone(), &question(Kind::Question), 1).len(), 1);
    assert_eq!(analytics(before.clone(), &question(Kind::Secret), 5), []);
    // A choice is answered with an option, so an earlier answer without one cannot be suggested.
    assert_eq!(analytics(before, &question(Kind::Choice), 5).len(), 2);
}

#[test]
fn suggestions_from_earlier_answers_are_valid() {
    let awkward =
        [json!("\u{0}"), json!("x".repeat(4_000)), json!({ "\u{1b}[31m": ["\u{202E}"] }), json!(""), json!([])];
    let counted = awkward.into_iter().map(|data| Counted { option: None, data, count: 2 }).collect();
    let mut question = question(Kind::Question);
    question.suggestions = analytics(counted, &question, 10);
    assert_eq!(question.suggestions.len(), 5);
    assert!(question.admit().is_ok());
}

#[test]
fn only_answers_of_people_that_continue_are_counted() {
    let ask = || question(Kind::Question);
    let free = |feedback: &str| Answer { options: Vec::new(), feedback: Some(feedback.into()), ..answer() };
    check(ask(), answer(), Some((Some("a"), Value::Null)));
    check(ask(), Answer { feedback: Some("my reason".into()), ..answer() }, Some((Some("a"), Value::Null)));
    check(ask(), free("by mail"), Some((None, json!("by mail"))));
    check(ask(), Answer { options: Vec::new(), data: json!({ "x": 1 }), ..answer() }, Some((None, json!({ "x": 1 }))));
    check(question(Kind::Approval), Answer { effect: Effect::Approve, ..answer() }, Some((Some("a"), Value::Null)));
    check(ask(), Answer { effect: Effect::Custom, ..answer() }, Some((Some("a"), Value::Null)));
    for effect in [Effect::Edit, Effect::Retry, Effect::Reject, Effect::Terminate, Effect::Skip] {
        check(ask(), Answer { effect, ..answer() }, None);
    }
    check(ask(), Answer { by: Actor::system(), ..answer() }, None);
    check(ask(), Answer { options: vec!["a".into(), "b".into()], ..answer() }, None);
    check(ask(), Answer { options: Vec::new(), ..answer() }, None);
    check(ask(), free(&"x".repeat(MOST_BYTES)), None);
    check(question(Kind::Secret), answer(), None);
    check(question(Kind::Notice), answer(), None);
}

#[test]
fn a_form_with_a_field_for_a_secret_is_not_counted() {
    let form = |field: Value| {
        let mut form = question(Kind::Form);
        form.schema = Some(json!({ "properties": { "a": { "items": [field] } } }));
        form
    };
    let filled = || Answer { options: Vec::new(), data: json!({ "a": ["x"] }), ..answer() };
    check(form(json!({ "type": "string" })), filled(), Some((None, json!({ "a": ["x"] }))));
    check(form(json!({ "type": "string", "format": "password" })), filled(), None);
    check(form(json!({ "type": "string", "writeOnly": true })), filled(), None);
}

#[test]
fn fallbacks_and_expired_questions_are_not_counted() {
    let fallback = Resolution::AutoResolved { answer: answer(), source: AutoSource::System, reason: "late".into() };
    assert_eq!(AnswerPattern::of(&ended(question(Kind::Question), fallback)), None);
    assert_eq!(AnswerPattern::of(&ended(question(Kind::Question), Resolution::Expired)), None);
}

#[test]
fn equal_json_in_two_spellings_is_one_pattern() {
    let pattern = |data: &str| {
        let answer = Answer { options: Vec::new(), data: serde_json::from_str(data).unwrap(), ..answer() };
        AnswerPattern::of(&ended(question(Kind::Form), Resolution::Answered { answer, votes: Vec::new() }))
            .unwrap()
            .digest
    };
    assert_eq!(pattern(r#"{"a": 1.0, "b": 2}"#), pattern(r#"{"b": 2, "a": 1}"#));
    assert_ne!(pattern(r#"{"a": 1}"#), pattern(r#"{"a": "1"}"#));
}
