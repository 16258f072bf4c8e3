//! Limits that a caller can reach, each with a stable name.
//!
//! A refusal by limit names the limit ([`crate::Refusal::LimitReached`], or the older refusals that have a code of their own), the server
//! counts refusals by that name, and `docs/limits.md` has a row for every name. A test compares the page with [`Limit::ALL`].

/// A limit that callers can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// Open questions of one session.
    SessionOpenQuestions,
    /// Open questions of one key or person in a project.
    KeyOpenQuestions,
    /// Bytes of the open questions of one key or person.
    KeyOpenBytes,
    /// Open questions of one tenant.
    TenantOpenQuestions,
    /// Bytes of the open questions of one tenant.
    TenantOpenBytes,
    /// List queries of one key or person that are queued.
    KeyLists,
    /// List queries of one tenant that are queued.
    TenantLists,
    /// Long polls of one key or person.
    KeyWaits,
    /// Long polls of one tenant.
    TenantWaits,
    /// Policy checks and simulations of one key or person that are queued.
    KeyChecks,
    /// Policy checks and simulations of one tenant that are queued.
    TenantChecks,
    /// Bytes of replies that one key or person has not read yet.
    KeyReplyBytes,
    /// Bytes of replies that one tenant has not read yet.
    TenantReplyBytes,
    /// Requests a second of one key.
    KeyRequests,
    /// Attempts to sign in from one address or for one account.
    SignIns,
    /// Streams and sockets of one node.
    NodeStreams,
    /// Subscriptions of one socket.
    SocketSubscriptions,
    /// Webhooks of one project.
    ProjectWebhooks,
    /// Keys of one project that were not revoked.
    ProjectKeys,
    /// People who belong to one project.
    ProjectPeople,
    /// Form checks of one key or person that run or are queued.
    KeyForms,
    /// Password hashes that are computed or queued.
    PasswordHashes,
    /// Streams and sockets of one key or person.
    KeyStreams,
    /// Streams and sockets of one tenant.
    TenantStreams,
    /// Bytes of unfinished messages and request bodies of one key or person.
    KeyUnfinishedBytes,
    /// Bytes of unfinished messages and request bodies of one tenant.
    TenantUnfinishedBytes,
    /// Invalid credentials per minute from one address.
    AddressAttempts,
    /// Connections of one node.
    NodeConnections,
    /// Connections of one node without a valid credential.
    StrangerConnections,
    /// Connections from one address without a valid credential.
    AddressConnections,
    /// Connections of one key or person.
    KeyConnections,
    /// Connections of one tenant.
    TenantConnections,
    /// Jobs that wait for the node or its database.
    NodeQueue,
}

impl Limit {
    /// All variants of this enum.
    pub const ALL: &[Self] = &[
        Self::SessionOpenQuestions,
        Self::KeyOpenQuestions,
        Self::KeyOpenBytes,
        Self::TenantOpenQuestions,
        Self::TenantOpenBytes,
        Self::KeyLists,
        Self::TenantLists,
        Self::KeyWaits,
        Self::TenantWaits,
        Self::KeyChecks,
        Self::TenantChecks,
        Self::KeyReplyBytes,
        Self::TenantReplyBytes,
        Self::KeyRequests,
        Self::SignIns,
        Self::NodeStreams,
        Self::SocketSubscriptions,
        Self::ProjectWebhooks,
        Self::ProjectKeys,
        Self::ProjectPeople,
        Self::KeyForms,
        Self::PasswordHashes,
        Self::KeyStreams,
        Self::TenantStreams,
        Self::KeyUnfinishedBytes,
        Self::TenantUnfinishedBytes,
        Self::AddressAttempts,
        Self::NodeConnections,
        Self::StrangerConnections,
        Self::AddressConnections,
        Self::KeyConnections,
        Self::TenantConnections,
        Self::NodeQueue,
    ];

