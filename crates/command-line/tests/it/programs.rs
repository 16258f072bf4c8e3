//! The effects of runs by the tables of programs.

mod rows;
mod tables;
