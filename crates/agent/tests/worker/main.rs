//! The worker on a real store: stories of steps that sleep, wake, fail, are killed and go on.

mod flows;
mod stories;
mod takeover;
mod world;
