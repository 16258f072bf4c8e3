//! Enters new namespaces: user, process, mount, IPC, host name, and network unless it is allowed.

use std::fs;

use nix::sched::{CloneFlags, unshare};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SendFlags, SocketType, sendto, socket};
use rustix::process::{getgid, getuid};

use super::ErrorContext;

/// Enters new namespaces. The program keeps its user and group, so that its files belong to the user of the server.
pub(super) fn enter(network: bool) -> Result<(), String> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let mut flags = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    flags.set(CloneFlags::CLONE_NEWNET, !network);
    unshare(flags).doing("make namespaces (are user namespaces allowed here?)")?;
    fs::write("/proc/self/setgroups", "deny").doing("close the list of groups")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1")).doing("map the user")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1")).doing("map the group")?;
    if !network {
        // Programs that connect to themselves need 127.0.0.1. If this fails, only those programs fail.
        let _ = bring_loopback_up();
    }
    Ok(())
}

/// Sends the kernel one `RTM_NEWLINK` message: interface 1 is the loopback of a new network namespace.
fn bring_loopback_up() -> rustix::io::Result<()> {
    const LENGTH: u32 = 32;
    const RTM_NEWLINK: u16 = 16;
    const NLM_F_REQUEST: u16 = 1;
    const IFF_UP: u32 = 1;
    let mut message = Vec::with_capacity(32);
    message.extend_from_slice(&LENGTH.to_ne_bytes());
    message.extend_from_slice(&RTM_NEWLINK.to_ne_bytes());
    message.extend_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    // Sequence number and port, both zero.
    message.extend_from_slice(&[0; 8]);
    // Address family, padding and device type, all zero.
    message.extend_from_slice(&[0; 4]);
    message.extend_from_slice(&1_u32.to_ne_bytes());
    message.extend_from_slice(&IFF_UP.to_ne_bytes());
    message.extend_from_slice(&IFF_UP.to_ne_bytes());
    let kernel = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    sendto(kernel, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).map(|_| ())
}
