//! The tools with which a model asks people, and the questions that their calls become. `schemas.rs` describes the
//! tools to the model, `arguments.rs` reads their calls, `suggestions.rs` filters suggested answers.

mod arguments;
mod schemas;
mod suggestions;

pub use domain::event::DroppedSuggestion;
use domain::{AgentVersion, KindName, Problem, Question};
use serde_json::{Value, json};

pub use schemas::specs;

use crate::machine::ASK_USER_PREFIX;

/// Kind of the questions of an `ask_user` tool, by the name of the tool without its prefix.
pub(crate) fn kind_of(tool: &str) -> Option<KindName> {
    match tool {
        "clarify" => Some(KindName::Question),
        "choose" => Some(KindName::Choice),
        "form" => Some(KindName::Form),
        "secret" => Some(KindName::Secret),
        "confirm" => Some(KindName::Confirmation),
        _ => None,
    }
}

/// Makes a question from a call of an `ask_user` tool. Returns the question, the deadline in seconds, and the
/// suggestions that were left out.
///
/// The question passes [`Question::admit`]; whether the schema of a form compiles is checked by the `forms` crate. The
/// suggestions that were left out are also in the metadata of the question, under `dropped_suggestions`. The error is a
/// text for the model.
pub fn question(
    tool: &str,
    arguments: &Value,
    agent: &AgentVersion,
) -> Result<(Question, Option<i64>, Vec<DroppedSuggestion>), String> {
    let tool = tool.strip_prefix(ASK_USER_PREFIX).unwrap_or(tool);
    let (mut question, offered) = arguments::read(tool, arguments)?;
    let dropped = suggestions::choose(&mut question, offered, agent);
    if !dropped.is_empty() {
        question.metadata = json!({ "dropped_suggestions": dropped });
    }
    if let Err(problems) = question.clone().admit() {
        return Err(format_problems(&problems));
    }
    let seconds = agent.deadlines.get(question.kind.name()).copied();
    Ok((question, seconds, dropped))
}

fn format_problems(problems: &[Problem]) -> String {
    let problems: Vec<String> =
        problems.iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect();
    format!("The question was not asked, because people could not answer it well. {}", problems.join("; "))
}
