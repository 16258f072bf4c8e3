//! Records that a person will not answer a question, and reports a question that too few people are left to answer.

use domain::audience::Person;
use domain::{Caller, Interaction, InteractionId, KeyId, Scope, User};
use store::Page;

use crate::interactions;
use crate::run::transaction::Work;
use crate::sessions;
use crate::{Engine, Error, Idempotency};

/// Number of people or keys that are read at once.
const BATCH: u32 = 200;

impl Engine {
    /// Records that the caller will not answer. A later answer of the caller withdraws the abstention.
    pub async fn interaction_abstain(
        &self,
        caller: &Caller,
        id: InteractionId,
        note: Option<String>,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        sessions::control::check_reason("/note", note.as_deref())?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let (mut session, interaction) = interactions::lock(work, &scope, id)?;
            let reviewer = interaction.admit(&work.caller()?)?;
            let was = interaction.status();
            let (mut people, mut left) = (Vec::new(), PeopleCursor::Users(None));
            let change = loop {
                let (more, rest) = read_people(work, &scope, left)?;
                people.extend(more.into_iter().filter(|person| is_asked(&interaction, person)));
                let change = interaction.clone().abstain(&reviewer, note.clone(), &people, work.now)?;
                // Reading stops as soon as enough people are found who could still answer.
                match rest {
                    Some(rest) if change.0.desertion().is_some() => left = rest,
                    _ => break change,
                }
            };
            let interaction = interactions::apply_change(work, &mut session, was, change)?;
            if let Some(event_draft) = interaction.desertion() {
                tracing::warn!(interaction = %id, "too few people are left who can answer this question");
                work.record_event(&mut session, Some(id), event_draft)?;
            }
            sessions::save(work, &session)?;
            Ok(interaction)
        })
        .await
    }
}

/// Position in the list of a project's people: first users after a name, then keys after an id.
enum PeopleCursor {
    Users(Option<String>),
    Keys(Option<KeyId>),
}

/// Whether a person is in an audience of a question.
fn is_asked(interaction: &Interaction, person: &Person) -> bool {
    let started = person.actor.is_same_person(&interaction.origin.started_by);
    interaction.question.audiences().iter().any(|audience| audience.includes_person(person, started))
}

/// Reads the next people of a project and the position after them, `None` at the end. Users who sign in come first, then holders of valid keys.
fn read_people(
    work: &mut Work<'_>,
    scope: &Scope,
    left: PeopleCursor,
) -> Result<(Vec<Person>, Option<PeopleCursor>), Error> {
    match left {
        PeopleCursor::Users(after) => {
            let found = work.tx.users_page(scope, after.as_deref(), BATCH)?;
            let next = found.last().filter(|_| found.more).map(|user| user.name.clone());
            let person = |user: &User| {
                let membership = user.member_of(scope.project)?;
                Some(Person { actor: user.actor(), role: membership.role, groups: membership.groups.clone() })
            };
            let left = next.map_or(PeopleCursor::Keys(None), |name| PeopleCursor::Users(Some(name)));
            Ok((found.iter().filter_map(person).collect(), Some(left)))
        }
        PeopleCursor::Keys(after) => {
            let found = work.tx.keys_of_people(scope, work.now, Page { after, limit: BATCH })?;
            let next = found.last().filter(|_| found.more).map(|key| key.id);
            let callers = found.iter().filter_map(|key| key.caller(work.now));
            let people = callers.map(|Caller { actor, role, groups, .. }| Person { actor, role, groups });
            Ok((people.collect(), next.map(|key| PeopleCursor::Keys(Some(key)))))
        }
    }
}
