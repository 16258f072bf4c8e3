//! How long a ruling takes: `cargo run --release -p holdpoint-policy --example latency`.

use std::{fmt::Write as _, hint::black_box, time::Instant};

use domain::Role;
use holdpoint_policy::{Policy, PolicyInput};
use serde_json::{Value, json};

const ROUNDS: u32 = 20_000;

/// Rules with patterns about the commands of one tool.
const PATTERNS: &str = r#"
[[tool]]
name = "bash"
shell = "bash"
arguments.command = "shell"

[[rule]]
name = "never"
tools = ["bash"]
verdict = "deny"
commands = ["git push --force *", "rm -rf *", "sudo *", "git {reset,clean} *"]

[[rule]]
name = "secrets"
tools = ["bash"]
verdict = "deny"
paths = ["/etc/**", "**/.env", "~/.ssh/**"]

[[rule]]
name = "look"
tools = ["bash"]
verdict = "allow"
commands = ["git {status,log,diff,show} *", "ls *", "cat *", "head *", "tail *", "wc *", "rg *", "grep *", "sort *", "cd *", "echo *"]

[[rule]]
name = "build"
tools = ["bash"]
verdict = "allow"
commands = ["cargo {build,test,check,clippy} *", "npm run *", "make *"]
writes = ["target/**", "/tmp/**"]
env = ["RUST_LOG", "PYTHONPATH"]
"#;

/// Lines that are judged run by run.
fn lines() -> Vec<(&'static str, String, Value)> {
    let line = |command: &str| ("bash".to_owned(), json!({ "command": command }));
    let ten = "cd sub && git status && git log -3 | head -5 && ls -l src | wc -l && grep -n fn src/main.rs | sort > /tmp/out && cat Cargo.toml | tail -3";
    [
        ("a line of one run", "git status"),
        ("a line of ten runs", ten),
        ("a line of two runs, denied", "git log; git push --force"),
    ]
    .map(|(what, command)| {
        let (tool, arguments) = line(command);
        (what, tool, arguments)
    })
    .to_vec()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for rules in [10, 100, 1_000] {
        let policy = Policy::load("generated.toml", &generated(rules)).map_err(|findings| findings[0].to_string())?;
        println!("{rules} rules");
        for (what, tool, arguments) in calls(rules).into_iter().chain(lines()) {
            let root = Some("/srv/app");
            let call = PolicyInput {
                tool: &tool,
                arguments: &arguments,
                agent: Some("ci-7"),
                user: "ann",
                role: Role::Agent,
                client: None,
                root,
            };
            let ruling = policy.judge(&call).ruling;
            if std::env::args().any(|argument| argument == "--reasons") {
                println!("           {}", ruling.reason);
            }
            let verdict = ruling.verdict.name();
            let start = Instant::now();
            for _ in 0..ROUNDS {
                black_box(policy.judge(black_box(&call)));
            }
            let micros = start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS);
            println!("  {micros:7.2} µs  {what}: {verdict}");
        }
    }
    Ok(())
}

/// A tenth of the rules have wildcards, a tenth look at arguments, a tenth at callers; the rest are plain names.
fn generated(rules: usize) -> String {
    let mut text = format!("version = 1\n{PATTERNS}");
    for number in 0..rules {
        let more = match number % 10 {
            0 => format!("tools = [\"service_{number}_*\"]"),
            1 => format!("tools = [\"tool_{number}\"]\nwhen = 'args.amount > {number} && caller.role == \"agent\"'"),
            2 => format!("tools = [\"*_of_{number}\"]\nagents = [\"ci-*\"]"),
            3 => format!("tools = [\"run_{number}\"]\nwhen = 'shell.plain && shell.commands[0].program == \"git\"'"),
            _ => format!("tools = [\"tool_{number}\", \"other_{number}\"]"),
        };
        let _ = writeln!(text, "[[rule]]\nname = \"rule-{number}\"\nverdict = \"allow\"\n{more}");
    }
    text
}

fn calls(rules: usize) -> Vec<(&'static str, String, Value)> {
    let last = rules - 10;
    vec![
        ("a name in the last rules", format!("tool_{}", last + 4), json!({ "path": "src/main.rs", "n": 3 })),
        ("a wildcard at the end", format!("service_{last}_restart"), json!({ "n": 3 })),
        ("a wildcard at the start", format!("list_of_{}", last + 2), json!({ "n": 3 })),
        ("an expression over arguments", format!("tool_{}", last + 1), json!({ "amount": 5_000, "note": "x" })),
        ("an expression over a command", format!("run_{}", last + 3), json!({ "command": "git status --short" })),
        ("no rule", "unheard_of".into(), json!({ "path": "src/main.rs" })),
        ("no rule, 100 KB of arguments", "unheard_of".into(), json!({ "content": "x".repeat(100_000) })),
    ]
}
