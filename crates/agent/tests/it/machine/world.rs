//! A step in a small world of a model, people, tools and workers that die at any point. [`Engine`] imitates the
//! guarantees of the engine; the machine is the real one.

use std::collections::{BTreeMap, BTreeSet};

use domain::Effect as Way;
use domain::agent::Limits;
use holdpoint_agent::history::history;
use holdpoint_agent::machine::{Activity, CallEnd, Input, MachineState, StepEffect};
use holdpoint_agent::model::Message;
use proptest::prelude::*;
use serde_json::json;

use crate::machine::inputs::{answered, asked, done, limited, replay, reread, says, settled, turn, waiting};

/// State of a proposed call at the engine.
#[derive(Debug, Clone, PartialEq)]
enum ActionState {
    Allowed,
    Waiting,
    Denied,
    Ended(CallEnd),
}

/// Data of the engine and the inbox, which survives the death of a worker.
#[derive(Default)]
struct Engine {
    calls: BTreeMap<String, ActionState>,
    /// Questions of the step, with their answers.
    questions: BTreeMap<String, Option<CallEnd>>,
    runs: Vec<String>,
    /// Calls that people or the policy allowed.
    let_run: BTreeSet<String>,
    held_back: BTreeSet<String>,
}

struct World {
    engine: Engine,
    journal: Vec<Input>,
    state: MachineState,
    /// Random choices left; each draw takes one.
    dice: Vec<u8>,
}

impl World {
    fn new(dice: Vec<u8>) -> Self {
        let limits = Limits { iterations: 8, rounds: 4, retries: 2 };
        let mut world = Self { engine: Engine::default(), journal: Vec::new(), state: MachineState::new("p-"), dice };
        world.take(limited(limits, Some(json!("Tidy up."))));
        world
    }

    fn roll(&mut self, sides: u8) -> u8 {
        self.dice.pop().map_or(0, |die| die % sides)
    }

    /// Journals and applies an input.
    fn take(&mut self, input: Input) {
        self.journal.push(input.clone());
        self.state = std::mem::replace(&mut self.state, MachineState::new("")).advance(input).0;
    }

    /// Lets the worker die sometimes; the next worker has the journal, or the state as it was stored.
    fn perhaps_die(&mut self) -> bool {
        let die = self.roll(6);
        if die == 1 {
            self.state = replay("p-", &self.journal).0;
        } else if die == 2 {
            self.state = reread(&self.state);
        }
        die == 1 || die == 2
    }

    fn perform(&mut self, effect: StepEffect) {
        match effect {
            StepEffect::CallModel => self.think(),
            StepEffect::Act { call, .. } => self.act(&call),
            StepEffect::AskUser { call, .. } => {
                // The question and its entry in the journal are one transaction.
                if !self.perhaps_die() {
                    assert!(self.engine.questions.insert(call.clone(), None).is_none(), "{call} was asked twice");
                    self.take(asked(&call, &call));
                }
            }
            other => panic!("{other:?} is not expected in this phase"),
        }
    }

    fn think(&mut self) {
        let tools = ["read_file", "write_file", "ask_user_confirm", "delete_file"];
        let said = match self.roll(5) {
            0 => says("Done."),
            n => {
                let tools: Vec<&str> = (0..n.min(3)).map(|_| tools[usize::from(self.roll(4))]).collect();
                turn(&tools)
            }
        };
        if !self.perhaps_die() {
            self.take(said);
        }
    }

    /// Rules on a call that was not proposed before.
    fn rule(&mut self, call: &str) -> ActionState {
        match self.roll(4) {
            0 => {
                self.engine.let_run.insert(call.to_owned());
                ActionState::Allowed
            }
            1 => {
                self.engine.held_back.insert(call.to_owned());
                ActionState::Denied
            }
            _ => ActionState::Waiting,
        }
    }

    fn act(&mut self, call: &str) {
        let state = match self.engine.calls.get(call) {
            Some(state) => state.clone(),
            None => self.rule(call),
        };
        self.engine.calls.insert(call.to_owned(), state.clone());
        if self.perhaps_die() {
            return;
        }
        let end = match state {
            ActionState::Waiting => return self.take(waiting(call, call)),
            ActionState::Denied => CallEnd::Denied { reason: "no".into() },
            ActionState::Allowed => {
                self.engine.runs.push(call.to_owned());
                // The permit is used, whether or not the outcome is known.
                let ran = if self.roll(5) == 1 { CallEnd::Unknown } else { done("ran") };
                self.engine.calls.insert(call.to_owned(), ActionState::Ended(ran.clone()));
                ran
            }
            ActionState::Ended(end) => end,
        };
        if !self.perhaps_die() {
            self.take(settled(call, end));
        }
    }

    /// Answers one open question, of an action or of the step itself.
    fn answer(&mut self) {
        let way = Way::ALL[usize::from(self.roll(8))];
        let open = self.engine.calls.iter().find(|(_, state)| **state == ActionState::Waiting);
        if let Some(call) = open.map(|(call, _)| call.clone()) {
            let state = if way.runs_action() {
                self.engine.let_run.insert(call.clone());
                ActionState::Allowed
            } else {
                self.engine.held_back.insert(call.clone());
                ActionState::Ended(answered(way))
            };
            self.engine.calls.insert(call, state);
        } else if let Some(answer) = self.engine.questions.values_mut().find(|answer| answer.is_none()) {
            *answer = Some(answered(way));
        }
    }

    /// Reads the answers to the step's questions.
    fn look(&mut self) {
        for wait in self.state.waiting().into_iter().filter(|wait| wait.is_question) {
            if let Some(Some(end)) = self.engine.questions.get(&wait.call).cloned()
                && !self.perhaps_die()
            {
                self.take(settled(&wait.call, end));
            }
        }
    }

    /// Runs until the step ends, which must happen for any random choices.
    fn run(mut self) -> Self {
        for round in 0..2_000 {
            self.perhaps_die();
            self.look();
            let outstanding = self.state.outstanding();
            if self.state.activity() == Activity::Ended {
                return self;
            }
            if !outstanding.is_empty() {
                let next = (round + usize::from(self.roll(5))) % outstanding.len();
                self.perform(outstanding[next].clone());
            }
            if self.state.is_asleep() || self.roll(3) == 1 {
                self.answer();
            }
        }
        panic!("the step never ended: {:?}", self.state)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_permitted_calls_run_and_only_once(dice in prop::collection::vec(any::<u8>(), 0..400)) {
        let world = World::new(dice).run();
        let engine = &world.engine;
        let runs: BTreeSet<&String> = engine.runs.iter().collect();
        prop_assert_eq!(runs.len(), engine.runs.len(), "nothing ran twice");
        prop_assert!(engine.runs.iter().all(|call| engine.let_run.contains(call)));
        prop_assert!(!engine.runs.iter().any(|call| engine.held_back.contains(call)), "no denied or rejected call ran");
    }

    #[test]
    fn model_reads_a_run_only_for_calls_that_ran(dice in prop::collection::vec(any::<u8>(), 0..400)) {
        let world = World::new(dice).run();
        let told: Vec<Message> = history(&world.journal);
        let ran = told.iter().filter(|message| matches!(message, Message::Result { content, .. } if content == "ran"));
        let known = world.journal.iter().filter(|input| {
            matches!(input, Input::Settled { call, end: CallEnd::Done { .. } } if world.engine.runs.contains(call))
        });
        prop_assert_eq!(ran.count(), known.count());
    }
}
