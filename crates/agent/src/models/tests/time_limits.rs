//! Time limits and retries with paused time and providers in memory.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use domain::agent::{ModelChoice, Provider};
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};
use tokio::time::{Instant, sleep};

use super::{ask, choice, retries, user};
use crate::model::{Delta, ModelError, Request, Turn};
use crate::models::fault::Fault;
use crate::models::http::{HttpResponse, Transport};
use crate::models::remote::RemoteModel;
use crate::models::retry::TimeLimits;

const WHOLE: &str =
    "data: {\"choices\": [{\"delta\": {\"content\": \"ok\"}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n";

/// Status, requested wait in seconds, and the pieces of the body with the silence before each.
type Spoken = (u16, Option<u64>, Vec<(u64, &'static str)>);

/// A provider that gives one answer after another.
struct Memory(Mutex<VecDeque<Spoken>>);

impl Transport for Memory {
    fn send(&self, _: Bytes) -> BoxFuture<'_, Result<HttpResponse, Fault>> {
        Box::pin(async move {
            let (status, after, pieces) = self.0.lock().unwrap().pop_front().unwrap();
            let body = stream::iter(pieces).then(|(wait, piece)| async move {
                sleep(Duration::from_secs(wait)).await;
                Ok(Bytes::from_static(piece.as_bytes()))
            });
            let content_type = "text/event-stream".to_owned();
            Ok(HttpResponse { status, content_type, after: after.map(Duration::from_secs), body: body.boxed() })
        })
    }
}

/// Asks for a turn and measures how many whole seconds it took.
async fn play(timeout: Option<u32>, script: Vec<Spoken>) -> (Result<Turn, ModelError>, Vec<Delta>, u64) {
    let choice = ModelChoice { timeout_seconds: timeout, ..choice(Provider::Openai) };
    let memory = Memory(Mutex::new(script.into()));
    let model = RemoteModel::new(&choice, None, Box::new(memory), TimeLimits::of(&choice));
    let begun = Instant::now();
    let history = [user("hi")];
    let (turn, heard) = ask(&model, Request { instructions: "", history: &history, tools: &[] }).await;
    (turn, heard, begun.elapsed().as_secs())
}

fn whole() -> Spoken {
    (200, None, vec![(0, WHOLE)])
}

#[tokio::test(start_paused = true)]
async fn retry_waits_as_long_as_requested() {
    let (turn, heard, took) = play(None, vec![(429, Some(42), vec![]), whole()]).await;
    assert_eq!((turn.unwrap().text.as_str(), took), ("ok", 42));
    assert_eq!(retries(&heard), ["the provider answered 429"]);
}

#[tokio::test(start_paused = true)]
async fn request_to_wait_an_hour_fails_without_retry() {
    let (turn, heard, took) = play(None, vec![(429, Some(3600), vec![])]).await;
    let message = "the provider answered 429 (and asks for a pause of 3600 seconds)".to_owned();
    assert_eq!((turn, heard.len(), took), (Err(ModelError::Unavailable(message)), 0, 0));
}

#[tokio::test(start_paused = true)]
async fn retry_delays_double_with_random_jitter() {
    let (turn, heard, took) = play(None, vec![(500, None, vec![]); 5]).await;
    assert_eq!(turn, Err(ModelError::Unavailable("the provider answered 500 (asked 5 times)".to_owned())));
    // Delays of 1 + 2 + 4 + 8 seconds, each up to twice as long.
    assert!((15..30).contains(&took), "{took}");
    assert_eq!(heard.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn idle_limit_ends_a_silent_attempt_and_not_a_slow_one() {
    let (turn, heard, took) =
        play(None, vec![(200, None, vec![(170, ": still here\n\n"), (200, WHOLE)]), whole()]).await;
    assert_eq!(turn.unwrap().text, "ok");
    assert_eq!(retries(&heard), ["the provider was silent for 180 seconds"]);
    assert!((351..=352).contains(&took), "{took}");
    let (turn, heard, took) = play(None, vec![(200, None, vec![(170, ": still here\n\n"), (170, WHOLE)])]).await;
    assert_eq!((turn.unwrap().text.as_str(), heard.len(), took), ("ok", 1, 340));
}

#[tokio::test(start_paused = true)]
async fn slow_bytes_do_not_extend_the_time_limit_of_a_turn() {
    let trickle = || (200, None, vec![(10, "x"); 1000]);
    let (turn, heard, took) = play(Some(60), vec![trickle(), whole()]).await;
    assert_eq!(turn.unwrap().text, "ok");
    assert_eq!(retries(&heard), ["the turn took longer than 60 seconds"]);
    assert!((61..=62).contains(&took), "{took}");
    // The silence limit applies to the body of an error too.
    let (turn, heard, _) = play(Some(60), vec![(400, None, vec![(10, "x"); 1000]), whole()]).await;
    assert_eq!((turn.unwrap().text.as_str(), retries(&heard).len()), ("ok", 1));
}
