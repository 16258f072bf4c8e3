//! Reads the `[rule.ask]` of a rule: the settings of its question.

use domain::{Audience, Call, Choice, Effect, Fallback, Kind, Question, Timestamp, audience::Named};
use serde_json::{Value, json};

use crate::{
    AskSettings,
    asking::usual_options,
    document::{Located, Table},
    finding::Findings,
    read_rule::role,
};

const AUDIENCE_KEYS: [&str; 6] = ["users", "groups", "roles", "quorum", "distinct_groups", "four_eyes"];
const OPTION_KEYS: [&str; 13] = [
    "id",
    "label",
    "description",
    "effect",
    "default",
    "dangerous",
    "recommended",
    "requires_input",
    "input_prompt",
    "risk",
    "cost",
    "duration",
    "metadata",
];
/// Longest deadline that a rule may set, in seconds: ten years.
const MOST_SECONDS: i64 = 10 * 366 * 24 * 3600;

/// Reads the settings, and checks by the domain that a question with them can be asked.
pub(crate) fn read(table: &Table<'_>, findings: &mut Findings<'_>) -> AskSettings {
    table.only(&["audience", "deadline_seconds", "fallback", "options"], findings);
    let audience = table.table("audience", "`audience`", findings).map(|table| read_audience(&table, findings));
    let deadline_seconds = table.whole("deadline_seconds", findings).map(|seconds| {
        if !(1..=MOST_SECONDS).contains(&seconds.it) {
            findings.error(
                seconds.at,
                "wrong_deadline",
                "`deadline_seconds` must be at least 1, and at most ten years",
            );
        }
        seconds.it
    });
    let fallback = read_fallback(table, findings);
    let options = read_options(table, findings);
    let settings = AskSettings { audience, deadline_seconds, fallback, options };
    admit(&settings, table, findings);
    settings
}

fn read_audience(table: &Table<'_>, findings: &mut Findings<'_>) -> Audience {
    table.only(&AUDIENCE_KEYS, findings);
    let names = |key, findings: &mut Findings<'_>| {
        let texts = table.texts(key, findings).map(|texts| texts.it).unwrap_or_default();
        texts.iter().map(|text| text.it.to_owned()).collect()
    };
    let roles = table.texts("roles", findings).map(|texts| texts.it).unwrap_or_default();
    let named = Named {
        users: names("users", findings),
        groups: names("groups", findings),
        roles: roles.iter().filter_map(|text| role(text, findings)).collect(),
    };
    let quorum = table.whole("quorum", findings).map_or(1, |quorum| u32::try_from(quorum.it).unwrap_or(0));
    Audience {
        named: ["users", "groups", "roles"].iter().any(|key| table.has(key)).then_some(named),
        quorum,
        distinct_groups: table.flag("distinct_groups", findings).is_some_and(|flag| flag.it),
        four_eyes: table.flag("four_eyes", findings).is_some_and(|flag| flag.it),
    }
}

fn read_fallback(table: &Table<'_>, findings: &mut Findings<'_>) -> Option<Fallback> {
    let Located { at, it } = table.json("fallback", findings)?;
    let option = it.as_object().filter(|object| object.len() == 1).and_then(|object| object.get("option"));
    let fallback = match (it.as_str(), option.and_then(Value::as_str)) {
        (Some("deny"), _) => Some(Fallback::Deny),
        (Some("hold"), _) => Some(Fallback::Hold),
        (_, Some(id)) => Some(Fallback::Option(id.to_owned())),
        _ => None,
    };
    if fallback.is_none() {
        findings.error(at, "wrong_fallback", "`fallback` must be \"deny\", \"hold\" or { option = \"…\" }");
    }
    fallback
}

fn read_options(table: &Table<'_>, findings: &mut Findings<'_>) -> Vec<Choice> {
    let mut options = Vec::new();
    for table in table.tables("options", "an option", findings) {
        table.only(&OPTION_KEYS, findings);
        let Some(value) = table.to_json(findings) else { continue };
        match serde_json::from_value(value) {
            Ok(option) => options.push(option),
            Err(error) => findings.error(table.at, "wrong_option", format!("this is not an option: {error}")),
        }
    }
    options
}

/// Adds an error for every setting that the domain refuses in a question: such a question could not be asked.
fn admit(settings: &AskSettings, table: &Table<'_>, findings: &mut Findings<'_>) {
    let question = Question {
        call: Some(Call { tool: "tool".into(), arguments: json!({}) }),
        options: settings.options.clone(),
        audience: settings.audience.clone().unwrap_or_default(),
        deadline: settings.deadline_seconds.map(|_| Timestamp::UNIX_EPOCH),
        fallback: settings.fallback.clone(),
        ..Question::plain(Kind::Approval, "An action waits".into())
    };
    let Err(problems) = question.admit() else { return };
    for problem in problems {
        let key = problem.pointer.split('/').nth(1).unwrap_or_default();
        let code = match key {
            "audience" => "wrong_audience",
            "fallback" if approves(settings) => "fallback_runs_action",
            "fallback" => "wrong_fallback",
            _ => "wrong_option",
        };
        let path = problem.pointer.trim_start_matches('/').replace('/', ".");
        findings.error(table.place(key), code, format!("`{path}` {}", problem.message));
    }
}

/// Says whether the fallback is an option that approves the action.
fn approves(settings: &AskSettings) -> bool {
    let Some(Fallback::Option(id)) = &settings.fallback else { return false };
    let options = if settings.options.is_empty() { &usual_options() } else { &settings.options };
    options.iter().any(|option| option.id == *id && option.effect == Effect::Approve)
}
