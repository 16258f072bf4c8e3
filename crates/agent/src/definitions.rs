//! Agents and flows in TOML files: one definition per file, and every problem of a file with its line.
//!
//! A file is read into the same types as the JSON of the API. First come syntax, unknown keys and wrong types
//! (`document.rs`, `shape.rs`), then the checks of [`AgentVersion::check`] and [`FlowVersion::check`]. Each stage lists
//! all its problems. Start reading at [`read_agents`].

mod directory;
mod document;
mod finding;
mod serde_error;
mod settings;
mod shape;

use std::path::Path;

use domain::{AgentVersion, FlowVersion, Problem, Projects};
use forms::{FormLimits, Forms};
use serde_json::Value;

use document::Document;
pub use finding::FileFinding;
pub use settings::{AgentFile, FlowFile, McpSettings, OperatorSettings};

/// Reads all agents of a directory: the files `*.toml` except `*.script.toml`, in the order of their names.
///
/// One invalid file refuses all of them; the error lists every problem of every file.
pub fn read_agents(dir: &Path) -> Result<Vec<AgentFile>, Vec<FileFinding>> {
    directory::read(dir, "agent", |text, file| {
        let (agent, settings, document) = agent(text, file)?;
        Ok((agent.name.clone(), agent.version.clone(), AgentFile { agent, settings }, document))
    })
}

/// Reads all flows of a directory and checks them against the agents.
pub fn read_flows(dir: &Path, agents: &[AgentVersion]) -> Result<Vec<FlowFile>, Vec<FileFinding>> {
    directory::read(dir, "flow", |text, file| {
        let (flow, projects, document) = flow(text, file, agents)?;
        Ok((flow.name.clone(), flow.version.clone(), FlowFile { flow, projects }, document))
    })
}

/// Reads one agent. A script in a separate file is read from the same directory.
pub fn read_agent(text: &str, file: &Path) -> Result<AgentFile, Vec<FileFinding>> {
    agent(text, file).map(|(agent, settings, _)| AgentFile { agent, settings })
}

/// Reads one flow and checks it against the agents.
pub fn read_flow(text: &str, file: &Path, agents: &[AgentVersion]) -> Result<FlowFile, Vec<FileFinding>> {
    flow(text, file, agents).map(|(flow, projects, _)| FlowFile { flow, projects })
}

fn agent(text: &str, file: &Path) -> Result<(AgentVersion, OperatorSettings, Document), Vec<FileFinding>> {
    let mut document = Document::parse(text, file)?;
    insert_script(&mut document, file)?;
    let mut findings = Vec::new();
    let settings = settings::of_agent(&mut document, &mut findings);
    document.add_version();
    let agent: AgentVersion = with_settings_findings(shape::read(&document), findings)?;
    let mut problems = agent.check();
    check_schemas(agent.schemas(), &mut problems);
    let (agent, document) = check_problems(agent, document, &problems)?;
    Ok((agent, settings, document))
}

fn flow(
    text: &str,
    file: &Path,
    agents: &[AgentVersion],
) -> Result<(FlowVersion, Projects, Document), Vec<FileFinding>> {
    let mut document = Document::parse(text, file)?;
    let mut findings = Vec::new();
    let projects = settings::projects(&mut document, &mut findings);
    document.add_version();
    let flow: FlowVersion = with_settings_findings(shape::read(&document), findings)?;
    let mut problems = flow.check();
    problems.extend(flow.check_agents(agents));
    check_schemas(flow.schemas(), &mut problems);
    let (flow, document) = check_problems(flow, document, &problems)?;
    Ok((flow, projects, document))
}

/// Returns the definition, or its findings together with the findings of its settings.
fn with_settings_findings<T>(
    read: Result<T, Vec<FileFinding>>,
    mut findings: Vec<FileFinding>,
) -> Result<T, Vec<FileFinding>> {
    match read {
        Ok(read) if findings.is_empty() => return Ok(read),
        Ok(_) => {}
        Err(more) => findings.extend(more),
    }
    findings.sort();
    Err(findings)
}

fn check_problems<T>(
    definition: T,
    document: Document,
    problems: &[Problem],
) -> Result<(T, Document), Vec<FileFinding>> {
    if problems.is_empty() {
        return Ok((definition, document));
    }
    let mut findings: Vec<FileFinding> = problems.iter().map(|problem| document.problem(problem)).collect();
    findings.sort();
    Err(findings)
}

/// Replaces `script = "demo.script.toml"` by the content of that file, which is in the same directory.
fn insert_script(document: &mut Document, file: &Path) -> Result<(), Vec<FileFinding>> {
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
    document.insert(AT, Document::parse(&text, &beside)?);
    Ok(())
}

fn check_schemas<'s>(schemas: impl Iterator<Item = (String, &'s Value)>, problems: &mut Vec<Problem>) {
    let forms = Forms::new(FormLimits::default());
    for (at, schema) in schemas {
        if let Err(error) = forms.admit(schema) {
            problems.push(Problem::new(format!("{at}{}", error.pointer), error.reason.to_string()));
        }
    }
}

#[cfg(test)]
mod tests;
