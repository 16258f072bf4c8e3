//! Stop signals of a long-running process.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::failure::Failure;

/// SIGTERM and SIGINT, caught from the start of the process.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let heard = |kind| signal(kind).map_err(Failure::Runtime);
        Ok(Self { terminate: heard(SignalKind::terminate())?, interrupt: heard(SignalKind::interrupt())? })
    }

    pub(crate) async fn stop_on_signal(mut self, stop: watch::Sender<bool>) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        tracing::info!("stopping: requests in flight finish, event streams are closed");
        // Without receivers the server has stopped already.
        let _ = stop.send(true);
    }
}
