//! Checks that the log has no gaps, never changes, is in commit order, and records each event once.

use std::collections::BTreeMap;

use domain::{Delivery, Interaction, InteractionId, SessionId, Status};

use super::deliveries::attempt;
use super::{View, holds};
use crate::simulation::questions::MARKER;
use crate::simulation::world::Verdict;

/// Checks the whole log of one tenant.
pub(crate) fn check(view: &View<'_>) -> Verdict {
    let (before, after) = (&view.before.log, &view.after.log);
    let same = !view.read_again || after.starts_with(before);
    holds!(same, "the log of {} has changed in what was read before", view.name);
    let mut last: BTreeMap<SessionId, u64> = BTreeMap::new();
    let mut told: BTreeMap<InteractionId, BTreeMap<&str, u32>> = BTreeMap::new();
    for pair in after.windows(2) {
        holds!(pair[0].0 < pair[1].0, "the cursor went from {} to {}", pair[0].0, pair[1].0);
    }
    for (number, (cursor, event)) in after.iter().enumerate() {
        let seq = last.entry(event.session).or_default();
        holds!(event.seq == *seq + 1, "{} goes from event {seq} to {}", event.session, event.seq);
        *seq = event.seq;
        holds!(view.after.sessions.contains_key(&event.session), "event {cursor} is of no session of its tenant");
        if number >= before.len() {
            holds!(event.at == view.now, "event {cursor} happened at {} and it is {}", event.at, view.now);
            holds!(!event.data.to_string().contains(MARKER), "event {cursor} shows a secret: {}", event.data);
        }
        if let Some(id) = event.interaction {
            *told.entry(id).or_default().entry(event.name.as_str()).or_default() += 1;
        }
    }
    for (id, session) in &view.after.sessions {
        let last = last.get(id).copied().unwrap_or_default();
        holds!(session.last_seq == last, "{id} has counted {} events and has {last}", session.last_seq);
    }
    for (id, question) in &view.after.questions {
        let none = BTreeMap::new();
        agrees(question, told.get(id).unwrap_or(&none))?;
    }
    Ok(())
}

/// Checks that the events about a question agree with its state.
fn agrees(question: &Interaction, told: &BTreeMap<&str, u32>) -> Verdict {
    let id = question.id;
    let count = |name: &str| told.get(name).copied().unwrap_or_default();
    holds!(count("interaction.asked") == 1, "{id} was asked {} times by the log", count("interaction.asked"));
    let endings = [
        ("interaction.answered", Status::Answered),
        ("interaction.auto_resolved", Status::AutoResolved),
        ("interaction.expired", Status::Expired),
        ("interaction.cancelled", Status::Cancelled),
    ];
    for (name, status) in endings {
        let wanted = u32::from(question.status() == status);
        holds!(count(name) == wanted, "the log has {} times {name} of {id}", count(name));
    }
    let delivery = question.delivery();
    let taken = delivery.map_or(0, attempt);
    holds!(count("delivery.taken") == taken, "{id} is at attempt {taken}, the log at {}", count("delivery.taken"));
    let completed = u32::from(matches!(delivery, Some(Delivery::Completed { .. })));
    holds!(count("delivery.completed") == completed, "the log completes {id} {} times", count("delivery.completed"));
    let failed = u32::from(matches!(delivery, Some(Delivery::Failed { .. })));
    holds!(count("delivery.failed") == failed, "the log fails {id} {} times", count("delivery.failed"));
    Ok(())
}
