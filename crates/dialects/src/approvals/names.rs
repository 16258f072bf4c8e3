//! What calls are called on this wire: by a name that stays with one question for good.
//!
//! Agents name their calls, each session on its own: `s1t1c0` of one session is not that of another. On the socket of one session they are
//! called so. On that of a channel, in which sessions come and go, the session stands before it (`ses_…:s1t1c0`): a decision that comes late, or
//! after a reconnection, meets the call that it was made about, or none.

use domain::{Interaction, InteractionId, SessionId};

/// How calls are named.
#[derive(Debug, Clone, Copy)]
pub(super) enum CallNames {
    /// Of one session alone.
    Session(SessionId),
    /// Of a channel; perhaps one that is called as a session of it, whose calls are named as they are.
    Channel(Option<SessionId>),
}

/// What a client means by a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NameTarget {
    /// A call of a session.
    Call(SessionId, String),
    /// A question by its own id.
    Question(InteractionId),
}

impl CallNames {
    /// The only session that there is to hear of.
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

    /// What a call is called.
    pub(super) fn of_call(self, session: SessionId, call: &str) -> String {
        // What looks like a name that we give is never taken for one.
        let plain = !call.starts_with(SessionId::PREFIX) && !call.starts_with(InteractionId::PREFIX);
        if plain && self.own() == Some(session) { call.to_owned() } else { format!("{session}:{call}") }
    }

    /// What a question is called: as the call that it is known by, else by its own id.
    pub(super) fn of_question(self, asked: &Interaction, call: Option<String>) -> String {
        call.map_or_else(|| asked.id.to_string(), |call| self.of_call(asked.origin.session, &call))
    }

    /// What is meant by a name.
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
    fn a_name_means_one_call_whoever_reads_it() {
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
