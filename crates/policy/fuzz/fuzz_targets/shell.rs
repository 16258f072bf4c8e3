#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/it/common/any_shell.rs"]
mod any_shell;

fuzz_target!(|text: &str| any_shell::check(text));
