#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/it/common/any_path.rs"]
mod any_path;

fuzz_target!(|text: &str| any_path::check(text));
