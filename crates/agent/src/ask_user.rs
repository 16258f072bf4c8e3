//! The tools by which a model asks people on its own, and the questions that their calls become.

mod arguments;
mod schemas;
mod suggestions;

use domain::{AgentVersion, Problem, Question};
use serde_json::{Value, json};

pub use schemas::specs;
pub use suggestions::Dropped;

use crate::machine::ASK_USER_PREFIX;

/// Makes a question of a call of an `ask_user` tool: the question, how many seconds people have, and which suggestions were left out.
///
/// The question is one that [`Question::admit`] takes; whether the schema of a form can be compiled is for the `forms` crate to say. What
/// was left out is also in the question's metadata, under `dropped_suggestions`. A call that makes no question gives a text for the model.
pub fn question(
    tool: &str,
    arguments: &Value,
    agent: &AgentVersion,
) -> Result<(Question, Option<i64>, Vec<Dropped>), String> {
    let tool = tool.strip_prefix(ASK_USER_PREFIX).unwrap_or(tool);
    let (mut question, offered) = arguments::read(tool, arguments)?;
    let dropped = suggestions::choose(&mut question, offered, agent);
    if !dropped.is_empty() {
        question.metadata = json!({ "dropped_suggestions": dropped });
    }
    if let Err(problems) = question.clone().admit() {
        return Err(told(&problems));
    }
    let seconds = agent.deadlines.get(question.kind.name()).copied();
    Ok((question, seconds, dropped))
}

fn told(problems: &[Problem]) -> String {
    let problems: Vec<String> =
        problems.iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect();
    format!("Nobody was asked, for this is not a question that people can answer well. {}", problems.join("; "))
}
