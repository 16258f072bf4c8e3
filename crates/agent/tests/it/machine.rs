//! Tests of the state machine of a step, of its history, and of the questions that a model asks.

mod ask_user;
mod eight_ways;
mod every_cell;
mod histories;
mod inputs;
mod resuming;
mod table;
mod world;
