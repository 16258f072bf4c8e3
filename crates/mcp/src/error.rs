//! Defines the errors of an MCP server.

/// Reason why the tools of a server cannot be listed or called. No call was made if this error is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The definition of the server is invalid.
    #[error("MCP server `{server}`: {why}")]
    Definition {
        /// Name of the server.
        server: String,
        /// Problem of the definition.
        why: String,
    },
    /// The server cannot be started or reached, or does not speak the protocol.
    #[error("MCP server `{server}` cannot be reached: {why}")]
    Unreachable {
        /// Name of the server.
        server: String,
        /// Reason why the server is unreachable.
        why: String,
    },
    /// The server does not list its tools.
    #[error("MCP server `{server}` does not list its tools: {why}")]
    Listing {
        /// Name of the server.
        server: String,
        /// Reason why the listing failed.
        why: String,
    },
}
