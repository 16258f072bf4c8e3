//! Typed ids: each prints with its prefix, parses once at the edge, and cannot be passed where another is wanted.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// Why a text is not the id that was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id of the form {prefix}<uuid>")]
pub struct IdError {
    /// The prefix of the id that was wanted.
    pub prefix: &'static str,
    /// What was given, cut to a printable length.
    pub text: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// What every id of this type begins with.
            pub const PREFIX: &'static str = $prefix;

            /// Wraps a UUID that was made, or read, as this kind of id.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID inside, as other wires and the stores show it.
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

            /// Takes the prefixed form, and the bare UUID that the seeds' wires show.
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
    /// Whose data it is.
    TenantId = "ten_";
    /// The part of a tenant in which everything else lives.
    ProjectId = "prj_";
    /// One conversation or flow of an agent.
    SessionId = "ses_";
    /// One execution of one agent in a session.
    StepId = "stp_";
    /// A question put to people.
    InteractionId = "int_";
    /// What one person, or the system, said.
    AnswerId = "ans_";
    /// Something that happened.
    EventId = "evt_";
    /// A credential.
    KeyId = "key_";
    /// The right to work on one delivery for a while.
    LeaseId = "lea_";
    /// Single-use proof that one action may run.
    PermitId = "prm_";
    /// An approval that holds for more than one action.
    GrantId = "gra_";
    /// Something that was done, on the audit trail.
    EntryId = "aud_";
    /// A key that values of one tenant are sealed with.
    DataKeyId = "dek_";
    /// A secret value that a person has kept for later.
    SecretId = "sec_";
    /// A person who signs in.
    UserId = "usr_";
    /// A person signed in with one browser.
    VisitId = "vis_";
    /// A link that signs a person in once.
    LinkId = "lnk_";
    /// What a browser opens one stream with.
    TicketId = "tkt_";
    /// A subscription to events, or to answers.
    WebhookId = "whk_";
    /// One message to the endpoint of a webhook.
    WebhookDeliveryId = "whd_";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(text.parse::<InteractionId>().ok().map(|id| id.to_string()).as_deref(), expected, "{text}");
    }

    #[test]
    fn an_id_says_what_it_is() {
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
