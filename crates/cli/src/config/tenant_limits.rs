//! Limits of keys, people and tenants. `docs/limits.md` lists every limit.

use clap::Args;
use engine::{Budget, Settings};

/// Limits of callers and tenants.
#[derive(Debug, Clone, Args)]
pub(crate) struct TenantLimits {
    /// Largest number of open questions of one key or person in a project
    #[arg(long, env = "HOLDPOINT_KEY_OPEN_QUESTIONS", default_value_t = 10_000)]
    pub(crate) key_open_questions: u64,
    /// Largest total size of the open questions of one key or person, in bytes
    #[arg(long, env = "HOLDPOINT_KEY_OPEN_BYTES", default_value_t = 64 << 20)]
    pub(crate) key_open_bytes: u64,
    /// Largest number of open questions of one tenant
    #[arg(long, env = "HOLDPOINT_TENANT_OPEN_QUESTIONS", default_value_t = 100_000)]
    pub(crate) tenant_open_questions: u64,
    /// Largest total size of the open questions of one tenant, in bytes
    #[arg(long, env = "HOLDPOINT_TENANT_OPEN_BYTES", default_value_t = 512 << 20)]
    pub(crate) tenant_open_bytes: u64,
    /// Largest number of concurrent list requests of one key or person at this node
    #[arg(long, env = "HOLDPOINT_KEY_LISTS", default_value_t = 64)]
    pub(crate) key_lists: usize,
    /// Largest number of concurrent list requests of one tenant at this node
    #[arg(long, env = "HOLDPOINT_TENANT_LISTS", default_value_t = 512)]
    pub(crate) tenant_lists: usize,
    /// Number of lists that this node reads at once; one tenant gets half of them [default: 2 with SQLite, 8 with
    /// PostgreSQL]
    #[arg(long, env = "HOLDPOINT_LISTS_AT_ONCE")]
    pub(crate) lists_at_once: Option<usize>,
    /// Largest number of long polls of one key or person at this node
    #[arg(long, env = "HOLDPOINT_KEY_WAITS", default_value_t = 1000)]
    pub(crate) key_waits: usize,
    /// Largest number of long polls of one tenant at this node
    #[arg(long, env = "HOLDPOINT_TENANT_WAITS", default_value_t = 10_000)]
    pub(crate) tenant_waits: usize,
    /// Largest total size of unfinished replies to one key or person at this node, in bytes
    #[arg(long, env = "HOLDPOINT_KEY_REPLY_BYTES", default_value_t = 32 << 20)]
    pub(crate) key_reply_bytes: u64,
    /// Largest total size of unfinished replies to one tenant at this node, in bytes
    #[arg(long, env = "HOLDPOINT_TENANT_REPLY_BYTES", default_value_t = 64 << 20)]
    pub(crate) tenant_reply_bytes: u64,
    /// Largest number of concurrent policy checks and simulations of one key or person at this node
    #[arg(long, env = "HOLDPOINT_KEY_CHECKS", default_value_t = 16)]
    pub(crate) key_checks: usize,
    /// Largest number of concurrent policy checks and simulations of one tenant at this node
    #[arg(long, env = "HOLDPOINT_TENANT_CHECKS", default_value_t = 128)]
    pub(crate) tenant_checks: usize,
}

impl TenantLimits {
    /// The settings with these limits.
    pub(crate) fn apply_to(&self, settings: Settings) -> Settings {
        Settings {
            key_open: Budget { questions: self.key_open_questions, bytes: self.key_open_bytes },
            tenant_open: Budget { questions: self.tenant_open_questions, bytes: self.tenant_open_bytes },
            key_lists: self.key_lists.max(1),
            tenant_lists: self.tenant_lists.max(1),
            lists_at_once: self.lists_at_once.map(|lists| lists.max(1)),
            key_waits: self.key_waits,
            tenant_waits: self.tenant_waits,
            key_checks: self.key_checks.max(1),
            tenant_checks: self.tenant_checks.max(1),
            ..settings
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use domain::Limit;

    use crate::config::Cli;

    /// Every limit that names a flag is set by that flag.
    #[test]
    fn every_limit_setting_is_a_flag_of_serve() {
        let cli = Cli::command();
        let serve = cli.find_subcommand("serve").expect("there is `serve`");
        let flags: Vec<String> =
            serve.get_arguments().filter_map(|flag| Some(format!("--{}", flag.get_long()?))).collect();
        for setting in Limit::ALL.iter().filter_map(|limit| limit.setting()) {
            assert!(flags.iter().any(|flag| flag == setting), "{setting}");
        }
    }
}
