//! How the programs of agents are started here: confined, or not at all, unless whoever runs the server wants them unconfined.

use std::path::{Path, PathBuf};

use agent::tool::ToolError;
use confine::{Confinement, Helper, Programs};

use crate::config::Agents;
use crate::failure::Failure;

/// What was found out at the start.
#[derive(Debug, Clone)]
enum Way {
    Confined,
    Unconfined,
    /// They cannot be confined, for this reason, and nobody has allowed them otherwise.
    Refused(String),
}

/// How the programs of agents are started.
#[derive(Debug, Clone)]
pub(crate) struct AgentPrograms {
    way: Way,
    /// What every program is confined to, before the workspace and the settings of its agent are added.
    common: Confinement,
    data: PathBuf,
}

impl AgentPrograms {
    /// Tries whether programs can be confined here, and says in the log what follows from it. Workspaces and data must lie apart: whoever
    /// writes to a workspace must not be within reach of the keys.
    pub(crate) fn found_out(agents: &Agents, data: &Path) -> Result<Self, Failure> {
        let data = real(data);
        let mut hidden = vec![data.clone()];
        if let Some(workspaces) = &agents.workspaces {
            let real = real(workspaces);
            if real.starts_with(&data) || data.starts_with(&real) {
                return Err(Failure::WorkspacesInData { workspaces: workspaces.clone(), data });
            }
            hidden.push(real);
        }
        let common = Confinement {
            hidden,
            processes: agents.command_processes.max(1),
            workspace_bytes: agents.workspace_bytes,
            ..Confinement::default()
        };
        let way = if agents.agents.is_none() || agents.worker_steps == 0 { Way::Confined } else { way(agents) };
        Ok(Self { way, common, data })
    }

    /// Whether programs of agents run with all the rights of this process.
    pub(crate) fn are_unconfined(&self) -> bool {
        matches!(self.way, Way::Unconfined)
    }

    /// How a program is started that has this workspace, and what its agent's file allows besides.
    pub(crate) fn with(
        &self,
        workspace: Option<PathBuf>,
        network: bool,
        read_only: Vec<PathBuf>,
    ) -> Result<Programs, ToolError> {
        if workspace.as_ref().is_some_and(|path| path.starts_with(&self.data)) {
            return Err(ToolError("a workspace inside the data directory cannot be used".to_owned()));
        }
        match &self.way {
            Way::Unconfined => Ok(Programs::Unconfined),
            Way::Refused(why) => Err(ToolError(format!("programs of agents are not run here: {why}"))),
            Way::Confined => {
                let confinement = Confinement { workspace, network, read_only, ..self.common.clone() };
                Ok(Programs::Confined(Helper::ourselves(), confinement))
            }
        }
    }
}

fn way(agents: &Agents) -> Way {
    if agents.unconfined_commands {
        tracing::warn!(
            "commands of agents and MCP servers run UNCONFINED, with all rights of this process (--unconfined-commands): \
             one of them can read the master key and make itself an admin"
        );
        return Way::Unconfined;
    }
    match Helper::ourselves().probe() {
        Ok(()) => Way::Confined,
        Err(why) => {
            tracing::error!(
                why,
                "programs cannot be confined on this machine: agents with execute_command and MCP servers that are programs are not run; \
                 docs/guides/operate.md says what confinement needs"
            );
            Way::Refused("they cannot be confined on this machine, and --unconfined-commands was not given".to_owned())
        }
    }
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = absolute.ancestors().find_map(|known| Some((known, known.canonicalize().ok()?)));
    let Some((known, real)) = known else { return absolute };
    absolute.strip_prefix(known).map_or_else(|_| real.clone(), |rest| real.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_does_not_exist_is_found_behind_links() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("data")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("data"), dir.path().join("link")).unwrap();
        let there = dir.path().canonicalize().unwrap().join("data/workspaces");
        assert_eq!(real(&dir.path().join("link/workspaces")), there);
    }
}
