//! The world of a seed: a database, a process that dies sometimes, its workers, and people.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::{ActionState, Caller, Command, SignedDuration, Status};
use engine::{Engine, Error, StepCommand};
use futures::future::BoxFuture;
use holdpoint_agent::worker::Worker;
use parking_lot::Mutex;
use store::{Store, StoreError};
use testkit::{CrashStore, JobEnd, ManualClock, Random, UseCase, side_by_side};
use tokio_util::sync::CancellationToken;

use crate::simulation::broken::Defect;
use crate::simulation::deeds::{DeedKind, PersonAction, perform};
use crate::simulation::dying_worker::DyingWorker;
use crate::simulation::kit::RandomKit;
use crate::simulation::place::{boot, fresh, open};
use crate::simulation::play::{Play, PlayState, Totals};
use crate::simulation::stored_state::StoredState;
use crate::simulation::{check, check_runs, draw};

/// Result of a check; the error says in a sentence which invariant is violated.
pub(crate) type Verdict = Result<(), String>;

/// Largest number of sessions that a seed opens.
const SESSIONS: usize = 4;
/// Largest number of store jobs in a round; more jobs mean an endless loop.
const MOST_JOBS: usize = 6_000;

/// State of one seed.
pub(crate) struct World {
    pub random: Random,
    pub clock: ManualClock,
    pub people: Vec<Caller>,
    pub stored_state: StoredState,
    pub story: Vec<String>,
    pub play: Arc<Play>,
    pub said: Vec<String>,
    tells: bool,
    opened: usize,
    deaths: usize,
    lone_deaths: usize,
    crash_rate: usize,
    ids: Arc<Mutex<Random>>,
    behind: Arc<dyn Store>,
    store: Arc<CrashStore>,
    engine: Engine,
    workers: Vec<Worker>,
    directory: tempfile::TempDir,
}

impl World {
    /// Creates the world of a seed.
    pub(crate) fn of(seed: u64, defect: Option<Defect>, tells: bool) -> Self {
        let mut random = Random::seeded(seed);
        let clock = ManualClock::default();
        let (directory, people) = fresh();
        let ids = Arc::new(Mutex::new(Random::seeded(random.number())));
        let crash_rate = [40, 80, 200, usize::MAX][random.below(4)];
        let behind = open(&directory, &clock);
        let store = process_of(&behind, defect);
        let process: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
        let engine = boot(&process, &clock, &ids);
        let stage = PlayState {
            random: Random::seeded(random.number()),
            process,
            behind: Arc::clone(&behind),
            quiet: false,
            drifts: false,
            ran: Vec::new(),
            begun: Vec::new(),
            defect,
            asked: 0,
            drawn: 0,
            wrong: None,
        };
        let play = Arc::new(Play { scope: people[0].scope, stage: Mutex::new(stage) });
        let workers = (0..2).map(|number| worker(&engine, &play, number)).collect();
        Self {
            random,
            clock,
            people,
            stored_state: StoredState::default(),
            story: Vec::new(),
            play,
            said: Vec::new(),
            tells,
            opened: 0,
            deaths: 0,
            lone_deaths: 0,
            crash_rate,
            ids,
            behind,
            store,
            engine,
            workers,
            directory,
        }
    }

