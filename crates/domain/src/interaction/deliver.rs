//! Delivery of an answer to the agent that asked.

use jiff::Timestamp;
use serde_json::json;

use super::{Change, Interaction, State};
use crate::{Actor, Delivery, EventDraft, LeaseId, Refusal, audit};

impl Interaction {
    /// Name of the agent that may take the answer. `None` if a worker of this server continues with it.
    #[must_use]
    pub fn taker(&self) -> Option<&str> {
        (!self.origin.hosted).then_some(self.origin.asked_by.name.as_str())
    }

    /// Refuses every actor except the asker.
    pub fn deliverable_to(&self, actor: &Actor) -> Result<(), Refusal> {
        if self.taker() == Some(actor.name.as_str()) { Ok(()) } else { Err(Refusal::NotYourDelivery) }
    }

    /// Hands the answer to the agent that asked, under a lease.
    pub fn take(self, by: &Actor, lease: LeaseId, now: Timestamp, until: Timestamp) -> Result<Change, Refusal> {
        self.deliverable_to(by)?;
        let (actor, record) = (by.clone(), audit::of_delivery(&self.question));
        self.deliver(|delivery| {
            let taken = delivery.take(lease, actor.clone(), now, until)?;
            let happening = EventDraft::by("delivery.taken", &actor, json!({ "until": until }));
            Ok((taken, happening.recording(record)))
        })
    }

    /// Extends the lease. No event is recorded, because it concerns no one else.
    pub fn heartbeat(self, lease: LeaseId, now: Timestamp, until: Timestamp) -> Result<Self, Refusal> {
        let change = self.deliver(|delivery| {
            Ok((delivery.heartbeat(lease, now, until)?, EventDraft::plain("delivery.heartbeat", json!({}))))
        });
        change.map(|(interaction, _)| interaction)
    }

    /// Records that the agent has continued with the answer and stored its progress.
    pub fn complete(self, lease: LeaseId, now: Timestamp) -> Result<Change, Refusal> {
        self.deliver(|delivery| {
            Ok((delivery.complete(lease, now)?, EventDraft::plain("delivery.completed", json!({}))))
        })
    }

    /// Records that the agent could not continue with the answer. The answer is offered `again`, or the delivery fails.
    pub fn fail(self, lease: LeaseId, reason: String, again: bool, now: Timestamp) -> Result<Change, Refusal> {
        self.deliver(|delivery| {
            let after = delivery.fail(lease, reason.clone(), again, now)?;
            let name = if matches!(after, Delivery::Failed { .. }) { "delivery.failed" } else { "delivery.offered" };
            Ok((after, EventDraft::plain(name, json!({ "reason": reason }))))
        })
    }

    /// Records that a step of a hosted agent has continued with the answer, in the transaction in which the step continues.
    pub fn gone_on(self, now: Timestamp) -> Result<Change, Refusal> {
        let (by, record) = (self.origin.asked_by.clone(), audit::of_delivery(&self.question));
        self.deliver(|delivery| {
            let happening = EventDraft::by("delivery.completed", &by, json!({}));
            Ok((delivery.gone_on(now)?, happening.recording(record)))
        })
    }

    /// Ends the delivery because no agent will take the answer any more.
    pub fn not_needed(self, why: &str) -> Result<Change, Refusal> {
        self.deliver(|delivery| {
            Ok((delivery.not_needed()?, EventDraft::plain("delivery.not_needed", json!({ "reason": why }))))
        })
    }

    fn deliver(
        self,
        step: impl FnOnce(Delivery) -> Result<(Delivery, EventDraft), Refusal>,
    ) -> Result<Change, Refusal> {
        let State::Resolved { delivery, .. } = &self.state else { return Err(Refusal::StillPending(self.id)) };
        let (after, mut happening) = step(delivery.clone())?;
        happening.data["delivery"] = json!(after.name());
        Ok((self.delivered(after), happening))
    }

    pub(super) fn delivered(self, after: Delivery) -> Self {
        match self.state.clone() {
            State::Resolved { resolution, at, handed_over, .. } => {
                self.became(State::Resolved { resolution, at, delivery: after, handed_over })
            }
            State::Pending(_) => self,
        }
    }
}
