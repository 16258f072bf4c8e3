//! `holdpoint serve`: what runs, and how it ends.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use engine::{Engine, Ids};
use server::{App, Front, Oidc, OidcSettings, Page};
use store_sqlite::{DataLock, private_directory};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;
use webhooks::{Postman, SystemLookup};

use crate::config::{Provider, Serve};
use crate::failure::Failure;
use crate::master_key::vault;
use crate::open::{open, refuse_misfit};
use crate::programs::AgentPrograms;
use crate::stopping::Signals;
use crate::{policy, telemetry, users, work};

/// How many file descriptors are kept for everything but the connections of callers: the database, webhooks, agents' programs, the log.
const OTHER_FILES: u64 = 1024;

/// Runs the server until it is told to stop.
pub(crate) fn serve(runtime: &Runtime, serve: &Serve) -> Result<(), Failure> {
    // Each connection is a file descriptor; a lower limit than wished for is still a limit to live with.
    let files = rlimit::increase_nofile_limit(u64::MAX).or_else(|_| rlimit::Resource::NOFILE.get_soft());
    let telemetry = telemetry::start(&serve.telling)?;
    if let (Ok(limit), connections) = (files, serve.callers.connections)
        && let Some(wanted) = wanted_files(limit, connections)
    {
        tracing::warn!(limit, wanted, connections, "openFilesLimitLow");
    }
    let ended = runtime.block_on(run(serve));
    telemetry.end();
    ended
}

/// How many files this process should be allowed to have open, where `limit` is too few for so many connections: it would run out of file
/// descriptors before it can refuse a connection with a reason.
fn wanted_files(limit: u64, connections: usize) -> Option<u64> {
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHER_FILES);
    (limit < wanted).then_some(wanted)
}

async fn run(serve: &Serve) -> Result<(), Failure> {
    let signals = Signals::listen()?;
    let vault = vault(&serve.master, &serve.database.data)?;
    let _lock = match serve.database.database_url {
        None => Some(locked(&serve.database.data)?),
        Some(_) => None,
    };
    let (store, clock) = open(&serve.database)?;
    let settings = serve.bounds.applied_to(serve.terms.settings(&serve.agents));
    let settings = serve.callers.applied_to(serve.webhooks.applied_to(settings));
    let engine = Engine::new(store.clone(), clock, Ids::default(), vault, settings);
    refuse_misfit(&engine).await?;
    engine.unlock().await?;
    let own = [&serve.terms.policy, &serve.terms.policy_floor, &serve.oidc.oidc_client_secret_file];
    let programs = AgentPrograms::found_out(&serve.agents, &serve.database.data, &own)?;
    let settings = work::first(&engine, &serve.agents)?;
    policy::first(&engine, &serve.terms).await?;
    engine.policy_noted().await?;

    let (stop, stopping) = watch::channel(false);
    let front = Front {
        public: serve.public_url.clone(),
        page: Page::built(),
        oidc: oidc(&serve.oidc)?,
        unconfined: programs.are_unconfined(),
    };
    let app = App::new(engine.clone(), serve.limits(), front, telemetry::figures()?, stopping.clone());
    let listener = TcpListener::bind(serve.listen).await.map_err(|error| Failure::Listen(serve.listen, error))?;
    let address = listener.local_addr().map_err(|error| Failure::Listen(serve.listen, error))?;

    let (tasks, cancelled) = (TaskTracker::new(), CancellationToken::new());
    let [timers, housekeeping, chain, counting] = [(); 4].map(|()| engine.clone());
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { counting.run_recount().await }));
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { timers.run_timers().await }));
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { housekeeping.run_housekeeping().await }));
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(policy::follow(engine.clone(), serve.terms.clone())));
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { chain.run_chain().await }));
    let postman = Postman::new(serve.webhooks.networks(), Arc::new(SystemLookup));
    let postman = postman.map_err(|error| Failure::Webhooks(error.to_string()))?;
    let (sending, stop_sending) = (engine.clone(), cancelled.clone());
    tasks.spawn(async move { sending.run_webhooks(Arc::new(postman), stop_sending.cancelled()).await });
    work::start(&tasks, &cancelled, &engine, (&serve.agents, settings, programs));
    tasks.spawn(signals.told_to_stop(stop));
    println!("Holdpoint is at http://{address} (its API is described at http://{address}/docs)");
    welcome(&engine, serve, address).await;

    let served =
        server::listen(listener, server::router(app, dialects::dialects()), serve.limits().connections, stopping).await;
    cancelled.cancel();
    tasks.close();
    tasks.wait().await;
    engine.drafts_settled().await;
    if let Err(error) = engine.note_used().await {
        tracing::warn!(%error, "the last use of keys was not written down");
    }
    // Joins the writing threads: what was acknowledged is on disk either way.
    let closing = tokio::task::spawn_blocking(move || store.close());
    let _ = closing.await;
    println!("Holdpoint has stopped");
    served.map_err(Failure::Serve)
}

/// The identity provider that was asked for.
fn oidc(provider: &Provider) -> Result<Option<Oidc>, Failure> {
    let (Some(issuer), Some(client_id)) = (&provider.oidc_issuer, &provider.oidc_client_id) else { return Ok(None) };
    let secret = provider.oidc_client_secret_file.as_ref().map(|file| {
        let read = std::fs::read_to_string(file).map_err(|error| Failure::Data(file.clone(), error));
        read.map(|text| text.trim().to_owned())
    });
    let settings = OidcSettings {
        issuer: issuer.clone(),
        client_id: client_id.clone(),
        client_secret: secret.transpose()?,
        role_claim: provider.oidc_role_claim.clone(),
        name_claim: provider.oidc_name_claim.clone(),
        place: (provider.oidc_tenant.clone(), provider.oidc_project.clone()),
    };
    Oidc::new(settings).map(Some).map_err(Failure::Oidc)
}

/// As long as nobody has ever signed in: shows the way in, to whoever sees what this process writes.
async fn welcome(engine: &Engine, serve: &Serve, address: SocketAddr) {
    match engine.first_link().await {
        Ok(None) => {}
        Ok(Some(token)) => {
            let here = format!("http://{address}");
            let base = serve.public_url.as_ref().map_or(here.as_str(), Url::as_str);
            println!("Sign in as the first admin, once and within an hour: {}", users::address(base, &token));
        }
        Err(error) => tracing::warn!(%error, "no link for the first admin could be made"),
    }
}

/// Takes the data directory, which is made if absent.
fn locked(directory: &Path) -> Result<DataLock, Failure> {
    private_directory(directory).map_err(|error| Failure::Data(directory.to_owned(), error))?;
    Ok(DataLock::take(directory)?)
}

#[cfg(test)]
mod tests {
    use super::wanted_files;

    #[test]
    fn a_limit_of_open_files_below_the_connections_and_a_reserve_is_too_low() {
        assert_eq!(wanted_files(20_000, 60_000), Some(61_024));
        assert_eq!(wanted_files(61_023, 60_000), Some(61_024));
        assert_eq!(wanted_files(61_024, 60_000), None);
        assert_eq!(wanted_files(20_000, 18_000), None);
    }
}
