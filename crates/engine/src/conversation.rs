//! The session that a client means by the name that it has for it.

use domain::access::Right;
use domain::{Caller, Scope, Session, SessionId};
use store::{Cost, Page, Reads, SessionFilter};

use crate::{Engine, Error};

impl Engine {
    /// The session that a name stands for, where there is one.
    pub async fn conversation(&self, caller: &Caller, name: &str) -> Result<Option<Session>, Error> {
        caller.require(Right::Read)?;
        let (scope, name) = (caller.scope, name.to_owned());
        self.read(Cost::Point, move |reads| conversation(reads, &scope, &name)).await
    }
}

/// `ses_…` is that session and no other: an id is given, never chosen. Any other name is a channel, whose newest session is meant, because
/// what has ended goes on in a new session of its channel; where no channel is called so, it may be the UUID of a session.
pub(crate) fn conversation(reads: &mut dyn Reads, scope: &Scope, name: &str) -> Result<Option<Session>, Error> {
    if !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        // No channel is called so, and one of the stores cannot be asked for NUL.
        return Ok(None);
    }
    let id = name.parse::<SessionId>().ok();
    if !(id.is_some() && name.starts_with(SessionId::PREFIX)) {
        let filter = SessionFilter { channel: Some(name.to_owned()), ..SessionFilter::default() };
        if let Some(newest) = reads.sessions(scope, &filter, Page { after: None, limit: 1 })?.pop() {
            return Ok(Some(newest));
        }
    }
    match id {
        Some(id) => Ok(reads.session(scope, id)?),
        None => Ok(None),
    }
}
