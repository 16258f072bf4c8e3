//! Random turns of models and answers of people.

use domain::grant::RememberedArguments;
use domain::{AnswerDraft, Effect, Interaction, Kind, Remember};
use holdpoint_agent::model::{ModelCall, ModelError, Turn};
use serde_json::{Value, json};
use testkit::Random;

use crate::simulation::play::{Play, PlayState};

/// Tools that models call. A tool that is listed twice is called twice as often.
const CALLED: [&str; 15] = [
    "look", "look", "stamp", "write", "write", "write", "pour", "two", "timed", "brief", "never", "odd", "editor",
    "ask_user", "ask_user",
];

impl PlayState {
    /// Whether the tools are unavailable this time.
    pub(crate) fn tools_break(&mut self) -> bool {
        !self.quiet && self.random.one_in(40)
    }
}

/// Draws the next turn of a model. A model that is asked twice with one history gives two different turns.
pub(crate) fn turn(play: &Play) -> Result<Turn, ModelError> {
    let quiet = play.stage.lock().quiet;
    if quiet {
        return Ok(Turn { text: "All is done.".into(), ..Turn::default() });
    }
    let (fails, many) = {
        let random = &mut play.stage.lock().random;
        (random.one_in(40), [0, 1, 1, 2, 2, 3, 4][random.below(7)])
    };
    if fails {
        return Err(ModelError::Unavailable("the model is gone".into()));
    }
    let calls: Vec<ModelCall> = (0..many).map(|index| call(play, index)).collect();
    Ok(Turn { text: format!("Turn {}.", play.number()), calls, ..Turn::default() })
}

fn call(play: &Play, index: usize) -> ModelCall {
    let number = play.number();
    let random = &mut play.stage.lock().random;
    let id = format!("call_{index}");
    let tool = random.pick(&CALLED).copied().unwrap_or("odd");
    if tool == "ask_user" {
        let (tool, arguments) = question(random, number);
        return ModelCall { id, tool, arguments };
    }
    let arguments = if random.one_in(30) { json!("no object") } else { arguments(random, number) };
    ModelCall { id, tool: tool.into(), arguments }
}

/// Draws arguments that no other call has.
pub(crate) fn arguments(random: &mut Random, number: u64) -> Value {
    let what = ["run", "run", "run", "run", "fail", "lose", "hang"][random.below(7)];
    json!({ "id": number, "what": what, "timeout_seconds": 1 })
}

fn question(random: &mut Random, number: u64) -> (String, Value) {
    let mut arguments = json!({ "question": format!("What about {number}?") });
    let tool = ["clarify", "choose", "form", "secret", "confirm", "secret", "clarify"][random.below(7)];
    match tool {
        "choose" => {
            arguments["options"] =
                json!([{ "id": "left", "label": "UnsettledCall" }, { "id": "right", "label": "Right" }]);
        }
        "form" => {
            arguments["schema"] = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        }
        "secret" => arguments["secrets"] = json!([{ "name": "TOKEN" }]),
        "clarify" => arguments["optional"] = json!(random.one_in(2)),
        _ => {}
    }
    if random.one_in(10) {
        arguments["question"] = json!("");
    }
    (format!("ask_user_{tool}"), arguments)
}

/// Draws an answer of a person to a question; now and then one that does not fit the question.
pub(crate) fn draft(random: &mut Random, asked: &Interaction, number: u64) -> AnswerDraft {
    let question = &asked.question;
    if random.one_in(16) {
        return AnswerDraft { options: vec!["no such option".into()], ..AnswerDraft::default() };
    }
    if random.one_in(8) {
        return AnswerDraft { effect: Some(Effect::Skip), ..AnswerDraft::default() };
    }
    let terminates = |option: &&domain::Choice| option.effect == Effect::Terminate;
    let most: Vec<_> = question.options.iter().filter(|option| !terminates(option) || random.one_in(4)).collect();
    if let Some(option) = random.pick(&most).copied() {
        let edit = option.effect == Effect::Edit;
        let arguments = edit.then(|| arguments(random, number));
        let feedback = option.requires_input.then(|| "smaller, please".to_owned());
        let approves = option.effect == Effect::Approve && question.call.is_some();
        let remember = (approves && random.one_in(6)).then(|| Remember {
            project: random.one_in(2),
            arguments: RememberedArguments::Anything,
            seconds: Some(600),
            uses: Some(2),
        });
        return AnswerDraft {
            options: vec![option.id.clone()],
            arguments,
            feedback,
            remember,
            ..AnswerDraft::default()
        };
    }
    let data = match question.kind {
        Kind::Form => json!({ "n": 1 }),
        Kind::Secret => json!({ "TOKEN": "s3cr3t" }),
        _ => json!("as you like"),
    };
    AnswerDraft { data, ..AnswerDraft::default() }
}
