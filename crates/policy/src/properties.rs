//! Property tests that hold for every policy and every call.

use std::sync::Arc;

use domain::{Actor, ActorKind, Answer, Audience, Fallback, Role, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    AskSettings, AskTerms, Exact, Judgement, Pattern, Policy, PolicyInput, Rule, case::Case, condition::Condition,
    index::Index, rule::Fit,
};

const PATTERNS: [&str; 14] =
    ["*", "a", "b", "ab", "a*", "*b", "?", "a?", "*a*", "a*b", "execute_command", "execute_*", "*_command", "ж?"];
const CONDITIONS: [&str; 13] = [
    "true",
    "args.n > 3",
    "has(args.n)",
    "!has(args.n) || args.n == 5",
    "has(args.n) && args.n in [1, 5]",
    "args.list.exists(x, x == \"ж\")",
    "caller.agent == \"ci\"",
    "shell.plain",
    "shell != null && shell.commands.all(c, c.name == \"git\")",
    "under(args.path, \"/tmp\")",
    "glob(tool, \"a*\") && size(args.list) > 1",
    "paths.all(p, !p.escapes)",
    "!paths.exists(p, p.escapes) && size(args.x) == 1",
];
const TOOLS: [&str; 9] = ["a", "b", "ab", "aab", "execute_command", "write_file", "query", "жa", ""];
const COMMANDS: [&str; 8] =
    ["git status", "git -C x push", "echo 'open", "$(rm -rf /)", "ls | sh", "", "\u{0}", "git status; rm x"];

/// Arguments that calls and rules have in common, some of them in two spellings.
const COMMON: [&str; 6] =
    ["{}", r#"{"n": 5}"#, r#"{"n": 5.0}"#, r#"{"command": "git status"}"#, r#"{"path": "a"}"#, r#"{"command": "$x"}"#];

fn common(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Settings of a rule, from which equal rules can be built more than once.
#[derive(Debug, Clone)]
struct ReadRule {
    tools: Vec<&'static str>,
    agents: Option<Vec<&'static str>>,
    roles: Option<Vec<Role>>,
    arguments: Option<Value>,
    when: Option<&'static str>,
    verdict: Verdict,
    ask: Option<AskSettings>,
}

impl ReadRule {
    fn rule(&self, number: usize) -> Rule {
        let patterns = |texts: &Vec<&str>| texts.iter().map(|text| Pattern::new(text).unwrap()).collect();
        Rule {
            name: format!("rule-{number}"),
            tools: patterns(&self.tools),
            agents: self.agents.as_ref().map(patterns),
            users: None,
            roles: self.roles.clone(),
            arguments: self.arguments.clone().map(Exact::new),
            when: self.when.map(|when| Condition::new(when).unwrap().0),
            patterns: None,
            disarmed: false,
            verdict: self.verdict,
            reason: String::new(),
            ask: self.ask.clone().filter(|_| self.verdict == Verdict::Ask).map(Arc::new),
            line: number,
        }
    }
}

fn draft() -> impl Strategy<Value = ReadRule> {
    let tools = prop::collection::vec(prop::sample::select(&PATTERNS[..]), 1..3);
    let agents = prop::option::weighted(0.2, prop::collection::vec(prop::sample::select(&["ci", "c*"][..]), 1..2));
    let roles = prop::option::weighted(0.2, prop::collection::vec(prop::sample::select(&Role::ALL[..]), 1..3));
    let exact = prop_oneof![3 => prop::sample::select(&COMMON[..]).prop_map(common), 1 => arguments()];
    let arguments = prop::option::weighted(0.3, exact);
    let when = prop::option::of(prop::sample::select(&CONDITIONS[..]));
    let verdict = prop::sample::select(&Verdict::ALL[..]);
    let ask = prop::option::of(ask_settings());
    (tools, agents, roles, arguments, when, verdict, ask).prop_map(
        |(tools, agents, roles, arguments, when, verdict, ask)| ReadRule {
            tools,
            agents,
            roles,
            arguments,
            when,
            verdict,
            ask,
        },
    )
}

fn ask_settings() -> impl Strategy<Value = AskSettings> {
    let some = |of: &'static [&'static str]| prop::sample::subsequence(of, 0..=of.len());
    let named = (some(&["bob", "ann"]), some(&["ops", "law"]), some(&["viewer", "operator", "admin"]));
    let named = named.prop_map(|(users, groups, roles)| json!({ "users": users, "groups": groups, "roles": roles }));
    let named = prop::option::weighted(0.8, named);
    let audience = (named, 1..4_u32, any::<bool>(), any::<bool>()).prop_map(|(named, quorum, distinct, eyes)| {
        let audience = json!({ "named": named, "quorum": quorum, "distinct_groups": distinct, "four_eyes": eyes });
        serde_json::from_value::<Audience>(audience).unwrap()
    });
    let fallback = prop::option::of(prop_oneof![Just(Fallback::Deny), Just(Fallback::Hold)]);
    (prop::option::weighted(0.8, audience), prop::option::of(1..9_i64), fallback).prop_map(
        |(audience, deadline_seconds, fallback)| AskSettings {
            audience,
            deadline_seconds,
            fallback: fallback.filter(|_| deadline_seconds.is_some()),
            options: Vec::new(),
        },
    )
}

/// Generates equal answers of different people.
fn votes() -> impl Strategy<Value = Vec<Answer>> {
    let role = prop::sample::select(&[Role::Viewer, Role::Operator, Role::Admin][..]);
    let voter = prop::option::of((role, prop::sample::subsequence(&["ops", "law", "pets"][..], 0..=3)));
    prop::collection::vec(voter, 5).prop_map(|voters| {
        let names = ["ann", "bob", "cat", "dan", "eve"].into_iter().zip(voters);
        let voted = names.filter_map(|(name, voter)| Some((name, voter?)));
        voted
            .map(|(name, (role, groups))| {
                let by = Actor { kind: ActorKind::User, name: name.into() };
                let answer = json!({ "id": "ans_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "by": by, "groups": groups,
                                     "role": role, "at": "2026-11-15T10:00:00Z", "effect": "approve" });
                serde_json::from_value(answer).unwrap()
            })
            .collect()
    })
}

fn drafts() -> impl Strategy<Value = Vec<ReadRule>> {
    prop::collection::vec(draft(), 0..8)
}

fn arguments() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..8).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "[a-zж/.]{0,6}".prop_map(Value::from),
        prop::sample::select(&COMMANDS[..]).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::from));
    let key = prop::sample::select(&["n", "list", "path", "command", "url", "sql", "query", "x"][..]);
    prop::collection::btree_map(key, value, 0..5).prop_map(|fields| json!(fields))
}

