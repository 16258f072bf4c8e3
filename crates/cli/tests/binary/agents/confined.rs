//! Tests that programs of agents cannot reach their server: real commands and a real MCP server try, with the real binary.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::agents::place::{Place, asked, ended, starts};
use crate::common::{House, Launch, Server, on_postgres, until};

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
async fn ran(house: &House, server: &Server, agent: &str) -> Value {
    let alice = server.client(&house.key("operator", "alice"));
    let session = starts(&alice, agent).await;
    let question = asked(&alice, &session).await;
    alice.answer(question["id"].as_str().unwrap(), json!({ "option": "approve" })).await.done(200);
    let shown = ended(&alice, &session).await;
    assert_eq!(shown["status"], "completed", "{shown}");
    let actions = alice.get(&format!("/v1/sessions/{session}/actions?limit=200")).await.done(200).body;
    actions["actions"][0].clone()
}

fn launched(place: &Place, launch: Launch) -> Launch {
    place.launch(launch, 8)
}

#[tokio::test]
async fn a_command_cannot_make_itself_an_admin() {
    let house = House::sqlite();
    let place = Place::new(&house);
    let data = house.data().display().to_string();
    // The command may see and run the binary, but it does not see the data directory that the binary needs.
    let binary = env!("CARGO_BIN_EXE_holdpoint");
    let directory = std::path::Path::new(binary).parent().unwrap().display().to_string();
    let tries = format!(
        "{binary} users link admin --data {data} 2>&1; cat {data}/master.key {data}/holdpoint.db 2>&1; ls {data} 2>&1; \
         (echo x > {data}/beside) 2>&1; (echo x > ../beside) 2>&1; true"
    );
    place.agent("runner", &runner(&tries, &format!("read_only = [\"{directory}\"]")));
    let server = launched(&place, house.launch()).start().await;
    let action = ran(&house, &server, "runner").await;
    let said = action.to_string();
    assert!(!said.contains("hpl_") && !said.contains("SQLite format"), "{said}");
    assert!(said.contains("No such file or directory"), "{said}");
    assert!(!house.data().join("beside").exists() && !place.workspaces.join("beside").exists());
    let key = fs::read_to_string(house.data().join("master.key")).unwrap();
    assert!(!said.contains(key.trim()));
    assert_eq!(fs::metadata(house.data()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_command_reaches_neither_the_server_nor_its_process() {
    let house = House::sqlite();
    let place = Place::new(&house);
    let launch = launched(&place, house.launch());
    let port = launch.address().rsplit(':').next().unwrap().to_owned();
    let tries = format!(
        "perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(PeerAddr => \"127.0.0.1:{port}\") ? \"connected\" : \"closed\"'; \
         for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; done; kill -9 $PPID; echo alive; setsid sleep 1000 >/dev/null 2>&1 & true"
    );
    place.agent("runner", &runner(&tries, ""));
    place.agent("caller", &runner(&tries, "network = true"));
    let server = launch.start().await;
    let action = ran(&house, &server, "runner").await;
    let said = action.to_string();
    assert!(said.contains("closed") && said.contains("alive"), "{said}");
    assert!(!said.contains("--worker-steps"), "the server's command line is not seen: {said}");
    let said = ran(&house, &server, "caller").await.to_string();
    assert!(said.contains("connected"), "network = true: {said}");
}

/// A separate worker confines its commands as a server does. Started with `--unconfined-commands`, it lets the command reach everything.
#[test]
fn a_command_of_a_worker_reaches_neither_its_data_nor_the_server() {
    on_postgres(async |house| {
        let place = Place::new(house);
        // The server runs no steps itself, so that the worker runs them.
        let launch = place.launch(house.launch(), 0);
        let port = launch.address().rsplit(':').next().unwrap().to_owned();
        let tries = format!(
            "echo mine > made; cat {0}/master.key >/dev/null && echo key; ls {0} >/dev/null && echo data; \
             cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -q '^HOLDPOINT_' && echo environment; \
             perl -MIO::Socket::INET -e 'print \"server\\n\" if IO::Socket::INET->new(PeerAddr => \"127.0.0.1:{port}\")'; echo over",
            house.data().display()
        );
        place.agent("runner", &runner(&tries, ""));
        let server = launch.start().await;
        let worker = launched(&place, house.launch()).into_worker().begin();
        let action = ran(house, &server, "runner").await;
        assert_eq!(action["result"]["stdout"], "over\n", "{action}");
        assert_eq!(fs::read_to_string(place.file("made")).unwrap(), "mine\n");
        assert!(worker.stop().success());
        let _worker = launched(&place, house.launch()).with(&["--unconfined-commands"]).into_worker().begin();
        let action = ran(house, &server, "runner").await;
        let stdout = action["result"]["stdout"].as_str().unwrap();
        assert!(stdout.starts_with("key\ndata\n") && stdout.ends_with("server\nover\n"), "{action}");
    });
}

#[tokio::test]
async fn a_workspace_that_grows_too_large_ends_the_command() {
    let house = House::sqlite();
    let place = Place::new(&house);
    place.agent("filler", &runner("dd if=/dev/zero of=big bs=1M count=4096; sleep 1000", ""));
    let server = launched(&place, house.launch()).with(&["--workspace-bytes", "4000000"]).start().await;
    let said = ran(&house, &server, "filler").await.to_string();
    assert!(said.contains("the command was ended: the workspace has more than 4000000 bytes"), "{said}");
}

#[tokio::test]
async fn a_command_that_forks_without_end_is_ended() {
    let house = House::sqlite();
    let place = Place::new(&house);
    let bomb = "perl -e 'while (1) { my $child = fork; $failed++ unless defined $child; sleep 1000 if defined $child && !$child; exit 9 if $failed > 50 }'";
    place.agent("bomber", &runner(bomb, ""));
    let server = launched(&place, house.launch()).with(&["--command-processes", "50"]).start().await;
    let said = ran(&house, &server, "bomber").await.to_string();
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
async fn an_mcp_server_is_confined_as_commands_are() {
    let house = House::sqlite();
    let place = Place::new(&house);
    let launch = launched(&place, house.launch());
    let port = launch.address().rsplit(':').next().unwrap().to_owned();
    let programs = house.path("programs");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("spy.sh"), SPY).unwrap();
    let agent = |settings: &str| {
        format!(
            "[[mcp]]\nname = \"spy\"\ncommand = [\"/bin/sh\", \"{0}/spy.sh\", \"{1}\", \"{port}\"]\nread_only = [\"{0}\"]\n{settings}\n\
             [model]\nprovider = \"scripted\"\n[[model.script.turns]]\nsay = \"I ask.\"\ncalls = [{{ tool = \"spy.tell\", arguments = {{}} }}]\n\
             [[model.script.turns]]\nsay = \"It is over.\"\nagain = true\n",
            programs.display(),
            house.data().display()
        )
    };
    place.agent("spied", &agent(""));
    place.agent("connected", &agent("network = true"));
    let server = launch.start().await;
    let said = ran(&house, &server, "spied").await.to_string();
    assert!(said.contains("found nothing"), "{said}");
    let said = ran(&house, &server, "connected").await.to_string();
    assert!(said.contains("found network"), "{said}");
}

#[tokio::test]
async fn unconfined_commands_are_said_at_every_start_and_to_people() {
    let house = House::sqlite();
    let place = Place::new(&house);
    place.agent("runner", &runner(&format!("cat {}/master.key", house.data().display()), ""));
    let server = launched(&place, house.launch()).with(&["--unconfined-commands"]).start().await;
    let me = server.client(&house.key("operator", "alice")).get("/v1/me").await.done(200).body;
    assert_eq!(me["unconfined_commands"], true, "{me}");
    let agent = server.client(&house.key("agent", "bot")).get("/v1/me").await.done(200).body;
    assert_eq!(agent.get("unconfined_commands"), None, "agents need not know: {agent}");
    assert!(server.logged().contains("UNCONFINED"), "{}", server.logged());
    let key = fs::read_to_string(house.data().join("master.key")).unwrap();
    let said = ran(&house, &server, "runner").await.to_string();
    assert!(said.contains(key.split_whitespace().last().unwrap()), "it is what the flag says: {said}");
}

#[tokio::test]
async fn where_commands_are_confined_nothing_is_said() {
    let house = House::sqlite();
    let place = Place::new(&house);
    let server = launched(&place, house.launch()).start().await;
    let me = server.client(&house.key("operator", "alice")).get("/v1/me").await.done(200).body;
    assert_eq!(me.get("unconfined_commands"), None, "{me}");
}

#[tokio::test]
async fn workspaces_and_data_lie_apart() {
    let house = House::sqlite();
    let inside = house.data().join("workspaces");
    fs::create_dir_all(&inside).unwrap();
    let said = house.launch().with(&["--workspaces", inside.to_str().unwrap()]).start_in_vain();
    assert!(said.contains("must lie apart"), "{said}");
    let around = house.path(".");
    let said = house.launch().with(&["--workspaces", around.to_str().unwrap()]).start_in_vain();
    assert!(said.contains("must lie apart"), "{said}");
}

/// A server whose user cannot create user namespaces cannot confine commands, and does not run them.
#[tokio::test]
async fn what_cannot_be_confined_is_not_run() {
    let house = House::sqlite();
    let place = Place::new(&house);
    place.agent("runner", &runner("echo ran > ran", ""));
    // With a limit of zero namespaces the helper fails as it does on a machine that forbids them.
    let launch = launched(&place, house.launch()).without_namespaces();
    let server = launch.start().await;
    let alice = server.client(&house.key("operator", "alice"));
    starts(&alice, "runner").await;
    until("the refusal", async || server.logged().contains("programs of agents are not run here").then_some(())).await;
    assert!(server.logged().contains("programs cannot be confined on this machine"), "{}", server.logged());
    assert!(!place.file("ran").exists());
}
