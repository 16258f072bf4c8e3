//! Way in which the programs of agents are started: confined, or not at all, unless the operator allows unconfined programs.

use std::path::{Path, PathBuf};

use agent::tool::ToolError;
use confine::{Confinement, Helper, Programs};

use crate::config::Agents;
use crate::failure::Failure;

/// Result of the check at the start.
#[derive(Debug, Clone)]
enum ProgramMode {
    Confined,
    Unconfined,
    /// Programs cannot be confined for this reason, and unconfined programs are not allowed.
    Refused(String),
}

/// Way in which the programs of agents are started.
#[derive(Debug, Clone)]
pub(crate) struct AgentPrograms {
    mode: ProgramMode,
    /// Confinement of every program, without its workspace and the settings of its agent.
    common: Confinement,
    data: PathBuf,
    /// Files and directories of the operator, as given.
    own: Vec<PathBuf>,
    /// Directory of all workspaces.
    workspaces: Option<PathBuf>,
}

impl AgentPrograms {
    /// Checks whether programs can be confined here and logs the result. Workspaces and data must not contain each
    /// other, so that a program with write access to a workspace cannot reach the keys.
    ///
    /// `own` are further files of the operator that no program may read. They must lie outside the workspaces, where an
    /// agent could write its own policy.
    pub(crate) fn detect(agents: &Agents, data: &Path, own: &[&Option<PathBuf>]) -> Result<Self, Failure> {
        let data = real(data);
        let own = own.iter().copied().chain([&agents.agents, &agents.flows]);
        let own: Vec<PathBuf> = own.flatten().cloned().collect();
        let mut hidden: Vec<PathBuf> = own.iter().map(|path| real(path)).chain([data.clone()]).collect();
        let mut all = None;
        if let Some(workspaces) = &agents.workspaces {
            let real = real(workspaces);
            if real.starts_with(&data) || data.starts_with(&real) {
                return Err(Failure::WorkspacesInData { workspaces: workspaces.clone(), data });
            }
            if let Some(path) = own.iter().find(|path| passes_through(path, &real)) {
                return Err(Failure::OperatorFileInWorkspaces { path: path.clone(), workspaces: workspaces.clone() });
            }
            hidden.push(real.clone());
            all = Some(real);
        }
        let common = Confinement {
            hidden,
            processes: agents.command_processes.max(1),
            workspace_bytes: agents.workspace_bytes,
            ..Confinement::default()
        };
        let mode = if agents.agents.is_none() || agents.worker_steps == 0 {
            ProgramMode::Confined
        } else {
            choose_mode(agents)
        };
        Ok(Self { mode, common, data, own, workspaces: all })
    }

    /// Whether programs of agents run with all rights of this process.
    pub(crate) fn are_unconfined(&self) -> bool {
        matches!(self.mode, ProgramMode::Unconfined)
    }

    /// Refuses a workspace, by its real path, from which the data, files of the operator or all other workspaces could
    /// be reached, for any tools of its agent.
    pub(crate) fn admit(&self, workspace: &Path) -> Result<(), ToolError> {
        let workspace = real(workspace);
        if workspace.starts_with(&self.data) || self.data.starts_with(&workspace) {
            return Err(ToolError("a workspace inside the data directory, or around it, cannot be used".to_owned()));
        }
        if let Some(path) = self.own.iter().find(|path| passes_through(path, &workspace)) {
            tracing::warn!(path = %path.display(), workspace = %workspace.display(), "a workspace holds a file or directory of this server");
            return Err(ToolError("a workspace that holds the server's own files cannot be used".to_owned()));
        }
        if self.workspaces.as_ref().is_some_and(|all| all.starts_with(&workspace)) {
            return Err(ToolError("a workspace that contains all others cannot be used".to_owned()));
        }
        Ok(())
    }

    /// Whether a path leads into the data, or into a workspace other than this one.
    fn is_forbidden(&self, path: &Path, workspace: Option<&Path>) -> bool {
        let path = real(path);
        let is_its_own = workspace.is_some_and(|own| path.starts_with(real(own)));
        path.starts_with(&self.data)
            || (!is_its_own && self.workspaces.as_ref().is_some_and(|all| path.starts_with(all)))
    }

    /// Way in which a program with this workspace and these settings is started.
    pub(crate) fn confined_to(
        &self,
        workspace: Option<PathBuf>,
        network: bool,
        read_only: Vec<PathBuf>,
    ) -> Result<Programs, ToolError> {
        if let Some(path) = &workspace {
            self.admit(path)?;
        }
        if let Some(path) = read_only.iter().find(|path| self.is_forbidden(path, workspace.as_deref())) {
            tracing::warn!(path = %path.display(), "read_only leads into the data directory or to another workspace");
            return Err(ToolError(
                "read_only must not lead into the data directory or to another workspace".to_owned(),
            ));
        }
        match &self.mode {
            ProgramMode::Unconfined => Ok(Programs::Unconfined),
            ProgramMode::Refused(why) => Err(ToolError(format!("programs of agents are not run here: {why}"))),
            ProgramMode::Confined => {
                let confinement = Confinement { workspace, network, read_only, ..self.common.clone() };
                Ok(Programs::Confined(Helper::ourselves(), confinement))
            }
        }
    }
}

fn choose_mode(agents: &Agents) -> ProgramMode {
    if agents.unconfined_commands {
        tracing::warn!(
            "commands of agents and MCP servers run UNCONFINED, with all rights of this process (--unconfined-commands): \
             one of them can read the master key and make itself an admin"
        );
        return ProgramMode::Unconfined;
    }
    match Helper::ourselves().probe() {
        Ok(()) => ProgramMode::Confined,
        Err(why) => {
            tracing::error!(
                why,
                "programs cannot be confined on this machine: agents with execute_command and MCP servers that are programs are not run; \
                 docs/guides/operate.md says what confinement needs"
            );
            ProgramMode::Refused(
                "they cannot be confined on this machine, and --unconfined-commands was not given".to_owned(),
            )
        }
    }
}