#[derive(Debug, Clone)]
struct GeneratedCall {
    tool: String,
    arguments: Value,
    agent: Option<&'static str>,
    role: Role,
}

impl GeneratedCall {
    fn call(&self) -> PolicyInput<'_> {
        PolicyInput {
            tool: &self.tool,
            arguments: &self.arguments,
            agent: self.agent,
            user: "ann",
            role: self.role,
            client: None,
            root: None,
        }
    }
}

fn asked() -> impl Strategy<Value = GeneratedCall> {
    let tool = prop_oneof![4 => prop::sample::select(&TOOLS[..]).prop_map(String::from), 1 => any::<String>()];
    let agent = prop::option::of(prop::sample::select(&["ci", "other"][..]));
    let arguments = prop_oneof![1 => prop::sample::select(&COMMON[..]).prop_map(common), 2 => arguments()];
    (tool, arguments, agent, prop::sample::select(&Role::ALL[..]))
        .prop_map(|(tool, arguments, agent, role)| GeneratedCall { tool, arguments, agent, role })
}

fn policy(rules: Vec<Rule>, default: Verdict) -> Policy {
    Policy { index: Index::of(&rules), rules, default, ..Policy::empty("") }
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    drafts().prop_map(|drafts| made(&drafts))
}

fn made(drafts: &[ReadRule]) -> Vec<Rule> {
    drafts.iter().enumerate().map(|(number, draft)| draft.rule(number)).collect()
}

