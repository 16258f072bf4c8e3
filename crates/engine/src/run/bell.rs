//! Notifies waiting tasks of changes. A task first listens to a topic, then reads the store, then waits until the topic is rung.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use store::Topic;
use tokio::sync::watch;

/// Registry of listeners by topic. A ring is only a hint: a task that hears it reads the store again.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Mutex<HashMap<Topic, watch::Sender<()>>>>);

/// Receiver of the rings on one topic since its creation.
#[derive(Debug)]
pub struct Listener {
    bell: Bell,
    topic: Topic,
    rings: Option<watch::Receiver<()>>,
}

impl Bell {
    /// Starts listening to a topic.
    #[must_use]
    pub fn listen(&self, topic: Topic) -> Listener {
        let mut rooms = self.0.lock();
        let rings = if let Some(room) = rooms.get(&topic) {
            room.subscribe()
        } else {
            let (room, rings) = watch::channel(());
            rooms.insert(topic.clone(), room);
            rings
        };
        Listener { bell: self.clone(), topic, rings: Some(rings) }
    }

    /// Wakes all listeners of a topic; [`Topic::Everything`] wakes the listeners of every topic.
    pub fn ring(&self, topic: &Topic) {
        let rooms = self.0.lock();
        if *topic == Topic::Everything {
            rooms.values().for_each(|room| room.send_replace(()));
        } else if let Some(room) = rooms.get(topic) {
            room.send_replace(());
        }
    }

    /// Number of topics that have a listener.
    #[must_use]
    pub fn topics(&self) -> usize {
        self.0.lock().len()
    }
}

impl Listener {
    /// Waits until the topic has been rung since the last call.
    pub async fn wait(&mut self) {
        match &mut self.rings {
            // The sender stays in the map as long as a listener exists, so `changed` does not fail.
            Some(rings) => drop(rings.changed().await),
            None => std::future::pending().await,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.rings = None;
        let mut rooms = self.bell.0.lock();
        if rooms.get(&self.topic).is_some_and(|room| room.receiver_count() == 0) {
            rooms.remove(&self.topic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn ring_before_the_wait_is_noticed_and_unused_topics_are_removed() {
        let bell = Bell::default();
        let mut first = bell.listen(Topic::Timers);
        let mut second = bell.listen(Topic::Timers);
        bell.ring(&Topic::Timers);
        first.wait().await;
        bell.ring(&Topic::Everything);
        first.wait().await;
        second.wait().await;
        assert_eq!(bell.topics(), 1);
        drop((first, second));
        assert_eq!(bell.topics(), 0);
    }
}