    /// Name of the limit in refusals, in the metric `flow_limit_refusals_total` and in `docs/limits.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionOpenQuestions => "session_open_questions",
            Self::KeyOpenQuestions => "key_open_questions",
            Self::KeyOpenBytes => "key_open_bytes",
            Self::TenantOpenQuestions => "tenant_open_questions",
            Self::TenantOpenBytes => "tenant_open_bytes",
            Self::KeyLists => "key_lists",
            Self::TenantLists => "tenant_lists",
            Self::KeyWaits => "key_waits",
            Self::TenantWaits => "tenant_waits",
            Self::KeyChecks => "key_checks",
            Self::TenantChecks => "tenant_checks",
            Self::KeyReplyBytes => "key_reply_bytes",
            Self::TenantReplyBytes => "tenant_reply_bytes",
            Self::KeyRequests => "key_requests",
            Self::SignIns => "sign_ins",
            Self::NodeStreams => "node_streams",
            Self::SocketSubscriptions => "socket_subscriptions",
            Self::ProjectWebhooks => "project_webhooks",
            Self::ProjectKeys => "project_keys",
            Self::ProjectPeople => "project_people",
            Self::KeyForms => "key_forms",
            Self::PasswordHashes => "password_hashes",
            Self::KeyStreams => "key_streams",
            Self::TenantStreams => "tenant_streams",
            Self::KeyUnfinishedBytes => "key_unfinished_bytes",
            Self::TenantUnfinishedBytes => "tenant_unfinished_bytes",
            Self::AddressAttempts => "address_attempts",
            Self::NodeConnections => "node_connections",
            Self::StrangerConnections => "stranger_connections",
            Self::AddressConnections => "address_connections",
            Self::KeyConnections => "key_connections",
            Self::TenantConnections => "tenant_connections",
            Self::NodeQueue => "node_queue",
        }
    }

    /// Flag of `holdpoint serve` that sets the limit. `None` if the limit is fixed.
    #[must_use]
    pub const fn setting(self) -> Option<&'static str> {
        match self {
            Self::SessionOpenQuestions => Some("--most-open"),
            Self::KeyOpenQuestions => Some("--key-open-questions"),
            Self::KeyOpenBytes => Some("--key-open-bytes"),
            Self::TenantOpenQuestions => Some("--tenant-open-questions"),
            Self::TenantOpenBytes => Some("--tenant-open-bytes"),
            Self::KeyLists => Some("--key-lists"),
            Self::TenantLists => Some("--tenant-lists"),
            Self::KeyWaits => Some("--key-waits"),
            Self::TenantWaits => Some("--tenant-waits"),
            Self::KeyChecks => Some("--key-checks"),
            Self::TenantChecks => Some("--tenant-checks"),
            Self::KeyReplyBytes => Some("--key-reply-bytes"),
            Self::TenantReplyBytes => Some("--tenant-reply-bytes"),
            Self::KeyRequests => Some("--rate"),
            Self::NodeStreams => Some("--streams"),
            Self::KeyForms => Some("--key-forms"),
            Self::KeyStreams => Some("--key-streams"),
            Self::TenantStreams => Some("--tenant-streams"),
            Self::KeyUnfinishedBytes => Some("--key-unfinished-bytes"),
            Self::TenantUnfinishedBytes => Some("--tenant-unfinished-bytes"),
            Self::AddressAttempts => Some("--address-attempts"),
            Self::NodeConnections => Some("--connections"),
            Self::StrangerConnections => Some("--stranger-connections"),
            Self::AddressConnections => Some("--address-connections"),
            Self::KeyConnections => Some("--key-connections"),
            Self::TenantConnections => Some("--tenant-connections"),
            Self::PasswordHashes
            | Self::SignIns
            | Self::SocketSubscriptions
            | Self::ProjectWebhooks
            | Self::ProjectKeys
            | Self::ProjectPeople
            | Self::NodeQueue => None,
        }
    }

    /// Words for the counted thing in the message of a refusal: "the limit of 10000 open questions of one key or person is reached".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::SessionOpenQuestions => "open questions of one session",
            Self::KeyOpenQuestions => "open questions of one key or person",
            Self::KeyOpenBytes => "bytes of open questions of one key or person",
            Self::TenantOpenQuestions => "open questions of one tenant",
            Self::TenantOpenBytes => "bytes of open questions of one tenant",
            Self::KeyLists => "concurrent list requests of one key or person",
            Self::TenantLists => "concurrent list requests of one tenant",
            Self::KeyWaits => "long polls of one key or person",
            Self::TenantWaits => "long polls of one tenant",
            Self::KeyChecks => "concurrent policy checks of one key or person",
            Self::TenantChecks => "concurrent policy checks of one tenant",
            Self::KeyReplyBytes => "bytes of unread replies of one key or person",
            Self::TenantReplyBytes => "bytes of unread replies of one tenant",
            Self::KeyRequests => "requests a second of one key",
            Self::SignIns => "attempts to sign in",
            Self::NodeStreams => "streams and sockets of this node",
            Self::SocketSubscriptions => "subscriptions of one socket",
            Self::ProjectWebhooks => "webhooks of one project",
            Self::ProjectKeys => "keys of one project",
            Self::ProjectPeople => "people of one project",
            Self::KeyForms => "concurrent form checks of one key or person",
            Self::PasswordHashes => "passwords that wait to be hashed",
            Self::KeyStreams => "streams and sockets of one key or person",
            Self::TenantStreams => "streams and sockets of one tenant",
            Self::KeyUnfinishedBytes => "bytes of unfinished messages and request bodies of one key or person",
            Self::TenantUnfinishedBytes => "bytes of unfinished messages and request bodies of one tenant",
            Self::AddressAttempts => "unknown credentials a minute from one address",
            Self::NodeConnections => "connections of this node",
            Self::StrangerConnections => "connections of this node without a valid credential",
            Self::AddressConnections => "connections from one address without a valid credential",
            Self::KeyConnections => "connections of one key or person",
            Self::TenantConnections => "connections of one tenant",
            Self::NodeQueue => "jobs that wait for this node",
        }
    }

    /// Help for the reader of a refusal: the name of the limit and its setting.
    #[must_use]
    pub fn detail(self) -> String {
        match self.setting() {
            Some(setting) => format!("limit `{}`, set with `{setting}`", self.name()),
            None => format!("limit `{}`", self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_limit_has_a_unique_name() {
        let names: BTreeSet<&str> = Limit::ALL.iter().map(|limit| limit.name()).collect();
        assert_eq!(names.len(), Limit::ALL.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    }
}
