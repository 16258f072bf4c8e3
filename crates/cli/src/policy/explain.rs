//! `holdpoint policy explain`: judges one call by a policy file, without a server, and says why.

use std::process::ExitCode;

use domain::{Role, Verdict};
use policy::{ConsideredRule, Explanation, Fit, MismatchReason, PolicyInput};
use serde_json::{Value, json};

use super::{lines, read};
use crate::config::PolicyExplain;
use crate::failure::Failure;
use call::ExplainedCall;

mod call;

/// Prints the ruling on a call and the reasons. The exit code says the verdict.
pub(crate) fn explain(explain: &PolicyExplain) -> Result<ExitCode, Failure> {
    let text = read(&explain.file)?;
    let loaded = engine::load_policy(&explain.file.display().to_string(), &text);
    let policy = loaded.map_err(|findings| Failure::PolicyInvalid(lines(&findings)))?;
    let call = ExplainedCall::of(explain)?;
    let explanation = policy.explain(&PolicyInput {
        tool: &call.tool,
        arguments: &call.arguments,
        agent: explain.agent.as_deref(),
        user: &explain.user,
        role: Role::Agent,
    });
    if explain.json {
        let report = serde_json::to_string_pretty(&report(&call, &explanation)).map_err(Failure::Explanation)?;
        println!("{report}");
    } else {
        report_lines(&call, &explanation).iter().for_each(|line| println!("{line}"));
    }
    Ok(exit_code(explanation.ruling.verdict))
}

/// The exit code of a verdict. Other codes are those of a failure (1) and of a wrong command (2).
fn exit_code(verdict: Verdict) -> ExitCode {
    match verdict {
        Verdict::Allow => ExitCode::SUCCESS,
        Verdict::Ask => ExitCode::from(3),
        Verdict::Deny => ExitCode::from(4),
    }
}

/// The explanation for programs.
fn report(call: &ExplainedCall, explanation: &Explanation) -> Value {
    let Explanation { considered, parsed, ruling, .. } = explanation;
    json!({
        "tool": call.tool,
        "arguments": call.arguments,
        "verdict": ruling.verdict,
        "rule": ruling.rule,
        "reason": ruling.reason,
        "considered": considered,
        "parsed": parsed,
    })
}

/// The explanation for people, one line each.
fn report_lines(call: &ExplainedCall, explanation: &Explanation) -> Vec<String> {
    let Explanation { considered, ruling, .. } = explanation;
    let mut lines = vec![
        format!("verdict: {}", ruling.verdict.name()),
        format!("rule: {}", ruling.rule.as_deref().unwrap_or("none, the default of the file")),
        format!("reason: {}", ruling.reason),
        format!("tool: {}", call.shown_tool()),
    ];
    lines.push("rules about this tool, up to the one that decides:".to_owned());
    let about = considered.iter().filter(|rule| rule.fit != Fit::Misses(MismatchReason::Tool));
    lines.extend(about.map(|ConsideredRule { rule, line, verdict, fit, .. }| {
        format!("  line {line}: `{rule}` ({}) {fit}", verdict.name())
    }));
    lines
}
