//! What only this store has to do: share its database with others, and outlive it.

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
