#![allow(warnings)]
use domain::Role;
use holdpoint_policy::{Policy, PolicyInput};
use std::io::BufRead;
fn main() {
    let file = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let policy = match Policy::load(&file, &text) { Ok(p) => p, Err(e) => { for f in e { println!("{f:?}"); } return; } };
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let arguments = serde_json::json!({ "command": line.replace("\\n", "\n") });
        let call = PolicyInput { tool: "Bash", arguments: &arguments, agent: None, user: "ann", role: Role::Agent, client: Some("claude-code"), root: Some("/srv/app") };
        let r = policy.judge(&call).ruling;
        println!("{} | {} | {} {}", line, r.verdict.name(), r.rule.unwrap_or_default(), r.reason);
    }
}
