//! People, questions and tables of states that several tests use.

pub(crate) mod people;
pub(crate) mod questions;
pub(crate) mod table;
