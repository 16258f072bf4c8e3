//! Enforces the Landlock rules for reading, writing and running files. Signals and abstract sockets stay inside, if the
//! kernel supports that.

use landlock::{
    ABI, Access, AccessFs, BitFlags, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
    path_beneath_rules,
};

use super::ErrorContext;
use super::view::{DEVICES, SYSTEM};
use crate::confinement::Confinement;

/// Newest version of the rules that is requested; an older kernel enforces the rules that it knows.
const NEWEST: ABI = ABI::V9;

/// Rules that the kernel enforces.
pub(super) struct Enforced {
    /// Whether abstract Unix sockets of other processes are out of reach.
    pub(super) abstract_sockets_are_closed: bool,
}

/// Enforces the rules. In a full workspace the program may read and delete, but not write.
pub(super) fn restrict(confinement: &Confinement, is_full: bool) -> Result<Enforced, String> {
    let what = "restrict files with Landlock";
    let run: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile;
    let all = AccessFs::from_all(NEWEST);
    let workspace = if is_full { run | AccessFs::RemoveFile | AccessFs::RemoveDir } else { all };
    // A rule applies to everything below its directory: a rule for `/tmp` also to a workspace in `/tmp`.
    let is_in_tmp = confinement.workspace.as_ref().is_some_and(|path| path.starts_with("/tmp"));
    let temporary = if is_in_tmp { workspace } else { all };
    let devices = DEVICES.iter().map(|name| format!("/dev/{name}"));
    let ruleset = Ruleset::default()
        .handle_access(all)
        .and_then(|ruleset| ruleset.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(SYSTEM, run)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&confinement.read_only, run)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(["/etc", "/proc"], read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(["/"], AccessFs::ReadDir)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(devices, device)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(["/tmp"], temporary)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&confinement.workspace, workspace)));
    let status = ruleset.and_then(landlock::RulesetCreated::restrict_self).doing(what)?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(format!("cannot {what}: this kernel does not support it"));
    }
    let LandlockStatus::Available { effective_abi, .. } = status.landlock else {
        return Err(format!("cannot {what}: this kernel does not support it"));
    };
    Ok(Enforced { abstract_sockets_are_closed: effective_abi >= ABI::V6 })
}
