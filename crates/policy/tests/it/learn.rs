//! Tests that rules are learnt from runs of equal decisions only where they can be proved.

use domain::{AgentEnvironment, Role, Verdict};
use holdpoint_policy::{Decided, DecisionOutcome, LearntRule, Policy, PolicyInput, runs};
use serde_json::{Value, json};

const ASK: &str =
    "version = 1\n\n# About everything else.\n[[rule]]\nname = \"asks\"\ntools = [\"*\"]\nverdict = \"ask\"\n";

fn decided(arguments: Value, said: DecisionOutcome) -> Decided {
    let (tool, agent, user) = ("execute_command".into(), "bot".into(), "ann".into());
    Decided {
        tool,
        arguments,
        agent,
        user,
        role: Role::Agent,
        environment: AgentEnvironment::default(),
        said,
        own_words: false,
    }
}

fn commands(commands: &[&str], said: DecisionOutcome) -> Vec<Decided> {
    commands.iter().map(|command| decided(json!({ "command": command }), said)).collect()
}

fn learnt(policy: &str, decisions: &[Decided]) -> Vec<LearntRule> {
    let policy = Policy::load("policy.toml", policy).unwrap();
    runs(decisions).iter().filter_map(|run| policy.learn(run, decisions)).collect()
}

/// Verdict of the policy with the first learnt rule on a call.
fn says(found: &[LearntRule], call: &PolicyInput<'_>) -> Verdict {
    Policy::load("policy.toml", &found[0].text).unwrap().judge(call).ruling.verdict
}

/// Call of a command by the agent of the decisions.
fn command_call(arguments: &Value) -> PolicyInput<'_> {
    PolicyInput {
        tool: "execute_command",
        arguments,
        agent: Some("bot"),
        user: "ann",
        role: Role::Agent,
        client: None,
        root: None,
    }
}

#[test]
fn five_equal_decisions_give_a_rule_and_four_give_none() {
    let same = commands(&["npm ci"; 5], DecisionOutcome::Approved);
    assert_eq!(learnt(ASK, &same[..4]), []);
    let found = learnt(ASK, &same);
    assert_eq!(found.len(), 1);
    let rule = &found[0];
    assert_eq!((rule.verdict, rule.before.as_deref(), rule.decisions.len()), (Verdict::Allow, Some("asks"), 5));
    assert!(rule.rule.contains("arguments = { \"command\" = \"npm ci\" }"), "{}", rule.rule);
    assert!(
        rule.text.contains("verdict = \"allow\"\n\n# About everything else.\n[[rule]]\nname = \"asks\""),
        "{}",
        rule.text
    );
    let arguments = json!({ "command": "npm ci" });
    let call = command_call(&arguments);
    assert_eq!(says(&found, &call), Verdict::Allow);
    let others = [json!({ "command": "npm ci " }), json!({ "command": "npm ci", "timeout": 5 }), json!({})];
    for arguments in &others {
        assert_eq!(says(&found, &PolicyInput { arguments, ..call }), Verdict::Ask, "{arguments}");
    }
    assert_eq!(says(&found, &PolicyInput { agent: Some("other"), ..call }), Verdict::Ask);
    assert_eq!(says(&found, &PolicyInput { agent: None, ..call }), Verdict::Ask);
    assert_eq!(says(&found, &PolicyInput { user: "eve", ..call }), Verdict::Ask);
    assert_eq!(says(&found, &PolicyInput { role: Role::Operator, ..call }), Verdict::Ask);
    assert_eq!(says(&found, &PolicyInput { tool: "execute_command2", ..call }), Verdict::Ask);
    let again = [same.clone(), same].concat();
    assert_eq!(learnt(ASK, &again)[0].name, rule.name, "equal rules have equal names");
}

