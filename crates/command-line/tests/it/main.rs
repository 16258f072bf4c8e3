//! Tests of the crate: tables of command lines, properties, and comparisons with real shells.

mod bash;
mod render;
mod seed;
mod shells;
mod texts;
