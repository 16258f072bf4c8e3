//! Tests of the worker on a real store: steps that sleep, wake, fail, are killed and continue.

mod access;
mod answer_effects;
mod attempts;
mod counting;
mod flows;
mod long;
mod question_before;
mod redaction;
mod stale;
mod steering;
mod step_events;
mod stories;
mod takeover;
mod trouble;
mod world;
