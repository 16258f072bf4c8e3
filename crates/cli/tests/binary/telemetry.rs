//! What is seen from outside: logs, figures, traces; and what must never be seen there.

mod collector;
mod figures;
mod logs;
mod traces;

pub(crate) use collector::Collector;
