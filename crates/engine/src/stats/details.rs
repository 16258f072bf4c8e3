//! Breaks down the statistics of a project: waiting times, the people who answer, and the rules that ask.

use std::collections::BTreeMap;

use domain::access::Right;
use domain::{Answer, Caller, Effect, Resolution, SignedDuration, Status, Timestamp};
use store::{ClosedInteraction, percentile};

use crate::access::sight::Sight;
use crate::run::pages::Pages;
use crate::{Engine, Error};

/// Upper bounds of the age classes of open questions, in seconds.
const AGES: [i64; 4] = [60, 600, 3_600, 86_400];
/// Number of questions that one read fetches.
const BATCH: u32 = 2_000;
/// Maximum number of kinds, people or rules that a list contains.
const MOST_NAMES: usize = 100;

/// Questions that are open at a time, and questions that were closed in the window before it.
#[derive(Debug, Clone, PartialEq)]
pub struct StatsDetails {
    /// Number of open questions by age class. Each class is given by its upper bound in seconds; the last class has no bound.
    pub ages: Vec<(Option<i64>, u64)>,
    /// Number of closed questions by status in each part of the window, with the time at which the part begins. The oldest part is first.
    pub times: Vec<(Timestamp, BTreeMap<Status, u64>)>,
    /// Closed questions by kind.
    pub kinds: Vec<(String, Tally)>,
    /// Answered questions by person. With a quorum, a question counts for everybody who voted.
    pub people: Vec<(String, Tally)>,
    /// Closed questions by the rule that asked. The name is empty where no rule matched and the default asked.
    pub rules: Vec<(String, Tally)>,
}

/// Statistics of a group of closed questions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Number of questions by status.
    pub closed: BTreeMap<Status, u64>,
    /// Number of answered questions by the effect of the answer.
    pub effects: BTreeMap<Effect, u64>,
    /// Median time from question to answer, in microseconds.
    pub wait_p50: Option<i64>,
    /// 95th percentile of the time from question to answer, in microseconds.
    pub wait_p95: Option<i64>,
}

impl Engine {
    /// Counts the open questions by age, and the questions closed within a window by part of the window, kind, person and rule.
    pub async fn stats_details(
        &self,
        caller: &Caller,
        window: SignedDuration,
        parts: u32,
    ) -> Result<StatsDetails, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.list_while(caller, move |reads, caller, wanted| {
            Sight::require_whole_project(reads, caller)?;
            let now = reads.now()?;
            let since = now.saturating_sub(window).unwrap_or(now);
            let mut count = Count::new(since, now, parts);
            let mut pages = Pages::new(BATCH, |closed: &ClosedInteraction| (closed.resolved_at, closed.id));
            while let Some(batch) =
                pages.next(|page| reads.closed_interactions(&scope, since, page.after, page.limit))?
            {
                batch.iter().for_each(|closed| count.add(closed));
                if !wanted() {
                    break;
                }
            }
            let mut ages = Vec::new();
            let mut younger = 0;
            for age in AGES {
                let all =
                    reads.open_since(&scope, now.saturating_sub(SignedDuration::from_secs(age)).unwrap_or(now))?;
                ages.push((Some(age), all.saturating_sub(younger)));
                younger = all;
            }
            ages.push((None, reads.open_since(&scope, Timestamp::MIN)?.saturating_sub(younger)));
            Ok(count.details(ages))
        })
        .await
    }
}

/// Accumulator of the statistics.
struct Count {
    since: Timestamp,
    part: i64,
    times: Vec<BTreeMap<Status, u64>>,
    kinds: BTreeMap<String, Gathered>,
    people: BTreeMap<String, Gathered>,
    rules: BTreeMap<String, Gathered>,
}

/// Tally whose waiting times are not sorted yet.
#[derive(Default)]
struct Gathered {
    tally: Tally,
    waits: Vec<i64>,
}

impl Count {
    fn new(since: Timestamp, now: Timestamp, parts: u32) -> Self {
        let parts = parts.max(1);
        let part = (now.as_microsecond() - since.as_microsecond()) / i64::from(parts);
        Self {
            since,
            part: part.max(1),
            times: vec![BTreeMap::new(); parts as usize],
            kinds: BTreeMap::new(),
            people: BTreeMap::new(),
            rules: BTreeMap::new(),
        }
    }

    fn add(&mut self, closed: &ClosedInteraction) {
        let status = closed.resolution.status();
        let at = (closed.resolved_at.as_microsecond() - self.since.as_microsecond()) / self.part;
        let last = self.times.len() - 1;
        if let Some(time) = self.times.get_mut(usize::try_from(at).unwrap_or(0).min(last)) {
            *time.entry(status).or_default() += 1;
        }
        let said = match &closed.resolution {
            Resolution::Answered { answer, .. } => Some(answer),
            Resolution::AutoResolved { .. } | Resolution::Expired | Resolution::Cancelled { .. } => None,
        };
        self.kinds.entry(closed.kind.as_str().to_owned()).or_default().add(status, said, closed.asked_at);
        if let Some(rule) = &closed.rule {
            self.rules.entry(rule.clone()).or_default().add(status, said, closed.asked_at);
        }
        if let Resolution::Answered { answer, votes } = &closed.resolution {
            let alone = std::slice::from_ref(answer);
            for vote in if votes.is_empty() { alone } else { votes } {
                self.people.entry(vote.by.name.clone()).or_default().add(status, Some(vote), closed.asked_at);
            }
        }
    }

    fn details(self, ages: Vec<(Option<i64>, u64)>) -> StatsDetails {
        let begins = |at: i64| Timestamp::from_microsecond(self.since.as_microsecond() + at * self.part);
        let times = (0..).map(|at| begins(at).unwrap_or(self.since)).zip(self.times).collect();
        StatsDetails {
            ages,
            times,
            kinds: most_closed(self.kinds),
            people: most_closed(self.people),
            rules: most_closed(self.rules),
        }
    }
}

impl Gathered {
    fn add(&mut self, status: Status, said: Option<&Answer>, asked_at: Timestamp) {
        *self.tally.closed.entry(status).or_default() += 1;
        if let Some(answer) = said {
            *self.tally.effects.entry(answer.effect).or_default() += 1;
            self.waits.push(answer.at.as_microsecond() - asked_at.as_microsecond());
        }
    }

    fn tally(mut self) -> Tally {
        self.waits.sort_unstable();
        Tally { wait_p50: percentile(&self.waits, 50), wait_p95: percentile(&self.waits, 95), ..self.tally }
    }
}

/// Converts a group into a list, the name with most closed questions first, and cuts it at `MOST_NAMES`.
fn most_closed(gathered: BTreeMap<String, Gathered>) -> Vec<(String, Tally)> {
    let mut all: Vec<(String, Tally)> = gathered.into_iter().map(|(name, gathered)| (name, gathered.tally())).collect();
    all.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.closed.values().sum::<u64>()));
    all.truncate(MOST_NAMES);
    all
}
