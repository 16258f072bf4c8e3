//! The effects of runs by the tables of programs.

mod real;
mod rows;
mod tables;
