//! What one key, one person and one tenant may have at once, on the command line. `docs/limits.md` lists every limit.

use clap::Args;
use engine::{Budget, Settings};

/// What callers and tenants may have at once.
#[derive(Debug, Clone, Args)]
pub(crate) struct Bounds {
    /// How many questions one key or person may have open in a project
    #[arg(long, env = "HOLDPOINT_KEY_OPEN_QUESTIONS", default_value_t = 10_000)]
    pub(crate) key_open_questions: u64,
    /// How many bytes the open questions of one key or person may take
    #[arg(long, env = "HOLDPOINT_KEY_OPEN_BYTES", default_value_t = 64 << 20)]
    pub(crate) key_open_bytes: u64,
    /// How many questions one tenant may have open
    #[arg(long, env = "HOLDPOINT_TENANT_OPEN_QUESTIONS", default_value_t = 100_000)]
    pub(crate) tenant_open_questions: u64,
    /// How many bytes the open questions of one tenant may take
    #[arg(long, env = "HOLDPOINT_TENANT_OPEN_BYTES", default_value_t = 512 << 20)]
    pub(crate) tenant_open_bytes: u64,
    /// How many lists one key or person may have under way at this node
    #[arg(long, env = "HOLDPOINT_KEY_LISTS", default_value_t = 64)]
    pub(crate) key_lists: usize,
    /// How many lists one tenant may have under way at this node
    #[arg(long, env = "HOLDPOINT_TENANT_LISTS", default_value_t = 512)]
    pub(crate) tenant_lists: usize,
    /// How many lists this node reads at once, half of them for one tenant [default: 2 with SQLite, 8 with PostgreSQL]
    #[arg(long, env = "HOLDPOINT_LISTS_AT_ONCE")]
    pub(crate) lists_at_once: Option<usize>,
    /// How many long polls one key or person may have at this node
    #[arg(long, env = "HOLDPOINT_KEY_WAITS", default_value_t = 1000)]
    pub(crate) key_waits: usize,
    /// How many long polls one tenant may have at this node
    #[arg(long, env = "HOLDPOINT_TENANT_WAITS", default_value_t = 10_000)]
    pub(crate) tenant_waits: usize,
    /// How many bytes of replies one key or person may have under way at this node
    #[arg(long, env = "HOLDPOINT_KEY_REPLY_BYTES", default_value_t = 32 << 20)]
    pub(crate) key_reply_bytes: u64,
    /// How many bytes of replies one tenant may have under way at this node
    #[arg(long, env = "HOLDPOINT_TENANT_REPLY_BYTES", default_value_t = 64 << 20)]
    pub(crate) tenant_reply_bytes: u64,
    /// How many policy checks and simulations one key or person may have under way at this node
    #[arg(long, env = "HOLDPOINT_KEY_CHECKS", default_value_t = 16)]
    pub(crate) key_checks: usize,
    /// How many policy checks and simulations one tenant may have under way at this node
    #[arg(long, env = "HOLDPOINT_TENANT_CHECKS", default_value_t = 128)]
    pub(crate) tenant_checks: usize,
}

impl Bounds {
    /// The settings with these bounds in place of the usual ones.
    pub(crate) fn applied_to(&self, settings: Settings) -> Settings {
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

    /// Every limit that says how it is set is set so.
    #[test]
    fn the_settings_of_limits_are_flags_of_serve() {
        let cli = Cli::command();
        let serve = cli.find_subcommand("serve").expect("there is `serve`");
        let flags: Vec<String> =
            serve.get_arguments().filter_map(|flag| Some(format!("--{}", flag.get_long()?))).collect();
        for setting in Limit::ALL.iter().filter_map(|limit| limit.setting()) {
            assert!(flags.iter().any(|flag| flag == setting), "{setting}");
        }
    }
}
