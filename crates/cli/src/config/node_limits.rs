//! Limits of callers, tenants and unauthenticated clients at one node.

use std::time::Duration;

use clap::Args;

/// Limits of callers, tenants and unauthenticated clients at one node.
#[derive(Debug, Clone, Args)]
pub(crate) struct NodeLimits {
    /// Largest number of event streams and sockets of one key or person at this node
    #[arg(long, env = "HOLDPOINT_KEY_STREAMS", default_value_t = 1000)]
    pub(crate) key_streams: usize,
    /// Largest number of event streams and sockets of one tenant at this node
    #[arg(long, env = "HOLDPOINT_TENANT_STREAMS", default_value_t = 5000)]
    pub(crate) tenant_streams: usize,
    /// Largest total size of unfinished messages and request bodies of one key or person, in bytes
    #[arg(long, env = "HOLDPOINT_KEY_UNFINISHED_BYTES", default_value_t = 8 * 1024 * 1024)]
    pub(crate) key_unfinished_bytes: usize,
    /// Largest total size of unfinished messages and request bodies of one tenant, in bytes
    #[arg(long, env = "HOLDPOINT_TENANT_UNFINISHED_BYTES", default_value_t = 64 * 1024 * 1024)]
    pub(crate) tenant_unfinished_bytes: usize,
    /// Number of form checks that run at once at this node; one tenant gets one fewer
    #[arg(long, env = "HOLDPOINT_FORM_CHECKS", default_value_t = 4)]
    pub(crate) form_checks: usize,
    /// Largest number of running and waiting form checks of one key or person; two run at once
    #[arg(long, env = "HOLDPOINT_KEY_FORMS", default_value_t = 64)]
    pub(crate) key_forms: usize,
    /// Size of the cache of compiled form schemas at this node, in bytes
    #[arg(long, env = "HOLDPOINT_SCHEMA_CACHE_BYTES", default_value_t = 32 * 1024 * 1024)]
    pub(crate) schema_cache_bytes: u64,
    /// Largest number of open connections at this node
    #[arg(long, env = "HOLDPOINT_CONNECTIONS", default_value_t = 60_000)]
    pub(crate) connections: usize,
    /// Largest number of open connections without a valid credential so far
    #[arg(long, env = "HOLDPOINT_STRANGER_CONNECTIONS", default_value_t = 4096)]
    pub(crate) stranger_connections: usize,
    /// Largest number of open connections without a valid credential from one address (one /64 with IPv6). Loopback
    /// addresses are not limited, and with --behind-proxy no address is
    #[arg(long, env = "HOLDPOINT_ADDRESS_CONNECTIONS", default_value_t = 1024)]
    pub(crate) address_connections: usize,
    /// Largest number of open connections whose last request came from one key or person
    #[arg(long, env = "HOLDPOINT_KEY_CONNECTIONS", default_value_t = 4096)]
    pub(crate) key_connections: usize,
    /// Largest number of open connections whose last request came from one tenant
    #[arg(long, env = "HOLDPOINT_TENANT_CONNECTIONS", default_value_t = 8192)]
    pub(crate) tenant_connections: usize,
    /// Largest number of invalid keys, cookies and tickets per minute from one address (one /64 with IPv6). Loopback addresses are not limited
    #[arg(long, env = "HOLDPOINT_ADDRESS_ATTEMPTS", default_value_t = 120)]
    pub(crate) address_attempts: u32,
    /// Seconds after which a connection is closed that reads nothing of what is sent to it
    #[arg(long, env = "HOLDPOINT_WRITE_TIMEOUT_SECONDS", default_value_t = 30)]
    pub(crate) write_timeout_seconds: u32,
}

impl NodeLimits {
    pub(crate) fn limits(&self, behind_proxy: bool) -> server::ServerLimits {
        server::ServerLimits {
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
            ..server::ServerLimits::default()
        }
    }

    pub(crate) fn apply_to(&self, settings: engine::Settings) -> engine::Settings {
        let checks = engine::CheckLimits {
            all: self.form_checks.max(1),
            waiting: self.key_forms.max(1),
            cached_bytes: self.schema_cache_bytes,
            ..engine::CheckLimits::default()
        };
        engine::Settings { checks, ..settings }
    }
}