#[test]
fn equal_rejections_give_a_denying_rule() {
    let found = learnt(ASK, &commands(&["npm publish"; 5], DecisionOutcome::Rejected));
    assert_eq!((found.len(), found[0].verdict), (1, Verdict::Deny));
    let different = commands(
        &["npm publish a", "npm publish b", "npm publish c", "npm publish d", "npm publish e"],
        DecisionOutcome::Rejected,
    );
    assert_eq!(learnt(ASK, &different), [], "a rejection covers only the rejected command");
}

#[test]
fn one_different_decision_prevents_a_rule() {
    for said in [DecisionOutcome::Rejected, DecisionOutcome::Otherwise] {
        let mut decisions = commands(&["npm ci"; 9], DecisionOutcome::Approved);
        decisions.push(decided(json!({ "command": "npm ci" }), said));
        assert_eq!(learnt(ASK, &decisions), [], "{said:?}");
    }
    assert_eq!(learnt(ASK, &commands(&["npm ci"; 5], DecisionOutcome::Otherwise)), []);
    let mut others = commands(&["npm ci"; 5], DecisionOutcome::Approved);
    others.push(Decided { agent: "other".into(), said: DecisionOutcome::Rejected, ..others[0].clone() });
    assert_eq!(learnt(ASK, &others).len(), 1, "the decision about another agent does not count");
}

#[test]
fn similar_plain_commands_give_a_rule_over_their_words() {
    let pushes =
        ["git push origin a", "git push origin b", "git push origin c", "git push origin a", "git push origin b"];
    let found = learnt(ASK, &commands(&pushes, DecisionOutcome::Approved));
    assert_eq!(found.len(), 1);
    let judged = |command: &str| {
        let arguments = json!({ "command": command });
        let call = command_call(&arguments);
        says(&found, &call)
    };
    for command in pushes {
        assert_eq!(judged(command), Verdict::Allow, "{command}");
    }
    for command in [
        "git push origin d",
        "git push a origin",
        "git push origin a b",
        "git push --force origin a",
        "git -C x push origin a",
        "git fetch origin a",
        "git push origin a; rm -rf /",
        "git push origin $(a)",
        "git push origin a > x",
        "FOO=1 git push origin a",
        "sudo git push origin a",
        "git push 'origin",
        "./git push origin a",
        "ls",
        "",
    ] {
        assert_eq!(judged(command), Verdict::Ask, "{command}");
    }
    let mut against = commands(&pushes, DecisionOutcome::Approved);
    against.push(decided(json!({ "command": "git push origin b" }), DecisionOutcome::Rejected));
    assert_eq!(learnt(ASK, &against), [], "the rule would allow a rejected call");
    let dangerous =
        ["git branch -D old", "git branch -D old", "git branch -D old", "git branch -D old", "git branch main"];
    let found = learnt(ASK, &commands(&dangerous, DecisionOutcome::Approved));
    let arguments = json!({ "command": "git branch -D main" });
    let call = command_call(&arguments);
    assert_eq!(says(&found, &call), Verdict::Ask, "words of two approved commands do not combine to a third");
}

#[test]
fn commands_that_are_not_plain_give_no_rule_over_words() {
    for commands_ in [
        ["git push origin $A", "git push origin $B", "git push origin $C", "git push origin $D", "git push origin $E"],
        ["ls a | sh", "ls b | sh", "ls c | sh", "ls d | sh", "ls e | sh"],
        ["python a.py", "python b.py", "python c.py", "python d.py", "python e.py"],
    ] {
        assert_eq!(learnt(ASK, &commands(&commands_, DecisionOutcome::Approved)), [], "{commands_:?}");
    }
    assert_eq!(
        learnt(ASK, &commands(&["echo $(reboot)"; 5], DecisionOutcome::Approved)),
        [],
        "an unparsable command gives no rule over exact arguments either"
    );
    let beside: Vec<Decided> = (0..5)
        .map(|n| {
            decided(json!({ "command": format!("git push origin {n}"), "container": "x" }), DecisionOutcome::Approved)
        })
        .collect();
    assert_eq!(learnt(ASK, &beside), []);
}

