#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/it/common/any_url.rs"]
mod any_url;

fuzz_target!(|text: &str| any_url::check(text));
