//! Tests of the worker on a real store: steps that sleep, wake, fail, are killed and continue.

mod attempts;
mod before;
mod counting;
mod eight_ways;
mod flows;
mod hands;
mod hidden;
mod long;
mod stale;
mod steering;
mod stories;
mod takeover;
mod told;
mod trouble;
mod world;