#[test]
fn learnt_rule_never_allows_a_denied_call() {
    let denies = "[[rule]]\nname = \"never\"\ntools = [\"*\"]\nwhen = 'shell != null && shell.commands.exists(c, c.words.exists(w, w == \"--force\"))'\nverdict = \"deny\"\n";
    let (before, behind) = (format!("version = 1\n{denies}{}", &ASK[12..]), ASK.to_owned());
    let forced = commands(&["git push --force"; 5], DecisionOutcome::Approved);
    assert_eq!(learnt(&before, &forced), []);
    assert_eq!(learnt(&behind, &forced).len(), 1);
    let mixed =
        commands(&["git push a", "git push b", "git push c", "git push a", "git push b"], DecisionOutcome::Approved);
    let found = learnt(&before, &mixed);
    let text = Policy::load("policy.toml", &found[0].text).unwrap();
    let names: Vec<&str> = text.rules().map(|rule| rule.name.as_str()).collect();
    assert_eq!(names, ["never", &found[0].name, "asks"]);
    // The asking rule depends on the words of the command, so the verdict on other commands of the run is unknown.
    let narrow = "version = 1\n[[rule]]\nname = \"asks\"\ntools = [\"*\"]\nwhen = 'shell != null && shell.commands[0].name == \"git\"'\nverdict = \"ask\"\n";
    assert_eq!(learnt(narrow, &mixed), []);
    assert_eq!(
        learnt(narrow, &commands(&["git push a"; 5], DecisionOutcome::Approved)).len(),
        1,
        "the verdict on the exact arguments is known"
    );
}

#[test]
fn asking_rule_must_apply_to_every_user_of_the_decisions() {
    let some = "version = 1\n[[rule]]\nname = \"asks\"\ntools = [\"*\"]\nusers = [\"ann\"]\nverdict = \"ask\"\n\n[[rule]]\nname = \"never\"\ntools = [\"*\"]\nverdict = \"deny\"\n";
    let mut decisions = commands(&["npm ci"; 5], DecisionOutcome::Approved);
    assert_eq!(learnt(some, &decisions).len(), 1);
    decisions.push(Decided { user: "eve".into(), ..decisions[0].clone() });
    assert_eq!(learnt(some, &decisions), []);
}

#[test]
fn rule_learnt_from_the_default_is_placed_last() {
    let found = learnt("version = 1", &commands(&["npm ci"; 5], DecisionOutcome::Approved));
    assert_eq!((found.len(), found[0].before.as_deref()), (1, None));
}

#[test]
fn values_that_toml_cannot_express_are_not_learnt() {
    let null: Vec<Decided> = (0..5).map(|_| decided(json!({ "x": null }), DecisionOutcome::Approved)).collect();
    assert_eq!(learnt(ASK, &null), []);
    let large: Vec<Decided> = (0..5).map(|_| decided(json!({ "x": u64::MAX }), DecisionOutcome::Approved)).collect();
    assert_eq!(learnt(ASK, &large), []);
    let odd = json!({ "a b": ["\u{7}\"\\\n", 1.5, { "é": true }], "n": -3, "empty": {}, "none": [] });
    let odd: Vec<Decided> = (0..5).map(|_| decided(odd.clone(), DecisionOutcome::Approved)).collect();
    assert_eq!(learnt(ASK, &odd).len(), 1);
    let wild: Vec<Decided> =
        (0..5).map(|_| Decided { agent: "b*t".into(), ..decided(json!({}), DecisionOutcome::Approved) }).collect();
    assert_eq!(learnt(ASK, &wild), []);
}

#[test]
fn a_suspended_rule_matches_nothing() {
    let found = learnt(ASK, &commands(&["npm ci"; 5], DecisionOutcome::Approved));
    let policy = Policy::load("policy.toml", &found[0].text).unwrap();
    let arguments = json!({ "command": "npm ci" });
    let call = command_call(&arguments);
    assert_eq!(policy.learnt_about(&call), [(found[0].name.as_str(), Verdict::Allow)]);
    let without = policy.judge_without(&call, &[found[0].name.as_str()]);
    assert_eq!((without.ruling.verdict, without.ruling.rule.as_deref()), (Verdict::Ask, Some("asks")));
    let explained = policy.explain_without(&call, &[found[0].name.as_str()]);
    assert_eq!(explained.ruling, without.ruling);
    assert_eq!(
        explained.considered[0].fit.to_string(),
        "does not match: it is suspended, because a person decided against it"
    );
}

