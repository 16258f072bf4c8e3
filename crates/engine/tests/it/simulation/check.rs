//! Checks the invariants that must hold after every step of every seed.

mod actions;
mod deliveries;
mod grants;
mod log;
mod questions;
mod replies;
mod resolutions;
mod retention;
mod sessions;
pub(crate) mod trail;

use domain::{InteractionId, Timestamp};
use store::Clock;

use crate::simulation::books::StoreContents;
use crate::simulation::cast::Tenant;
use crate::simulation::command::CommandKind;
use crate::simulation::deeds::PerformedCommand;
use crate::simulation::world::{Verdict, World};

/// Fails the check with a message unless the condition holds.
macro_rules! holds {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}
pub(crate) use holds;

/// One tenant before and after a step, with the deeds that may have changed it.
pub(crate) struct View<'a> {
    pub tenant: &'a Tenant,
    pub name: &'static str,
    pub before: &'a StoreContents,
    pub after: &'a StoreContents,
    pub now: Timestamp,
    /// Whether the log was read again from its beginning.
    pub read_again: bool,
    /// Deeds of this tenant that may have taken effect in this step. Deeds known to be older are left out.
    pub deeds: Vec<&'a PerformedCommand>,
    /// Whether the timers may have fired.
    pub fired: bool,
}

impl View<'_> {
    /// Whether any deed about a question satisfies the predicate.
    pub(crate) fn any(&self, id: InteractionId, fits: impl Fn(&PerformedCommand) -> bool) -> bool {
        self.deeds.iter().any(|deed| deed.about() == Some(id) && fits(deed))
    }
}

/// Checks everything that the last step may have changed. After a crash the log is read again from its beginning.
pub(crate) fn everything(world: &mut World, deeds: &[PerformedCommand], crashed: bool) -> Verdict {
    let now = world.clock.now();
    for index in 0..world.tenants.len() {
        let touched = |deed: &PerformedCommand| {
            deed.command.tenant == index
                || matches!(deed.what, CommandKind::FireDue | CommandKind::Tidy | CommandKind::Chain)
        };
        if !crashed && !deeds.iter().any(touched) && !world.numbers.is_multiple_of(4) {
            // Changes by timers alone are found in a later step.
            continue;
        }
        let after = world.look(index, crashed);
        let fresh = |deed: &&PerformedCommand| {
            deed.may_have_happened() && !deed.key.as_ref().is_some_and(|key| world.told.contains_key(key))
        };
        let view = View {
            tenant: &world.tenants[index],
            name: crate::simulation::cast::TENANTS[index],
            before: &world.books[index],
            after: &after,
            now,
            read_again: crashed,
            deeds: deeds.iter().filter(|deed| deed.command.tenant == index).filter(fresh).collect(),
            fired: deeds.iter().any(|deed| matches!(deed.what, CommandKind::FireDue) && deed.may_have_happened()),
        };
        questions::check(&view)?;
        deliveries::check(&view)?;
        sessions::check(&view)?;
        retention::check(&view)?;
        actions::check(&view)?;
        grants::check(&view)?;
        log::check(&view)?;
        replies::check(world, &view, deeds, crashed)?;
        world.books[index] = after;
    }
    replies::remember(world, deeds)
}
