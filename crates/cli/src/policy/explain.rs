//! `holdpoint policy explain`: judges one call by a policy file, without a server, and says why.

use std::io::{self, Write};
use std::process::ExitCode;

use domain::Verdict;
use policy::{ConsideredRule, Explanation, Fit, MismatchReason, PartKind, PartRuling};
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
    let call = ExplainedCall::of(explain, &policy)?;
    let explanation = policy.explain(&call.input(explain));
    let report = if explain.json {
        serde_json::to_string_pretty(&report(&call, &explanation))
            .map_err(|error| Failure::Explanation(error.into()))?
    } else {
        report_lines(&call, &explanation).join("\n")
    };
    writeln!(io::stdout(), "{report}").map_err(Failure::Explanation)?;
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
    let Explanation { considered, parsed, parts, ruling, .. } = explanation;
    json!({
        "tool": call.tool,
        "arguments": call.arguments,
        "client": call.client,
        "root": call.root,
        "verdict": ruling.verdict,
        "rule": ruling.rule,
        "reason": ruling.reason,
        "parts": parts,
        "considered": considered,
        "parsed": parsed,
    })
}

/// The explanation for people, one line each.
fn report_lines(call: &ExplainedCall, explanation: &Explanation) -> Vec<String> {
    let Explanation { considered, parts, ruling, .. } = explanation;
    let mut lines = vec![
        format!("verdict: {}", ruling.verdict.name()),
        format!("rule: {}", ruling.rule.as_deref().unwrap_or(DEFAULT)),
        format!("reason: {}", ruling.reason),
        format!("tool: {}", call.shown_tool()),
    ];
    if parts.iter().any(|part| part.kind != PartKind::Call) {
        lines.push("parts:".to_owned());
        lines.extend(parts.iter().map(|part| part_line(call, part)));
    }
    let about: Vec<&ConsideredRule> =
        considered.iter().filter(|rule| rule.fit != Fit::Misses(MismatchReason::Tool)).collect();
    if !about.is_empty() {
        lines.push("rules about this tool, up to the one that decides:".to_owned());
    }
    lines.extend(about.into_iter().map(|ConsideredRule { rule, line, verdict, fit, .. }| {
        format!("  line {line}: `{rule}` ({}) {fit}", verdict.name())
    }));
    lines
}

/// Shown in place of the name of a rule if no rule matches.
const DEFAULT: &str = "none, the default of the file";

/// One part: its verdict, its rule, its text, and for a part that is not allowed the rule that came closest.
fn part_line(call: &ExplainedCall, part: &PartRuling) -> String {
    let PartRuling { kind, span, text, verdict, rule, nearest } = part;
    let written = span.clone().and_then(|span| call.command()?.get(span)).filter(|_| *kind == PartKind::Run);
    let shown = match written {
        Some(written) => one_line(written),
        None => text.clone(),
    };
    let rule = rule.as_ref().map_or_else(|| "the default".to_owned(), |rule| format!("rule `{rule}`"));
    let nearest =
        nearest.as_ref().map_or_else(String::new, |it| format!("; rule `{}` does not match: {}", it.rule, it.why));
    format!("  {:5} {} `{shown}` by {rule}{nearest}", verdict.name(), kind_name(*kind))
}

/// The kind of a part in one word.
const fn kind_name(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Call => "call",
        PartKind::Run => "command",
        PartKind::Write => "writes",
        PartKind::Variable => "variable",
        PartKind::Directory => "directory",
        PartKind::Address => "address",
        PartKind::Doubt => "doubt",
    }
}

/// A text in one line, without characters that could disguise it.
fn one_line(text: &str) -> String {
    domain::text::undisguised(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}
