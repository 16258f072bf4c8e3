//! Tests that programs of agents cannot reach their server: real commands and a real MCP server try, with the real
//! binary.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::agents::place::{AgentFiles, asked, ended, starts};
use crate::common::{Deployment, Launch, Server, on_postgres, until};

/// Definition of an agent that runs one command and ends.
fn runner(command: &str, settings: &str) -> String {
    format!(
        "tools = [\"execute_command\"]\nworkspace = \"demo\"\n{settings}\n[model]\nprovider = \"scripted\"\n\
         [[model.script.turns]]\nsay = \"I run it.\"\n\
         calls = [{{ tool = \"execute_command\", arguments = {{ command = {}, timeout_seconds = 20 }} }}]\n\
         [[model.script.turns]]\nsay = \"It is over.\"\nagain = true\n",
        json!(command)
    )
}

/// Starts an agent that runs one command, approves the command as a person, and returns the action.
async fn run_approved_command(deployment: &Deployment, server: &Server, agent: &str) -> Value {
    let alice = server.client(&deployment.key("operator", "alice"));
    let session = starts(&alice, agent).await;
    let question = asked(&alice, &session).await;
    alice.answer(question["id"].as_str().unwrap(), json!({ "option": "approve" })).await.done(200);
    let shown = ended(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    let actions = alice.get(&format!("/v1/sessions/{session}/actions?limit=200")).await.done(200).body;
    actions["actions"][0].clone()
}

fn launch_with_steps(files: &AgentFiles, launch: Launch) -> Launch {
    files.launch(launch, 8)
}

#[tokio::test]
async fn command_cannot_read_the_data_directory_or_create_an_admin() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    let data = deployment.data().display().to_string();
    // The command may see and run the binary, but it does not see the data directory that the binary needs.
    let binary = env!("CARGO_BIN_EXE_holdpoint");
    let directory = std::path::Path::new(binary).parent().unwrap().display().to_string();
    let tries = format!(
        "{binary} users link admin --data {data} 2>&1; cat {data}/master.key {data}/holdpoint.db 2>&1; ls {data} 2>&1; \
         (echo x > {data}/beside) 2>&1; (echo x > ../beside) 2>&1; true"
    );
    files.agent("runner", &runner(&tries, &format!("read_only = [\"{directory}\"]")));
    let server = launch_with_steps(&files, deployment.launch()).start().await;
    let action = run_approved_command(&deployment, &server, "runner").await;
    let said = action.to_string();
    assert!(!said.contains("hpl_") && !said.contains("SQLite format"), "{said}");
    assert!(said.contains("No such file or directory"), "{said}");
    assert!(!deployment.data().join("beside").exists() && !files.workspaces.join("beside").exists());
    let key = fs::read_to_string(deployment.data().join("master.key")).unwrap();
    assert!(!said.contains(key.trim()));
    assert_eq!(fs::metadata(deployment.data()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn command_cannot_reach_the_server_or_its_process() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    let launch = launch_with_steps(&files, deployment.launch());
    let port = launch.address().rsplit(':').next().unwrap().to_owned();
    let tries = format!(
        "perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(PeerAddr => \"127.0.0.1:{port}\") ? \"connected\" : \"closed\"'; \
         for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; done; kill -9 $PPID; echo alive; setsid sleep 1000 >/dev/null 2>&1 & true"
    );
    files.agent("runner", &runner(&tries, ""));
    files.agent("caller", &runner(&tries, "network = true"));
    let server = launch.start().await;
    let action = run_approved_command(&deployment, &server, "runner").await;
    let said = action.to_string();
    assert!(said.contains("closed") && said.contains("alive"), "{said}");
    assert!(!said.contains("--worker-steps"), "the command line of the server is hidden: {said}");
    let said = run_approved_command(&deployment, &server, "caller").await.to_string();
    assert!(said.contains("connected"), "network = true: {said}");
}

/// A separate worker confines its commands as a server does. Started with `--unconfined-commands`, it lets the command
/// reach everything.
#[test]
fn command_of_a_worker_cannot_reach_its_data_or_the_server() {
    on_postgres(async |deployment| {
        let files = AgentFiles::new(deployment);
        // The server runs no steps itself, so that the worker runs them.
        let launch = files.launch(deployment.launch(), 0);
        let port = launch.address().rsplit(':').next().unwrap().to_owned();
        let tries = format!(
            "echo mine > made; cat {0}/master.key >/dev/null && echo key; ls {0} >/dev/null && echo data; \
             cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -q '^HOLDPOINT_' && echo environment; \
             perl -MIO::Socket::INET -e 'print \"server\\n\" if IO::Socket::INET->new(PeerAddr => \"127.0.0.1:{port}\")'; echo over",
            deployment.data().display()
        );
        files.agent("runner", &runner(&tries, ""));
        let server = launch.start().await;
        let worker = launch_with_steps(&files, deployment.launch()).into_worker().begin();
        let action = run_approved_command(deployment, &server, "runner").await;
        assert_eq!(action["result"]["stdout"], "over\n", "{action}");
        assert_eq!(fs::read_to_string(files.file("made")).unwrap(), "mine\n");
        assert!(worker.stop().success());
        let _worker =
            launch_with_steps(&files, deployment.launch()).with(&["--unconfined-commands"]).into_worker().begin();
        let action = run_approved_command(deployment, &server, "runner").await;
        let stdout = action["result"]["stdout"].as_str().unwrap();
        assert!(stdout.starts_with("key\ndata\n") && stdout.ends_with("server\nover\n"), "{action}");
    });
}

#[tokio::test]
async fn command_is_ended_when_its_workspace_exceeds_the_limit() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("filler", &runner("dd if=/dev/zero of=big bs=1M count=4096; sleep 1000", ""));
    let server = launch_with_steps(&files, deployment.launch()).with(&["--workspace-bytes", "4000000"]).start().await;
    let said = run_approved_command(&deployment, &server, "filler").await.to_string();
    assert!(said.contains("the command was ended: the workspace has more than 4000000 bytes"), "{said}");
}

#[tokio::test]
async fn command_that_forks_without_end_is_ended() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    let bomb = "perl -e 'while (1) { my $child = fork; $failed++ unless defined $child; sleep 1000 if defined $child && !$child; exit 9 if $failed > 50 }'";
    files.agent("bomber", &runner(bomb, ""));
    let server = launch_with_steps(&files, deployment.launch()).with(&["--command-processes", "50"]).start().await;
    let said = run_approved_command(&deployment, &server, "bomber").await.to_string();
    let ended = said.contains("the command was ended: it") && said.contains("more than 50 processes and threads");
    assert!(ended || said.contains("exit code 9"), "{said}");
}

