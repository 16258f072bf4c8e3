//! Delivery of an answer to the agent that asked.

use jiff::Timestamp;

use super::{Change, Interaction, State};
use crate::event::{DeliveryCompleted, DeliveryReturned, DeliveryTaken};
use crate::{Actor, Delivery, EventDraft, EventKind, LeaseId, Refusal, audit};

impl Interaction {
    /// Name of the agent that may take the answer. `None` if a worker of this server continues with it.
    #[must_use]
    pub fn taker(&self) -> Option<&str> {
        (!self.origin.hosted).then_some(self.origin.asked_by.name.as_str())
    }

    /// Refuses every actor except the asker.
    pub fn require_taker(&self, actor: &Actor) -> Result<(), Refusal> {
        if self.taker() == Some(actor.name.as_str()) { Ok(()) } else { Err(Refusal::NotYourDelivery) }
    }

    /// Hands the answer to the agent that asked, under a lease.
    pub fn take(self, by: &Actor, lease: LeaseId, now: Timestamp, until: Timestamp) -> Result<Change, Refusal> {
        self.require_taker(by)?;
        let (actor, details) = (by.clone(), audit::of_delivery(&self.question));
        self.deliver(|delivery| {
            let after = delivery.take(lease, actor.clone(), now, until)?;
            let taken = DeliveryTaken { until, delivery: after.status() };
            Ok((after, EventDraft { details, ..EventDraft::by(&actor, EventKind::DeliveryTaken(taken)) }))
        })
    }

    /// Extends the lease. No event is recorded, because it concerns no one else.
    pub fn heartbeat(self, lease: LeaseId, now: Timestamp, until: Timestamp) -> Result<Self, Refusal> {
        let after = self.closed_delivery()?.heartbeat(lease, now, until)?;
        Ok(self.with_delivery(after))
    }

    /// Records that the agent has continued with the answer and stored its progress.
    pub fn complete(self, lease: LeaseId, now: Timestamp) -> Result<Change, Refusal> {
        self.deliver(|delivery| {
            let after = delivery.complete(lease, now)?;
            let completed = DeliveryCompleted { delivery: after.status() };
            Ok((after, EventDraft::plain(EventKind::DeliveryCompleted(completed))))
        })
    }

    /// Records that the agent could not continue with the answer. The answer is offered `again`, or the delivery fails.
    pub fn fail(self, lease: LeaseId, reason: String, again: bool, now: Timestamp) -> Result<Change, Refusal> {
        self.deliver(|delivery| {
            let after = delivery.fail(lease, reason.clone(), again, now)?;
            let returned = DeliveryReturned { reason, delivery: Some(after.status()) };
            let draft = return_event(&after, returned);
            Ok((after, draft))
        })
    }

    /// Records that a step of a hosted agent has continued with the answer, in the transaction in which the step continues.
    pub fn skip_delivery(self, now: Timestamp) -> Result<Change, Refusal> {
        let (by, details) = (self.origin.asked_by.clone(), audit::of_delivery(&self.question));
        self.deliver(|delivery| {
            let after = delivery.skip_delivery(now)?;
            let completed = DeliveryCompleted { delivery: after.status() };
            Ok((after, EventDraft { details, ..EventDraft::by(&by, EventKind::DeliveryCompleted(completed)) }))
        })
    }

    /// Ends the delivery because no agent will take the answer any more.
    pub fn cancel_delivery(self, why: &str) -> Result<Change, Refusal> {
        self.deliver(|delivery| {
            let after = delivery.cancel_delivery()?;
            let returned = DeliveryReturned { reason: why.to_owned(), delivery: Some(after.status()) };
            Ok((after, EventDraft::plain(EventKind::DeliveryNotNeeded(returned))))
        })
    }

    fn deliver(
        self,
        step: impl FnOnce(Delivery) -> Result<(Delivery, EventDraft), Refusal>,
    ) -> Result<Change, Refusal> {
        let (after, draft) = step(self.closed_delivery()?)?;
        Ok((self.with_delivery(after), draft))
    }

    /// Delivery of the answer. Refuses while the question is open.
    fn closed_delivery(&self) -> Result<Delivery, Refusal> {
        self.delivery().cloned().ok_or(Refusal::StillPending(self.id))
    }

    pub(super) fn with_delivery(self, after: Delivery) -> Self {
        match self.state.clone() {
            State::Resolved { resolution, at, handed_over, .. } => {
                self.with_state(State::Resolved { resolution, at, delivery: after, handed_over })
            }
            State::Pending(_) => self,
        }
    }
}

/// Event that reports that an answer came back from its agent: offered again, or failed.
pub(super) fn return_event(after: &Delivery, returned: DeliveryReturned) -> EventDraft {
    EventDraft::plain(match after {
        Delivery::Failed { .. } => EventKind::DeliveryFailed(returned),
        Delivery::NotNeeded | Delivery::Waiting { .. } | Delivery::Processing { .. } | Delivery::Completed { .. } => {
            EventKind::DeliveryOffered(returned)
        }
    })
}
