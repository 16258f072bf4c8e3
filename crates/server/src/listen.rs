//! Accepts connections, and ends them well.

use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::caller::Peer;
use crate::socket::Sockets;

/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// How long requests in flight are waited for.
const STOP_TIME: Duration = Duration::from_secs(20);

/// Serves until `stopping` turns true; then accepts nothing more, lets requests in flight finish and sockets say goodbye.
pub async fn listen(listener: TcpListener, router: Router, mut stopping: watch::Receiver<bool>) -> io::Result<()> {
    let connections = TaskTracker::new();
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(64 * 1024);
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: those that are open will be given back.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Answers are small and wanted at once.
        let _ = stream.set_nodelay(true);
        let sockets = Sockets(connections.clone());
        let service = TowerToHyperService::new(router.clone().map_request(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            request.extensions_mut().insert(sockets.clone());
            request
        }));
        let connection = server.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut stopping = stopping.clone();
        connections.spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stops(&mut stopping) => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended badly");
            }
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(STOP_TIME, connections.wait()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    Ok(())
}

async fn stops(stopping: &mut watch::Receiver<bool>) {
    // A sender that is gone has stopped too.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
