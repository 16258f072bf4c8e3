//! Measures the duration of a ruling in process, with few and with many rules.

use std::fmt::Write as _;
use std::time::Instant;

use domain::Role;
use policy::{Policy, PolicyInput};
use serde_json::{Value, json};

use crate::Fallible;
use crate::report::{Section, Table, Target, decimal, text, whole};
use crate::setup::BenchSetup;

/// Numbers of rules of the measured policies.
const SIZES: [usize; 3] = [10, 100, 1000];
/// Target for a typical ruling with the most rules, in microseconds.
const WANTED: f64 = 5.0;

/// Measures rulings on three kinds of calls.
pub(crate) fn section(setup: &BenchSetup) -> Fallible<Section> {
    let mut table = Table::new(
        "Rulings in process, µs each (mean): by exact name, by wildcard, with a parsed command and an expression",
    );
    let mut typical = 0.0;
    for rules in SIZES {
        let policy = Policy::load("bench.toml", &written(rules)).map_err(|findings| format!("{}", findings[0]))?;
        let last = rules / 4 * 4 - 4;
        let named = mean(setup, &policy, &format!("tool_{last}"), &json!({ "path": "notes.md" }));
        let wild = mean(setup, &policy, &format!("family_{}_member", last + 1), &json!({ "id": 7 }));
        let command =
            mean(setup, &policy, &format!("shell_{}", last + 2), &json!({ "command": "git -C repo status --short" }));
        let unknown = mean(setup, &policy, "never_heard_of", &json!({ "id": 7 }));
        typical = named;
        table.rows.push(vec![
            ("rules", whole(rules as u64)),
            ("exact name", decimal(named, 2)),
            ("wildcard", decimal(wild, 2)),
            ("expression", decimal(command, 2)),
            ("no rule", decimal(unknown, 2)),
            ("version", text(&policy.version()[..8])),
        ]);
    }
    let target = Target::at_most("a typical ruling with 1,000 rules", WANTED, typical, "µs");
    Ok(Section { name: "rulings", tables: vec![table], targets: vec![target] })
}

/// Writes a policy with this many rules: a quarter matches exact names, a quarter wildcards, a quarter has an
/// expression, and a quarter denies.
fn written(rules: usize) -> String {
    let mut text = String::from("version = 1\n");
    for number in 0..rules {
        let (tools, more) = match number % 4 {
            0 => (format!("tool_{number}"), "verdict = \"allow\"".to_owned()),
            1 => (format!("family_{number}_*"), "verdict = \"ask\"".to_owned()),
            2 => {
                let when = "shell.plain && shell.commands[0].program == \"git\" && shell.commands[0].subcommand in [\"status\", \"diff\"]";
                (format!("shell_{number}"), format!("when = '{when}'\nverdict = \"allow\""))
            }
            _ => (format!("never_{number}"), "verdict = \"deny\"".to_owned()),
        };
        // Writing to a `String` never fails.
        let _ = write!(
            text,
            "\n[[rule]]\nname = \"rule-{number}\"\ntools = [\"{tools}\"]\n{more}\nreason = \"measured\"\n"
        );
    }
    text
}

fn mean(setup: &BenchSetup, policy: &Policy, tool: &str, arguments: &Value) -> f64 {
    let call = PolicyInput {
        tool,
        arguments,
        agent: Some("bench"),
        user: "alice",
        role: Role::Agent,
        client: None,
        root: None,
    };
    let length = setup.window().1 / 20;
    let (begun, mut rulings) = (Instant::now(), 0_u32);
    while begun.elapsed() < length {
        for _ in 0..100 {
            std::hint::black_box(policy.judge(std::hint::black_box(&call)));
        }
        rulings += 100;
    }
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(rulings)
}