fn same(left: &Judgement, right: &Judgement) -> bool {
    left.ruling == right.ruling && left.asks == right.asks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(2_000), ..ProptestConfig::default() })]

    #[test]
    fn index_gives_the_same_ruling_as_checking_every_rule(rules in rules(), asked in asked()) {
        let policy = policy(rules, Verdict::Ask);
        let call = asked.call();
        let case = Case::new(&call);
        let naive = policy.settle(&case, policy.rules.iter().map(|rule| (rule, rule.fit(&case))));
        prop_assert!(same(&policy.judge(&call), &naive));
        prop_assert_eq!(policy.explain(&call).ruling, naive.ruling);
    }

    #[test]
    fn unparsable_call_is_never_allowed(rules in rules(), asked in asked()) {
        let call = asked.call();
        if Case::new(&call).parsed().first_failure().is_some() {
            let verdict = policy(rules, Verdict::Ask).judge(&call).ruling.verdict;
            prop_assert!(verdict > Verdict::Allow);
        }
    }

    /// Adding an allowing rule never makes a verdict stricter, so removing one never makes a verdict looser. Decision 0009 makes one exception: an
    /// allowing rule whose expression fails on a call holds that call. The rule then asks, and never denies.
    #[test]
    fn added_allowing_rule_never_makes_a_ruling_stricter_unless_it_fails(
        drafts in drafts(), added in draft(), place in 0_usize..8, asked in asked(), deny in any::<bool>(),
    ) {
        let call = asked.call();
        let default = if deny { Verdict::Deny } else { Verdict::Ask };
        let added = ReadRule { verdict: Verdict::Allow, ..added };
        let before = policy(made(&drafts), default).judge(&call).ruling.verdict;
        let mut more = drafts;
        more.insert(place.min(more.len()), added.clone());
        let more = policy(made(&more), default);
        let after = more.judge(&call).ruling.verdict;
        let fails = matches!(added.rule(0).fit(&Case::new(&call)), Fit::Fails(_));
        let most = if fails { before.max(Verdict::Ask) } else { before };
        prop_assert!(after <= most, "{before:?} became {after:?}");
    }

    /// A failing rule in front combines with the verdict of the other rules: the stricter of the two applies.
    #[test]
    fn ruling_with_a_failing_rule_is_at_least_ask(drafts in drafts(), failing in draft(), asked in asked(), deny in any::<bool>()) {
        let call = asked.call();
        let default = if deny { Verdict::Deny } else { Verdict::Ask };
        let failing = ReadRule { when: Some("args.absent"), verdict: failing.verdict.max(Verdict::Ask), ..failing };
        let rest = policy(made(&drafts), default).judge(&call).ruling.verdict;
        let mut more = vec![failing.clone()];
        more.extend(drafts);
        let all = policy(made(&more), default).judge(&call).ruling.verdict;
        let fails = matches!(failing.rule(0).fit(&Case::new(&call)), Fit::Fails(_));
        prop_assert_eq!(all, if fails { rest.max(Verdict::Ask) } else { rest });
    }

    /// Votes that settle the question about a call also settle the own question of every rule that asks about it, and that of the default where no
    /// rule matches.
    #[test]
    fn a_question_is_as_strict_as_every_rule_that_asks(drafts in drafts(), asked in asked(), votes in votes()) {
        let call = asked.call();
        let case = Case::new(&call);
        let policy = policy(made(&drafts), Verdict::Ask);
        let judgement = policy.judge(&call);
        let ask = AskTerms::of(&judgement.asks);
        if judgement.ruling.verdict != Verdict::Ask {
            prop_assert!(judgement.asks.is_empty());
            return Ok(());
        }
        let starter = Actor { kind: ActorKind::User, name: "ann".into() };
        let votes: Vec<&Answer> = votes.iter().collect();
        let enough = |audience: &Audience| audience.settled_by(&votes, &starter);
        let settled = ask.audiences.iter().all(enough);
        let matched = policy.rules.iter().position(|rule| rule.fit(&case) == Fit::Matches);
        let before = &policy.rules[..matched.unwrap_or(policy.rules.len())];
        let failing = before.iter().filter(|rule| matches!(rule.fit(&case), Fit::Fails(_)));
        let speaking = failing.chain(matched.map(|number| &policy.rules[number]));
        for rule in speaking.filter(|rule| rule.verdict == Verdict::Ask) {
            let settings = rule.ask.as_deref().cloned().unwrap_or_default();
            let own = settings.audience.unwrap_or_default();
            prop_assert!(!settled || enough(&own), "{own:?} is weakened by {:?}", ask.audiences);
            prop_assert!(settings.deadline_seconds.is_none_or(|own| ask.deadline_seconds.is_some_and(|all| all <= own)));
            prop_assert!(ask.fallback == settings.fallback || ask.fallback == Some(Fallback::Deny));
        }
        prop_assert!(matched.is_some() || !settled || enough(&Audience::default()), "the default is weakened");
        prop_assert_eq!(policy.explain(&call).asks, judgement.asks);
    }

    #[test]
    fn pattern_covers_only_names_that_it_matches(wide in "[ab*?]{1,5}", narrow in "[ab*?]{1,5}", name in "[ab]{0,6}") {
        let (wide, narrow) = (Pattern::new(&wide).unwrap(), Pattern::new(&narrow).unwrap());
        if wide.covers(&narrow) && narrow.matches(&name) {
            prop_assert!(wide.matches(&name));
        }
    }

    #[test]
    fn any_text_is_loaded_or_refused(text in any::<String>(), when in "[-a-z.!&|()\\[\\]\"' 0-9=<>+*/]{0,60}") {
        let _ = Policy::load("policy.toml", &text);
        let rule = format!("version = 1\n[[rule]]\nname = \"a\"\ntools = [\"t\"]\nverdict = \"ask\"\nwhen = '''{when}'''");
        if let Ok(policy) = Policy::load("policy.toml", &rule) {
            let call = GeneratedCall { tool: "t".into(), arguments: json!({}), agent: None, role: Role::Agent };
            prop_assert!(policy.judge(&call.call()).ruling.verdict == Verdict::Ask);
        }
    }
}
