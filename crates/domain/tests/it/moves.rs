//! Checks that the list of moves and the validation of answers agree, for every kind of question with every kind of option.

use crate::common::people::{at, caller, session, uuid};
use crate::common::questions::{draft, question};
use holdpoint_domain::{
    AnswerId, Consequence, Effect, FormProof, InputKind, Interaction, InteractionId, Kind, Move, MoveInput, Question,
    Role,
};
use serde_json::{Value, json};

const KINDS: [&str; 8] = ["approval", "confirmation", "choice", "question", "form", "secret", "review", "notice"];

/// Lists of options: none, one of each effect alone, two of one effect, one of every effect, and options that require input or are
/// dangerous.
fn option_lists() -> Vec<Vec<Value>> {
    let option = |id: &str, effect: Effect| json!({ "id": id, "label": id.to_uppercase(), "effect": effect });
    let flagged = |effect: Effect, flag: &str| {
        let mut option = option(&format!("{}-{flag}", effect.name()), effect);
        option[flag] = json!(true);
        option
    };
    let mut lists = vec![Vec::new(), Effect::ALL.iter().map(|effect| option(effect.name(), *effect)).collect()];
    for effect in Effect::ALL {
        lists.push(vec![option("one", effect)]);
        lists.push(vec![option("one", effect), option("two", effect), option("no", Effect::Reject)]);
        lists.push(vec![flagged(effect, "requires_input"), flagged(effect, "dangerous")]);
    }
    lists
}

/// All valid questions with these parts.
fn questions() -> Vec<Question> {
    let kinds = KINDS.iter().map(|kind| json!(kind)).chain([json!({ "custom": "vote" })]);
    let mut found = Vec::new();
    for kind in kinds {
        for options in option_lists() {
            for bits in 0..16_u8 {
                let has = |bit: u8| bits & bit != 0;
                let mut fields = json!({ "kind": kind, "options": options, "required": has(1), "multiple": has(2) });
                if has(4) {
                    fields["schema"] = json!({ "type": "object" });
                }
                if has(8) {
                    fields["action"] = json!({ "tool": "write_file", "arguments": { "path": "a" } });
                }
                if kind == "secret" {
                    fields["secrets"] = json!([{ "name": "TOKEN", "required": true }]);
                }
                found.extend(question(fields).admit().ok());
            }
        }
    }
    found
}

/// Body that names a move, according to the documentation of `Move`.
fn named(made: &Move) -> Value {
    match (&made.option, made.effect) {
        (Some(option), _) => json!({ "options": [option] }),
        (None, Effect::Provide) => json!({}),
        (None, effect) => json!({ "effect": effect }),
    }
}

/// Adds one input to the body of a move. `others` are the options that may be chosen with it.
fn fill(body: &mut Value, input: InputKind, others: &[String]) {
    match input {
        InputKind::Feedback => body["feedback"] = json!("because"),
        InputKind::Arguments => body["arguments"] = json!({ "path": "b" }),
        InputKind::Text => body["data"] = json!("blue"),
        InputKind::Form => body["data"] = json!({ "name": "x" }),
        InputKind::Secrets => body["data"] = json!({ "TOKEN": "t" }),
        InputKind::Options => {
            body["options"] = json!(others);
            body["feedback"] = json!("because one of the others may require it");
        }
    }
}

/// Body of a move with these inputs, and the proof that a validator would give for its form.
fn filled(question: &Question, made: &Move, inputs: &[MoveInput]) -> (Value, Option<FormProof>) {
    let alike = question.options.iter().filter(|option| option.effect == made.effect);
    let alike: Vec<String> = alike.map(|option| option.id.clone()).collect();
    let mut body = named(made);
    inputs.iter().for_each(|one| fill(&mut body, one.input, &alike));
    let has_form = inputs.iter().any(|one| matches!(one.input, InputKind::Form | InputKind::Secrets));
    (body, has_form.then(FormProof::checked))
}

