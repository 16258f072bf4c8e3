//! Properties of rulings on command lines that hold for every policy and every line.

use domain::{Role, Verdict};
use holdpoint_policy::{Policy, PolicyInput};
use proptest::{prelude::*, sample};
use serde_json::json;

const COMMANDS: [&str; 24] = [
    "git status",
    "git log -3",
    "git push origin main --force",
    "git -C sub log",
    "git $X",
    "git log \"x$Y\"",
    "$X push",
    "sort a",
    "sort -o out/b a",
    "sort a > out/b",
    "cat /etc/passwd",
    "cat < .env",
    "cat \"$F\" 2>/dev/null",
    "CI=1 cargo test",
    "LD_PRELOAD=x ls",
    "echo $(git push)",
    "echo 'a; b'",
    "curl https://docs.rs/x",
    "bash -c 'git push'",
    "frobnicate -x",
    "rm -r -f /tmp/x",
    "(git status)",
    "for f in a b; do cat $f; done",
    "eval $X",
];
const KEYS: [&str; 22] = [
    "commands = [\"git *\"]",
    "commands = [\"git status\", \"git log *\", \"sort *\", \"cat *\", \"echo *\"]",
    "commands = [\"git push *\"]",
    "commands = [\"git push --force *\", \"rm -rf *\"]",
    "commands = [\"sort *\"]\nwrites = [\"out/**\"]",
    "commands = [\"cargo {test,check} *\", \"ls *\", \"curl *\"]",
    "commands = [\"curl *\"]\nhosts = [\"docs.rs\"]",
    "commands = [\"git *\", \"ls *\"]\nin = [\"sub\", \".\"]",
    "commands = [\"cat *\"]\npaths = [\"src/**\"]",
    "writes = [\"out/**\", \"/tmp/**\"]",
    "writes = [\"/etc/**\"]",
    "paths = [\"/etc/**\", \"**/.env\"]",
    "hosts = [\"docs.rs\"]",
    "env = [\"CI\", \"LD_PRELOAD\"]",
    "tables = [\"users\"]",
    "",
    "when = 'shell.commands.exists(c, c.name == \"git\")'",
    "when = 'shell.commands.all(c, c.name in [\"git\", \"cat\"])'",
    "when = 'args.n == 1'",
    "commands = [\"git *\"]\nwhen = 'caller.agent == \"ci\"'",
    "agents = [\"other\"]",
    "commands = [\"frobnicate *\"]",
];

/// Commands after which the directory is not known. A rule about a directory or a relative path is then held instead of followed.
const WANDERING: [&str; 2] = ["$X push", "eval $X"];

/// A rule: the number of its keys, and its verdict.
type Draft = (usize, Verdict);

fn text(rules: &[Draft]) -> String {
    let mut text = String::from(
        "version = 1\n[[tool]]\nname = \"bash\"\nshell = \"bash\"\narguments.command = \"shell\"\n[[rule]]\nname = \"never\"\ntools = [\"none\"]\nverdict = \"ask\"\n",
    );
    for (number, (keys, verdict)) in rules.iter().enumerate() {
        text.push_str(&format!(
            "[[rule]]\nname = \"rule-{number}\"\ntools = [\"bash\"]\nverdict = \"{}\"\n{}\n",
            verdict.name(),
            KEYS[*keys]
        ));
    }
    text
}

/// A policy that is read without the lints of new policies, of which shadowed rules are one.
fn policy(rules: &[Draft]) -> Option<Policy> {
    Policy::load("policy.toml", &text(rules)).ok()
}

fn verdict(policy: &Policy, command: &str) -> Verdict {
    let arguments = json!({ "command": command });
    let root = Some("/srv/app");
    let call = PolicyInput {
        tool: "bash",
        arguments: &arguments,
        agent: Some("ci"),
        user: "ann",
        role: Role::Agent,
        client: None,
        root,
    };
    let judgement = policy.judge(&call);
    assert_eq!(policy.explain(&call).ruling, judgement.ruling);
    let strictest = judgement.parts.iter().map(|part| part.verdict).max();
    assert_eq!(strictest, Some(judgement.ruling.verdict), "{command}");
    assert_eq!(judgement.asks.is_empty(), judgement.ruling.verdict != Verdict::Ask, "{command}");
    judgement.ruling.verdict
}

fn rules() -> impl Strategy<Value = Vec<Draft>> {
    prop::collection::vec((0..KEYS.len(), sample::select(&Verdict::ALL[..])), 0..6)
}

fn commands() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(sample::select(&COMMANDS[..]), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(600), ..ProptestConfig::default() })]

    /// Rules without patterns look at the whole line, so that only rules with patterns are compared here.
    #[test]
    fn line_is_as_strict_as_its_strictest_command(rules in rules(), commands in commands()) {
        let rules: Vec<Draft> = rules.into_iter().filter(|(keys, _)| !matches!(*keys, 16..=18)).collect();
        let Some(policy) = policy(&rules) else { return Ok(()) };
        let strictest = commands.iter().map(|command| verdict(&policy, command)).max();
        let line = verdict(&policy, &commands.join("; "));
        if commands.iter().any(|command| WANDERING.contains(command)) {
            prop_assert!(line > Verdict::Allow || strictest == Some(Verdict::Allow));
        } else {
            prop_assert_eq!(Some(line), strictest);
        }
    }

    #[test]
    fn order_of_independent_commands_does_not_count(rules in rules(), commands in commands()) {
        let Some(policy) = policy(&rules) else { return Ok(()) };
        let commands: Vec<&str> = commands.into_iter().filter(|command| !WANDERING.contains(command)).collect();
        let backwards: Vec<&str> = commands.iter().rev().copied().collect();
        let line = verdict(&policy, &commands.join("; "));
        prop_assert_eq!(line, verdict(&policy, &backwards.join("; ")));
        prop_assert_eq!(line, verdict(&policy, &commands.join("\n")));
    }

    /// An allowing rule after the rules that deny never makes a denied line looser, and never makes any line stricter unless it fails.
    #[test]
    fn added_allowing_rule_never_loosens_a_deny(rules in rules(), keys in 0..KEYS.len(), commands in commands()) {
        let last = rules.iter().rposition(|(_, verdict)| *verdict == Verdict::Deny).map_or(0, |place| place + 1);
        let mut more = rules.clone();
        more.insert(last, (keys, Verdict::Allow));
        let (Some(before), Some(after)) = (policy(&rules), policy(&more)) else { return Ok(()) };
        let line = commands.join("; ");
        let (before, after) = (verdict(&before, &line), verdict(&after, &line));
        prop_assert_eq!(before == Verdict::Deny, after == Verdict::Deny);
        prop_assert!(KEYS[keys].contains("args.n") || after <= before, "{before:?} became {after:?}");
    }

    #[test]
    fn any_list_is_read_or_refused(pattern in "[-a-z*?{},~/.:'\" \\\\$|;]{0,24}", key in sample::select(&["commands", "writes", "paths", "hosts", "tables", "env", "in"][..]), command in sample::select(&COMMANDS[..])) {
        for verdict_name in ["allow", "ask", "deny"] {
            let text = format!("version = 1\n[[tool]]\nname = \"bash\"\nshell = \"bash\"\narguments.command = \"shell\"\n[[rule]]\nname = \"a\"\ntools = [\"bash\"]\nverdict = \"{verdict_name}\"\n{key} = [{}]\n", json!(pattern));
            if let Ok(policy) = Policy::load("policy.toml", &text) {
                let _ = verdict(&policy, command);
            }
        }
    }
}
