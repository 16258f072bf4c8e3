//! A model that says anything, and tools of every kind, each of which looks at what is true before it does anything.

use std::sync::Arc;

use domain::AgentVersion;
use futures::future::BoxFuture;
use holdpoint_agent::model::{Delta, Model, ModelError, Request, Turn};
use holdpoint_agent::tool::{Ran, Run, Tool, ToolError, ToolSpec};
use holdpoint_agent::worker::Kit;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::play::{Deed, Play};
use crate::{check, check_runs, draw};

/// The tools that the worker runs: name, whether it may be repeated, whether it may run beside others.
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

/// What every worker of a seed is given.
pub(crate) struct Bag(pub Arc<Play>);

impl Kit for Bag {
    fn model(&self, _: &AgentVersion, _: Option<Zeroizing<String>>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Thinker(Arc::clone(&self.0))))
    }

    fn tools<'a>(&'a self, _: &'a AgentVersion) -> BoxFuture<'a, Result<Vec<Arc<dyn Tool>>, ToolError>> {
        let tool = |(name, repeatable, parallel): (&str, bool, bool)| -> Arc<dyn Tool> {
            let schema = json!({ "type": "object" });
            let spec = ToolSpec { name: name.into(), description: String::new(), schema, repeatable, parallel };
            Arc::new(Doer { play: Arc::clone(&self.0), spec })
        };
        let tools = TOOLS.into_iter().map(tool).collect();
        let broken = self.0.stage.lock().tools_break();
        Box::pin(async move { if broken { Err(ToolError("the tools are not at hand".into())) } else { Ok(tools) } })
    }
}

struct Thinker(Arc<Play>);

impl Model for Thinker {
    fn turn<'a>(
        &'a self,
        request: Request<'a>,
        said: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>> {
        let history = request.history.to_vec();
        Box::pin(async move {
            let play = &self.0;
            play.noticed(check::asked(play, &history));
            play.stage.lock().asked += 1;
            said(Delta::Text("I think. ".into()));
            play.takes_time(3).await;
            draw::turn(play)
        })
    }
}

struct Doer {
    play: Arc<Play>,
    spec: ToolSpec,
}

impl Tool for Doer {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: &'a Value, run: &'a Run) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let deed = Deed { tool: self.spec.name.clone(), arguments: arguments.clone() };
            self.play.noticed(check_runs::may_run(&self.play.look(), &deed));
            self.play.stage.lock().ran.push(deed);
            self.play.takes_time(3).await;
            let quiet = self.play.stage.lock().quiet;
            match arguments["what"].as_str() {
                Some("fail") => Ran::Failed { message: "it broke".into(), result: Value::Null },
                Some("lose") => Ran::Unknown,
                Some("hang") if !quiet => {
                    run.cancel.cancelled().await;
                    Ran::Unknown
                }
                _ => Ran::Done(json!({ "ran": arguments["id"] })),
            }
        })
    }
}
