//! Reads the archive from one end to the other, a few questions at a time: for whoever holds the database itself.

use std::collections::VecDeque;

use domain::{Event, Interaction, InteractionId, Refusal, Scope, Timestamp};
use store::{Cost, Page, Reads};

use crate::{Engine, Error};

/// How many questions are read at once, so that nobody waits for it.
const BATCH: u32 = 50;
/// How many events of a question are read at once.
const EVENTS: u32 = 200;

/// When what is wanted was resolved.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// At this moment or after it.
    pub after: Option<Timestamp>,
    /// Before this one.
    pub before: Option<Timestamp>,
}

/// A question of the archive, with everything that is known of it. What was sealed is not: that was forgotten.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedQuestion {
    /// The tenant and the project, by name.
    pub place: (String, String),
    /// The question, its resolution and its delivery.
    pub interaction: Interaction,
    /// What happened to it, in order.
    pub events: Vec<Event>,
}

/// An export under way: pulled by its reader.
pub struct ArchiveExport {
    engine: Engine,
    span: Span,
    /// The projects that are still to be read, the first of them from here on.
    left: VecDeque<(Scope, (String, String))>,
    last: Option<InteractionId>,
}

impl Engine {
    /// Begins to read the archive, of everybody or of a tenant and a project by name.
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
                let Some(place) = reads.scope_names(&scope)? else { continue };
                let wanted = |wanted: &Option<String>, name: &String| wanted.as_ref().is_none_or(|one| one == name);
                if wanted(&of.0, &place.0) && wanted(&of.1, &place.1) {
                    found.push_back((scope, place));
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
    /// The next questions, the oldest of a project first; none at the end. There may be none of interest among those read.
    pub async fn next(&mut self) -> Result<Option<Vec<ArchivedQuestion>>, Error> {
        let Some((scope, place)) = self.left.front().cloned() else { return Ok(None) };
        let (span, page) = (self.span, Page { after: self.last, limit: BATCH });
        let read = self.engine.read(Cost::Scan, move |reads| {
            let archived = reads.archived_interactions(&scope, page)?;
            let last = archived.last().map(|interaction| interaction.id);
            let mut found = Vec::new();
            for interaction in archived.into_iter().filter(|interaction| span.holds(interaction)) {
                let events = events_about(reads, &scope, &interaction)?;
                found.push(ArchivedQuestion { place: place.clone(), interaction, events });
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

/// Everything that happened to a question, in order.
fn events_about(reads: &mut dyn Reads, scope: &Scope, interaction: &Interaction) -> Result<Vec<Event>, Error> {
    let (mut events, mut after) = (Vec::new(), None);
    loop {
        let page = Page { after, limit: EVENTS };
        let found = reads.events_about(scope, interaction.origin.session, interaction.id, page)?;
        let more = found.more;
        after = found.last().map(|event| event.seq);
        events.extend(found);
        if !more {
            return Ok(events);
        }
    }
}

impl Span {
    fn holds(&self, interaction: &Interaction) -> bool {
        let Some(at) = interaction.resolved_at() else { return false };
        self.after.is_none_or(|after| at >= after) && self.before.is_none_or(|before| at < before)
    }
}
