//! `holdpoint policy test`: judges the examples of a policy file.

use policy::{ExampleResult, Finding, Policy, Severity};

use super::read;
use crate::config::PolicyTest;
use crate::failure::Failure;

/// Code of the finding about a failed example, which is printed with the example.
const EXAMPLE_FAILS: &str = "example_fails";

/// Prints every example with its result, then the findings of the file. Fails if an example fails or the file would be
/// refused.
pub(crate) fn test(PolicyTest { file }: &PolicyTest) -> Result<(), Failure> {
    let text = read(file)?;
    let name = file.display().to_string();
    let findings = match engine::load_policy(&name, &text) {
        Ok(policy) => policy.warnings().to_vec(),
        Err(findings) => findings,
    };
    let results = Policy::test(&text);
    for line in report_lines(&name, &results, &findings) {
        println!("{line}");
    }
    let failed = results.iter().filter(|result| !result.is_passed()).count();
    if failed > 0 {
        return Err(Failure::ExamplesFailed(failed));
    }
    let refused = findings.iter().any(|finding| finding.severity == Severity::Error);
    if refused { Err(Failure::PolicyRefused(1)) } else { Ok(()) }
}

/// The results and findings, one line each, and the number of examples that passed and failed.
fn report_lines(file: &str, results: &[ExampleResult], findings: &[Finding]) -> Vec<String> {
    let mut lines: Vec<String> =
        results.iter().map(|result| format!("{file}:{}: {}", result.line, result_line(result))).collect();
    let others = findings.iter().filter(|finding| finding.code != EXAMPLE_FAILS);
    lines.extend(others.map(ToString::to_string));
    let passed = results.iter().filter(|result| result.is_passed()).count();
    lines.push(format!("{file}: {passed} examples passed, {} failed", results.len() - passed));
    lines
}

fn result_line(result: &ExampleResult) -> String {
    let ExampleResult { rule, tool, arguments, verdict, matches, failures, .. } = result;
    let call = format!("rule `{rule}`: {tool} {arguments}");
    if !result.is_passed() {
        return format!("FAIL: {call}: {}", failures.join("; "));
    }
    let expected =
        [verdict.map(|verdict| verdict.name().to_owned()), matches.map(|matches| format!("matches = {matches}"))];
    let expected: Vec<String> = expected.into_iter().flatten().collect();
    format!("pass: {call}: {}", expected.join(", "))
}
