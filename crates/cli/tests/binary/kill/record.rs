//! Records the replies that clients received, and lets clients share questions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

/// A question that the server acknowledged.
#[derive(Debug, Clone)]
pub(crate) struct AcknowledgedQuestion {
    pub(crate) id: String,
    pub(crate) session: String,
    pub(crate) title: String,
    pub(crate) at: Instant,
    pub(crate) crowd: Answerers,
}

/// People who answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answerers {
    /// Everybody answers at once.
    Everybody,
    /// A few people answer, at about the time of the deadline.
    Latecomers,
    /// Nobody answers, so that the deadline passes.
    Nobody,
}

/// Reply that a person received to an answer.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedReply {
    pub(crate) question: String,
    /// Feedback text that is unique to this answer.
    pub(crate) token: String,
    pub(crate) keyed: bool,
    pub(crate) in_doubt: usize,
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// An action whose start and outcome were acknowledged.
#[derive(Debug, Clone)]
pub(crate) struct FinishedAction {
    pub(crate) session: String,
    pub(crate) call: String,
}

/// All acknowledged commands, and the phase of the test.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) sessions: Mutex<Vec<String>>,
    pub(crate) asked: Mutex<Vec<AcknowledgedQuestion>>,
    pub(crate) told: Mutex<Vec<ReceivedReply>>,
    /// Completed deliveries: the question and the lease.
    pub(crate) completed: Mutex<Vec<(String, String)>>,
    /// Sessions in which actions are proposed.
    pub(crate) acting: Mutex<BTreeSet<String>>,
    pub(crate) ran: Mutex<Vec<FinishedAction>>,
    pub(crate) walked_away: Mutex<usize>,
    pub(crate) in_doubt: Mutex<usize>,
    posted: watch::Sender<usize>,
    phase: watch::Sender<Phase>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Load,
    Drain,
    Over,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            sessions: Mutex::default(),
            asked: Mutex::default(),
            told: Mutex::default(),
            completed: Mutex::default(),
            acting: Mutex::default(),
            ran: Mutex::default(),
            walked_away: Mutex::default(),
            in_doubt: Mutex::default(),
            posted: watch::Sender::new(0),
            phase: watch::Sender::new(Phase::Load),
        }
    }
}

impl Record {
    /// Records a question and announces it to the people.
    pub(crate) fn post(&self, asked: AcknowledgedQuestion) {
        let mut all = self.asked.lock();
        all.push(asked);
        self.posted.send_replace(all.len());
    }

    /// Waits for the question with this index; `None` when the test is over.
    pub(crate) async fn question(self: &Arc<Self>, number: usize) -> Option<AcknowledgedQuestion> {
        let (mut posted, mut phase) = (self.posted.subscribe(), self.phase.subscribe());
        tokio::select! {
            biased;
            shown = posted.wait_for(|posted| *posted > number) => { shown.unwrap(); }
            over = phase.wait_for(|phase| *phase == Phase::Over) => { over.unwrap(); return None; }
        }
        Some(self.asked.lock()[number].clone())
    }

    /// Whether clients should still ask new questions.
    pub(crate) fn asking(&self) -> bool {
        *self.phase.borrow() == Phase::Load
    }

    /// Whether the test is over.
    pub(crate) fn is_over(&self) -> bool {
        *self.phase.borrow() == Phase::Over
    }

    pub(crate) fn stop_asking(&self) {
        self.phase.send_replace(Phase::Drain);
    }

    pub(crate) fn finish(&self) {
        self.phase.send_replace(Phase::Over);
    }

    /// Whether the answer of every question was delivered to its agent.
    pub(crate) fn all_delivered(&self) -> bool {
        let delivered: BTreeSet<String> = self.completed.lock().iter().map(|(question, _)| question.clone()).collect();
        self.asked.lock().iter().all(|asked| delivered.contains(&asked.id))
    }
}
