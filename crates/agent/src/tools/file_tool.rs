//! Runs file operations off the async runtime, with time limits.

use std::marker::PhantomData;
use std::time::Duration;

use cap_std::fs::Dir;
use domain::text;
use engine::Redactor;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Workspace;
use super::bounds::{Bounds, ToolFailure};
use crate::tool::{ReplacedContent, Tool, ToolOutcome, ToolRun, ToolSpec};

/// Time limit of an operation, and of the wait for it: a file system may hang.
const TIME: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(20);

/// A file operation that is a tool.
pub(super) trait FileWork: 'static {
    /// Arguments; unknown ones are refused.
    type Arguments: DeserializeOwned + Send + 'static;
    /// Whether it changes files. A change that did not end within the time limit has an unknown outcome.
    const CHANGES: bool;
    fn spec() -> ToolSpec;
    /// Content that the operation would replace.
    fn replaces(_root: &Dir, _arguments: &Self::Arguments) -> Option<ReplacedContent> {
        None
    }
    fn work(root: &Dir, arguments: Self::Arguments, bounds: &Bounds) -> Result<Value, ToolFailure>;
}

/// Tool of a file operation.
pub(super) struct FileTool<W> {
    spec: ToolSpec,
    workspace: Workspace,
    work: PhantomData<fn() -> W>,
}

impl<W: FileWork> FileTool<W> {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { spec: W::spec(), workspace, work: PhantomData }
    }

    async fn perform(&self, arguments: &Value, run: &ToolRun) -> ToolOutcome {
        let arguments = match read::<W::Arguments>(arguments) {
            Ok(arguments) => arguments,
            Err(trouble) => return failed(trouble, &Redactor::default()),
        };
        let secrets = Redactor::new(run.confidential());
        let stop = run.cancel.child_token();
        // Dropping this future stops the operation before its next step.
        let _stopping = stop.clone().drop_guard();
        let bounds = Bounds::new(TIME, stop, secrets.clone()).replacing(run.expected_content.clone());
        let dir = self.workspace.dir.clone();
        let work = tokio::task::spawn_blocking(move || W::work(&dir, arguments, &bounds));
        match tokio::time::timeout(PATIENCE, work).await {
            Ok(Ok(Ok(result))) => ToolOutcome::Done(secrets.hide_in(result)),
            Ok(Ok(Err(trouble))) => failed(trouble, &secrets),
            Ok(Err(_)) | Err(_) if W::CHANGES => ToolOutcome::Unknown,
            Ok(Err(_)) => failed(ToolFailure::new("the tool failed with an internal error"), &secrets),
            Err(_) => failed(ToolFailure::new("the file system does not answer"), &secrets),
        }
    }
}

impl<W: FileWork> Tool for FileTool<W> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn replaces<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Option<ReplacedContent>> {
        async move {
            let arguments = read::<W::Arguments>(arguments).ok()?;
            let dir = self.workspace.dir.clone();
            let looking = tokio::task::spawn_blocking(move || W::replaces(&dir, &arguments));
            tokio::time::timeout(TIME, looking).await.ok()?.ok()?
        }
        .boxed()
    }

    fn run<'a>(&'a self, arguments: &'a Value, run: &'a ToolRun) -> BoxFuture<'a, ToolOutcome> {
        self.perform(arguments, run).boxed()
    }
}

/// Reads the arguments of a tool and refuses unknown ones, because the policy judged all of them.
pub(super) fn read<A: DeserializeOwned>(arguments: &Value) -> Result<A, ToolFailure> {
    if !arguments.is_object() {
        return Err(ToolFailure::new("the arguments are not an object"));
    }
    A::deserialize(arguments)
        .map_err(|error| ToolFailure::new(format!("the arguments do not fit: {}", text::misread(&error.to_string()))))
}

fn failed(trouble: ToolFailure, secrets: &Redactor) -> ToolOutcome {
    ToolOutcome::Failed { message: secrets.hide(&trouble.0), result: Value::Null }
}
