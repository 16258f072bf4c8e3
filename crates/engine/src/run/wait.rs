//! Waits for a question to close and for deliveries to arrive.

use std::time::Duration;

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, Status};
use store::{Bounded, Cost, Page, Reads, Topic};

use crate::access::sight::Sight;
use crate::run::fair_gate::Entrant;
use crate::{Engine, Error};

impl Engine {
    /// Returns a question, immediately if it is not pending, otherwise when it closes or after `wait`.
    pub async fn interaction(&self, caller: &Caller, id: InteractionId, wait: Duration) -> Result<Interaction, Error> {
        caller.require(Right::Read)?;
        let found = read_question(self, caller, id).await?;
        if found.status() != Status::Pending || wait.is_zero() {
            return Ok(found);
        }
        let topic = Topic::Session(found.origin.session);
        wait_until(
            self,
            (caller, topic),
            wait,
            || read_question(self, caller, id),
            |found| found.status() != Status::Pending,
        )
        .await
    }

    /// Returns a page of the answers that wait for the calling agent, oldest first. Waits for one if the page is empty.
    pub async fn deliveries(
        &self,
        caller: &Caller,
        page: Page<InteractionId>,
        wait: Duration,
    ) -> Result<Bounded<Interaction>, Error> {
        caller.require(Right::Take)?;
        let topic = if self.store.is_shared() {
            Topic::Project(caller.scope.project)
        } else {
            Topic::Agent(caller.scope.project, caller.actor.name.clone())
        };
        wait_until(self, (caller, topic), wait, || read_undelivered(self, caller, page), |found| !found.is_empty())
            .await
    }
}

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
            listener.heard().await;
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

async fn read_undelivered(
    engine: &Engine,
    caller: &Caller,
    page: Page<InteractionId>,
) -> Result<Bounded<Interaction>, Error> {
    let (scope, name) = (caller.scope, caller.actor.name.clone());
    engine.read(Cost::Point, move |reads| Ok(reads.deliveries(&scope, &name, page)?)).await
}

/// Returns a question that the caller may see.
pub(crate) async fn read_question(engine: &Engine, caller: &Caller, id: InteractionId) -> Result<Interaction, Error> {
    let look =
        move |reads: &mut dyn Reads, caller: &Caller| Sight::of(reads, caller)?.question(reads, &caller.scope, id);
    engine.read_by(caller, Cost::Point, look).await
}
