//! The agents that are run here: what the files define, followed while the server runs, and the worker that drives them.

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

/// How soon changed files are noticed.
const LOOK: Duration = Duration::from_secs(1);

/// What the files were when they were last looked at: the digest of each, or that one cannot be read.
type Looks = BTreeMap<PathBuf, Option<Digest>>;

/// Takes what the files define at the start, and gives what they say beside the agents. A bad file ends it, with everything that is wrong with
/// any of them.
pub(crate) fn first(engine: &Engine, agents: &Agents) -> Result<Arc<AgentSettings>, Failure> {
    keep_to_ourselves();
    let found = definitions::read(agents.agents.as_deref(), agents.flows.as_deref());
    engine.build_in(agent::tools::schemas());
    let settings = Arc::new(AgentSettings::default());
    take(engine, &settings, found.map_err(|findings| Failure::DefinitionsBad(lines(&findings)))?);
    Ok(settings)
}

/// Puts what the files say in force.
fn take(engine: &Engine, settings: &AgentSettings, found: Filed) {
    settings.replace(&found.agents);
    let (definitions, owners) = found.for_engine();
    engine.define_for(definitions, owners);
}

/// The memory and the environment of this process, with the address of the database and the keys of models in it, are closed to other processes
/// of the same user. Whoever is root reads them all the same.
fn keep_to_ourselves() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "other processes of this user can read the environment of this process");
    }
}

/// Starts the worker, and whatever follows the files. The worker lets go of its steps when it is told to stop.
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

/// Follows the files for ever. Bad ones leave those before in force, and are told in the log and the figures.
async fn follow(engine: Engine, agents: Agents, settings: Arc<AgentSettings>) {
    metrics::gauge!("flow_definitions_refused").set(0.0);
    // Nothing is taken as known: the files may have changed since the server was started with them.
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
