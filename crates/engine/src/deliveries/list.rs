//! Lists the answers that wait for an agent, and waits for the first one.

use std::time::Duration;

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId};
use store::{Bounded, Cost, Page, Topic};

use crate::run;
use crate::{Engine, Error};

impl Engine {
    /// Returns a page of the answers that wait for the calling agent, oldest first. Waits for one if the page is empty.
    pub async fn delivery_list(
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
        run::wait::wait_until(
            self,
            (caller, topic),
            wait,
            || read_undelivered(self, caller, page),
            |found| !found.is_empty(),
        )
        .await
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
