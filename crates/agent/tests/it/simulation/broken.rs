//! Defects of the store and of the worker, to check that the simulation notices them.

use holdpoint_agent::model::{Message, Turn};
use testkit::Sabotage;

use crate::simulation::check_runs;
use crate::simulation::play::{Play, RecordedRun};

/// Defect of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// The store is broken.
    Store(Sabotage),
    /// The calls of a turn run before anybody has ruled on them.
    RunsUnasked,
    /// The worker that takes over runs the calls that the dead worker had started.
    RunsAgain,
    /// The model is shown two results for one call.
    TellsTwice,
    /// The model is not shown the last result.
    TellsTooLittle,
    /// The model is asked again about a turn that it has given already.
    AsksAgain,
}

impl Defect {
    /// Defect of the store, if the store is broken.
    pub(crate) const fn of_store(self) -> Option<Sabotage> {
        match self {
            Self::Store(sabotage) => Some(sabotage),
            _ => None,
        }
    }

    /// History that the model is shown under this defect.
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

/// Runs the calls of a turn without a ruling, in a world with the defect `RunsUnasked`.
pub(crate) fn runs_unasked(play: &Play, turn: &Turn) {
    if play.stage.lock().defect != Some(Defect::RunsUnasked) {
        return;
    }
    let writes = turn.calls.iter().filter(|call| call.tool == "write");
    for call in writes {
        runs(play, RecordedRun { tool: call.tool.clone(), arguments: call.arguments.clone() });
    }
}

/// Runs the calls that were started and have not returned, in a world with the defect `RunsAgain`.
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

fn runs(play: &Play, deed: RecordedRun) {
    play.noticed(check_runs::may_run(&play.look(), &deed));
    play.stage.lock().ran.push(deed);
}
