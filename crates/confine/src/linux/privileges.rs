//! What the program may not do whatever it reaches: no capabilities, no way to gain any, and bounded resources.

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::Doing;
use crate::confinement::Confinement;

/// How many processes and threads the helper and the first process have themselves.
const OURS: u64 = 8;

/// How far a file may grow beyond the budget before the writer gets a signal: enough for the watch to see it first.
const BEYOND: u64 = 1 << 20;

/// How many files a program may hold open.
const OPEN_FILES: u64 = 4096;

/// Bounds what the program uses.
pub(super) fn limit(confinement: &Confinement) -> Result<(), String> {
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, confinement.workspace_bytes.saturating_add(BEYOND)),
        // Counted in this user namespace alone; it does not hold for root, whom a group or the watch bounds.
        (Resource::Nproc, u64::from(confinement.processes).saturating_add(OURS)),
        (Resource::Nofile, OPEN_FILES),
    ];
    for (resource, most) in limits {
        let now = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(now));
        setrlimit(resource, Rlimit { current: most, maximum: most }).doing("limit resources")?;
    }
    Ok(())
}

/// Gives up every capability, also those that a program of root would get back, and the way to new ones.
pub(super) fn drop_all() -> Result<(), String> {
    keep(CapabilitySet::empty())
}

/// Gives up every capability but the one to read directories whose mode forbids it, inside the namespaces. The program does not get it: nothing is
/// inheritable, ambient or in the bounding set, so that the kernel takes it away when the program is started.
pub(super) fn keep_what_measuring_needs() -> Result<(), String> {
    keep(CapabilitySet::DAC_READ_SEARCH)
}

fn keep(kept: CapabilitySet) -> Result<(), String> {
    set_no_new_privs(true).doing("refuse new privileges")?;
    for one in CapabilitySet::all().iter() {
        // One that the kernel does not know cannot be asked for.
        if capability_is_in_bounding_set(one).unwrap_or(false) {
            remove_capability_from_bounding_set(one).doing("give up a capability")?;
        }
    }
    clear_ambient_capability_set().doing("give up capabilities")?;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).doing("give up capabilities")
}
