//! Descriptions of the `ask_user` tools that a model reads.

use serde_json::{Map, Value, json};

use crate::machine::ASK_USER_PREFIX;
use crate::tool::ToolSpec;

/// The five tools with which a model asks people.
#[must_use]
pub fn specs() -> Vec<ToolSpec> {
    vec![clarify(), choose(), form(), secret(), confirm()]
}

fn clarify() -> ToolSpec {
    spec(
        "clarify",
        "Ask a person something that you cannot find out yourself. They answer in their own words, or with one of the options.",
        json!({
            "options": { "type": "array", "items": option(), "maxItems": 100 },
            "optional": optional(),
            "requires_reply": flag("Whether the question is also a message in the conversation. Its answer then becomes a message, too."),
        }),
        &[],
    )
}

fn choose() -> ToolSpec {
    spec(
        "choose",
        "Let a person choose between alternatives that you name.",
        json!({
            "options": { "type": "array", "items": option(), "minItems": 1, "maxItems": 100 },
            "multiple": flag("Whether several may be chosen."),
            "optional": optional(),
        }),
        &["options"],
    )
}

fn form() -> ToolSpec {
    spec(
        "form",
        "Have a person fill in a form, when you need several pieces of information at once.",
        json!({
            "schema": { "type": "object", "description": "JSON Schema of the form: an object with a property for each field." },
            "optional": optional(),
        }),
        &["schema"],
    )
}

fn secret() -> ToolSpec {
    let field = object(
        json!({
            "name": text("Name, for example of an environment variable."),
            "label": text("Label of the field."),
            "type": { "type": "string", "enum": ["password", "text", "multiline"] },
            "required": flag("Whether a value is required; true if absent."),
            "pattern": text("A regular expression that the value matches."),
            "placeholder": text("Shown in the empty field. Never a value."),
        }),
        &["name"],
    );
    spec(
        "secret",
        "Ask a person for passwords, keys or tokens. You are never shown the values: your tools get them as \
         environment variables with their names.",
        json!({
            "secrets": { "type": "array", "items": field, "minItems": 1, "maxItems": 100 },
            "fresh": flag("Whether to ask again for values that people gave before, for example because those did not \
                           work."),
            "optional": optional(),
        }),
        &["secrets"],
    )
}

fn confirm() -> ToolSpec {
    spec(
        "confirm",
        "Ask a person for a yes or a no. A yes allows no action: each action is approved separately.",
        json!({ "dangerous": flag("Whether the person should be warned.") }),
        &[],
    )
}

/// Schema of one option.
fn option() -> Value {
    object(
        json!({
            "id": text("Short name without spaces. If the option is chosen, you get this name."),
            "label": text("Label of the button."),
            "description": text("Meaning of the option, in a sentence."),
            "effect": {
                "type": "string",
                "enum": ["provide", "approve", "retry", "reject", "skip", "terminate"],
                "description": "Effect of the option: an answer (default), approval, a request for changes, rejection, \
                                continuing without it, or the end of the session.",
            },
            "requires_input": flag("Whether the person who chooses it must also write a text."),
            "input_prompt": text("Question that they answer in that text."),
            "risk": text("Risk of the option."),
            "cost": text("Cost of the option."),
            "duration": text("Duration of the option."),
            "recommended": flag("Whether you recommend it."),
            "dangerous": flag("Whether the person should be warned."),
            "metadata": { "description": "Any value that you want back when the option is chosen." },
        }),
        &["id", "label"],
    )
}

/// A tool with its own properties and those that all five share.
fn spec(tool: &str, description: &str, own: Value, required: &[&str]) -> ToolSpec {
    let suggestion = object(
        json!({
            "id": text("Name of the suggestion."),
            "label": text("Label of the suggestion."),
            "option": text("The id of the option that it chooses."),
            "data": { "type": "object", "description": "Data that it fills in." },
        }),
        &["id", "label"],
    );
    let common = json!({
        "question": text("The question. People see nothing else of your work: include all that they need to know."),
        "title": text("One line for the list of questions, if the question is longer than a line."),
        "details": text("Further details."),
        "suggestions": {
            "type": "array",
            "items": suggestion,
            "maxItems": 100,
            "description": "Answers that the person may start from. Only suggestions that your instructions allow are \
                            shown.",
        },
    });
    let mut properties = Map::new();
    for part in [common, own] {
        if let Value::Object(fields) = part {
            properties.extend(fields);
        }
    }
    let required: Vec<&str> = ["question"].iter().chain(required).copied().collect();
    ToolSpec {
        name: format!("{ASK_USER_PREFIX}{tool}"),
        description: description.to_owned(),
        schema: object(Value::Object(properties), &required),
        repeatable: false,
        parallel: true,
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn optional() -> Value {
    flag("Whether the person may skip the question.")
}
