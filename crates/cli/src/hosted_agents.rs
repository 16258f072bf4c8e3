//! Hosted agents: loads the definition files, follows their changes, and runs the worker.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::definitions::Finding;
use agent::worker::Worker;
use domain::Digest;
use engine::Engine;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Agents;
use crate::definitions::{self, Filed};
use crate::failure::Failure;
use crate::kit::{AgentSettings, Kit};
use crate::programs::AgentPrograms;

/// Interval at which the files are checked for changes.
const LOOK: Duration = Duration::from_secs(1);

/// Digest of each file at the last check; `None` for one that cannot be read.
type Looks = BTreeMap<PathBuf, Option<Digest>>;

/// Loads the definitions at the start and returns the agents' settings. An invalid file ends the start; the error lists
/// all problems of all files.
pub(crate) fn first(engine: &Engine, agents: &Agents) -> Result<Arc<AgentSettings>, Failure> {
    keep_to_ourselves();
    let found = definitions::read(agents.agents.as_deref(), agents.flows.as_deref());
    engine.build_in(agent::tools::schemas());
    let settings = Arc::new(AgentSettings::default());
    take(engine, &settings, found.map_err(|findings| Failure::DefinitionsBad(lines(&findings)))?);
    Ok(settings)
}

/// Puts definitions in force.
fn take(engine: &Engine, settings: &AgentSettings, found: Filed) {
    settings.replace(&found.agents);
    let (definitions, owners) = found.for_engine();
    engine.define_for(definitions, owners);
}

/// Protects memory and environment of this process, which hold the database address and model keys, from other
/// processes of the same user. Root can still read them.
fn keep_to_ourselves() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "other processes of this user can read the environment of this process");
    }
}

/// Starts the worker and the task that follows the files. The worker releases its steps when it is stopped.
pub(crate) fn start(
    tasks: &TaskTracker,
    cancelled: &CancellationToken,
    engine: &Engine,
    (agents, settings, programs): (&Agents, Arc<AgentSettings>, AgentPrograms),
) {
    if agents.agents.is_some() {
        let following = follow(engine.clone(), agents.clone(), Arc::clone(&settings));
        tasks.spawn(cancelled.clone().run_until_cancelled_owned(following));
    }
    if agents.worker_steps > 0 {
        let kit = Arc::new(Kit::new(agents.workspaces.clone(), settings, programs));
        let name = format!("worker-{}", std::process::id());
        let worker = Worker::new(engine.clone(), Arc::clone(&kit) as _, name, agents.worker_steps);
        let stop = cancelled.clone();
        tasks.spawn(async move {
            worker.run(stop).await;
            kit.close().await;
        });
    }
}

/// Follows the files for ever. Invalid files leave the previous definitions in force and are reported in the log and
/// the metrics.
async fn follow(engine: Engine, agents: Agents, settings: Arc<AgentSettings>) {
    metrics::gauge!("flow_definitions_refused").set(0.0);
    // The files are read again: they may have changed since the start.
    let mut last = None;
    loop {
        tokio::time::sleep(LOOK).await;
        let (looked, before) = (agents.clone(), last.clone());
        let look = tokio::task::spawn_blocking(move || {
            let (agents, flows) = (looked.agents.as_deref(), looked.flows.as_deref());
            let looks = looks(&[agents, flows]);
            (before.as_ref() != Some(&looks)).then(|| (looks, definitions::read(agents, flows)))
        });
        let Ok(Some((looks, found))) = look.await else { continue };
        let again = last.replace(looks).is_some();
        metrics::gauge!("flow_definitions_refused").set(if found.is_ok() { 0.0 } else { 1.0 });
        match found {
            Ok(found) => {
                if again {
                    tracing::info!(agents = found.agents.len(), flows = found.flows.len(), "definitionsLoaded");
                }
                take(&engine, &settings, found);
            }
            Err(findings) => findings.iter().for_each(|finding| tracing::error!(%finding, "definitionsRefused")),
        }
    }
}

fn looks(dirs: &[Option<&Path>]) -> Looks {
    let mut looks = Looks::new();
    for dir in dirs.iter().flatten() {
        let Ok(entries) = std::fs::read_dir(dir) else {
            looks.insert(dir.to_path_buf(), None);
            continue;
        };
        for file in entries.flatten().map(|entry| entry.path()) {
            if file.extension().is_some_and(|extension| extension == "toml") {
                let digest = std::fs::read(&file).ok().map(|bytes| Digest::of_bytes(&bytes));
                looks.insert(file, digest);
            }
        }
    }
    looks
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};

    #[test]
    fn what_agents_run_cannot_look_into_the_process() {
        set_dumpable_behavior(DumpableBehavior::Dumpable).unwrap();
        super::keep_to_ourselves();
        assert_eq!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable));
    }
}
