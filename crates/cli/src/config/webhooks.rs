//! Where webhooks may be sent.

use clap::Args;
use domain::SignedDuration;
use domain::webhook::address::{Network, Networks};

/// Where webhooks may be sent.
#[derive(Debug, Clone, Args)]
pub(crate) struct Webhooks {
    /// Let webhooks be sent to private addresses as well: this machine, its network, its cloud's metadata
    #[arg(long, env = "HOLDPOINT_WEBHOOKS_PRIVATE")]
    pub(crate) webhooks_private: bool,
    /// Let webhooks be sent to these networks as well: 10.1.0.0/16,fd00::/8
    #[arg(long, env = "HOLDPOINT_WEBHOOKS_NETWORKS", value_delimiter = ',')]
    pub(crate) webhooks_networks: Vec<Network>,
    /// How many seconds a node has a webhook without a sign of life; an attempt may take a third of it
    #[arg(long, env = "HOLDPOINT_WEBHOOK_LEASE_SECONDS", default_value_t = 45, hide = true)]
    pub(crate) webhook_lease_seconds: u32,
}

impl Webhooks {
    /// What may be reached beside the public internet.
    pub(crate) fn networks(&self) -> Networks {
        Networks { private: self.webhooks_private, allowed: self.webhooks_networks.clone() }
    }

    /// The settings with these.
    pub(crate) fn applied_to(&self, settings: engine::Settings) -> engine::Settings {
        engine::Settings {
            webhook_lease: SignedDuration::from_secs(i64::from(self.webhook_lease_seconds.max(3))),
            webhook_networks: self.networks(),
            ..settings
        }
    }
}