    /// Adds a line to the story if somebody reads the story; most seeds run only for their result.
    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.tells {
            self.story.push(line());
        }
    }

    /// Runs workers and people concurrently for one round, with or without deaths, and checks every invariant
    /// afterwards.
    pub(crate) async fn round(&mut self, deeds: Vec<PersonAction>, deaths: bool) -> Verdict {
        let now = store::Clock::now(&self.clock);
        let drifts = deaths && self.random.one_in(6);
        self.play.stage.lock().drifts = drifts;
        self.tell(|| format!("{now} a round{}", if drifts { " in which time passes" } else { "" }));
        let jobs = Arc::new(AtomicUsize::new(0));
        let (stop, stops_at) = (CancellationToken::new(), self.drawn_end(deaths && self.crash_rate < usize::MAX, 8));
        let mut doings = Vec::new();
        let mut dying_workers = Vec::new();
        for (number, worker) in self.workers.clone().into_iter().enumerate() {
            let dies_at = self.drawn_end(deaths && self.crash_rate < usize::MAX, 6);
            dying_workers.push((number, dies_at));
            let stop = stop.clone();
            let future: BoxFuture<'static, Result<(), Error>> = Box::pin(async move {
                for _ in 0..3 {
                    worker.run_due(&stop).await?;
                }
                Ok(())
            });
            let dying_worker =
                DyingWorker { future: Some(future), jobs: Arc::clone(&jobs), dies_at, dead: Some(Ok(())) };
            doings.push(UseCase { future: Box::pin(dying_worker), sleeps: false });
        }
        for deed in &deeds {
            self.tell(|| format!("    {} {:?}", deed.by.actor.name, deed.what));
            let future = Box::pin(perform(self.engine.clone(), Arc::clone(&self.play), deed.clone()));
            doings.push(UseCase { future, sleeps: false });
        }
        let rate = if deaths { self.crash_rate } else { usize::MAX };
        let (clock, counted) = (self.clock.clone(), Arc::clone(&jobs));
        let mut last = JobEnd::Done;
        let mut end = |random: &mut Random| {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            if number >= stops_at {
                stop.cancel();
            }
            if drifts && random.one_in(25) {
                clock.advance(SignedDuration::from_secs(1 + random.below(60) as i64));
            }
            last = if number > MOST_JOBS { JobEnd::DiesBeforeCall(0) } else { drawn(random, rate) };
            last
        };
        let results = side_by_side(&self.store, doings, &mut self.random, &mut end).await;
        let jobs = jobs.load(Ordering::Relaxed);
        check::holds!(jobs <= MOST_JOBS, "the workers run in an endless loop");
        self.heard(&deeds, &results)?;
        self.replace_dead_workers(&dying_workers, jobs, last);
        self.check_state()
    }

    /// Draws the number of jobs after which a death or a stop happens, in one of `times` rounds.
    fn drawn_end(&mut self, at_all: bool, times: usize) -> usize {
        if at_all && self.random.one_in(times) { 1 + self.random.below(60) } else { usize::MAX }
    }

    fn heard(&mut self, deeds: &[PersonAction], results: &[Option<Result<(), Error>>]) -> Verdict {
        for (index, result) in results.iter().enumerate() {
            self.tell(|| format!("    #{index} {result:?}"));
            match result {
                Some(Err(Error::Store(error))) if !matches!(error, StoreError::Closed) => {
                    return Err(format!("#{index} met with {error:?}"));
                }
                Some(Ok(())) if index >= self.workers.len() => {
                    if let DeedKind::Says { content, .. } = &deeds[index - self.workers.len()].what {
                        self.said.push(content.clone());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Replaces workers and processes that died.
    fn replace_dead_workers(&mut self, dying_workers: &[(usize, usize)], jobs: usize, last: JobEnd) {
        for (number, dies_at) in dying_workers.iter().copied().filter(|(_, dies_at)| *dies_at <= jobs) {
            self.lone_deaths += 1;
            self.tell(|| format!("    worker {number} died after {dies_at} jobs"));
            self.workers[number] = worker(&self.engine, &self.play, number);
        }
        if !self.store.is_dead() {
            return;
        }
        self.deaths += 1;
        self.tell(|| format!("    the process died: {last:?}"));
        if self.deaths.is_multiple_of(4) {
            self.behind.close();
            self.behind = open(&self.directory, &self.clock);
        }
        let defect = self.play.stage.lock().defect;
        self.store = process_of(&self.behind, defect);
        let process: Arc<dyn Store> = Arc::clone(&self.store) as Arc<dyn Store>;
        self.engine = boot(&process, &self.clock, &self.ids);
        let stage = &mut *self.play.stage.lock();
        (stage.process, stage.behind) = (process, Arc::clone(&self.behind));
        self.workers = (0..2).map(|number| worker(&self.engine, &self.play, number)).collect();
    }

    /// Reads the whole state and checks every invariant.
    fn check_state(&mut self) -> Verdict {
        self.stored_state = self.play.look();
        let (wrong, ran) = {
            let stage = self.play.stage.lock();
            (stage.wrong.clone(), stage.ran.clone())
        };
        wrong.map_or(Ok(()), Err)?;
        check::everything(&self.stored_state)?;
        check_runs::counted(&self.stored_state, &ran)
    }

    /// Moves the clock, mostly forwards.
    pub(crate) fn time_passes(&mut self) {
        let by = match self.random.below(16) {
            0..=6 => return,
            7..=12 => 1 + self.random.below(60) as i64,
            13 | 14 => 60 + self.random.below(300) as i64,
            _ => -(1 + self.random.below(20) as i64),
        };
        self.clock.advance(SignedDuration::from_secs(by));
    }

    /// Draws the actions of people in the next round.
    pub(crate) fn draw_deeds(&mut self) -> Vec<PersonAction> {
        let mut deeds = Vec::new();
        for _ in 0..=self.random.below(4) {
            deeds.extend(self.draw_deed());
        }
        deeds
    }

    fn draw_deed(&mut self) -> Option<PersonAction> {
        let by = self.random.pick(&self.people).cloned()?;
        let live: Vec<_> = self.stored_state.sessions.values().filter(|held| held.session.ended.is_none()).collect();
        let session = self.random.pick(&live).map(|held| held.session.id);
        let any: Vec<_> = self.stored_state.sessions.keys().copied().collect();
        let what = match self.random.below(24) {
            0..=3 if self.opened < SESSIONS => {
                self.opened += 1;
                let (flow, listens) = (self.random.one_in(3), self.random.one_in(6));
                DeedKind::Opens { task: format!("task-{}", self.opened), flow, listens: listens && !flow }
            }
            0..=11 => return self.draw_answer(),
            12 | 13 => {
                let session = session?;
                let title = self.stored_state.sessions[&session].session.head.title.clone().unwrap_or_default();
                DeedKind::Says { session, content: format!("{title}: note {}", self.play.number()) }
            }
            14 => DeedKind::Controls { session: session?, command: Command::Pause },
            15 | 16 => DeedKind::Controls { session: session?, command: Command::Resume },
            17 if self.random.one_in(3) => DeedKind::Controls { session: session?, command: Command::Cancel },
            18 => {
                let done = StepCommand::Approve(serde_json::Value::from("counted as done"));
                let commands = [StepCommand::Retry, StepCommand::Retry, StepCommand::Skip, done];
                let command = commands[self.random.below(4)].clone();
                let session = self.random.pick(&any).copied()?;
                if command != StepCommand::Retry && !self.random.one_in(3) {
                    return None;
                }
                DeedKind::Steps { session, command }
            }
            19 | 20 => DeedKind::Edits { session: session? },
            _ => DeedKind::FireDue,
        };
        // Only the client of the person who opened a session runs the client's actions.
        let by = match &what {
            DeedKind::Opens { .. } | DeedKind::Edits { .. } => self.people[0].clone(),
            _ => by,
        };
        Some(PersonAction { by, what })
    }

    /// Draws an answer of any person to one of the open questions.
    pub(crate) fn draw_answer(&mut self) -> Option<PersonAction> {
        let open = |question: &&domain::Interaction| question.status() == Status::Pending;
        let open: Vec<_> = self.stored_state.questions.values().filter(open).collect();
        let question = (*self.random.pick(&open)?).clone();
        let by = self.random.pick(&self.people).cloned()?;
        let number = self.play.number();
        let draft = Box::new(draw::draft(&mut self.random, &question, number));
        Some(PersonAction { by, what: DeedKind::Answers { id: question.id, draft } })
    }

    /// Counts of this seed.
    pub(crate) fn totals(&self) -> Totals {
        let held = || self.stored_state.sessions.values();
        let actions = || held().flat_map(|held| &held.actions);
        let stage = self.play.stage.lock();
        let mut distinct: Vec<_> = stage.ran.iter().map(|deed| deed.arguments.to_string()).collect();
        distinct.sort();
        distinct.dedup();
        let inputs = || held().flat_map(|held| &held.steps).flat_map(|kept| &kept.journal);
        let turn = |input: &holdpoint_agent::machine::Input| matches!(input, holdpoint_agent::machine::Input::Turn(_));
        let began =
            |action: &domain::Action| stage.ran.iter().any(|deed| Some(&deed.arguments) == action.edited.as_ref());
        Totals {
            deaths: self.deaths,
            lone_deaths: self.lone_deaths,
            sessions: held().count(),
            steps: held().map(|held| held.steps.len()).sum(),
            turns: inputs().filter(|(_, input)| turn(input)).count(),
            asked: stage.asked,
            runs: stage.ran.len(),
            again: stage.ran.len() - distinct.len(),
            edited: actions().filter(|action| began(action)).count(),
            granted: actions().filter(|action| action.grant.is_some()).count(),
            rejected: actions().filter(|one| matches!(one.state, ActionState::Rejected { .. })).count(),
            unknown: held().flat_map(|held| &held.events).filter(|event| event.name == "action.unknown").count(),
            questions: self.stored_state.questions.len(),
            completed: held().filter(|held| held.session.status() == domain::SessionStatus::Completed).count(),
        }
    }
}

fn worker(engine: &Engine, play: &Arc<Play>, number: usize) -> Worker {
    Worker::new(engine.clone(), Arc::new(RandomKit::new(play)), format!("worker-{number}"), 2)
}

fn process_of(behind: &Arc<dyn Store>, defect: Option<Defect>) -> Arc<CrashStore> {
    Arc::new(match defect.and_then(Defect::of_store) {
        Some(sabotage) => CrashStore::sabotaged(Arc::clone(behind), sabotage),
        None => CrashStore::new(Arc::clone(behind)),
    })
}

fn drawn(random: &mut Random, rate: usize) -> JobEnd {
    if rate == usize::MAX || !random.one_in(rate) {
        return JobEnd::Done;
    }
    match random.below(10) {
        0..=4 => JobEnd::DiesBeforeCall(random.below(16) as u32),
        5 => JobEnd::DiesBeforeCommit,
        _ => JobEnd::DiesBeforeReply,
    }
}
