//! Waits until a condition of a reader is met. Each room passes its condition.

use std::time::Duration;

use domain::Caller;
use store::Topic;

use crate::run::fair_gate::Entrant;
use crate::{Engine, Error};

/// Calls `look` until its result is `wanted`, and returns the result; after `wait`, returns the result as it is. Each ring calls `look` again.
pub(crate) async fn wait_until<T, F>(
    engine: &Engine,
    (caller, topic): (&Caller, Topic),
    wait: Duration,
    look: impl Fn() -> F,
    wanted: impl Fn(&T) -> bool,
) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    // Listening comes before looking: a change in between rings the listener.
    let mut listener = engine.bell.listen(topic);
    let waiting = async {
        let mut waits = None;
        loop {
            let found = look().await?;
            if wait.is_zero() || wanted(&found) {
                return Ok(found);
            }
            if waits.is_none() {
                waits = Some(engine.gates.waits.enter(Entrant::of(caller)).await?);
            }
            listener.wait().await;
        }
    };
    if wait.is_zero() {
        return waiting.await;
    }
    match tokio::time::timeout(wait, waiting).await {
        Ok(result) => result,
        Err(_) => look().await,
    }
}