/// Arguments are compared as JSON values, and a rule has one name however its numbers are written.
#[test]
fn numbers_1_and_1_0_are_equal_in_learnt_rules() {
    let whole = || decided(json!({ "n": 1, "list": [2, -3] }), DecisionOutcome::Approved);
    let double =
        || decided(serde_json::from_str(r#"{"list": [2.0, -3.0], "n": 1.0}"#).unwrap(), DecisionOutcome::Approved);
    let one = [whole(), double(), whole(), double(), whole()];
    let (found, again) = (learnt(ASK, &one), learnt(ASK, &[double(), whole(), double(), whole(), double()]));
    assert_eq!((found.len(), again.len(), &found[0].name), (1, 1, &again[0].name));
    for decided in [whole(), double()] {
        assert_eq!(says(&found, &decided.call()), Verdict::Allow);
    }
    for number in [json!(1.5), json!("1"), json!(true), json!(null)] {
        let other = decided(json!({ "n": number, "list": [2, -3] }), DecisionOutcome::Approved);
        assert_eq!(says(&found, &other.call()), Verdict::Ask);
    }
    let mut against = one.to_vec();
    against.push(Decided { said: DecisionOutcome::Rejected, ..double() });
    assert_eq!(learnt(ASK, &against), []);
}

/// The name of a learnt rule is computed from its content; a rule with other content is reported as misnamed.
#[test]
fn name_of_a_learnt_rule_depends_on_its_content() {
    let pushes =
        ["git push origin a", "git push origin b", "git push origin c", "git push origin a", "git push origin b"];
    for decisions in [commands(&["npm ci"; 5], DecisionOutcome::Approved), commands(&pushes, DecisionOutcome::Approved)]
    {
        let found = learnt(ASK, &decisions);
        let misnamed = |text: &str| Policy::load("policy.toml", text).unwrap().misnamed().count();
        let (text, name) = (&found[0].text, &found[0].name);
        assert_eq!(misnamed(text), 0);
        assert_eq!(Policy::load("policy.toml", text).unwrap().learnt().collect::<Vec<_>>(), [name]);
        assert_eq!(misnamed(&text.replace("\"ann\"", "\"eve\"")), 1);
        assert_eq!(misnamed(&text.replace(name, "learnt-mine")), 1);
        assert_eq!(misnamed(&text.replace(name, "mine")), 0);
    }
}

/// One rejection of a command holds the whole run back, and `held_back` reports it. An approval in the agent's own words does not count towards the
/// five decisions.
#[test]
fn commands_with_a_contrary_decision_are_reported_as_held_back() {
    let push = |branch: &str, said| decided(json!({ "command": format!("git push origin {branch}") }), said);
    let mut decisions: Vec<Decided> = ["a", "b", "a", "b"].map(|branch| push(branch, DecisionOutcome::Approved)).into();
    decisions.push(Decided { own_words: true, ..push("a", DecisionOutcome::Approved) });
    decisions.push(push("c", DecisionOutcome::Rejected));
    assert_eq!(holdpoint_policy::held_back(&decisions), []);
    decisions.push(push("b", DecisionOutcome::Approved));
    let held = holdpoint_policy::held_back(&decisions);
    let [held] = held.as_slice() else { panic!("{held:?}") };
    assert_eq!(
        (held.verdict, held.decisions.as_slice(), held.against.as_slice()),
        (Verdict::Allow, &[0, 1, 2, 3, 6][..], &[5][..])
    );
    assert_eq!(holdpoint_policy::runs(&decisions), []);
}
