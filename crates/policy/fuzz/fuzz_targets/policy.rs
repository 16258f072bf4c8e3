//! Fuzzes policy files and the expressions in them. The checks are in `tests/it/common/any_policy.rs`.
#![no_main]

extern crate policy;

#[path = "../../tests/it/common/any_policy.rs"]
mod any_policy;

libfuzzer_sys::fuzz_target!(|text: &str| any_policy::check(text));
