//! Checks that a grant was given with an approval by a person who may give it, counts its uses exactly, and is not used after its end.

use domain::{Effect, Grant, Role, State};

use super::{View, holds};
use crate::simulation::command::CommandKind;
use crate::simulation::world::Verdict;

/// Checks every grant of one tenant.
pub(crate) fn check(view: &View<'_>) -> Verdict {
    for id in view.before.grants.keys() {
        holds!(view.after.grants.contains_key(id), "{id} is gone");
    }
    for (id, grant) in &view.after.grants {
        holds!(grant.scope == view.tenant.scope, "{id} is of another tenant");
        let used = view.after.actions.values().filter(|action| action.grant == Some(*id)).count() as u64;
        holds!(grant.uses == used, "{id} counts {} uses and let {used} through", grant.uses);
        holds!(grant.most_uses.is_none_or(|most| grant.uses <= most), "{id} was used {} times", grant.uses);
        match view.before.grants.get(id) {
            Some(before) => changed(view, before, grant)?,
            None => given(view, grant)?,
        }
    }
    Ok(())
}

fn given(view: &View<'_>, grant: &Grant) -> Verdict {
    let id = grant.id;
    let name = grant.by.name.as_str();
    let wanted = |what: &CommandKind| matches!(what, CommandKind::Answer { draft, .. } if draft.remember.is_some());
    let said = view.any(grant.interaction, |deed| wanted(&deed.what) && deed.by() == name);
    holds!(said, "nobody wanted {id}");
    let may = view.tenant.named(name).is_some_and(|giver| matches!(giver.role, Role::Admin | Role::Operator));
    holds!(may, "{name} may not grant, and gave {id}");
    let answer = view.after.questions.get(&grant.interaction).and_then(|asked| match &asked.state {
        State::Resolved { resolution, .. } => resolution.answer().map(|answer| answer.effect),
        State::Pending(_) => None,
    });
    holds!(matches!(answer, Some(Effect::Approve | Effect::Edit)), "{id} rests on {answer:?}");
    Ok(())
}

fn changed(view: &View<'_>, before: &Grant, after: &Grant) -> Verdict {
    let id = after.id;
    let constant = Grant { uses: before.uses, revoked: before.revoked.clone(), ..after.clone() };
    holds!(constant == *before, "{id} covers something else now");
    if after.uses > before.uses {
        holds!(before.is_in_force(view.now), "{id} was used when it was over");
    }
    if before.revoked != after.revoked {
        let revoked = |what: &CommandKind| matches!(what, CommandKind::Revoke { id: given } if *given == id);
        holds!(before.revoked.is_none(), "{id} was taken back a second time");
        holds!(view.deeds.iter().any(|deed| revoked(&deed.what)), "nobody took {id} back");
    }
    Ok(())
}
