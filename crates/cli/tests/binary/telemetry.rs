//! Tests logs, metrics and traces, and that they contain no private text.

mod collector;
mod figures;
mod logs;
mod traces;

pub(crate) use collector::Collector;
