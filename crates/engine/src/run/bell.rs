//! Waiting: whoever wants to hear of a change listens first, looks second, and sleeps third.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use store::Topic;
use tokio::sync::watch;

/// Where rings are heard. A ring is a hint: whoever hears it looks into the store.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Mutex<HashMap<Topic, watch::Sender<()>>>>);

/// Hears every ring on one topic from the moment it was made.
#[derive(Debug)]
pub struct Listener {
    bell: Bell,
    topic: Topic,
    rings: Option<watch::Receiver<()>>,
}

impl Bell {
    /// Starts to listen.
    #[must_use]
    pub fn listen(&self, topic: Topic) -> Listener {
        let mut rooms = self.0.lock();
        let rings = match rooms.get(&topic) {
            Some(room) => room.subscribe(),
            None => {
                let (room, rings) = watch::channel(());
                rooms.insert(topic.clone(), room);
                rings
            }
        };
        Listener { bell: self.clone(), topic, rings: Some(rings) }
    }

    /// Wakes whoever listens.
    pub fn ring(&self, topic: &Topic) {
        let rooms = self.0.lock();
        if *topic == Topic::Everything {
            rooms.values().for_each(|room| room.send_replace(()));
        } else if let Some(room) = rooms.get(topic) {
            room.send_replace(());
        }
    }

    /// How many topics somebody listens to.
    #[must_use]
    pub fn topics(&self) -> usize {
        self.0.lock().len()
    }
}

impl Listener {
    /// Waits for a ring since the last one that was heard.
    pub async fn heard(&mut self) {
        match &mut self.rings {
            // The room stays as long as somebody listens in it.
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
    async fn a_ring_between_listening_and_waiting_is_heard_and_rooms_are_cleared() {
        let bell = Bell::default();
        let mut first = bell.listen(Topic::Timers);
        let mut second = bell.listen(Topic::Timers);
        bell.ring(&Topic::Timers);
        first.heard().await;
        bell.ring(&Topic::Everything);
        first.heard().await;
        second.heard().await;
        assert_eq!(bell.topics(), 1);
        drop((first, second));
        assert_eq!(bell.topics(), 0);
    }
}
