//! Reads pages of questions.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId};
use store::{Bounded, InteractionFilter, PAGE_BYTES, Page};

use crate::access::sight::Sight;
use crate::{Engine, Error};

/// Number of questions that are scanned, at most, for those that the caller may answer.
const MOST_LOOKED_THROUGH: u32 = 5000;
/// Size of the questions that are scanned, at most, in bytes.
const MOST_BYTES: usize = 4 * PAGE_BYTES;
/// Number of questions that a scan reads at once.
const STRIDE: u32 = 200;

/// Number and size of the questions that were scanned.
#[derive(Default)]
struct ScannedRows {
    questions: u32,
    bytes: usize,
}

impl ScannedRows {
    fn through(&mut self, read: &Bounded<Interaction>) {
        self.questions = self.questions.saturating_add(u32::try_from(read.len()).unwrap_or(u32::MAX));
        self.bytes += read.bytes;
    }

    const fn goes_on(&self) -> bool {
        self.questions < MOST_LOOKED_THROUGH && self.bytes < MOST_BYTES
    }
}

/// Selection of questions for a list.
#[derive(Debug, Clone, Default)]
pub struct InteractionQuery {
    /// Conditions that the store evaluates.
    pub filter: InteractionFilter,
    /// Restricts the list to questions that the caller may answer.
    pub mine: bool,
    /// Restricts the list to questions past their deadline.
    pub overdue: bool,
}

impl Engine {
    /// Page of questions and the cursor of the next page. The cursor is `None` on the last page.
    pub async fn interaction_list(
        &self,
        caller: &Caller,
        query: InteractionQuery,
        page: Page<InteractionId>,
    ) -> Result<(Vec<Interaction>, Option<InteractionId>), Error> {
        caller.require(Right::Read)?;
        let InteractionQuery { mut filter, mine, overdue } = query;
        let most = page.limit as usize;
        self.list_while(caller, move |reads, caller, wanted| {
            filter.belongs_to = Sight::of(reads, caller)?.limited_to();
            if overdue {
                filter.overdue_at = Some(reads.now()?.as_microsecond());
            }
            if !mine {
                let found = reads.interactions(&caller.scope, &filter, page)?;
                let next = found.last().filter(|_| found.more).map(|last| last.id);
                return Ok((found.into_vec(), next));
            }
            let (mut found, mut after, mut looked) = (Vec::new(), page.after, ScannedRows::default());
            // As soon as a question was found, the scan stops at the size of a normal page.
            while looked.goes_on() && wanted() && (found.is_empty() || looked.bytes < PAGE_BYTES) {
                let more = reads.interactions(&caller.scope, &filter, Page { after, limit: STRIDE })?;
                let last = !more.more;
                looked.through(&more);
                after = more.last().map(|interaction| interaction.id).or(after);
                found.extend(more.into_iter().filter(|interaction| interaction.awaits(caller)));
                if found.len() > most {
                    found.truncate(most);
                    let next = found.last().map(|last| last.id);
                    return Ok((found, next));
                }
                if last {
                    return Ok((found, None));
                }
            }
            // The scan reached its limit: the page may be short or empty although more pages follow.
            Ok((found, after))
        })
        .await
    }
}
