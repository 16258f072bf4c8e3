//! Integration tests of the policy.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing helper fails its test")]

extern crate holdpoint_policy as policy;

mod actions;
mod asking;
mod bounds;
mod common;
mod corpus;
mod everyday;
mod floor;
mod guide;
mod judge;
mod learn;
mod lint;
mod lists;
mod part_properties;
mod parts;
mod parts_found;
mod parts_lines;
mod remembered;
