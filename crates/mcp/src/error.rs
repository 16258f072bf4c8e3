//! Why a server is of no use.

/// Why a server's tools cannot be listed or called. Nothing was called where this is said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The definition cannot be used as it is.
    #[error("MCP server `{server}`: {why}")]
    Definition {
        /// The server.
        server: String,
        /// What is wrong with it.
        why: String,
    },
    /// It cannot be started or reached, or does not speak the protocol.
    #[error("MCP server `{server}` cannot be reached: {why}")]
    Unreachable {
        /// The server.
        server: String,
        /// Why.
        why: String,
    },
    /// It does not list its tools.
    #[error("MCP server `{server}` does not list its tools: {why}")]
    Listing {
        /// The server.
        server: String,
        /// Why.
        why: String,
    },
}
