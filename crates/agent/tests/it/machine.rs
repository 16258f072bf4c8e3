//! The machine of a step, its history, and the questions that a model asks.

mod ask_user;
mod eight_ways;
mod every_cell;
mod histories;
mod inputs;
mod resuming;
mod table;
mod world;
