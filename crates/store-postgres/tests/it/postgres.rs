//! Tests of PostgreSQL only: shared databases and outages.

mod archive;
mod audit;
mod common;
mod log;
mod migrating;
mod notifications;
mod opening;
mod outages;
mod recounting;
mod sealing;
mod upgrade;
