//! Typed identifiers: each is displayed with its prefix, is parsed at the boundary, and cannot be used in place of another type.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// Error for a text that is not an identifier of the expected type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id of the form {prefix}<uuid>")]
pub struct IdError {
    /// Prefix of the expected identifier.
    pub prefix: &'static str,
    /// The given text, shortened to a printable length.
    pub text: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Prefix of every identifier of this type.
            pub const PREFIX: &'static str = $prefix;

            /// Creates an identifier from a UUID.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// UUID of the identifier, as the dialects and the stores use it.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0.hyphenated())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            /// Parses the form with the prefix, and the bare UUID that the dialects use.
            fn from_str(text: &str) -> Result<Self, IdError> {
                let bare = text.strip_prefix($prefix).unwrap_or(text);
                Uuid::try_parse(bare)
                    .map(Self)
                    .map_err(|_| IdError { prefix: $prefix, text: text.chars().take(64).collect() })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// Identifier of a tenant, which owns its data.
    TenantId = "ten_";
    /// Identifier of a project, the part of a tenant that contains everything else.
    ProjectId = "prj_";
    /// Identifier of a session: one conversation or flow of an agent.
    SessionId = "ses_";
    /// Identifier of a step: one execution of one agent in a session.
    StepId = "stp_";
    /// Identifier of a question.
    InteractionId = "int_";
    /// Identifier of an answer of a person or of the system.
    AnswerId = "ans_";
    /// Identifier of an event.
    EventId = "evt_";
    /// Identifier of a key.
    KeyId = "key_";
    /// Identifier of a lease on a delivery.
    LeaseId = "lea_";
    /// Identifier of a permit, which lets one action run once.
    PermitId = "prm_";
    /// Identifier of a grant.
    GrantId = "gra_";
    /// Identifier of an entry of the audit trail.
    EntryId = "aud_";
    /// Identifier of a data key, which seals values of one tenant.
    DataKeyId = "dek_";
    /// Identifier of a kept secret.
    SecretId = "sec_";
    /// Identifier of a user.
    UserId = "usr_";
    /// Identifier of a visit: a browser in which a person is signed in.
    VisitId = "vis_";
    /// Identifier of a link that signs a user in once.
    LinkId = "lnk_";
    /// Identifier of a ticket that opens one event stream or WebSocket.
    TicketId = "tkt_";
    /// Identifier of a webhook, which sends events or answers.
    WebhookId = "whk_";
    /// Identifier of a message to the endpoint of a webhook.
    WebhookDeliveryId = "whd_";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(text.parse::<InteractionId>().ok().map(|id| id.to_string()).as_deref(), expected, "{text}");
    }

    #[test]
    fn id_is_parsed_with_its_own_prefix_or_none() {
        let uuid = "0198f2c4-1111-7222-8333-444455556666";
        let id = format!("int_{uuid}");
        check(&id, Some(&id));
        check(uuid, Some(&id));
        check("int_0198f2c4111172228333444455556666", Some(&id));
        check(&format!("ses_{uuid}"), None);
        check("int_", None);
        check("", None);
        check("int_' or 1=1 --", None);
    }
}
