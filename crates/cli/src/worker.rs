//! `holdpoint worker`: runs hosted agents beside the servers of the same database and serves only its metrics.

use std::net::SocketAddr;

use engine::{Engine, Ids};
use server::{App, Front, ServerLimits};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Worker;
use crate::failure::Failure;
use crate::master_key::vault;
use crate::open_store::{open, refuse_unadopted};
use crate::programs::AgentPrograms;
use crate::signals::Signals;
use crate::{hosted_agents, policy, telemetry};

/// Runs a worker until a signal stops it.
pub(crate) fn worker(runtime: &Runtime, worker: &Worker) -> Result<(), Failure> {
    if worker.database.database_url.is_none() {
        return Err(Failure::WorkerNeedsPostgres);
    }
    if worker.agents.worker_steps == 0 {
        return Err(Failure::WorkerIdle);
    }
    let telemetry = telemetry::start(&worker.telemetry)?;
    let ended = runtime.block_on(run(worker));
    telemetry.end();
    ended
}

async fn run(worker: &Worker) -> Result<(), Failure> {
    let signals = Signals::listen()?;
    let vault = vault(&worker.master, &worker.database.data)?;
    let (store, clock) = open(&worker.database)?;
    let settings = worker.tenant_limits.apply_to(worker.options.settings(&worker.agents));
    let engine = Engine::new(store.clone(), clock, Ids::default(), vault, settings);
    refuse_unadopted(&engine).await?;
    engine.check_master_key().await?;
    engine.work_beside_servers();
    let own = [&worker.options.policy, &worker.options.policy_floor];
    let programs = AgentPrograms::detect(&worker.agents, &worker.database.data, &own)?;
    let settings = hosted_agents::load(&engine, &worker.agents)?;
    let (tasks, cancelled) = (TaskTracker::new(), CancellationToken::new());
    policy::load(&engine, &worker.options).await?;
    if worker.options.policy.is_none() {
        engine.follow_policy_of_servers().await?;
    }
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(policy::follow(engine.clone(), worker.options.clone())));
    let (stop, mut stopping) = watch::channel(false);
    if let Some(address) = worker.metrics_listen {
        serve_metrics(&tasks, &engine, address, stopping.clone()).await?;
    }
    hosted_agents::start(&tasks, &cancelled, &engine, (&worker.agents, settings, programs));
    tasks.spawn(signals.stop_on_signal(stop));
    println!("Holdpoint runs agents, at most {} steps at once", worker.agents.worker_steps);

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
async fn serve_metrics(
    tasks: &TaskTracker,
    engine: &Engine,
    address: SocketAddr,
    stopping: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let (limits, front) = (ServerLimits::default(), Front::default());
    let app = App::new(engine.clone(), limits, front, telemetry::install_metrics()?, stopping.clone());
    let listener = TcpListener::bind(address).await.map_err(|error| Failure::Listen(address, error))?;
    let bound = listener.local_addr().map_err(|error| Failure::Listen(address, error))?;
    println!("Its metrics are at http://{bound}/metrics");
    tasks.spawn(async move {
        if let Err(error) =
            server::listen(listener, server::health_router(app), server::ConnectionLimits::default(), stopping).await
        {
            tracing::warn!(%error, "the metrics are not served any more");
        }
    });
    Ok(())
}