fn asked(question: &Question) -> Interaction {
    let bot = caller("bot", Role::Agent, &[]).actor;
    Interaction::ask(InteractionId::from_uuid(uuid(10)), &session(), bot, question.clone(), at(0)).0
}

#[test]
fn every_move_is_accepted_with_its_inputs() {
    let (alice, id) = (caller("alice", Role::Operator, &[]), AnswerId::from_uuid(uuid(20)));
    let questions = questions();
    assert!(questions.len() > 1000, "only {} questions", questions.len());
    for question in questions {
        let asked = asked(&question);
        let reviewer = asked.admit(&alice).unwrap();
        for made in asked.moves() {
            let required: Vec<MoveInput> = made.takes.iter().copied().filter(|one| one.required).collect();
            for inputs in [&required, &made.takes] {
                let (body, proof) = filled(&question, &made, inputs);
                let answered = asked.clone().answer(&reviewer, id, draft(body.clone()), proof, at(9));
                let (after, event) = answered.unwrap_or_else(|refusal| panic!("{question:?} {body}: {refusal:?}"));
                assert_eq!(event.data()["effect"], json!(made.effect), "{question:?} {body}");
                assert_eq!(after.moves(), [], "a question that was answered has no moves");
            }
        }
    }
}

#[test]
fn no_move_is_accepted_without_a_required_input() {
    for question in questions() {
        for made in question.moves() {
            for left_out in made.takes.iter().filter(|one| one.required) {
                let inputs: Vec<MoveInput> =
                    made.takes.iter().copied().filter(|one| one.required && one != left_out).collect();
                let (body, proof) = filled(&question, &made, &inputs);
                let settled = question.settle(draft(body.clone()), proof);
                assert!(settled.is_err(), "{question:?} takes {body} without {left_out:?}");
            }
        }
    }
}

#[test]
fn answer_outside_the_moves_is_refused() {
    let inputs = [
        json!({}),
        json!({ "feedback": "because" }),
        json!({ "data": "blue" }),
        json!({ "data": { "name": "x" } }),
        json!({ "arguments": { "path": "b" } }),
        json!({ "arguments": { "path": "b" }, "data": { "name": "x" }, "feedback": "because" }),
    ];
    for question in questions() {
        let moves = question.moves();
        let mut names: Vec<Value> = Effect::ALL.iter().map(|effect| json!({ "effect": effect })).collect();
        names.extend(["one", "two", "no", "approve"].map(|id| json!({ "options": [id] })));
        names.extend([json!({}), json!({ "options": ["one", "two"] }), json!({ "options": ["one", "no"] })]);
        for (name, input) in names.iter().flat_map(|name| inputs.iter().map(move |input| (name, input))) {
            let mut body = name.clone();
            body.as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
            let Ok(settled) = question.settle(draft(body.clone()), Some(FormProof::checked())) else { continue };
            let is_made = |option: Option<&String>| {
                moves.iter().find(|made| made.effect == settled.effect && made.option.as_ref() == option)
            };
            if settled.options.is_empty() {
                let is_rejected_notice = question.kind == Kind::Notice && settled.effect == Effect::Reject;
                assert!(is_made(None).is_some() || is_rejected_notice, "{question:?} accepts {body}");
            }
            for option in &settled.options {
                let made = is_made(Some(option)).unwrap_or_else(|| panic!("{question:?} accepts {body}"));
                let takes_others = made.takes.iter().any(|one| one.input == InputKind::Options);
                assert!(settled.options.len() == 1 || takes_others, "{question:?} accepts {body}");
            }
        }
    }
}

#[test]
fn a_notice_accepts_a_rejection_that_it_does_not_offer() {
    let notice = question(json!({ "kind": "notice" })).admit().unwrap();
    assert_eq!(notice.settle(draft(json!({ "effect": "reject" })), None).unwrap().effect, Effect::Reject);
    assert!(notice.moves().iter().all(|made| made.effect != Effect::Reject));
}