/// Resolves the links of a path, as far as the path exists.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = absolute.ancestors().find_map(|known| Some((known, known.canonicalize().ok()?)));
    let Some((known, real)) = known else { return absolute };
    match absolute.strip_prefix(known) {
        // Joining with an empty path would add a slash, and the path would no longer name a file.
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    }
}

/// Whether a path ends inside a directory or passes through it. A program with write access there could replace its
/// target.
fn passes_through(path: &Path, directory: &Path) -> bool {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // A link is at the place of its name, wherever it leads.
    let mut steps = absolute.ancestors().filter_map(|step| Some(real(step.parent()?).join(step.file_name()?)));
    real(path).starts_with(directory) || steps.any(|step| step.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    /// Agents with workspaces below a directory, and further flags.
    fn agents(dir: &Path, more: &[&str]) -> Agents {
        #[derive(clap::Parser)]
        struct Given {
            #[command(flatten)]
            agents: Agents,
        }
        let workspaces = dir.join("workspaces");
        let given = ["given", "--worker-steps", "0", "--workspaces", workspaces.to_str().unwrap()];
        Given::parse_from(given.iter().chain(more)).agents
    }

    /// Programs with the directories `data`, `workspaces/one` and `workspaces/two`.
    fn programs(dir: &Path) -> AgentPrograms {
        for name in ["data", "workspaces/one", "workspaces/two"] {
            std::fs::create_dir_all(dir.join(name)).unwrap();
        }
        let dir = dir.canonicalize().unwrap();
        let (data, workspaces) = (dir.join("data"), Some(dir.join("workspaces")));
        let own = vec![dir.join("policy.toml")];
        AgentPrograms { mode: ProgramMode::Unconfined, common: Confinement::default(), data, own, workspaces }
    }

    #[test]
    fn operator_files_inside_workspaces_are_refused_also_behind_links() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["data", "apart", "workspaces/one"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        for (link, target) in [("into", "workspaces/one"), ("workspaces/one/out", "apart")] {
            std::os::unix::fs::symlink(dir.path().join(target), dir.path().join(link)).unwrap();
        }
        let refused = |path: &Path, own: &[&Option<PathBuf>], agents: &Agents| {
            let found = AgentPrograms::detect(agents, &dir.path().join("data"), own);
            matches!(found, Err(Failure::OperatorFileInWorkspaces { path: told, .. }) if told == path)
        };
        for (name, is_refused) in [
            ("apart/policy.toml", false),
            ("workspaces-apart/policy.toml", false),
            ("workspaces", true),
            ("workspaces/policy.toml", true),
            ("workspaces/one/not/yet.toml", true),
            ("into/policy.toml", true),
            ("workspaces/one/out", true),
            ("workspaces/one/out/policy.toml", true),
            ("apart/../workspaces/policy.toml", true),
        ] {
            let path = dir.path().join(name);
            assert_eq!(refused(&path, &[&None, &Some(path.clone())], &agents(dir.path(), &[])), is_refused, "{name}");
            let given = path.to_str().unwrap();
            assert_eq!(refused(&path, &[], &agents(dir.path(), &["--agents", given])), is_refused, "--agents {name}");
            let flows = agents(dir.path(), &["--agents", "/nowhere", "--flows", given]);
            assert_eq!(refused(&path, &[], &flows), is_refused, "--flows {name}");
        }
    }

    #[test]
    fn workspace_that_contains_operator_files_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut programs = programs(dir.path());
        std::fs::create_dir(dir.path().join("elsewhere")).unwrap();
        let link = dir.path().join("workspaces/link");
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &link).unwrap();
        assert!(programs.admit(&link).is_ok());
        programs.own = vec![dir.path().join("elsewhere/policy.toml")];
        assert!(programs.admit(&link).is_err());
        assert!(programs.admit(&dir.path().join("workspaces/one")).is_ok());
    }

    #[test]
    fn workspace_link_to_the_data_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let programs = programs(dir.path());
        assert!(programs.admit(&dir.path().join("workspaces/one")).is_ok());
        for (name, target) in [("inside", "data"), ("around", "."), ("all", "workspaces")] {
            let link = dir.path().join("workspaces").join(name);
            std::os::unix::fs::symlink(dir.path().join(target), &link).unwrap();
            assert!(programs.admit(&link).is_err(), "{name}");
        }
    }

    #[test]
    fn read_only_path_to_the_data_or_another_workspace_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let programs = programs(dir.path());
        let with = |path: &str| {
            let workspace = Some(dir.path().join("workspaces/one"));
            programs.confined_to(workspace, false, vec![dir.path().join(path)]).is_ok()
        };
        std::os::unix::fs::symlink(dir.path().join("data"), dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("workspaces/two"), dir.path().join("two")).unwrap();
        for path in ["data", "link", "link/master.key", "workspaces", "workspaces/two", "two"] {
            assert!(!with(path), "{path}");
        }
        assert!(with("workspaces/one/tools") && with("elsewhere"));
    }

    #[test]
    fn path_that_does_not_exist_is_resolved_through_links() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("data")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("data"), dir.path().join("link")).unwrap();
        let there = dir.path().canonicalize().unwrap().join("data/workspaces");
        assert_eq!(real(&dir.path().join("link/workspaces")), there);
    }

    #[test]
    fn path_of_an_existing_file_has_no_trailing_slash() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("policy.toml"), "").unwrap();
        assert!(real(&dir.path().join("policy.toml")).to_str().unwrap().ends_with("/policy.toml"));
    }
}
