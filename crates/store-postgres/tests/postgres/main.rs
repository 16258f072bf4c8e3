//! What only this store has to do: share its database with others, and outlive it.

mod bells;
mod common;
mod log;
mod opening;
mod outages;
