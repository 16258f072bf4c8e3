//! A workspace in a temporary directory, with files outside that no tool may touch.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use confine::Programs;
use domain::agent::WORKSPACE_TOOLS;
use holdpoint_agent::tool::{Tool, ToolOutcome, ToolRun};
use holdpoint_agent::tools::Workspace;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct TestWorkspace {
    all: TempDir,
    tools: Vec<Arc<dyn Tool>>,
}

impl TestWorkspace {
    pub(crate) fn new() -> Self {
        let all = TempDir::new().unwrap();
        std::fs::create_dir(all.path().join("workspace")).unwrap();
        std::fs::create_dir(all.path().join("outside")).unwrap();
        std::fs::write(all.path().join("outside/private.txt"), "outside").unwrap();
        let tools = Workspace::open(all.path().join("workspace"))
            .unwrap()
            .with_programs(Programs::Unconfined)
            .tools(&WORKSPACE_TOOLS);
        Self { all, tools }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.all.path().join("workspace").join(path)
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.all.path().join("outside")
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn link(&self, to: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(to, self.path(path)).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path(path)).ok()
    }

    pub(crate) fn tool(&self, name: &str) -> &dyn Tool {
        &**self.tools.iter().find(|tool| tool.spec().name == name).unwrap()
    }

    pub(crate) async fn run(&self, tool: &str, arguments: Value) -> ToolOutcome {
        self.tool(tool).run(&arguments, &ToolRun::default()).await
    }

    /// Runs a tool that must succeed.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> Value {
        match self.run(tool, arguments).await {
            ToolOutcome::Done(result) => result,
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// Runs a tool that must fail without a result, and returns the reason.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> String {
        match self.run(tool, arguments).await {
            ToolOutcome::Failed { message, result: Value::Null } => message,
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// Sorted names of the entries of a directory in the workspace.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(self.path(path))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}
