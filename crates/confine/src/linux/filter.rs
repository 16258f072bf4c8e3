//! The seccomp filter: refuses system calls that lead out of the namespaces, or into parts of the kernel that no
//! program needs here.

use std::collections::BTreeMap;

use libc::{c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::ErrorContext;

/// Calls that are refused with any arguments.
const REFUSED: &[c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_reboot,
];

/// Calls whose settings are in memory, where the filter cannot read them. They are reported as unknown, and programs
/// fall back to `clone` and `openat`.
const UNKNOWN: &[c_long] = &[libc::SYS_clone3, libc::SYS_openat2];

/// Number of `fchmodat2` on every architecture; `libc` does not name it everywhere.
const FCHMODAT2: c_long = 452;

/// Calls that set the mode of a file or directory, and the index of that argument.
const MODES: &[(c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, 1),
    (libc::SYS_mkdirat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];

/// Calls that open a file, and the index of their flags. The next argument is the mode, which matters only if a file is
/// created.
const OPENING: &[(c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
    (libc::SYS_openat, 2),
];

/// Bits of a mode with which a file runs as its owner or group.
const RUNS_AS_ITS_OWNER: [u32; 2] = [libc::S_ISUID, libc::S_ISGID];

/// Socket families that a program may use. Others (such as `AF_VSOCK`) ignore network namespaces.
const FAMILIES: &[c_int] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Installs the filter. Without `AF_UNIX`, pairs of connected sockets are still allowed.
pub(super) fn apply(without_unix_sockets: bool) -> Result<(), String> {
    let refuse = compiled(rules(without_unix_sockets), SeccompAction::Errno(libc::EPERM.unsigned_abs()));
    let unknown = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    let unknown = compiled(unknown, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()));
    for filter in [refuse, unknown] {
        let filter = filter.doing("write the filter of system calls")?;
        apply_filter(&filter).doing("filter system calls")?;
    }
    Ok(())
}

fn compiled(rules: BTreeMap<i64, Vec<SeccompRule>>, action: SeccompAction) -> Result<BpfProgram, String> {
    let machine: TargetArch = std::env::consts::ARCH.try_into().doing("filter system calls of this machine")?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, machine).map_err(|error| error.to_string())?;
    filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())
}

fn rules(without_unix_sockets: bool) -> BTreeMap<i64, Vec<SeccompRule>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let namespace = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
    rules.insert(libc::SYS_clone, all_of(vec![has(0, namespace)]));
    let unknown = FAMILIES.iter().map(|family| argument(0, SeccompCmpOp::Ne, number(*family))).collect();
    let mut sockets = all_of(unknown);
    if without_unix_sockets {
        sockets.extend(all_of(vec![argument(0, SeccompCmpOp::Eq, number(libc::AF_UNIX))]));
    }
    rules.insert(libc::SYS_socket, sockets);
    // These requests write into a terminal as if a user had typed the text.
    let typed = [libc::TIOCSTI, libc::TIOCLINUX].map(|request| all_of(vec![argument(1, SeccompCmpOp::Eq, request)]));
    rules.insert(libc::SYS_ioctl, typed.into_iter().flatten().collect());
    // Outside the confinement such a file would run with the rights of the server.
    for bit in RUNS_AS_ITS_OWNER.map(u64::from) {
        for (call, mode) in MODES {
            rules.entry(*call).or_default().extend(all_of(vec![has(*mode, bit)]));
        }
        for (call, flags) in OPENING {
            for making in [libc::O_CREAT, libc::O_TMPFILE].map(number) {
                rules.entry(*call).or_default().extend(all_of(vec![has(*flags, making), has(*flags + 1, bit)]));
            }
        }
    }
    rules
}

fn number(value: c_int) -> u64 {
    u64::from(value.unsigned_abs())
}

fn argument(index: u8, operator: SeccompCmpOp, value: u64) -> Option<SeccompCondition> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value).ok()
}

/// Condition that an argument has all of these bits.
fn has(index: u8, bits: u64) -> Option<SeccompCondition> {
    argument(index, SeccompCmpOp::MaskedEq(bits), bits)
}

/// One rule of several conditions. A condition that cannot be built is left out, so that the rule refuses more.
fn all_of(conditions: Vec<Option<SeccompCondition>>) -> Vec<SeccompRule> {
    SeccompRule::new(conditions.into_iter().flatten().collect()).into_iter().collect()
}
