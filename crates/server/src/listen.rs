//! Accepts connections, serves them, and drains them when the server stops.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use domain::Limit;
use http::header::CONNECTION;
use http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::caller::Peer;
use crate::connection::{ConnectionLimits, ConnectionPool, Guarded};
use crate::front::LocalAddress;
use crate::socket::Sockets;

/// Time in which a client must send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Time for which the server waits for requests in flight when it stops.
const STOP_TIME: Duration = Duration::from_secs(20);

/// Serves until `stopping` turns true; then stops accepting, lets requests in flight finish and closes sockets with a
/// close frame.
pub async fn listen(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    mut stopping: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(16 * 1024);
    let (own, room) = (listener.local_addr()?, ConnectionPool::new(limits));
    let server = Server { http, router, room, own, connections: TaskTracker::new(), stopping: stopping.clone() };
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => server.accepts(stream, peer),
            Err(error) => {
                // Most likely out of file descriptors: wait until some are closed.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let connections = server.connections;
    connections.close();
    if tokio::time::timeout(STOP_TIME, connections.wait()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    Ok(())
}

/// State shared by all connections.
struct Server {
    http: http1::Builder,
    router: Router,
    room: ConnectionPool,
    /// Address at which the server listens.
    own: SocketAddr,
    connections: TaskTracker,
    stopping: watch::Receiver<bool>,
}

impl Server {
    /// Serves a connection, unless a limit on connections is reached.
    fn accepts(&self, stream: TcpStream, peer: SocketAddr) {
        let slots = match self.room.admit(peer) {
            Ok(admitted) => admitted,
            Err(limit) => return refuse(stream, peer, limit),
        };
        // Replies are small and must not be delayed.
        let _ = stream.set_nodelay(true);
        // A server that listens on all addresses uses the one that this client connected to.
        let here = LocalAddress(stream.local_addr().unwrap_or(self.own));
        let sockets = Sockets(self.connections.clone());
        let stream = Guarded::new(stream, self.room.write_time(), Some(slots.clone()));
        let of_reply = slots.clone();
        let service = self.router.clone().map_request(move |mut request: Request<Incoming>| {
            let extensions = request.extensions_mut();
            extensions.insert(Peer(peer));
            extensions.insert(here);
            extensions.insert(slots.clone());
            extensions.insert(sockets.clone());
            request
        });
        let service = TowerToHyperService::new(service.map_response(move |mut response| {
            if of_reply.are_refused() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            response
        }));
        let connection = self.http.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut stopping = self.stopping.clone();
        self.connections.spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stops(&mut stopping) => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended with an error");
            }
        });
    }
}

/// Closes a connection that exceeds a limit, after writing the reason if that is possible without waiting.
fn refuse(stream: TcpStream, peer: SocketAddr, limit: Limit) {
    tracing::debug!(%peer, limit = limit.name(), "a connection was refused");
    let response = crate::error::refused_connection(limit);
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write(response.as_bytes());
    }
}

async fn stops(stopping: &mut watch::Receiver<bool>) {
    // A dropped sender counts as stopping.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
