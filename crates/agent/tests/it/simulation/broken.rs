//! Defects of the store and of the worker, to check that the simulation notices them.

use holdpoint_agent::model::{Message, Turn};
use testkit::Sabotage;

use crate::simulation::check_runs;
use crate::simulation::play::{Deed, Play};

/// What is wrong with a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// The store is broken.
    Store(Sabotage),
    /// What a model wants is run before anybody has ruled on it.
    RunsUnasked,
    /// Whoever takes over runs what the dead had begun.
    RunsAgain,
    /// A call has a second result in what the model is shown.
    TellsTwice,
    /// The last result is not in what the model is shown.
    TellsTooLittle,
    /// The model is asked once more about a turn that it has had.
    AsksAgain,
}

impl Defect {
    /// What is broken of the store.
    pub(crate) const fn of_store(self) -> Option<Sabotage> {
        match self {
            Self::Store(sabotage) => Some(sabotage),
            _ => None,
        }
    }

    /// What a model is shown in place of its history.
    pub(crate) fn shown(self, mut history: Vec<Message>) -> Vec<Message> {
        let result = history.iter().rposition(|message| matches!(message, Message::Result { .. }));
        let turn = history.iter().rposition(|message| matches!(message, Message::Assistant { .. }));
        match (self, result, turn) {
            (Self::TellsTwice, Some(at), _) => history.insert(at, history[at].clone()),
            (Self::TellsTooLittle, Some(at), _) => drop(history.remove(at)),
            (Self::AsksAgain, _, Some(at)) => history.truncate(at),
            _ => {}
        }
        history
    }
}

/// Runs what nobody has ruled on yet, where that is what is wrong.
pub(crate) fn runs_unasked(play: &Play, turn: &Turn) {
    if play.stage.lock().defect != Some(Defect::RunsUnasked) {
        return;
    }
    let writes = turn.calls.iter().filter(|call| call.tool == "write");
    for call in writes {
        runs(play, Deed { tool: call.tool.clone(), arguments: call.arguments.clone() });
    }
}

/// Runs what was begun and has not come back, where that is what is wrong.
pub(crate) fn runs_again(play: &Play) {
    let begun = {
        let mut stage = play.stage.lock();
        if stage.defect != Some(Defect::RunsAgain) {
            return;
        }
        std::mem::take(&mut stage.begun)
    };
    begun.into_iter().for_each(|deed| runs(play, deed));
}

fn runs(play: &Play, deed: Deed) {
    play.noticed(check_runs::may_run(&play.look(), &deed));
    play.stage.lock().ran.push(deed);
}
