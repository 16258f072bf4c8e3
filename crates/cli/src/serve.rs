//! `holdpoint serve`: what runs, and how it ends.

use std::path::Path;

use engine::{Engine, Ids};
use server::App;
use store_sqlite::{DataLock, private_directory};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Serve;
use crate::failure::Failure;
use crate::master_key::vault;
use crate::open::open;
use crate::stopping::Signals;
use crate::{policy, telemetry, work};

/// Runs the server until it is told to stop.
pub(crate) fn serve(runtime: &Runtime, serve: &Serve) -> Result<(), Failure> {
    // Each stream is a file descriptor; a lower limit than wished for is still a limit to live with.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let telemetry = telemetry::start(&serve.telling)?;
    let ended = runtime.block_on(run(serve));
    telemetry.end();
    ended
}

async fn run(serve: &Serve) -> Result<(), Failure> {
    let signals = Signals::listen()?;
    let vault = vault(&serve.master, &serve.database.data)?;
    let _lock = match serve.database.database_url {
        None => Some(locked(&serve.database.data)?),
        Some(_) => None,
    };
    let (store, clock) = open(&serve.database)?;
    let engine = Engine::new(store.clone(), clock, Ids::default(), vault, serve.terms.settings(&serve.agents));
    engine.unlock().await?;
    work::first(&engine, &serve.agents)?;
    if let Some(file) = &serve.terms.policy {
        policy::first(&engine, file).await?;
    }
    engine.policy_noted().await;

    let (stop, stopping) = watch::channel(false);
    let app = App::new(engine.clone(), serve.limits(), telemetry::figures()?, stopping.clone());
    let listener = TcpListener::bind(serve.listen).await.map_err(|error| Failure::Listen(serve.listen, error))?;
    let address = listener.local_addr().map_err(|error| Failure::Listen(serve.listen, error))?;

    let (tasks, cancelled) = (TaskTracker::new(), CancellationToken::new());
    let (timers, housekeeping, chain) = (engine.clone(), engine.clone(), engine.clone());
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { timers.run_timers().await }));
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { housekeeping.run_housekeeping().await }));
    if let Some(file) = serve.terms.policy.clone() {
        tasks.spawn(cancelled.clone().run_until_cancelled_owned(policy::follow(engine.clone(), file)));
    }
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { chain.run_chain().await }));
    work::start(&tasks, &cancelled, &engine, &serve.agents);
    tasks.spawn(signals.told_to_stop(stop));
    println!("Holdpoint is at http://{address} (its API is described at http://{address}/docs)");

    let served = server::listen(listener, server::router(app), stopping).await;
    cancelled.cancel();
    tasks.close();
    tasks.wait().await;
    if let Err(error) = engine.note_used().await {
        tracing::warn!(%error, "the last use of keys was not written down");
    }
    // Joins the writing threads: what was acknowledged is on disk either way.
    let closing = tokio::task::spawn_blocking(move || store.close());
    let _ = closing.await;
    println!("Holdpoint has stopped");
    served.map_err(Failure::Serve)
}

/// Takes the data directory, which is made if absent.
fn locked(directory: &Path) -> Result<DataLock, Failure> {
    private_directory(directory).map_err(|error| Failure::Data(directory.to_owned(), error))?;
    Ok(DataLock::take(directory)?)
}
