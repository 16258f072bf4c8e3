//! Keeps the workspaces of tenants apart.
//!
//! Workspaces of `default/default` are in `NAME`, those of every other project in `TENANT/PROJECT/NAME`. If a workspace of `default/default` has the
//! name of a tenant, its directory would contain that tenant's workspaces. Then neither workspace is opened until the operator renames one.

use domain::project::DEFAULT;
use domain::{Definition, DefinitionKind, Problem, ProjectName, Refusal, Scope};
use serde::Deserialize;
use store::{Cost, Reads};

use crate::run::pages::Pages;
use crate::steps;
use crate::steps::definitions::name_and_version;
use crate::steps::server_files::OfferedDefinitions;
use crate::{Engine, Error};

/// Number of definitions that are read at once.
const BATCH: u32 = 200;

impl Engine {
    /// Refuses to open a workspace whose directory would contain, or be inside, one of another tenant.
    pub async fn require_separate_workspace(&self, scope: Scope, workspace: &str) -> Result<(), Error> {
        let (offered, workspace) = (steps::server_files::offered(self, scope).await?, workspace.to_owned());
        self.read(Cost::Scan, move |reads| require_separate(reads, &offered, &workspace)).await
    }
}

/// Refuses a workspace whose directory would contain, or be inside, one of another tenant.
pub(crate) fn require_separate(
    reads: &mut dyn Reads,
    offered: &OfferedDefinitions,
    workspace: &str,
) -> Result<(), Error> {
    let project = offered.project();
    if project.is_default() {
        return if is_tenant(reads, workspace)? {
            Err(refused(workspace, "is also the name of a tenant"))
        } else {
            Ok(())
        };
    }
    if is_default_workspace(reads, offered, &project.tenant)? {
        // The refusal discloses nothing about agents of `default/default` to this tenant; the log tells the operator the reason.
        tracing::warn!(
            %project,
            "no workspace of this tenant is opened: an agent of default/default works in a directory of the tenant's name; \
             give that agent another workspace, and retire its old versions"
        );
        return Err(refused(workspace, "cannot be opened on this server; the operator finds the reason in its log"));
    }
    Ok(())
}

/// Whether a tenant has projects whose workspaces are below a directory of this name.
fn is_tenant(reads: &mut dyn Reads, name: &str) -> Result<bool, Error> {
    let Some(tenant) = reads.tenant(name)? else { return Ok(false) };
    if name != DEFAULT {
        return Ok(true);
    }
    // The tenant `default` has such workspaces only if it has a project besides `default`.
    Ok(reads.scopes()?.iter().filter(|scope| scope.tenant == tenant).count() > 1)
}

/// Whether an agent of `default/default` works in a directory of this name, by the files or by a version that new sessions may still use.
fn is_default_workspace(reads: &mut dyn Reads, offered: &OfferedDefinitions, name: &str) -> Result<bool, Error> {
    let default = offered.for_project(ProjectName::default());
    if default.agents().any(|agent| agent.workspace.as_deref() == Some(name)) {
        return Ok(true);
    }
    let Some(scope) = reads.scope(DEFAULT, DEFAULT)? else { return Ok(false) };
    let works_there = |kept: &Definition| {
        let agent = AgentWorkspace::deserialize(&kept.body);
        kept.retired_at.is_none() && agent.is_ok_and(|agent| agent.workspace.as_deref() == Some(name))
    };
    let mut pages = Pages::new(BATCH, name_and_version);
    while let Some(kept) = pages.next(|page| reads.definitions(&scope, DefinitionKind::Agent, page))? {
        if kept.iter().any(works_there) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Workspace of an agent, read from its stored definition.
#[derive(Deserialize)]
struct AgentWorkspace {
    workspace: Option<String>,
}

fn refused(workspace: &str, why: &str) -> Error {
    Refusal::QuestionInvalid(vec![Problem::new("/agent", format!("its workspace `{workspace}` {why}"))]).into()
}
