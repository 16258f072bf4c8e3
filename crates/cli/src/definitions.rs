//! `holdpoint agents check` and `holdpoint flows check`, and reading the definition directories.

use std::path::Path;

use agent::definitions::{AgentFile, FileFinding, FlowFile, read_agents, read_flows};
use domain::{AgentVersion, DefinitionKind, ProjectName, Projects};
use engine::{Definitions, Owners};

use crate::config::{AgentsCheck, AgentsCommand, FlowsCheck, FlowsCommand};
use crate::failure::Failure;

/// Checks the agents of a directory without running any.
pub(crate) fn agents(command: &AgentsCommand) -> Result<(), Failure> {
    let AgentsCommand::Check(AgentsCheck { dir }) = command;
    for AgentFile { agent, settings } in &read_or_refuse(dir)? {
        println!("agent {} {}{}", agent.name, agent.version, owners(&settings.projects));
    }
    println!("{}: no errors", dir.display());
    Ok(())
}

/// Checks the flows of a directory and the agents that they name.
pub(crate) fn flows(command: &FlowsCommand) -> Result<(), Failure> {
    let FlowsCommand::Check(FlowsCheck { dir, agents }) = command;
    let agents = versions(&read_or_refuse(agents)?);
    let flows = read_flows(dir, &agents).map_err(|findings| refused(dir, &findings))?;
    for FlowFile { flow, projects } in &flows {
        println!("flow {} {}: {} steps{}", flow.name, flow.version, flow.steps.len(), owners(projects));
    }
    println!("{}: no errors", dir.display());
    Ok(())
}

/// Definitions of the directories.
#[derive(Default)]
pub(crate) struct DefinitionFiles {
    pub(crate) agents: Vec<AgentFile>,
    pub(crate) flows: Vec<FlowFile>,
}

impl DefinitionFiles {
    /// Definitions and their projects, as the engine takes them.
    pub(crate) fn for_engine(self) -> (Definitions, Owners) {
        let mut owners = Owners::default();
        for AgentFile { agent, settings } in &self.agents {
            owners.insert(DefinitionKind::Agent, (&agent.name, &agent.version), settings.projects.clone());
        }
        for FlowFile { flow, projects } in &self.flows {
            owners.insert(DefinitionKind::Flow, (&flow.name, &flow.version), projects.clone());
        }
        let agents = self.agents.into_iter().map(|filed| filed.agent).collect();
        let flows = self.flows.into_iter().map(|filed| filed.flow).collect();
        (Definitions { agents, flows }, owners)
    }
}

/// Reads the definitions, or lists all their problems.
pub(crate) fn read(agents: Option<&Path>, flows: Option<&Path>) -> Result<DefinitionFiles, Vec<FileFinding>> {
    let agents = agents.map_or_else(|| Ok(Vec::new()), read_agents)?;
    let flows = flows.map_or_else(|| Ok(Vec::new()), |dir| read_flows(dir, &versions(&agents)))?;
    Ok(DefinitionFiles { agents, flows })
}

fn versions(agents: &[AgentFile]) -> Vec<AgentVersion> {
    agents.iter().map(|filed| filed.agent.clone()).collect()
}

/// Projects of a definition that does not belong to `default/default` alone.
fn owners(projects: &Projects) -> String {
    match projects {
        Projects::All => ", for all projects".to_owned(),
        Projects::Named(_) if *projects == Projects::default() => String::new(),
        Projects::Named(names) => {
            let names: Vec<String> = names.iter().map(ProjectName::to_string).collect();
            format!(", for {}", names.join(", "))
        }
    }
}

fn read_or_refuse(dir: &Path) -> Result<Vec<AgentFile>, Failure> {
    read_agents(dir).map_err(|findings| refused(dir, &findings))
}

fn refused(dir: &Path, findings: &[FileFinding]) -> Failure {
    for finding in findings {
        println!("{finding}");
    }
    Failure::DefinitionsRefused { dir: dir.to_owned(), problems: findings.len() }
}
