#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/it/common/any_sql.rs"]
mod any_sql;

fuzz_target!(|text: &str| any_sql::check(text));
