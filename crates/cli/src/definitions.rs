//! The definitions of agents and flows, checked by hand.

use std::path::Path;

use agent::definitions::{Finding, read_agents, read_flows};
use domain::AgentVersion;
use engine::Definitions;

use crate::config::{AgentsCheck, AgentsCommand, FlowsCheck, FlowsCommand};
use crate::failure::Failure;

/// Looks at the agents of a directory without running any of them.
pub(crate) fn agents(command: &AgentsCommand) -> Result<(), Failure> {
    let AgentsCommand::Check(AgentsCheck { dir }) = command;
    let agents = known(dir)?;
    for agent in &agents {
        println!("agent {} {}", agent.name, agent.version);
    }
    println!("{}: good", dir.display());
    Ok(())
}

/// Looks at the flows of a directory, and whether the agents are there that they name.
pub(crate) fn flows(command: &FlowsCommand) -> Result<(), Failure> {
    let FlowsCommand::Check(FlowsCheck { dir, agents }) = command;
    let agents = known(agents)?;
    let flows = read_flows(dir, &agents).map_err(|findings| refused(dir, &findings))?;
    for flow in &flows {
        println!("flow {} {}: {} steps", flow.name, flow.version, flow.steps.len());
    }
    println!("{}: good", dir.display());
    Ok(())
}

/// Reads what the directories define; or says everything that is wrong with them.
pub(crate) fn read(agents: Option<&Path>, flows: Option<&Path>) -> Result<Definitions, Vec<Finding>> {
    let agents = agents.map_or_else(|| Ok(Vec::new()), read_agents)?;
    let flows = flows.map_or_else(|| Ok(Vec::new()), |dir| read_flows(dir, &agents))?;
    Ok(Definitions { agents, flows })
}

fn known(dir: &Path) -> Result<Vec<AgentVersion>, Failure> {
    read_agents(dir).map_err(|findings| refused(dir, &findings))
}

fn refused(dir: &Path, findings: &[Finding]) -> Failure {
    findings.iter().for_each(|finding| println!("{finding}"));
    Failure::DefinitionsRefused { dir: dir.to_owned(), problems: findings.len() }
}
