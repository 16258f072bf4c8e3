//! Tests `holdpoint agents check` and `holdpoint flows check`, which name files and lines of errors.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Deployment, binary};

const AGENT: &str = "name = \"helper\"\nversion = \"1\"\n[model]\nprovider = \"openai\"\nname = \"m\"\n";
const FLOW: &str = "name = \"release\"\nversion = \"1\"\n[[steps]]\nname = \"draft\"\nagent = \"helper\"\n";

fn check(what: &str, dir: &Path, agents: Option<&Path>) -> (Option<i32>, String, String) {
    let mut command = binary();
    command.args([what, "check"]).arg(dir).stdin(Stdio::null());
    if let Some(agents) = agents {
        command.arg("--agents").arg(agents);
    }
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn agents_check_and_flows_check_report_file_and_line() {
    let deployment = Deployment::sqlite();
    let (agents, flows) = (deployment.path("agents"), deployment.path("flows"));
    fs::create_dir_all(&agents).unwrap();
    fs::create_dir_all(&flows).unwrap();
    fs::write(agents.join("helper.toml"), AGENT).unwrap();
    fs::write(flows.join("release.toml"), FLOW).unwrap();
    let (code, said, _) = check("agents", &agents, None);
    assert_eq!((code, said.lines().next()), (Some(0), Some("agent helper 1")), "{said}");
    let (code, said, _) = check("flows", &flows, Some(&agents));
    assert_eq!((code, said.lines().next()), (Some(0), Some("flow release 1: 1 steps")), "{said}");

    fs::write(flows.join("release.toml"), FLOW.replace("helper", "healper")).unwrap();
    let (code, said, told) = check("flows", &flows, Some(&agents));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("release.toml:5: `steps.agent`: there is no agent `healper`"), "{said}");
    assert!(told.contains("errors: 1"), "{told}");

    fs::write(agents.join("helper.toml"), AGENT.replace("version", "verison")).unwrap();
    fs::write(agents.join("other.toml"), "name = ").unwrap();
    let (code, said, _) = check("agents", &agents, None);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("helper.toml:2: the file has no key `verison`; did you mean `version`?"), "{said}");
    assert!(said.contains("other.toml:1: "), "{said}");
    assert_eq!(check("flows", &flows, Some(&agents)).0, Some(1));
    assert_eq!(check("agents", &deployment.path("nowhere"), None).0, Some(1));
}
