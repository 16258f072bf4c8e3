//! What each caller, each tenant and strangers may take of this node.

use std::time::Duration;

use clap::Args;

/// What each caller, each tenant and strangers may take of this node.
#[derive(Debug, Clone, Args)]
pub(crate) struct Callers {
    /// How many of this node's event streams and sockets one key or one person may have
    #[arg(long, env = "HOLDPOINT_KEY_STREAMS", default_value_t = 1000)]
    pub(crate) key_streams: usize,
    /// How many of them one tenant may have
    #[arg(long, env = "HOLDPOINT_TENANT_STREAMS", default_value_t = 5000)]
    pub(crate) tenant_streams: usize,
    /// How many bytes of unfinished messages the sockets of one key or one person may hold
    #[arg(long, env = "HOLDPOINT_KEY_UNFINISHED_BYTES", default_value_t = 8 * 1024 * 1024)]
    pub(crate) key_unfinished_bytes: usize,
    /// How many bytes of unfinished messages the sockets of one tenant may hold
    #[arg(long, env = "HOLDPOINT_TENANT_UNFINISHED_BYTES", default_value_t = 64 * 1024 * 1024)]
    pub(crate) tenant_unfinished_bytes: usize,
    /// How many checks of forms run at once at this node; one tenant has one less
    #[arg(long, env = "HOLDPOINT_FORM_CHECKS", default_value_t = 4)]
    pub(crate) form_checks: usize,
    /// How many checks of forms of one key or one person run or wait; two run at once
    #[arg(long, env = "HOLDPOINT_KEY_FORMS", default_value_t = 64)]
    pub(crate) key_forms: usize,
    /// How many bytes of compiled schemas of forms this node keeps for the next answer
    #[arg(long, env = "HOLDPOINT_SCHEMA_CACHE_BYTES", default_value_t = 32 * 1024 * 1024)]
    pub(crate) schema_cache_bytes: u64,
    /// How many connections may be open at this node
    #[arg(long, env = "HOLDPOINT_CONNECTIONS", default_value_t = 60_000)]
    pub(crate) connections: usize,
    /// How many connections may be open on which nobody has shown a good credential yet
    #[arg(long, env = "HOLDPOINT_STRANGER_CONNECTIONS", default_value_t = 4096)]
    pub(crate) stranger_connections: usize,
    /// How many of those may come from one address (one /64 with IPv6); loopback addresses and --behind-proxy have no such limit
    #[arg(long, env = "HOLDPOINT_ADDRESS_CONNECTIONS", default_value_t = 1024)]
    pub(crate) address_connections: usize,
    /// How many connections may be open on which one key or one person has sent the last request
    #[arg(long, env = "HOLDPOINT_KEY_CONNECTIONS", default_value_t = 4096)]
    pub(crate) key_connections: usize,
    /// How many connections may be open on which one tenant has sent the last request
    #[arg(long, env = "HOLDPOINT_TENANT_CONNECTIONS", default_value_t = 8192)]
    pub(crate) tenant_connections: usize,
    /// How many unknown keys, cookies and tickets one address (one /64 with IPv6) may send in a minute; loopback addresses have no such limit
    #[arg(long, env = "HOLDPOINT_ADDRESS_ATTEMPTS", default_value_t = 120)]
    pub(crate) address_attempts: u32,
    /// After how many seconds a connection is closed that takes nothing of what is sent to it
    #[arg(long, env = "HOLDPOINT_WRITE_TIMEOUT_SECONDS", default_value_t = 30)]
    pub(crate) write_timeout_seconds: u32,
}

impl Callers {
    pub(crate) fn limits(&self, behind_proxy: bool) -> server::Limits {
        server::Limits {
            key_streams: self.key_streams,
            tenant_streams: self.tenant_streams,
            key_unfinished_bytes: self.key_unfinished_bytes,
            tenant_unfinished_bytes: self.tenant_unfinished_bytes,
            address_attempts: self.address_attempts.max(1),
            connections: server::ConnectionLimits {
                all: self.connections.max(1),
                strangers: self.stranger_connections.max(1),
                address: self.address_connections.max(1),
                key: self.key_connections.max(1),
                tenant: self.tenant_connections.max(1),
                write_time: Duration::from_secs(u64::from(self.write_timeout_seconds.max(1))),
                behind_proxy,
            },
            behind_proxy,
            ..server::Limits::default()
        }
    }

    pub(crate) fn applied_to(&self, settings: engine::Settings) -> engine::Settings {
        let checks = engine::CheckLimits {
            all: self.form_checks.max(1),
            waiting: self.key_forms.max(1),
            cached_bytes: self.schema_cache_bytes,
            ..engine::CheckLimits::default()
        };
        engine::Settings { checks, ..settings }
    }
}
