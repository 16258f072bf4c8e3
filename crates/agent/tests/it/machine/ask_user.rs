//! A call of an `ask_user` tool becomes a question with only the allowed suggestions.

use domain::question::SuggestionSource;
use domain::{AgentVersion, Choice, Effect, Kind, Question, SecretField, Suggestion};
use holdpoint_agent::ask_user::{DroppedSuggestion, question, specs};
use serde_json::{Value, json};

fn agent() -> AgentVersion {
    agent_with(json!({}))
}

fn agent_with(more: Value) -> AgentVersion {
    let mut agent = json!({ "name": "helper", "version": "1", "model": { "provider": "scripted" } });
    agent.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(agent).unwrap()
}

fn check(tool: &str, arguments: Value, expected: Question) {
    let (asked, seconds, dropped) = question(tool, &arguments, &agent()).unwrap();
    assert_eq!((&asked, seconds, dropped), (&expected, None, vec![]));
    assert!(asked.admit().is_ok(), "{tool} can be put to people");
}

fn refused(tool: &str, arguments: Value, expected: &str) {
    assert_eq!(question(tool, &arguments, &agent()).unwrap_err(), expected);
}

#[test]
fn clarify_asks_a_free_text_question() {
    check("clarify", json!({ "question": "Which city?" }), Question::plain(Kind::Question, "Which city?".into()));
    let expected = Question {
        message: Some("Which city do you mean?".into()),
        details: Some("There are two of this name.".into()),
        required: false,
        ..Question::plain(Kind::Question, "City".into())
    };
    let arguments = json!({
        "title": "City",
        "question": "Which city do you mean?",
        "details": "There are two of this name.",
        "optional": true,
    });
    check("ask_user_clarify", arguments, expected);
}

#[test]
fn a_long_question_gets_a_title_of_one_line() {
    let long = format!("\n  Which\tof these?  \n{}", "word ".repeat(100));
    let expected =
        Question { message: Some(long.clone()), ..Question::plain(Kind::Question, "Which of these?".into()) };
    check("clarify", json!({ "question": long }), expected);
    let long = "я".repeat(400);
    let title = format!("{}…", "я".repeat(119));
    let expected = Question { message: Some(long.clone()), ..Question::plain(Kind::Question, title) };
    check("clarify", json!({ "question": long }), expected);
}

#[test]
fn choose_gives_its_options_the_effect_provide() {
    let arguments = json!({
        "question": "Which cache?",
        "multiple": true,
        "options": [
            {
                "id": "redis", "label": "Redis", "description": "Fast.", "risk": "One more service.", "cost": "10 EUR",
                "duration": "a day", "recommended": true, "dangerous": true, "metadata": { "plan": "a" },
            },
            { "id": "none", "label": "No cache" },
        ],
    });
    let redis = Choice {
        description: Some("Fast.".into()),
        risk: Some("One more service.".into()),
        cost: Some("10 EUR".into()),
        duration: Some("a day".into()),
        recommended: true,
        dangerous: true,
        metadata: json!({ "plan": "a" }),
        ..Choice::new("redis", "Redis", Effect::Provide)
    };
    let expected = Question {
        options: vec![redis, Choice::new("none", "No cache", Effect::Provide)],
        multiple: true,
        ..Question::plain(Kind::Choice, "Which cache?".into())
    };
    check("choose", arguments, expected);
}

#[test]
fn choose_options_can_require_input_or_skip_but_not_edit() {
    let arguments = json!({
        "question": "Which key?",
        "options": [
            { "id": "provide", "label": "Give it", "requires_input": true, "input_prompt": "The key" },
            { "id": "skip", "label": "Go without", "effect": "skip" },
        ],
    });
    let expected = Question {
        options: vec![
            Choice::new("provide", "Give it", Effect::Provide).with_input("The key"),
            Choice::new("skip", "Go without", Effect::Skip),
        ],
        ..Question::plain(Kind::Question, "Which key?".into())
    };
    check("clarify", arguments, expected);
    let rethink = json!({ "id": "rethink", "label": "None of these", "effect": "retry" });
    let expected = Question {
        options: vec![Choice::new("rethink", "None of these", Effect::Retry)],
        ..Question::plain(Kind::Choice, "Which?".into())
    };
    check("choose", json!({ "question": "Which?", "options": [rethink] }), expected);
    let edit = json!({ "question": "Which?", "options": [{ "id": "e", "label": "E", "effect": "edit" }] });
    assert!(question("choose", &edit, &agent()).is_err(), "a question of a model has no action to edit");
}

