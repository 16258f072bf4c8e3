//! Tests of the state machine of a step, of its history, and of the questions that a model asks.

mod answer_effects;
mod ask_user;
mod histories;
mod input_names;
mod inputs;
mod resuming;
mod state_table;
mod table;
mod world;
