//! Tests readers of event streams that read slowly, or not at all, and then disconnect.

use serde_json::json;

use crate::common::{Client, Deployment, PATIENCE, Stream, until};

/// Number of readers that do not read.
const READERS: usize = 100;
/// Size of each event, in bytes.
const LARGE: usize = 12_000;
/// Number of events: together they exceed the buffers of any socket.
const EVENTS: u64 = 1000;
/// Largest memory of the server for one reader: its stream state and the data on the way into the socket.
const MOST_EACH: u64 = 512 * 1024;

/// Pauses and resumes a session repeatedly with long reasons, so that each command adds a large event.
async fn append_large_events(by: &Client, session: &str, events: u64) {
    let reason = "x".repeat(LARGE);
    for number in 0..events {
        let command = if number % 2 == 0 { "pause" } else { "resume" };
        let body = json!({ "command": command, "reason": reason });
        by.post(&format!("/v1/sessions/{session}/control"), body).await.done(200);
    }
}

#[tokio::test]
async fn slow_stream_readers_use_bounded_memory_and_miss_no_event() {
    let deployment = Deployment::sqlite();
    // A long write timeout keeps slow readers connected: this test measures their memory.
    let server = deployment.launch().with(&["--write-timeout-seconds", "600"]).start().await;
    let bot = server.client(&deployment.key("agent", "bot"));
    let session = bot.start().await;
    let path = format!("/v1/sessions/{session}/events/stream");
    append_large_events(&bot, &session, EVENTS / 2).await;
    let mut quick = Stream::open(&bot, &path, None).await.unwrap();
    for _ in 0..=EVENTS / 2 {
        quick.next().await.unwrap();
    }
    let before = server.memory();

    let mut slow = Vec::new();
    for number in 0..READERS {
        let path = if number % 2 == 0 { path.as_str() } else { "/v1/events/stream?after=0-0" };
        slow.push(Stream::open(&bot, path, None).await.unwrap());
    }
    append_large_events(&bot, &session, EVENTS / 2).await;
    for _ in 0..EVENTS / 2 {
        quick.next().await.unwrap();
    }
    assert_eq!(bot.metric("holdpoint_stream_readers").await, READERS as f64 + 1.0);
    let grown = server.memory().saturating_sub(before);
    let unsent = READERS as u64 * EVENTS * LARGE as u64;
    assert!(grown < READERS as u64 * MOST_EACH, "grown by {grown} bytes, with up to {unsent} unsent");

    let mut last = slow.swap_remove(0);
    let numbers = async {
        for number in 1..=EVENTS + 1 {
            assert_eq!(last.next().await.unwrap().id, Some(number.to_string()));
        }
    };
    tokio::time::timeout(PATIENCE, numbers).await.unwrap();
    drop((last, slow, quick));
    until("a server without readers", async || (bot.metric("holdpoint_stream_readers").await == 0.0).then_some(()))
        .await;
    assert!(server.stop().success());
}