#[test]
fn handed_over_question_has_no_moves() {
    let asked = asked(&question(json!({ "kind": "confirmation" })).admit().unwrap());
    let reviewer = asked.admit(&caller("alice", Role::Operator, &[])).unwrap();
    let mut elsewhere = session();
    elsewhere.head.channel = "elsewhere".into();
    let second = InteractionId::from_uuid(uuid(11));
    let handed = asked.clone().hand_over(&reviewer, (&elsewhere, second), None, at(9)).unwrap();
    assert_eq!(handed.first.0.moves(), []);
    assert_eq!(handed.second.0.moves(), asked.moves());
}

/// A move in one line: its option or effect, its inputs (`?` marks an optional one), and its consequence.
fn line(made: &Move) -> String {
    let name = made.option.clone().unwrap_or_else(|| format!("({})", made.effect.name()));
    let input = |one: &MoveInput| format!("{:?}{}", one.input, if one.required { "" } else { "?" });
    let takes: Vec<String> = made.takes.iter().map(input).collect();
    format!("{name} [{}] {:?}", takes.join(" "), made.does)
}

fn check(fields: Value, expected: &[&str]) {
    let moves = question(fields.clone()).admit().unwrap().moves();
    assert_eq!(moves.iter().map(line).collect::<Vec<_>>(), expected, "{fields}");
}

#[test]
fn each_kind_of_question_has_its_moves() {
    let action = json!({ "tool": "write_file", "arguments": {} });
    check(
        json!({ "kind": "approval", "action": action }),
        &[
            "approve [] RunAction",
            "edit [Arguments Feedback?] RunAction",
            "retry [Feedback] SendBack",
            "reject [Feedback?] Refuse",
            "terminate [Feedback?] EndSession",
        ],
    );
    check(
        json!({ "kind": "review" }),
        &["approve [] Resume", "revise [Feedback] SendBack", "reject [Feedback?] Refuse"],
    );
    check(
        json!({ "kind": "question", "required": false }),
        &["(provide) [Text] Resume", "(reject) [Feedback?] Refuse", "(skip) [] Resume"],
    );
    check(
        json!({ "kind": "form", "schema": { "type": "object" } }),
        &["(provide) [Form] Resume", "(reject) [Feedback?] Refuse"],
    );
    check(
        json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }] }),
        &["(provide) [Secrets] Resume", "(reject) [Feedback?] Refuse"],
    );
    check(json!({ "kind": "notice" }), &["(provide) [] Record"]);
    let options = json!([
        { "id": "a", "label": "A", "effect": "custom" },
        { "id": "b", "label": "B", "effect": "custom", "requires_input": true },
        { "id": "none", "label": "None", "effect": "skip" },
    ]);
    check(
        json!({ "kind": "choice", "multiple": true, "options": options }),
        &["a [Options?] Resume", "b [Options? Feedback] Resume", "none [] Resume"],
    );
}

#[test]
fn a_move_is_sent_to_clients_with_its_option_and_its_inputs() {
    let options = json!([{ "id": "wipe", "label": "Wipe it", "effect": "approve", "dangerous": true }]);
    let moves = question(json!({ "kind": "question", "options": options })).admit().unwrap().moves();
    let sent = json!([
        { "effect": "provide", "dangerous": false, "takes": [{ "input": "text", "required": true }], "does": "resume" },
        { "option": "wipe", "label": "Wipe it", "effect": "approve", "dangerous": true, "takes": [], "does": "resume" },
        { "effect": "reject", "dangerous": false, "takes": [{ "input": "feedback", "required": false }],
          "does": "refuse" },
    ]);
    assert_eq!(serde_json::to_value(moves).unwrap(), sent);
    assert_eq!(serde_json::to_value(Consequence::RunAction).unwrap(), json!("run_action"));
}
