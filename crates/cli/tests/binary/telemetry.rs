//! Tests logs, metrics and traces, and that they contain no private text.

mod collector;
mod logs;
mod metrics;
mod traces;

pub(crate) use collector::Collector;
