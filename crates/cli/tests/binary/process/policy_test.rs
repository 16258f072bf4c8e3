//! Tests `holdpoint policy test`: every example with its result, every finding by line, and the exit code. Tests that
//! `holdpoint policy new` prints policies that pass.

use std::process::Output;

use crate::common::{Deployment, binary};

const RULE: &str = "version = 1\n\n[[rule]]\nname = \"reading\"\ntools = [\"read_file\"]\nverdict = \"allow\"\n";

/// The exit code and the output of `policy test` on this text. The name of the file is left out.
fn test(text: &str) -> (Option<i32>, String, String) {
    let deployment = Deployment::sqlite();
    let file = deployment.path("policy.toml");
    std::fs::write(&file, text).unwrap();
    let Output { status, stdout, stderr } = binary().args(["policy", "test"]).arg(&file).output().unwrap();
    let directory = format!("{}/", deployment.path("").display()).replace("//", "/");
    (
        status.code(),
        String::from_utf8(stdout).unwrap().replace(&directory, ""),
        String::from_utf8(stderr).unwrap().replace(&directory, ""),
    )
}

#[test]
fn passed_examples_are_listed_with_their_lines() {
    let text = format!(
        "{RULE}[[rule.example]]\ntool = \"read_file\"\narguments = {{ path = \"a.md\" }}\nverdict = \"allow\"\nmatches = true\n\
         [[rule.example]]\ntool = \"write_file\"\nverdict = \"ask\"\n"
    );
    let listed = "policy.toml:7: pass: rule `reading`: read_file {\"path\":\"a.md\"}: allow, matches = true\n\
                  policy.toml:12: pass: rule `reading`: write_file {}: ask\n\
                  policy.toml: 2 examples passed, 0 failed\n";
    assert_eq!(test(&text), (Some(0), listed.to_owned(), String::new()));
}

#[test]
fn failed_example_fails_the_test_and_says_why() {
    let text = format!(
        "{RULE}[[rule.example]]\ntool = \"read_file\"\nverdict = \"allow\"\n\
         [[rule.example]]\ntool = \"write_file\"\nverdict = \"deny\"\nmatches = true\n"
    );
    let (code, told, failure) = test(&text);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.starts_with("policy.toml:7: pass: rule `reading`: read_file {}: allow\n"), "{told}");
    let failed = "policy.toml:10: FAIL: rule `reading`: write_file {}: the example expects deny, and the default, as no rule matches, \
                  says ask: No rule matches this call.; the example expects `matches = true`, and the rule does not match: none of \
                  its tools is this one\n";
    assert!(told.contains(failed), "{told}");
    assert!(told.ends_with("policy.toml: 1 examples passed, 1 failed\n"), "{told}");
    assert_eq!(failure, "holdpoint: 1 of the examples failed\n");
}

#[test]
fn findings_are_listed_and_an_error_fails_the_test() {
    let (code, told, _) = test(&RULE.replace("read_file", "read_*"));
    assert_eq!(code, Some(0), "a warning does not fail the test: {told}");
    assert!(told.contains("policy.toml:5:10: warning[wildcard_broader_than_examples]"), "{told}");
    let (code, told, failure) = test(&RULE.replace("tools", "tols"));
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("policy.toml:5:1: error[unknown_key]"), "{told}");
    assert!(told.ends_with("policy.toml: 0 examples passed, 0 failed\n"), "{told}");
    assert_eq!(failure, "holdpoint: 1 of the files would be refused\n");
}

#[test]
fn policies_to_start_from_pass_their_examples() {
    for name in ["coding", "data", "support", "operations"] {
        let printed = binary().args(["policy", "new", name]).output().unwrap();
        assert!(printed.status.success(), "{name}: {printed:?}");
        let text = String::from_utf8(printed.stdout).unwrap();
        let (code, told, failure) = test(&text);
        assert_eq!((code, failure.as_str()), (Some(0), ""), "{name}: {told}");
        assert!(told.contains(": pass: rule `"), "{name} has examples: {told}");
        assert!(told.ends_with(" examples passed, 0 failed\n"), "{name}: {told}");
    }
    let unknown = binary().args(["policy", "new", "anything"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    let told = String::from_utf8(unknown.stderr).unwrap();
    assert!(told.contains("coding, data, support, operations"), "{told}");
}