/// MCP server whose only tool reports whether the program could read the master key or connect to the server.
const SPY: &str = r#"
found=nothing
cat "$1/master.key" >/dev/null 2>&1 && found=key
perl -MIO::Socket::INET -e 'exit !IO::Socket::INET->new(PeerAddr => "127.0.0.1:".shift)' "$2" && found=network
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*) reply '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"spy","version":"1"}}' ;;
    *'"method":"tools/list"'*) reply '{"tools":[{"name":"tell","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*) reply "{\"content\":[{\"type\":\"text\",\"text\":\"found $found\"}]}" ;;
  esac
done
"#;

#[tokio::test]
async fn mcp_server_is_confined_like_a_command() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    let launch = launch_with_steps(&files, deployment.launch());
    let port = launch.address().rsplit(':').next().unwrap().to_owned();
    let programs = deployment.path("programs");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("spy.sh"), SPY).unwrap();
    let agent = |settings: &str| {
        format!(
            "[[mcp]]\nname = \"spy\"\ncommand = [\"/bin/sh\", \"{0}/spy.sh\", \"{1}\", \"{port}\"]\nread_only = [\"{0}\"]\n{settings}\n\
             [model]\nprovider = \"scripted\"\n[[model.script.turns]]\nsay = \"I ask.\"\ncalls = [{{ tool = \"spy.tell\", arguments = {{}} }}]\n\
             [[model.script.turns]]\nsay = \"It is over.\"\nagain = true\n",
            programs.display(),
            deployment.data().display()
        )
    };
    files.agent("spied", &agent(""));
    files.agent("connected", &agent("network = true"));
    let server = launch.start().await;
    let said = run_approved_command(&deployment, &server, "spied").await.to_string();
    assert!(said.contains("found nothing"), "{said}");
    let said = run_approved_command(&deployment, &server, "connected").await.to_string();
    assert!(said.contains("found network"), "{said}");
}

#[tokio::test]
async fn unconfined_commands_are_reported_at_the_start_and_to_people() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("runner", &runner(&format!("cat {}/master.key", deployment.data().display()), ""));
    let server = launch_with_steps(&files, deployment.launch()).with(&["--unconfined-commands"]).start().await;
    let me = server.client(&deployment.key("operator", "alice")).get("/v1/me").await.done(200).body;
    assert_eq!(me["unconfined_commands"], true, "{me}");
    let agent = server.client(&deployment.key("agent", "bot")).get("/v1/me").await.done(200).body;
    assert_eq!(agent.get("unconfined_commands"), None, "agents do not see it: {agent}");
    assert!(server.logged().contains("UNCONFINED"), "{}", server.logged());
    let key = fs::read_to_string(deployment.data().join("master.key")).unwrap();
    let said = run_approved_command(&deployment, &server, "runner").await.to_string();
    assert!(said.contains(key.split_whitespace().last().unwrap()), "the command can read the data directory: {said}");
}

#[tokio::test]
async fn confined_commands_are_not_reported_to_people() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    let server = launch_with_steps(&files, deployment.launch()).start().await;
    let me = server.client(&deployment.key("operator", "alice")).get("/v1/me").await.done(200).body;
    assert_eq!(me.get("unconfined_commands"), None, "{me}");
}

#[tokio::test]
async fn workspaces_inside_or_around_the_data_directory_are_refused() {
    let deployment = Deployment::sqlite();
    let inside = deployment.data().join("workspaces");
    fs::create_dir_all(&inside).unwrap();
    let said = deployment.launch().with(&["--workspaces", inside.to_str().unwrap()]).start_expecting_failure();
    assert!(said.contains("may contain the other"), "{said}");
    let around = deployment.path(".");
    let said = deployment.launch().with(&["--workspaces", around.to_str().unwrap()]).start_expecting_failure();
    assert!(said.contains("may contain the other"), "{said}");
}

/// A server whose user cannot create user namespaces cannot confine commands, and does not run them.
#[tokio::test]
async fn programs_are_not_run_without_user_namespaces() {
    let deployment = Deployment::sqlite();
    let files = AgentFiles::new(&deployment);
    files.agent("runner", &runner("echo ran > ran", ""));
    // With a limit of zero namespaces the helper fails as it does on a machine that forbids them.
    let launch = launch_with_steps(&files, deployment.launch()).without_namespaces();
    let server = launch.start().await;
    let alice = server.client(&deployment.key("operator", "alice"));
    starts(&alice, "runner").await;
    until("the refusal", async || server.logged().contains("programs of agents are not run here").then_some(())).await;
    assert!(server.logged().contains("programs cannot be confined on this machine"), "{}", server.logged());
    assert!(!files.file("ran").exists());
}
