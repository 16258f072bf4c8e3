//! Fills a store with open questions: one transaction for each session with all its questions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::{InteractionId, Question};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::json;
use store::{Store, Tx, transact};

use crate::Fallible;
use crate::rows::{RowError, RowWriter, question};

/// Number of open questions in each session. A session is one transaction; a larger one is slower, because SQLite walks
/// its whole savepoint journal at the end of every statement.
const A_SESSION: u32 = 50;
/// Number of concurrent transactions, so that many transactions share a commit.
const UNDER_WAY: usize = 64;
/// Interval of the rare kind: one question in this many has it.
pub(crate) const RARE: u32 = 10_000;

/// Result of writing the open questions.
pub(crate) struct Loaded {
    pub(crate) took: Duration,
    /// Questions spread over the list, in order, as cursors of deep pages.
    pub(crate) landmarks: Vec<InteractionId>,
}

/// Writes at least this many open questions.
pub(crate) async fn load(store: &Arc<dyn Store>, open: u32) -> Fallible<Loaded> {
    let begun = Instant::now();
    let rows = Arc::new(RowWriter::open(store.as_ref()).await?.without_trail());
    let questions = Arc::new(questions()?);
    let sessions = open.div_ceil(A_SESSION);
    let loading = stream::iter(0..sessions).map(|number| {
        let (store, rows, questions) = (Arc::clone(store), Arc::clone(&rows), Arc::clone(&questions));
        async move { transact(store.as_ref(), move |tx| session(tx, &rows, &questions, number)).await }
    });
    let mut landmarks: Vec<InteractionId> = loading.buffer_unordered(UNDER_WAY).try_collect().await?;
    landmarks.sort_unstable();
    Ok(Loaded { took: begun.elapsed(), landmarks })
}

/// Writes a session with all its questions and returns the last one with a deadline.
fn session(tx: &mut dyn Tx, rows: &RowWriter, questions: &Kinds, number: u32) -> Result<InteractionId, RowError> {
    let mut session = rows.start(tx)?;
    let mut last = None;
    for index in 0..A_SESSION {
        let count = number * A_SESSION + index;
        // Every second question has a deadline, far enough away that it does not pass during the measurement.
        let seconds = count.is_multiple_of(2).then(|| 24 * 3600 + i64::from(count.wrapping_mul(7919) % 1_000_000));
        let written = rows.put(tx, &mut session, questions.of(count), seconds)?;
        last = seconds.map_or(last, |_| Some(written.interaction.id));
    }
    tx.session_save(&session)?;
    last.ok_or_else(|| store::StoreError::Corrupt("nothing was loaded".into()).into())
}

/// Sample questions: several of common kinds and one of a rare kind.
struct Kinds {
    common: Vec<Question>,
    rare: Question,
}

impl Kinds {
    fn of(&self, count: u32) -> &Question {
        if count % RARE == RARE / 2 {
            return &self.rare;
        }
        self.common.get(count as usize % self.common.len()).unwrap_or(&self.rare)
    }
}

fn questions() -> Fallible<Kinds> {
    let common = vec![
        question(json!({
            "kind": "approval", "title": "Deploy 1.4 to production?", "required": true,
            "action": { "tool": "deploy", "arguments": { "version": "1.4", "target": "production" } },
        }))?,
        question(json!({ "kind": "confirmation", "title": "Delete the old backups?", "required": true }))?,
        question(json!({ "kind": "question", "title": "Which customer is meant?", "required": true }))?,
    ];
    let rare = question(json!({ "kind": "review", "title": "Read the draft of the letter", "required": true }))?;
    Ok(Kinds { common, rare })
}
