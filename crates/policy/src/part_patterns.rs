//! The patterns of a rule about the parts of a call.

use crate::{
    Pattern, command_pattern::CommandPattern, host_pattern::HostPattern, path_pattern::PathPattern,
    table_pattern::TablePattern,
};

/// The lists of patterns of a rule. A list that is left out is `None`; a list is never empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PartPatterns {
    /// Commands, word by word.
    pub(crate) commands: Option<Vec<CommandPattern>>,
    /// Files that are written.
    pub(crate) writes: Option<Vec<PathPattern>>,
    /// Files that are read or written.
    pub(crate) paths: Option<Vec<PathPattern>>,
    /// Hosts of addresses.
    pub(crate) hosts: Option<Vec<HostPattern>>,
    /// Tables of SQL.
    pub(crate) tables: Option<Vec<TablePattern>>,
    /// Variables that are set.
    pub(crate) env: Option<Vec<Pattern>>,
    /// Directories in which a command happens.
    pub(crate) within: Option<Vec<PathPattern>>,
}
