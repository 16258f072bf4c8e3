//! Drops capabilities, blocks ways to gain new ones, and limits resources.

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::ErrorContext;
use crate::confinement::Confinement;

/// Number of processes and threads of the helper and the first process.
const OURS: u64 = 8;

/// Number of bytes beyond the budget at which a writer gets a signal: large enough for the watch to notice the excess
/// first.
const BEYOND: u64 = 1 << 20;

/// Largest number of open files of a program.
const OPEN_FILES: u64 = 4096;

/// Limits the resources of the program.
pub(super) fn limit(confinement: &Confinement) -> Result<(), String> {
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, confinement.workspace_bytes.saturating_add(BEYOND)),
        // The limit is counted within this user namespace. It has no effect for root, which a control group or the
        // watch limits.
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

/// Drops every capability, including those that a program of root would regain, and blocks ways to new ones.
pub(super) fn drop_all() -> Result<(), String> {
    keep(CapabilitySet::empty())
}

/// Drops every capability but the one to read directories whose mode forbids it, inside the namespaces. The program
/// does not get it: it is neither inheritable nor ambient nor in the bounding set, so the kernel removes it when the
/// program is started.
pub(super) fn keep_what_measuring_needs() -> Result<(), String> {
    keep(CapabilitySet::DAC_READ_SEARCH)
}

fn keep(kept: CapabilitySet) -> Result<(), String> {
    set_no_new_privs(true).doing("refuse new privileges")?;
    for one in CapabilitySet::all().iter() {
        // Skips capabilities that the kernel does not know.
        if capability_is_in_bounding_set(one).unwrap_or(false) {
            remove_capability_from_bounding_set(one).doing("give up a capability")?;
        }
    }
    clear_ambient_capability_set().doing("give up capabilities")?;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).doing("give up capabilities")
}
