//! The format of the tables.
