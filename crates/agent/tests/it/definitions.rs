//! Every definition in the guides and the demo loads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use domain::agent::ASK_USER_TOOLS;
use domain::flow::{Next, StepWay};
use domain::{AgentVersion, FlowVersion};
use forms::{FormLimits, Forms};
use holdpoint_agent::ask_user;
use holdpoint_agent::definitions::{FileFinding, read_agent, read_agents, read_flow, read_flows};
use proptest::prelude::*;

const AGENTS: &str = include_str!("../../../../docs/guides/agents.md");
const FLOWS: &str = include_str!("../../../../docs/guides/flows.md");

fn blocks(guide: &'static str) -> Vec<&'static str> {
    guide.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block).collect()
}

fn good<T>(read: Result<T, Vec<FileFinding>>) -> T {
    read.unwrap_or_else(|findings| {
        panic!("{}", findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

fn agents_of_the_guide() -> Vec<AgentVersion> {
    blocks(AGENTS).iter().map(|block| good(read_agent(block, Path::new("agents.md"))).agent).collect()
}

fn demo(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/demo").join(part)
}

fn demo_agents() -> Vec<AgentVersion> {
    good(read_agents(&demo("agents"))).into_iter().map(|filed| filed.agent).collect()
}

fn demo_flows() -> Vec<FlowVersion> {
    good(read_flows(&demo("flows"), &demo_agents())).into_iter().map(|filed| filed.flow).collect()
}

#[test]
fn the_examples_of_the_guides_load() {
    let agents = agents_of_the_guide();
    assert_eq!(agents.len(), 2);
    let flows: Vec<FlowVersion> =
        blocks(FLOWS).iter().map(|block| good(read_flow(block, Path::new("flows.md"), &agents)).flow).collect();
    assert_eq!(flows.len(), 1);
}

/// Keys in the first column of every table of a guide.
fn keys(guide: &str) -> BTreeSet<&str> {
    let rows = guide.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2)).collect()
}

#[test]
fn guides_list_every_key() {
    let agent = serde_json::to_value(&agents_of_the_guide()[0]).unwrap();
    let listed = keys(AGENTS);
    let of = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for key in of(&agent).into_iter().chain(of(&agent["model"])) {
        assert!(listed.contains(key.as_str()), "the guide of agents lacks `{key}`");
    }
    let flow = good(read_flow(blocks(FLOWS)[0], Path::new("flows.md"), &agents_of_the_guide())).flow;
    let listed = keys(FLOWS);
    for step in &flow.steps {
        for key in of(&serde_json::to_value(step).unwrap()) {
            assert!(listed.contains(key.as_str()), "the guide of flows lacks `{key}`");
        }
    }
}

#[test]
fn demo_asks_every_kind_of_question() {
    let agents = demo_agents();
    let guide = agents.iter().find(|agent| agent.name == "guide").unwrap();
    let turns = &guide.model.script.as_ref().unwrap().turns;
    let called: BTreeSet<&str> = turns.iter().flat_map(|turn| &turn.calls).map(|call| call.tool.as_str()).collect();
    for tool in ASK_USER_TOOLS.into_iter().chain(["read_file", "list_files", "write_file", "execute_command"]) {
        assert!(called.contains(tool), "the guide never calls `{tool}`");
    }
    assert!(called.iter().all(|tool| guide.has_tool(tool)), "{called:?}");
    assert!(turns.iter().any(|turn| turn.calls.iter().filter(|call| call.tool == "write_file").count() == 2));
    let kinds: Vec<String> =
        demo_flows()[0].steps.iter().filter_map(|step| Some(step.question.as_ref()?.kind.clone())).collect();
    assert_eq!(kinds, ["review", "notice", "custom"]);
}

#[test]
fn demo_agents_call_only_their_own_tools() {
    for agent in demo_agents() {
        for call in agent.model.script.iter().flat_map(|script| &script.turns).flat_map(|turn| &turn.calls) {
            assert!(agent.has_tool(&call.tool), "{} lacks {}", agent.name, call.tool);
        }
    }
}

#[test]
fn files_that_the_demo_reads_exist() {
    for agent in demo_agents() {
        let calls = agent.model.script.iter().flat_map(|script| &script.turns).flat_map(|turn| &turn.calls);
        for call in calls.filter(|call| call.tool == "read_file") {
            let path = demo("workspace").join(call.arguments["path"].as_str().unwrap());
            assert!(path.is_file(), "{} is not there", path.display());
        }
    }
}

#[test]
fn flow_of_the_demo_can_be_completed_and_rejected() {
    let flow = &demo_flows()[0];
    let leads = |step: &str, how| match flow.next(step, how) {
        Next::Step(step) => step.name.clone(),
        Next::End => "end".to_owned(),
        Next::Failed(reason) => reason,
    };
    assert_eq!(leads("draft", StepWay::Succeeded), "publish");
    assert_eq!(leads("publish", StepWay::Rejected), "end");
    assert_eq!(leads("publish", StepWay::Succeeded), "announce");
    assert_eq!(leads("announce", StepWay::Succeeded), "verdict");
    assert_eq!(leads("verdict", StepWay::Succeeded), "end");
}

#[test]
fn every_question_of_the_demo_is_valid() {
    for agent in demo_agents() {
        let calls = agent.model.script.iter().flat_map(|script| &script.turns).flat_map(|turn| &turn.calls);
        for call in calls.filter(|call| ASK_USER_TOOLS.contains(&call.tool.as_str())) {
            let (question, _, dropped) = ask_user::question(&call.tool, &call.arguments, &agent).unwrap();
            assert_eq!(dropped, [], "{}", call.tool);
            if let Some(schema) = question.form() {
                Forms::new(FormLimits::default()).admit(&schema).unwrap();
            }
        }
    }
}

#[test]
fn definitions_survive_a_json_round_trip() {
    let agents = agents_of_the_guide().into_iter().chain(demo_agents());
    for agent in agents {
        let json = serde_json::to_string(&agent).unwrap();
        assert_eq!(serde_json::from_str::<AgentVersion>(&json).unwrap(), agent);
    }
    let guide = good(read_flow(blocks(FLOWS)[0], Path::new("flows.md"), &agents_of_the_guide())).flow;
    for flow in demo_flows().into_iter().chain([guide]) {
        let json = serde_json::to_string(&flow).unwrap();
        assert_eq!(serde_json::from_str::<FlowVersion>(&json).unwrap(), flow);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(300), ..ProptestConfig::default() })]

    /// A typing error gives a finding with a line of the file, or leaves the file valid.
    #[test]
    fn typing_error_gives_findings_with_lines_or_a_valid_file(at in 0.0..1.0_f64, cut in 0..30_usize, put in "[\\[\\]{}=\"'a-z0-9.\n ]{0,6}", flow: bool) {
        let text = if flow { blocks(FLOWS)[0] } else { blocks(AGENTS)[0] };
        let chars: Vec<char> = text.chars().collect();
        let from = (at * chars.len() as f64) as usize;
        let slipped: String = chars[..from].iter().copied().chain(put.chars()).chain(chars.iter().skip(from + cut).copied()).collect();
        let file = Path::new("slip.toml");
        let read = if flow { read_flow(&slipped, file, &agents_of_the_guide()).map(drop) } else { read_agent(&slipped, file).map(drop) };
        if let Err(findings) = read {
            prop_assert!(!findings.is_empty());
            let lines = slipped.matches('\n').count() + 1;
            prop_assert!(findings.iter().all(|found| (1..=lines).contains(&found.line) && found.file == "slip.toml"), "{:?}", findings);
        }
    }
}
