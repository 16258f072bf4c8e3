//! Hosted agents: loads the definition files, follows their changes, and runs the worker.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::definitions::FileFinding;
use agent::worker::Worker;
use domain::Digest;
use engine::Engine;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Agents;
use crate::definitions::{self, DefinitionFiles};
use crate::failure::Failure;
use crate::kit::{AgentSettings, Kit};
use crate::programs::AgentPrograms;

/// Interval at which the files are checked for changes.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Digest of each file at the last check; `None` for one that cannot be read.
type FileDigests = BTreeMap<PathBuf, Option<Digest>>;

/// Loads the definitions at the start and returns the agents' settings. An invalid file ends the start; the error lists
/// all problems of all files.
pub(crate) fn load(engine: &Engine, agents: &Agents) -> Result<Arc<AgentSettings>, Failure> {
    forbid_inspection();
    let files = definitions::read(agents.agents.as_deref(), agents.flows.as_deref());
    engine.set_tool_schemas(agent::tools::schemas());
    let settings = Arc::new(AgentSettings::default());
    put_in_force(engine, &settings, files.map_err(|findings| Failure::DefinitionsInvalid(lines(&findings)))?);
    Ok(settings)
}

/// Puts definitions in force.
fn put_in_force(engine: &Engine, settings: &AgentSettings, files: DefinitionFiles) {
    settings.replace(&files.agents);
    let (definitions, owners) = files.for_engine();
    engine.set_definitions_for(definitions, owners);
}

/// Protects memory and environment of this process, which hold the database address and model keys, from other
/// processes of the same user. Root can still read them.
fn forbid_inspection() {
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
        tokio::time::sleep(CHECK_INTERVAL).await;
        let (looked, before) = (agents.clone(), last.clone());
        let look = tokio::task::spawn_blocking(move || {
            let (agents, flows) = (looked.agents.as_deref(), looked.flows.as_deref());
            let digests = digests(&[agents, flows]);
            (before.as_ref() != Some(&digests)).then(|| (digests, definitions::read(agents, flows)))
        });
        let Ok(Some((digests, files))) = look.await else { continue };
        let again = last.replace(digests).is_some();
        metrics::gauge!("flow_definitions_refused").set(if files.is_ok() { 0.0 } else { 1.0 });
        match files {
            Ok(files) => {
                if again {
                    tracing::info!(agents = files.agents.len(), flows = files.flows.len(), "definitionsLoaded");
                }
                put_in_force(&engine, &settings, files);
            }
            Err(findings) => findings.iter().for_each(|finding| tracing::error!(%finding, "definitionsRefused")),
        }
    }
}

fn digests(dirs: &[Option<&Path>]) -> FileDigests {
    let mut digests = FileDigests::new();
    for dir in dirs.iter().flatten() {
        let Ok(entries) = std::fs::read_dir(dir) else {
            digests.insert(dir.to_path_buf(), None);
            continue;
        };
        for file in entries.flatten().map(|entry| entry.path()) {
            if file.extension().is_some_and(|extension| extension == "toml") {
                let digest = std::fs::read(&file).ok().map(|bytes| Digest::of_bytes(&bytes));
                digests.insert(file, digest);
            }
        }
    }
    digests
}

fn lines(findings: &[FileFinding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};

    #[test]
    fn process_is_not_dumpable_by_programs_of_agents() {
        set_dumpable_behavior(DumpableBehavior::Dumpable).unwrap();
        super::forbid_inspection();
        assert_eq!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable));
    }
}
