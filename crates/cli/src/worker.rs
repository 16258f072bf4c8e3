//! `holdpoint worker`: runs hosted agents beside the servers of the same database and serves only its metrics.

use std::net::SocketAddr;

use engine::{Engine, Ids};
use server::{App, Front, Limits};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Worker;
use crate::failure::Failure;
use crate::master_key::vault;
use crate::open::{open, refuse_misfit};
use crate::programs::AgentPrograms;
use crate::stopping::Signals;
use crate::{policy, telemetry, work};

/// Runs a worker until a signal stops it.
pub(crate) fn worker(runtime: &Runtime, worker: &Worker) -> Result<(), Failure> {
    if worker.database.database_url.is_none() {
        return Err(Failure::WorkerAlone);
    }
    if worker.agents.worker_steps == 0 {
        return Err(Failure::WorkerIdle);
    }
    let telemetry = telemetry::start(&worker.telling)?;
    let ended = runtime.block_on(run(worker));
    telemetry.end();
    ended
}

async fn run(worker: &Worker) -> Result<(), Failure> {
    let signals = Signals::listen()?;
    let vault = vault(&worker.master, &worker.database.data)?;
    let (store, clock) = open(&worker.database)?;
    let settings = worker.bounds.applied_to(worker.terms.settings(&worker.agents));
    let engine = Engine::new(store.clone(), clock, Ids::default(), vault, settings);
    refuse_misfit(&engine).await?;
    engine.unlock().await?;
    engine.beside_servers();
    let own = [&worker.terms.policy, &worker.terms.policy_floor];
    let programs = AgentPrograms::found_out(&worker.agents, &worker.database.data, &own)?;
    let settings = work::first(&engine, &worker.agents)?;
    let (tasks, cancelled) = (TaskTracker::new(), CancellationToken::new());
    policy::first(&engine, &worker.terms).await?;
    if worker.terms.policy.is_none() {
        engine.policy_of_servers().await?;
    }
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(policy::follow(engine.clone(), worker.terms.clone())));
    let (stop, mut stopping) = watch::channel(false);
    if let Some(address) = worker.metrics_listen {
        show_figures(&tasks, &engine, address, stopping.clone()).await?;
    }
    work::start(&tasks, &cancelled, &engine, (&worker.agents, settings, programs));
    tasks.spawn(signals.told_to_stop(stop));
    println!("Holdpoint drives agents, {} steps at once", worker.agents.worker_steps);

    // An error means that no sender is left; the worker stops then too.
    let _ = stopping.wait_for(|stopping| *stopping).await;
    cancelled.cancel();
    tasks.close();
    tasks.wait().await;
    let closing = tokio::task::spawn_blocking(move || store.close());
    let _ = closing.await;
    println!("Holdpoint has stopped");
    Ok(())
}

/// Serves the metrics, liveness and readiness of this process.
async fn show_figures(
    tasks: &TaskTracker,
    engine: &Engine,
    address: SocketAddr,
    stopping: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let (limits, front) = (Limits::default(), Front::default());
    let app = App::new(engine.clone(), limits, front, telemetry::figures()?, stopping.clone());
    let listener = TcpListener::bind(address).await.map_err(|error| Failure::Listen(address, error))?;
    let bound = listener.local_addr().map_err(|error| Failure::Listen(address, error))?;
    println!("Its figures are at http://{bound}/metrics");
    tasks.spawn(async move {
        if let Err(error) =
            server::listen(listener, server::health_router(app), server::ConnectionLimits::default(), stopping).await
        {
            tracing::warn!(%error, "the figures are not shown any more");
        }
    });
    Ok(())
}
