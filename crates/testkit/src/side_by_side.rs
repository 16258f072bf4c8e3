//! Runs several use cases concurrently on one thread, in an order that a seed decides.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use crate::{CrashStore, JobEnd, Random};

/// A running use case.
pub struct UseCase<'a, T> {
    /// Future of the use case.
    pub future: BoxFuture<'a, T>,
    /// Whether the use case may wait for a change of another use case. It is given up when no use case is left that
    /// could make one.
    pub sleeps: bool,
}

enum Slot<'a, T> {
    Busy(UseCase<'a, T>),
    Over(T),
}

/// Runs use cases of an engine on a [`CrashStore`] until no use case can go on, and returns the result of each.
///
/// It polls all use cases until each waits for the store, runs one of the waiting jobs to an end that `random` draws, and repeats both.
/// If a use case prepares something on another thread, it first waits for that thread, whose speed therefore does not matter.
pub async fn side_by_side<'a, T>(
    store: &CrashStore,
    doings: Vec<UseCase<'a, T>>,
    random: &mut Random,
    end: &mut (dyn FnMut(&mut Random) -> JobEnd + Send),
) -> Vec<Option<T>> {
    let mut slots: Vec<Slot<'a, T>> = doings.into_iter().map(Slot::Busy).collect();
    poll_fn(|context| {
        loop {
            let finished = poll_all(store, &mut slots, context);
            let waiting = store.waiting();
            let elsewhere = |(of, slot): (usize, &Slot<'a, T>)| {
                matches!(slot, Slot::Busy(doing) if !doing.sleeps) && !waiting.contains(&of)
            };
            if store.is_dead() {
                return Poll::Ready(());
            }
            if slots.iter().enumerate().any(elsewhere) {
                return Poll::Pending;
            }
            if !waiting.is_empty() {
                let chosen = random.below(waiting.len());
                store.run(chosen, end(random));
            } else if !finished {
                return Poll::Ready(());
            }
        }
    })
    .await;
    let over = |slot| match slot {
        Slot::Over(result) => Some(result),
        Slot::Busy(_) => None,
    };
    slots.into_iter().map(over).collect()
}

/// Polls every use case once and returns whether one finished, which may have woken another.
fn poll_all<T>(store: &CrashStore, slots: &mut [Slot<'_, T>], context: &mut Context<'_>) -> bool {
    let mut finished = false;
    for (of, slot) in slots.iter_mut().enumerate() {
        store.turn(of);
        if let Slot::Busy(UseCase { future, .. }) = slot {
            // Tokio's cooperative budget would end polls at points that no seed decides.
            let mut future = tokio::task::unconstrained(future);
            if let Poll::Ready(result) = Pin::new(&mut future).poll(context) {
                *slot = Slot::Over(result);
                finished = true;
            }
        }
    }
    finished
}
