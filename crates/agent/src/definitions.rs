//! Agents and flows in TOML files: one definition per file, and every problem of a file with its line.
//!
//! A file is read into the same types as the JSON of the API. First come syntax, unknown keys and wrong types
//! (`document.rs`, `shape.rs`), then the checks of [`AgentVersion::check`] and [`FlowVersion::check`]. Each stage lists
//! all its problems. Start reading at [`read_agents`].

mod directory;
mod document;
mod finding;
mod settings;
mod shape;
mod words;

use std::path::Path;

use domain::{AgentVersion, FlowVersion, Problem, Projects};
use forms::{Forms, Limits};
use serde_json::Value;

use document::Document;
pub use finding::Finding;
pub use settings::{FiledAgent, FiledFlow, McpSettings, OperatorSettings};

/// Reads all agents of a directory: the files `*.toml` except `*.script.toml`, in the order of their names.
///
/// One invalid file refuses all of them; the error lists every problem of every file.
pub fn read_agents(dir: &Path) -> Result<Vec<FiledAgent>, Vec<Finding>> {
    directory::read(dir, "agent", |text, file| {
        let (agent, settings, document) = agent(text, file)?;
        Ok((agent.name.clone(), agent.version.clone(), FiledAgent { agent, settings }, document))
    })
}

/// Reads all flows of a directory and checks them against the agents.
pub fn read_flows(dir: &Path, agents: &[AgentVersion]) -> Result<Vec<FiledFlow>, Vec<Finding>> {
    directory::read(dir, "flow", |text, file| {
        let (flow, projects, document) = flow(text, file, agents)?;
        Ok((flow.name.clone(), flow.version.clone(), FiledFlow { flow, projects }, document))
    })
}

/// Reads one agent. A script in a separate file is read from the same directory.
pub fn read_agent(text: &str, file: &Path) -> Result<FiledAgent, Vec<Finding>> {
    agent(text, file).map(|(agent, settings, _)| FiledAgent { agent, settings })
}

/// Reads one flow and checks it against the agents.
pub fn read_flow(text: &str, file: &Path, agents: &[AgentVersion]) -> Result<FiledFlow, Vec<Finding>> {
    flow(text, file, agents).map(|(flow, projects, _)| FiledFlow { flow, projects })
}

fn agent(text: &str, file: &Path) -> Result<(AgentVersion, OperatorSettings, Document), Vec<Finding>> {
    let mut document = Document::parse(text, file)?;
    take_script(&mut document, file)?;
    let mut findings = Vec::new();
    let settings = settings::of_agent(&mut document, &mut findings);
    document.versioned();
    let agent: AgentVersion = both(shape::read(&document), findings)?;
    let mut problems = agent.check();
    check_schemas(agent.schemas(), &mut problems);
    let (agent, document) = sensible(agent, document, &problems)?;
    Ok((agent, settings, document))
}

fn flow(text: &str, file: &Path, agents: &[AgentVersion]) -> Result<(FlowVersion, Projects, Document), Vec<Finding>> {
    let mut document = Document::parse(text, file)?;
    let mut findings = Vec::new();
    let projects = settings::projects(&mut document, &mut findings);
    document.versioned();
    let flow: FlowVersion = both(shape::read(&document), findings)?;
    let mut problems = flow.check();
    problems.extend(flow.check_agents(agents));
    check_schemas(flow.schemas(), &mut problems);
    let (flow, document) = sensible(flow, document, &problems)?;
    Ok((flow, projects, document))
}

/// The definition, or its findings together with those of its settings.
fn both<T>(read: Result<T, Vec<Finding>>, mut findings: Vec<Finding>) -> Result<T, Vec<Finding>> {
    match read {
        Ok(read) if findings.is_empty() => return Ok(read),
        Ok(_) => {}
        Err(more) => findings.extend(more),
    }
    findings.sort();
    Err(findings)
}

fn sensible<T>(definition: T, document: Document, problems: &[Problem]) -> Result<(T, Document), Vec<Finding>> {
    if problems.is_empty() {
        return Ok((definition, document));
    }
    let mut findings: Vec<Finding> = problems.iter().map(|problem| document.problem(problem)).collect();
    findings.sort();
    Err(findings)
}

/// Replaces `script = "demo.script.toml"` by the content of that file, which is in the same directory.
fn take_script(document: &mut Document, file: &Path) -> Result<(), Vec<Finding>> {
    const AT: &str = "/model/script";
    let Some(Value::String(name)) = document.value.pointer(AT) else { return Ok(()) };
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
        return Err(vec![
            document.finding(AT, "`model.script` must be the name of a file beside this one, or a table with `turns`"),
        ]);
    }
    let beside = file.with_file_name(name);
    let text = directory::text(&beside)
        .map_err(|why| vec![document.finding(AT, format!("`model.script`: {} {why}", beside.display()))])?;
    document.graft(AT, Document::parse(&text, &beside)?);
    Ok(())
}

fn check_schemas<'s>(schemas: impl Iterator<Item = (String, &'s Value)>, problems: &mut Vec<Problem>) {
    let forms = Forms::new(Limits::default());
    for (at, schema) in schemas {
        if let Err(error) = forms.admit(schema) {
            problems.push(Problem::new(format!("{at}{}", error.pointer), error.reason.to_string()));
        }
    }
}

#[cfg(test)]
mod tests;