#[test]
fn form_secret_and_confirm_ask_questions_of_their_kind() {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let expected = Question { schema: Some(schema.clone()), ..Question::plain(Kind::Form, "Where to?".into()) };
    check("form", json!({ "question": "Where to?", "schema": schema }), expected);

    let field = SecretField {
        name: "API_KEY".into(),
        label: Some("The key".into()),
        input: Some("password".into()),
        required: true,
        pattern: Some("^sk-".into()),
        placeholder: None,
    };
    let expected =
        Question { secrets: vec![field], fresh: true, ..Question::plain(Kind::Secret, "May I have the key?".into()) };
    let secret = json!({ "name": "API_KEY", "label": "The key", "type": "password", "pattern": "^sk-" });
    check("secret", json!({ "question": "May I have the key?", "secrets": [secret], "fresh": true }), expected);

    let confirm = Choice { dangerous: true, ..Choice::new("confirm", "Confirm", Effect::Approve) };
    let expected = Question {
        options: vec![confirm, Choice::new("cancel", "Cancel", Effect::Reject)],
        ..Question::plain(Kind::Confirmation, "Really?".into())
    };
    check("confirm", json!({ "question": "Really?", "dangerous": true }), expected);
}

#[test]
fn invalid_arguments_are_refused_with_a_reason() {
    refused("guess", json!({ "question": "?" }), "There is no tool `ask_user_guess`.");
    refused("clarify", json!({ "question": " \n" }), "The question was not asked: `question` is empty.");
    refused(
        "clarify",
        json!({}),
        "The question was not asked: the arguments do not fit `ask_user_clarify`: missing field `question`.",
    );
    refused(
        "clarify",
        json!("Which city?"),
        "The question was not asked: the arguments do not fit `ask_user_clarify`: invalid type: string \"Which \
         city?\", expected an object.",
    );
    refused(
        "choose",
        json!({ "question": "Which?", "options": [] }),
        "The question was not asked, because people could not answer it well. /options: a choice needs at least one \
         option",
    );
    refused(
        "choose",
        json!({ "question": "Which?", "options": [{ "id": "a b", "label": "A" }, { "id": "c", "label": "" }] }),
        "The question was not asked, because people could not answer it well. /options/0/id: must be 1 to 128 \
         printable ASCII characters without spaces; /options/1/label: must not be empty",
    );
    refused(
        "secret",
        json!({ "question": "Key?", "secrets": [{ "name": "K", "type": "number" }] }),
        "The question was not asked, because people could not answer it well. /secrets/0/type: must be one of \
         password, text, multiline",
    );
}

#[test]
fn deadline_comes_from_the_agent_version() {
    let agent = agent_with(json!({ "deadlines": { "question": 300, "form": 1800 } }));
    let seconds = |tool: &str, arguments: Value| question(tool, &arguments, &agent).unwrap().1;
    assert_eq!(seconds("clarify", json!({ "question": "Which?" })), Some(300));
    assert_eq!(seconds("form", json!({ "question": "Which?", "schema": {} })), Some(1800));
    assert_eq!(seconds("confirm", json!({ "question": "Really?" })), None);
}

/// Identifiers and sources of the shown suggestions, and the dropped ones.
fn suggested(
    agent: &AgentVersion,
    tool: &str,
    mut arguments: Value,
    offered: Value,
) -> (Vec<String>, Vec<DroppedSuggestion>) {
    arguments["suggestions"] = offered;
    let (asked, _, dropped) = question(tool, &arguments, agent).unwrap();
    let metadata = if dropped.is_empty() { Value::Null } else { json!({ "dropped_suggestions": dropped }) };
    assert_eq!(asked.metadata, metadata);
    let asked = asked.admit().unwrap();
    let source = |suggestion: &Suggestion| match suggestion.source {
        SuggestionSource::Rule => "rule",
        SuggestionSource::Llm => "llm",
        SuggestionSource::Analytics => "analytics",
    };
    (asked.suggestions.iter().map(|one| format!("{} {}", source(one), one.id)).collect(), dropped)
}

