//! An address, and what it would reach.

use serde::Serialize;

/// What a URL says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct UrlFacts {
    /// The scheme in lower case.
    pub scheme: String,
    /// The host in lower case and ASCII (punycode), without the dot at its end; of an IPv6 address without its brackets.
    pub host: String,
    /// The host as people read it, where that differs from `host`.
    pub host_unicode: String,
    /// The port, the scheme's usual one where none is given; 0 where there is none.
    pub port: u16,
    /// The path, with `.` and `..` resolved.
    pub path: String,
    /// There is a query.
    pub query: bool,
    /// There is a user or a password before the host.
    pub userinfo: bool,
    /// The host as an IP address, however it was written; empty where it is a name.
    pub ip: String,
    /// It reaches this machine or a network that is not public: loopback, link-local, private, metadata services.
    pub private: bool,
    /// The host was written with characters outside ASCII, or in punycode.
    pub non_ascii: bool,
    /// The method, in upper case; `GET` where the arguments name none.
    pub method: String,
}
