//! Tests of PostgreSQL only: shared databases and outages.

mod archive;
mod audit;
mod bells;
mod common;
mod log;
mod migrating;
mod opening;
mod outages;
mod recounting;
mod sealing;
mod upgrade;
