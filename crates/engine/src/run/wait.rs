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
        let found = self.look(caller, id).await?;
        if found.status() != Status::Pending || wait.is_zero() {
            return Ok(found);
        }
        let topic = Topic::Session(found.origin.session);
        self.until((caller, topic), wait, || self.look(caller, id), |found| found.status() != Status::Pending).await
    }

    /// Calls `look` until its result is `wanted`, and returns the result; after `wait`, returns the result as it is. Each ring calls `look` again.
    pub(crate) async fn until<T, F>(
        &self,
        (caller, topic): (&Caller, Topic),
        wait: Duration,
        look: impl Fn() -> F,
        wanted: impl Fn(&T) -> bool,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        // The listener is created before the read: a change in between rings it.
        let mut listener = self.bell.listen(topic);
        let waiting = async {
            let mut waits = None;
            loop {
                let found = look().await?;
                if wait.is_zero() || wanted(&found) {
                    return Ok(found);
                }
                if waits.is_none() {
                    waits = Some(self.gates.waits.enter(Entrant::of(caller)).await?);
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
        self.until((caller, topic), wait, || self.undelivered(caller, page), |found| !found.is_empty()).await
    }

    async fn undelivered(&self, caller: &Caller, page: Page<InteractionId>) -> Result<Bounded<Interaction>, Error> {
        let (scope, name) = (caller.scope, caller.actor.name.clone());
        self.read(Cost::Point, move |reads| Ok(reads.deliveries(&scope, &name, page)?)).await
    }

    /// Returns a question that the caller may see.
    pub(crate) async fn look(&self, caller: &Caller, id: InteractionId) -> Result<Interaction, Error> {
        let look =
            move |reads: &mut dyn Reads, caller: &Caller| Sight::of(reads, caller)?.question(reads, &caller.scope, id);
        self.read_by(caller, Cost::Point, look).await
    }
}
