//! Logs, metrics and traces, and what they must not contain.

mod collector;
mod figures;
mod logs;
mod traces;

pub(crate) use collector::Collector;