fn dropped(id: &str, reason: &str) -> DroppedSuggestion {
    DroppedSuggestion { id: id.into(), reason: reason.into() }
}

#[test]
fn an_empty_allow_list_allows_nothing() {
    let offered = json!([{ "id": "porto", "label": "Porto" }]);
    let (shown, left_out) = suggested(&agent(), "clarify", json!({ "question": "Which city?" }), offered);
    let reason = "the agent's version does not allow this suggestion";
    assert_eq!((shown, left_out), (vec![], vec![dropped("porto", reason)]));
}

#[test]
fn a_models_suggestions_are_filtered_by_id_and_by_parameters() {
    let agent = agent_with(json!({ "allowed_suggestions": [
        { "id": "city", "parameters": { "name": ["Porto", "Faro"], "note": [] } },
        { "id": "plain", "options": ["a"] },
    ] }));
    let check = |offered: Value, expected: Result<&str, &str>| {
        let id = offered["id"].as_str().unwrap().to_owned();
        let arguments = json!({ "question": "Which?", "schema": { "type": "object" } });
        let (shown, left_out) = suggested(&agent, "form", arguments, json!([offered]));
        match expected {
            Ok(expected) => assert_eq!((shown, left_out), (vec![expected.to_owned()], vec![])),
            Err(reason) => assert_eq!((shown, left_out), (vec![], vec![dropped(&id, reason)])),
        }
    };
    check(json!({ "id": "city", "label": "Porto", "data": { "name": "Porto", "note": "any" } }), Ok("llm city"));
    check(json!({ "id": "city", "label": "Any" }), Ok("llm city"));
    check(
        json!({ "id": "city", "label": "Rome", "data": { "name": "Rome" } }),
        Err("the parameter `name` may not have this value"),
    );
    check(
        json!({ "id": "city", "label": "Porto", "data": { "name": ["Porto"] } }),
        Err("the parameter `name` may not have this value"),
    );
    check(
        json!({ "id": "city", "label": "Porto", "data": { "admin": true } }),
        Err("the parameter `admin` is not allowed"),
    );
    check(json!({ "id": "city", "label": "Porto", "data": "Porto" }), Err("its data is not an object of parameters"));
    check(json!({ "id": "plain", "label": "Plain" }), Ok("llm plain"));
    check(json!({ "id": "plain", "label": "Plain", "data": { "x": 1 } }), Err("the parameter `x` is not allowed"));
    check(json!({ "id": "City", "label": "Porto" }), Err("the agent's version does not allow this suggestion"));
    check(
        json!({ "id": "plain", "label": "x", "option": "a" }),
        Err("it chooses an option that the question does not have"),
    );
    check(json!({ "id": "plain", "label": "x", "option": "b" }), Err("the option `b` is not allowed"));
    check(json!({ "id": "city", "label": "x", "option": "a" }), Err("the option `a` is not allowed"));
    check(json!({ "id": "plain", "label": "" }), Err("its label must not be empty"));
    check(
        json!({ "id": "plain", "label": "safe\u{202E}gpj" }),
        Err("its label contains U+202E, which could disguise it"),
    );
}

#[test]
fn suggestions_of_the_agent_version_come_first() {
    let agent = agent_with(json!({
        "suggestions": {
            "confirmation": [{ "id": "usual", "label": "As always", "option": "confirm" }],
            "form": [{ "id": "other", "label": "Of another kind" }],
        },
        "allowed_suggestions": [{ "id": "usual", "options": ["cancel"] }, { "id": "careful", "options": ["cancel"] }],
    }));
    let offered = json!([
        { "id": "careful", "label": "No", "option": "cancel" },
        { "id": "usual", "label": "Mine", "option": "cancel" },
        { "id": "careful", "label": "Again" },
    ]);
    let (shown, left_out) = suggested(&agent, "confirm", json!({ "question": "Really?" }), offered);
    assert_eq!(shown, ["rule usual", "llm careful"]);
    let twice = "there is a suggestion of this id already";
    assert_eq!(left_out, [dropped("usual", twice), dropped("careful", twice)]);
}

