//! A model with random turns, and tools that check the invariants before they run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::AgentVersion;
use futures::future::BoxFuture;
use holdpoint_agent::model::{Delta, Model, ModelError, Request, Turn};
use holdpoint_agent::tool::{Tool, ToolError, ToolOutcome, ToolRun, ToolSpec};
use holdpoint_agent::worker::Kit;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::simulation::play::{Play, RecordedRun};
use crate::simulation::{broken, check, check_runs, draw};

/// Tools that the worker runs: name, whether a call may be repeated, and whether it may run beside other calls.
pub(crate) const TOOLS: [(&str, bool, bool); 8] = [
    ("look", true, true),
    ("stamp", false, false),
    ("write", false, true),
    ("pour", true, false),
    ("two", false, false),
    ("timed", false, true),
    ("brief", false, false),
    ("never", false, false),
];

/// Model and tools of every worker of a seed.
pub(crate) struct RandomKit {
    play: Arc<Play>,
    /// Whether its worker has not run any step yet.
    new: AtomicBool,
}

impl RandomKit {
    pub(crate) fn new(play: &Arc<Play>) -> Self {
        Self { play: Arc::clone(play), new: AtomicBool::new(true) }
    }
}

impl Kit for RandomKit {
    fn model(&self, _: &AgentVersion, _: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(RandomModel(Arc::clone(&self.play))))
    }

    fn tools<'a>(&'a self, _: &'a domain::ProjectName, _: &'a AgentVersion) -> holdpoint_agent::worker::Tools<'a> {
        let tool = |(name, repeatable, parallel): (&str, bool, bool)| -> Arc<dyn Tool> {
            let schema = json!({ "type": "object" });
            let spec = ToolSpec { name: name.into(), description: String::new(), schema, repeatable, parallel };
            Arc::new(CheckedTool { play: Arc::clone(&self.play), spec })
        };
        let tools = TOOLS.into_iter().map(tool).collect();
        if self.new.swap(false, Ordering::Relaxed) {
            broken::runs_again(&self.play);
        }
        let none = self.play.stage.lock().tools_break();
        Box::pin(async move { if none { Err(ToolError("the tools are unavailable".into())) } else { Ok(tools) } })
    }
}

struct RandomModel(Arc<Play>);

impl Model for RandomModel {
    fn turn<'a>(
        &'a self,
        request: Request<'a>,
        on_delta: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>> {
        let defect = self.0.stage.lock().defect;
        let history = request.history.to_vec();
        let history = match defect {
            Some(defect) => defect.shown(history),
            None => history,
        };
        Box::pin(async move {
            let play = &self.0;
            play.noticed(check::asked(play, &history));
            play.stage.lock().asked += 1;
            on_delta(Delta::Text("I think. ".into()));
            play.takes_time(3).await;
            let turn = draw::turn(play)?;
            broken::runs_unasked(play, &turn);
            Ok(turn)
        })
    }
}

struct CheckedTool {
    play: Arc<Play>,
    spec: ToolSpec,
}

impl Tool for CheckedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: &'a Value, run: &'a ToolRun) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let deed = RecordedRun { tool: self.spec.name.clone(), arguments: arguments.clone() };
            self.play.noticed(check_runs::may_run(&self.play.look(), &deed));
            {
                let mut stage = self.play.stage.lock();
                stage.ran.push(deed.clone());
                stage.begun.push(deed.clone());
            }
            let ran = self.finish_run(arguments, run).await;
            self.play.stage.lock().begun.retain(|begun| *begun != deed);
            ran
        })
    }
}

impl CheckedTool {
    async fn finish_run(&self, arguments: &Value, run: &ToolRun) -> ToolOutcome {
        self.play.takes_time(3).await;
        let quiet = self.play.stage.lock().quiet;
        match arguments["what"].as_str() {
            Some("fail") => ToolOutcome::Failed { message: "it broke".into(), result: Value::Null },
            Some("lose") => ToolOutcome::Unknown,
            Some("hang") if !quiet => {
                run.cancel.cancelled().await;
                ToolOutcome::Unknown
            }
            _ => ToolOutcome::Done(json!({ "ran": arguments["id"] })),
        }
    }
}
