//! Moves closed questions to the archive, and exports the archive in small batches for operators with access to the database.

use std::collections::VecDeque;

use domain::{Event, Interaction, InteractionId, Refusal, Scope, SignedDuration, Timestamp};
use store::{Cost, Page, Reads};

use crate::run;
use crate::run::pages::Pages;
use crate::{Engine, Error};

/// Time for which a question that cannot be archived is postponed.
const POSTPONED: SignedDuration = SignedDuration::from_hours(1);
/// Number of questions that are read at once. A small batch does not hold up other readers.
const BATCH: u32 = 50;
/// Number of events of a question that are read at once.
const EVENTS: u32 = 200;

/// Range of resolution times to export.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// Start of the range, inclusive.
    pub after: Option<Timestamp>,
    /// End of the range, exclusive.
    pub before: Option<Timestamp>,
}

/// Archived question with its events. Its sealed values are not included, because they were deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedQuestion {
    /// Names of the tenant and the project.
    pub project: (String, String),
    /// Question with its resolution and its delivery.
    pub interaction: Interaction,
    /// Events of the question, in their order.
    pub events: Vec<Event>,
}

/// Export in progress. Its reader calls [`ArchiveExport::next`] for each batch.
pub struct ArchiveExport {
    engine: Engine,
    span: Span,
    /// Projects that remain to be read. The first one continues after `last`.
    left: VecDeque<(Scope, (String, String))>,
    last: Option<InteractionId>,
}

impl Engine {
    /// Starts an export of the archive. A `tenant` or `project` name limits it to that tenant or project.
    pub async fn archive_export(
        &self,
        tenant: Option<String>,
        project: Option<String>,
        span: Span,
    ) -> Result<ArchiveExport, Error> {
        let (named, of) = (tenant.is_some() || project.is_some(), (tenant, project));
        let found = self.read(Cost::Scan, move |reads| {
            let mut found = VecDeque::new();
            for scope in reads.scopes()? {
                let Some(project) = reads.scope_names(&scope)? else { continue };
                let wanted = |wanted: &Option<String>, name: &String| wanted.as_ref().is_none_or(|one| one == name);
                if wanted(&of.0, &project.0) && wanted(&of.1, &project.1) {
                    found.push_back((scope, project));
                }
            }
            Ok(found)
        });
        let left = found.await?;
        if named && left.is_empty() {
            return Err(Refusal::NotFound("project").into());
        }
        Ok(ArchiveExport { engine: self.clone(), span, left, last: None })
    }
}

impl ArchiveExport {
    /// Reads the next batch, oldest question of a project first. `None` is the end. A batch before the end may be empty.
    pub async fn next(&mut self) -> Result<Option<Vec<ArchivedQuestion>>, Error> {
        let Some((scope, project)) = self.left.front().cloned() else { return Ok(None) };
        let (span, page) = (self.span, Page { after: self.last, limit: BATCH });
        let read = self.engine.read(Cost::Scan, move |reads| {
            let archived = reads.archived_interactions(&scope, page)?;
            let last = archived.last().map(|interaction| interaction.id);
            let mut found = Vec::new();
            for interaction in archived.into_iter().filter(|interaction| span.holds(interaction)) {
                let events = events_about(reads, &scope, &interaction)?;
                found.push(ArchivedQuestion { project: project.clone(), interaction, events });
            }
            Ok((found, last))
        });
        let (found, last) = read.await?;
        self.last = last;
        if last.is_none() {
            self.left.pop_front();
        }
        Ok(Some(found))
    }
}

/// Reads every event of a question, in order.
fn events_about(reads: &mut dyn Reads, scope: &Scope, interaction: &Interaction) -> Result<Vec<Event>, Error> {
    let (session, id) = (interaction.origin.session, interaction.id);
    let (mut events, mut pages) = (Vec::new(), Pages::new(EVENTS, |event: &Event| event.seq));
    while let Some(found) = pages.next(|page| reads.events_about(scope, session, id, page))? {
        events.extend(found);
    }
    Ok(events)
}

impl Span {
    fn holds(&self, interaction: &Interaction) -> bool {
        let Some(at) = interaction.resolved_at() else { return false };
        self.after.is_none_or(|after| at >= after) && self.before.is_none_or(|before| at < before)
    }
}

/// Archives a batch of questions that have reached the retention period, and returns how many it has handled. If the batch fails, questions are
/// archived one at a time, and the one that fails is postponed.
pub(crate) async fn archive_due(engine: &Engine, most: u32) -> Result<u64, Error> {
    match move_to_archive(engine, most).await {
        Err(error) if !run::timers::stuck::is_of_store(&error) => {}
        settled => return settled,
    }
    let error = match move_to_archive(engine, 1).await {
        Err(error) if !run::timers::stuck::is_of_store(&error) => error,
        settled => return settled,
    };
    let retention = engine.settings().retention;
    let first = engine.transact(move |work| {
        let until = work.now.saturating_sub(retention).unwrap_or(Timestamp::MIN);
        Ok(work.tx.archive_postpone(until, until.saturating_add(POSTPONED).unwrap_or(until))?)
    });
    let Some(interaction) = first.await? else { return Ok(0) };
    run::timers::count_failure("archive");
    tracing::error!(%interaction, %error, seconds = POSTPONED.as_secs(), "archivingFailed");
    Ok(1)
}

async fn move_to_archive(engine: &Engine, most: u32) -> Result<u64, Error> {
    let retention = engine.settings().retention;
    let moved = engine.transact(move |work| {
        let until = work.now.saturating_sub(retention).unwrap_or(Timestamp::MIN);
        Ok(work.tx.archive(until, most)?)
    });
    moved.await
}
