//! Names of calls in this dialect. A name refers to one question for good.
//!
//! Agents name their calls within a session: `s1t1c0` of one session is not that of another. The socket of one session
//! uses these names as they are. The socket of a channel, in which sessions come and go, puts the session first
//! (`ses_…:s1t1c0`): a decision that arrives late, or after a reconnection, refers to the call that it was made about,
//! or to no call.

use domain::{Interaction, InteractionId, SessionId};

/// Scheme of the names of calls on a socket.
#[derive(Debug, Clone, Copy)]
pub(super) enum CallNames {
    /// The socket of one session.
    Session(SessionId),
    /// The socket of a channel. Where the channel has the name of one of its sessions, the calls of that session keep their plain names.
    Channel(Option<SessionId>),
}

/// Target of a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NameTarget {
    /// A call of a session.
    Call(SessionId, String),
    /// A question by its own id.
    Question(InteractionId),
}

impl CallNames {
    /// The session, on the socket of one session.
    pub(super) const fn session(self) -> Option<SessionId> {
        match self {
            Self::Session(session) => Some(session),
            Self::Channel(_) => None,
        }
    }

    const fn own(self) -> Option<SessionId> {
        match self {
            Self::Session(session) => Some(session),
            Self::Channel(own) => own,
        }
    }

    /// Name of a call on this socket.
    pub(super) fn of_call(self, session: SessionId, call: &str) -> String {
        // A plain name that looks like an id of this server would be ambiguous.
        let plain = !call.starts_with(SessionId::PREFIX) && !call.starts_with(InteractionId::PREFIX);
        if plain && self.own() == Some(session) { call.to_owned() } else { format!("{session}:{call}") }
    }

    /// Returns the name of a question: the name of its call if it has one, otherwise its own id.
    pub(super) fn of_question(self, asked: &Interaction, call: Option<String>) -> String {
        call.map_or_else(|| asked.id.to_string(), |call| self.of_call(asked.origin.session, &call))
    }

    /// Finds the target that a name means.
    pub(super) fn target(self, name: &str) -> Option<NameTarget> {
        if name.starts_with(SessionId::PREFIX) {
            let (session, call) = name.split_once(':')?;
            return Some(NameTarget::Call(session.parse().ok()?, call.to_owned()));
        }
        if name.starts_with(InteractionId::PREFIX) {
            return name.parse().ok().map(NameTarget::Question);
        }
        match self.own() {
            Some(session) => Some(NameTarget::Call(session, name.to_owned())),
            None => name.parse().ok().map(NameTarget::Question),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn call_name_refers_to_one_call_on_every_socket() {
        let [one, two] = [1, 2].map(|number| SessionId::from_uuid(Uuid::from_u128(number)));
        let question = InteractionId::from_uuid(Uuid::from_u128(1)).to_string();
        let calls = ["c", "a:b", &format!("{two}:c"), &question, &two.uuid().to_string(), "ses_"];
        for names in [CallNames::Session(one), CallNames::Channel(None), CallNames::Channel(Some(one))] {
            for session in [one, two] {
                for call in calls {
                    let shown = names.of_call(session, call);
                    assert_eq!(
                        names.target(&shown),
                        Some(NameTarget::Call(session, call.to_owned())),
                        "{names:?} {shown}"
                    );
                }
            }
            assert_eq!(names.target(&question), question.parse().ok().map(NameTarget::Question));
        }
        assert_eq!(CallNames::Session(one).of_call(one, "call_abc123"), "call_abc123");
        for nothing in ["c", "ses_:c", "ses_1", "int_x"] {
            assert_eq!(CallNames::Channel(None).target(nothing), None, "{nothing}");
        }
    }
}
