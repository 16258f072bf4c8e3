//! Reads actions, and waits until one is decided.

use std::time::Duration;

use domain::access::Right;
use domain::{ActionState, Caller, Refusal, SessionId};
use store::{Cost, Topic};

use crate::access::sight::Sight;
use crate::actions;
use crate::actions::propose::ActionReply;
use crate::run;
use crate::{Engine, Error};

impl Engine {
    /// Returns an action as soon as it is decided, or after `wait` if it is still waiting.
    pub async fn action_get(
        &self,
        caller: &Caller,
        session: SessionId,
        call: String,
        wait: Duration,
    ) -> Result<ActionReply, Error> {
        caller.require(Right::Read)?;
        let decided = |found: &ActionReply| !matches!(found.action.state, ActionState::Waiting { .. });
        run::wait::wait_until(
            self,
            (caller, Topic::Session(session)),
            wait,
            || read(self, caller, session, &call),
            decided,
        )
        .await
    }

    /// Page of the actions of a session, ordered by `call_id`, and the cursor of the next page. The cursor is `None` on the last page.
    pub async fn action_list(
        &self,
        caller: &Caller,
        session: SessionId,
        after: String,
        limit: u32,
    ) -> Result<(Vec<ActionReply>, Option<String>), Error> {
        caller.require(Right::Read)?;
        let found = self.list(caller, move |reads, caller| {
            Sight::of(reads, caller)?.session(reads, &caller.scope, session)?;
            Ok((reads.actions(&caller.scope, session, &after, limit)?, reads.now()?))
        });
        let (found, now) = found.await?;
        let next = found.last().filter(|_| found.more).map(|last| last.call_id.clone());
        let mut actions = Vec::with_capacity(found.len());
        for action in found {
            actions.push(actions::propose::reply(self, caller, action, now).await?);
        }
        Ok((actions, next))
    }
}

async fn read(engine: &Engine, caller: &Caller, session: SessionId, call: &str) -> Result<ActionReply, Error> {
    let (scope, call) = (caller.scope, call.to_owned());
    let found = engine.read_by(caller, Cost::Point, move |reads, caller| {
        Sight::of(reads, caller)?.session(reads, &scope, session)?;
        let found = reads.action(&scope, session, &call)?.ok_or(Refusal::NotFound("action"))?;
        Ok((found, reads.now()?))
    });
    let (action, now) = found.await?;
    actions::propose::reply(engine, caller, action, now).await
}
