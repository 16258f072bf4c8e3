//! Somebody says that they will not answer; when too few are left who could, that is reported.

use domain::audience::Person;
use domain::{Caller, Interaction, InteractionId, Scope};

use crate::control::checked;
use crate::work::Work;
use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Notes that the caller will not answer. Answering after all takes it back.
    pub async fn abstain(
        &self,
        caller: &Caller,
        id: InteractionId,
        note: Option<String>,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        checked("/note", note.as_deref())?;
        let scope = caller.scope;
        self.command(caller, once, move |work| {
            let (mut session, interaction) = work.question(&scope, id)?;
            let reviewer = interaction.admit(&work.caller()?)?;
            let was = interaction.status();
            let people = work.people(&scope)?;
            let change = interaction.abstain(&reviewer, note.clone(), &people, work.now)?;
            let interaction = work.changed(&mut session, was, change)?;
            if let Some(happening) = interaction.desertion() {
                tracing::warn!(interaction = %id, "too few are left who could answer this question");
                work.happened(&mut session, Some(id), happening)?;
            }
            work.saved(&session)?;
            Ok(interaction)
        })
        .await
    }
}

impl Work<'_> {
    /// Everybody who belongs to a project now: people who sign in, and whoever has a good key.
    fn people(&mut self, scope: &Scope) -> Result<Vec<Person>, Error> {
        let now = self.now;
        let keys = self.tx.keys(scope)?;
        let users = self.tx.users(scope)?;
        let keys = keys.iter().filter_map(|key| key.caller(now));
        let keys = keys.map(|Caller { actor, role, groups, .. }| Person { actor, role, groups });
        let users = users.iter().filter_map(|user| {
            let membership = user.member_of(scope.project)?;
            Some(Person { actor: user.actor(), role: membership.role, groups: membership.groups.clone() })
        });
        Ok(keys.chain(users).collect())
    }
}
