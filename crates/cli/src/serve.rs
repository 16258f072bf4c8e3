//! `holdpoint serve`: starts the server and its background tasks, and stops them in order.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use engine::{Engine, Ids};
use server::{App, Front, Oidc, OidcSettings, PageFiles};
use store_sqlite::{DataLock, private_directory};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;
use webhooks::{SystemResolver, WebhookSender};

use crate::config::{Provider, Serve};
use crate::failure::Failure;
use crate::master_key::vault;
use crate::open_store::{open, refuse_unadopted};
use crate::programs::AgentPrograms;
use crate::signals::Signals;
use crate::{hosted_agents, policy, telemetry, users};

/// File descriptors kept for everything but client connections: the database, webhooks, programs of agents, the log.
const OTHER_FILES: u64 = 1024;

/// Runs the server until a signal stops it.
pub(crate) fn serve(runtime: &Runtime, serve: &Serve) -> Result<(), Failure> {
    // Each connection takes a file descriptor. If the limit cannot be raised, the server runs with the lower one.
    let files = rlimit::increase_nofile_limit(u64::MAX).or_else(|_| rlimit::Resource::NOFILE.get_soft());
    let telemetry = telemetry::start(&serve.telemetry)?;
    if let (Ok(limit), connections) = (files, serve.node_limits.connections)
        && let Some(wanted) = wanted_files(limit, connections)
    {
        tracing::warn!(limit, wanted, connections, "openFilesLimitLow");
    }
    let ended = runtime.block_on(run(serve));
    telemetry.end();
    ended
}

/// Number of open files that this many connections need, if it exceeds `limit`. Without it the process would run out of
/// file descriptors before it can refuse a connection with a reason.
fn wanted_files(limit: u64, connections: usize) -> Option<u64> {
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHER_FILES);
    (limit < wanted).then_some(wanted)
}

async fn run(serve: &Serve) -> Result<(), Failure> {
    let signals = Signals::listen()?;
    let vault = vault(&serve.master, &serve.database.data)?;
    let _lock = match serve.database.database_url {
        None => Some(lock_data(&serve.database.data)?),
        Some(_) => None,
    };
    let (store, clock) = open(&serve.database)?;
    let settings = serve.tenant_limits.apply_to(serve.options.settings(&serve.agents));
    let settings = serve.node_limits.apply_to(serve.webhooks.apply_to(settings));
    let engine = Engine::new(store.clone(), clock, Ids::default(), vault, settings);
    refuse_unadopted(&engine).await?;
    engine.check_master_key().await?;
    let own = [&serve.options.policy, &serve.options.policy_floor, &serve.oidc.oidc_client_secret_file];
    let programs = AgentPrograms::detect(&serve.agents, &serve.database.data, &own)?;
    let settings = hosted_agents::load(&engine, &serve.agents)?;
    policy::load(&engine, &serve.options).await?;
    engine.policy_record().await?;

    let (stop, stopping) = watch::channel(false);
    let front = Front {
        public: serve.public_url.clone(),
        page: PageFiles::built(),
        oidc: oidc(&serve.oidc)?,
        unconfined: programs.are_unconfined(),
    };
    let app = App::new(engine.clone(), serve.limits(), front, telemetry::install_metrics()?, stopping.clone());
    let listener = TcpListener::bind(serve.listen).await.map_err(|error| Failure::Listen(serve.listen, error))?;
    let address = listener.local_addr().map_err(|error| Failure::Listen(serve.listen, error))?;

    let (tasks, cancelled) = (TaskTracker::new(), CancellationToken::new());
    start_tasks(&tasks, &cancelled, &engine, serve)?;
    hosted_agents::start(&tasks, &cancelled, &engine, (&serve.agents, settings, programs));
    tasks.spawn(signals.stop_on_signal(stop));
    println!("Holdpoint is at http://{address} (its API is described at http://{address}/docs)");
    print_first_link(&engine, serve, address).await;

    let served =
        server::listen(listener, server::router(app, dialects::dialects()), serve.limits().connections, stopping).await;
    cancelled.cancel();
    tasks.close();
    tasks.wait().await;
    engine.wait_for_drafts().await;
    if let Err(error) = engine.save_last_uses().await {
        tracing::warn!(%error, "the last use of keys could not be stored");
    }
    // Joins the writer threads. Acknowledged writes are on disk in any case.
    let closing = tokio::task::spawn_blocking(move || store.close());
    let _ = closing.await;
    println!("Holdpoint has stopped");
    served.map_err(Failure::Serve)
}

/// Starts the tasks that every server runs beside its requests.
fn start_tasks(
    tasks: &TaskTracker,
    cancelled: &CancellationToken,
    engine: &Engine,
    serve: &Serve,
) -> Result<(), Failure> {
    let [timers, housekeeping, chain, counting] = [(); 4].map(|()| engine.clone());
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { counting.run_recount().await }));
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { timers.run_timers().await }));
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { housekeeping.run_housekeeping().await }));
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(policy::follow(engine.clone(), serve.options.clone())));
    tasks.spawn(cancelled.clone().run_until_cancelled_owned(async move { chain.run_chain().await }));
    let sender = WebhookSender::new(serve.webhooks.networks(), Arc::new(SystemResolver));
    let sender = sender.map_err(|error| Failure::Webhooks(error.to_string()))?;
    let (sending, stop_sending) = (engine.clone(), cancelled.clone());
    tasks.spawn(async move { sending.run_webhooks(Arc::new(sender), stop_sending.cancelled()).await });
    Ok(())
}

/// The configured identity provider.
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
        project: (provider.oidc_tenant.clone(), provider.oidc_project.clone()),
    };
    Oidc::new(settings).map(Some).map_err(Failure::Oidc)
}

/// Prints a sign-in link for the first admin, as long as nobody has ever signed in.
async fn print_first_link(engine: &Engine, serve: &Serve, address: SocketAddr) {
    match engine.create_first_link().await {
        Ok(None) => {}
        Ok(Some(token)) => {
            let here = format!("http://{address}");
            let base = serve.public_url.as_ref().map_or(here.as_str(), Url::as_str);
            println!("Sign in as the first admin, once and within an hour: {}", users::address(base, &token));
        }
        Err(error) => tracing::warn!(%error, "the sign-in link for the first admin could not be created"),
    }
}

/// Locks the data directory and creates it if it is missing.
fn lock_data(directory: &Path) -> Result<DataLock, Failure> {
    private_directory(directory).map_err(|error| Failure::Data(directory.to_owned(), error))?;
    Ok(DataLock::acquire(directory)?)
}

#[cfg(test)]
mod tests {
    use super::wanted_files;

    #[test]
    fn open_file_limit_must_exceed_the_connections_by_a_reserve() {
        assert_eq!(wanted_files(20_000, 60_000), Some(61_024));
        assert_eq!(wanted_files(61_023, 60_000), Some(61_024));
        assert_eq!(wanted_files(61_024, 60_000), None);
        assert_eq!(wanted_files(20_000, 18_000), None);
    }
}