#[test]
fn unusable_suggestion_of_the_agent_version_is_dropped_with_a_reason() {
    let rule = json!({ "id": "redis", "label": "Redis", "option": "redis" });
    let agent = agent_with(json!({ "suggestions": { "choice": [rule] } }));
    let options = json!([{ "id": "none", "label": "None" }]);
    let (shown, left_out) = suggested(&agent, "choose", json!({ "question": "Which?", "options": options }), json!([]));
    assert_eq!(
        (shown, left_out),
        (vec![], vec![dropped("redis", "it chooses an option that the question does not have")])
    );
}

#[test]
fn malformed_suggestion_is_dropped_alone() {
    let agent = agent_with(json!({ "allowed_suggestions": [{ "id": "porto" }] }));
    let ask = |offered| suggested(&agent, "clarify", json!({ "question": "Where?" }), offered);
    let good = json!({ "id": "porto", "label": "Porto" });
    let (shown, left_out) =
        ask(json!([{ "id": "lisbon" }, good, "faro", { "id": "beja", "label": "Beja", "colour": 1 }]));
    assert_eq!(shown, ["llm porto"]);
    let ids: Vec<&str> = left_out.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["lisbon", "", "beja"]);
    assert_eq!(left_out[0].reason, "it is not a suggestion: missing field `label`");
    assert!(left_out[1].reason.ends_with("expected an object with an id and a label"), "{}", left_out[1].reason);
    assert_eq!(ask(json!("porto")), (vec![], vec![dropped("", "`suggestions` is not a list")]));
    assert_eq!(ask(json!(null)), (vec![], vec![]));
    let many: Vec<_> = (0..300).map(|_| json!(1)).collect();
    let (_, left_out) = ask(json!(many));
    assert_eq!((left_out.len(), left_out[0].reason.as_str()), (201, "100 more suggestions were not checked"));
}

#[test]
fn a_secret_is_never_suggested() {
    let agent = agent_with(json!({ "allowed_suggestions": [{ "id": "key", "parameters": { "API_KEY": [] } }] }));
    let offered = json!([{ "id": "key", "label": "The test key", "data": { "API_KEY": "sk-1" } }]);
    let arguments = json!({ "question": "Key?", "secrets": [{ "name": "API_KEY" }] });
    let (shown, left_out) = suggested(&agent, "secret", arguments, offered);
    assert_eq!((shown, left_out), (vec![], vec![dropped("key", "a question must not contain a secret")]));
}

#[test]
fn no_question_shows_more_than_a_hundred_suggestions() {
    let ids: Vec<String> = (0..101).map(|n| format!("s{n}")).collect();
    let allowed: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
    let offered: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "label": id })).collect();
    let agent = agent_with(json!({ "allowed_suggestions": allowed }));
    let (shown, left_out) = suggested(&agent, "clarify", json!({ "question": "Which?" }), json!(offered));
    assert_eq!(shown.len(), 100);
    assert_eq!(left_out, [dropped("s100", "there are 100 suggestions already")]);
}

/// Every tool accepts the arguments that its schema names.
#[test]
fn each_tool_accepts_every_argument_of_its_schema() {
    let example = |name: &str| match name {
        "options" => json!([{ "id": "a", "label": "A" }]),
        "secrets" => json!([{ "name": "K" }]),
        "schema" => json!({ "type": "object" }),
        "suggestions" => json!([]),
        "optional" | "multiple" | "fresh" | "dangerous" | "requires_reply" => json!(true),
        _ => json!("a text"),
    };
    let specs = specs();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let expected = ["ask_user_clarify", "ask_user_choose", "ask_user_form", "ask_user_secret", "ask_user_confirm"];
    assert_eq!(names, expected);
    for spec in &specs {
        let properties = spec.schema["properties"].as_object().unwrap();
        let all: Value = properties.keys().map(|name| (name.clone(), example(name))).collect();
        assert!(question(&spec.name, &all, &agent()).is_ok(), "{}: {all}", spec.name);
        let required = spec.schema["required"].as_array().unwrap();
        for left_out in required {
            let mut most = all.clone();
            most.as_object_mut().unwrap().remove(left_out.as_str().unwrap());
            assert!(question(&spec.name, &most, &agent()).is_err(), "{} without {left_out}", spec.name);
        }
        let only: Value =
            required.iter().map(|name| (name.as_str().unwrap().to_owned(), example(name.as_str().unwrap()))).collect();
        assert!(question(&spec.name, &only, &agent()).is_ok(), "{}: {only}", spec.name);
    }
}
