//! Generates the calls of agents and the policies, and knows the expected verdicts.

use std::collections::BTreeMap;

use domain::grant::RememberedArguments;
use domain::{AnswerDraft, Call, Digest, Effect, Interaction, PolicyState, Remember, Verdict};
use holdpoint_engine::Propose;
use serde_json::{Value, json};
use testkit::Random;

/// Tools of the agents.
pub(crate) const TOOLS: [&str; 13] = [
    "read", "write", "write", "write", "write", "write", "two", "several", "deploy", "timed", "never", "again", "again",
];

const COMMON: &str = r#"
version = 1
default = "ask"
[[tool]]
name = "again"
idempotent = true
[[rule]]
name = "again"
tools = ["again"]
verdict = "allow"
[[rule]]
name = "two"
tools = ["two"]
verdict = "ask"
ask = { audience = { quorum = 2 } }
[[rule]]
name = "cannot-be-evaluated"
tools = ["several"]
when = 'args.absent == 1'
verdict = "ask"
ask = { audience = { groups = ["security"] } }
[[rule]]
name = "several"
tools = ["several"]
verdict = "ask"
ask = { audience = { quorum = 2, four_eyes = true } }
[[rule]]
name = "timed"
tools = ["timed"]
verdict = "ask"
ask = { deadline_seconds = 90, fallback = "deny" }
[[rule]]
name = "never"
tools = ["never"]
verdict = "deny"
"#;
const ASKS_SECURITY: &str = "verdict = \"ask\"\nask = { audience = { groups = [\"security\"] } }";

/// One of the policies that admins switch between. They differ in their rules about reading, writing and deploying.
pub(crate) fn policy(number: usize) -> String {
    let (ask, allow, deny) = ("verdict = \"ask\"", "verdict = \"allow\"", "verdict = \"deny\"");
    let said = [[allow, ask, ASKS_SECURITY], [ask, ASKS_SECURITY, deny], [allow, deny, ask]][number % 3];
    let rules = ["read", "write", "deploy"].iter().zip(said);
    let rules = rules.map(|(tool, said)| format!("[[rule]]\nname = \"{tool}\"\ntools = [\"{tool}\"]\n{said}\n"));
    format!("{COMMON}{}", rules.collect::<String>())
}

/// Expected verdict on a tool under this policy, from a table that is independent of the policy engine.
pub(crate) fn verdict(state: &PolicyState, tool: &str) -> Option<Verdict> {
    use Verdict::{Allow, Ask, Deny};
    let own = state.own.as_ref()?;
    let number = (0..3).find(|number| Digest::of_bytes(policy(*number).as_bytes()).to_string() == *own)?;
    let said = match tool {
        "again" => Allow,
        "never" => Deny,
        "read" => [Allow, Ask, Allow][number],
        "write" => [Ask, Ask, Deny][number],
        "deploy" => [Ask, Deny, Ask][number],
        _ => Ask,
    };
    Some(if said == Ask && !state.enabled { Allow } else { said })
}

/// A random action of an agent. Its arguments name the tenant, so that a leak between tenants is detected.
pub(crate) fn propose(random: &mut Random, call_id: String, tenant: &str) -> Propose {
    let tool = random.pick(&TOOLS).copied().unwrap_or("odd").to_owned();
    let arguments = json!({ "of": tenant, "path": format!("/srv/{}", random.below(3)) });
    Propose {
        call_id,
        call: Call { tool, arguments },
        context: Value::Null,
        expected_content: None,
        traceparent: None,
        repeatable: false,
        client: false,
        deadline_seconds: None,
    }
}

/// Extends an answer to a question about an action: with edited arguments, or with a grant.
pub(crate) fn elaborate(random: &mut Random, asked: &Interaction, draft: AnswerDraft) -> AnswerDraft {
    let question = &asked.question;
    let (Some(call), Some(effect)) = (&question.call, question.effect_of(&draft)) else { return draft };
    if question.call_id.is_none() || !effect.runs_action() {
        return draft;
    }
    let arguments = (effect == Effect::Edit)
        .then(|| json!({ "of": call.arguments["of"], "path": format!("/edited/{}", random.below(2)) }));
    let remember = random.one_in(3).then(|| Remember {
        project: random.one_in(2),
        arguments: match random.below(3) {
            0 => RememberedArguments::Exactly,
            1 => RememberedArguments::Pattern(BTreeMap::from([("path".into(), "*".into())])),
            _ => RememberedArguments::Anything,
        },
        seconds: random.one_in(2).then_some(600),
        uses: (!random.one_in(3)).then(|| 1 + random.below(2) as u64),
    });
    AnswerDraft { arguments, remember, ..draft }
}
