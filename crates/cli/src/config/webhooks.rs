//! Settings of webhooks: the networks that messages may be sent to, and the lease.

use clap::Args;
use domain::SignedDuration;
use domain::webhook::address::{Network, Networks};

/// Settings of webhooks of this node.
#[derive(Debug, Clone, Args)]
pub(crate) struct Webhooks {
    /// Also send webhooks to private addresses: this machine, its network, the metadata service of its cloud
    #[arg(long, env = "HOLDPOINT_WEBHOOKS_PRIVATE")]
    pub(crate) webhooks_private: bool,
    /// Also send webhooks to these networks: 10.1.0.0/16,fd00::/8
    #[arg(long, env = "HOLDPOINT_WEBHOOKS_NETWORKS", value_delimiter = ',')]
    pub(crate) webhooks_networks: Vec<Network>,
    /// Lease of a webhook, in seconds. An attempt may take a third of it
    #[arg(long, env = "HOLDPOINT_WEBHOOK_LEASE_SECONDS", default_value_t = 45, hide = true)]
    pub(crate) webhook_lease_seconds: u32,
}

impl Webhooks {
    /// Networks that may be reached besides public addresses.
    pub(crate) fn networks(&self) -> Networks {
        Networks { private: self.webhooks_private, allowed: self.webhooks_networks.clone() }
    }

    /// The settings with these values.
    pub(crate) fn apply_to(&self, settings: engine::Settings) -> engine::Settings {
        engine::Settings {
            webhook_lease: SignedDuration::from_secs(i64::from(self.webhook_lease_seconds.max(3))),
            webhook_networks: self.networks(),
            ..settings
        }
    }
}
