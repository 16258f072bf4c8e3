//! Reads the event stream of the whole project and reconnects after the last event whenever the stream breaks.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::retrying_client::RetryingClient;
use crate::common::{Stream, soon};

/// Events and connections of the reader so far.
#[derive(Debug, Default)]
pub(crate) struct ReaderLog {
    pub(crate) events: Mutex<Vec<Value>>,
    pub(crate) connections: Mutex<usize>,
}

/// Starts to read from before the first event, in a task that runs until it is aborted.
pub(crate) async fn start(mut client: RetryingClient, tasks: &mut JoinSet<()>) -> Arc<ReaderLog> {
    let seen = Arc::new(ReaderLog::default());
    let first = Stream::open(client.node(), "/v1/events/stream", Some("0-0"));
    let first = soon("the first stream", first).await.unwrap();
    let reading = Arc::clone(&seen);
    tasks.spawn(async move { read(client, first, &reading).await });
    seen
}

async fn read(mut client: RetryingClient, mut stream: Stream, seen: &ReaderLog) {
    let mut last = "0-0".to_owned();
    loop {
        *seen.connections.lock() += 1;
        while let Some(frame) = stream.next().await {
            if let Some(id) = frame.id {
                last = id;
                let mut event: Value = serde_json::from_str(&frame.data).unwrap();
                event["cursor"] = json!(last);
                seen.events.lock().push(event);
            }
        }
        stream = loop {
            if let Ok(stream) = Stream::open(client.node(), "/v1/events/stream", Some(&last)).await {
                break stream;
            }
            tokio::time::sleep(Duration::from_millis(client.rng.u64(2..20))).await;
        };
    }
}
