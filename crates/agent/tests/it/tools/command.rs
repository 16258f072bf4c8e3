//! Commands: environment, output, and the end of all their processes.

use std::time::Duration;

use holdpoint_agent::tool::{ToolOutcome, ToolRun};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::tools::test_workspace::TestWorkspace;

fn failed(ran: ToolOutcome) -> (String, Value) {
    match ran {
        ToolOutcome::Failed { message, result } => (message, result),
        other => panic!("{other:?}"),
    }
}

fn with_secret(name: &str, value: &str) -> ToolRun {
    ToolRun { secrets: [(name.to_owned(), Zeroizing::new(value.to_owned()))].into(), ..ToolRun::default() }
}

/// Waits until a file has a line, and returns it.
async fn line(test_workspace: &TestWorkspace, path: &str) -> String {
    loop {
        if let Some(text) = test_workspace.text(path).filter(|text| text.ends_with('\n')) {
            return text.trim().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until a process is gone.
async fn gone(pid: &str) {
    let stat = format!("/proc/{pid}/stat");
    // A zombie counts as gone: the process that adopted it reaps it.
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn result_contains_the_exit_code_or_the_signal() {
    let test_workspace = TestWorkspace::new();
    let said = test_workspace.done("execute_command", json!({"command": "echo out; echo err >&2; pwd"})).await;
    let here = test_workspace.path(".").canonicalize().unwrap();
    assert_eq!(
        said,
        json!({"exit_code": 0, "stdout": format!("out\n{}\n", here.display()), "stderr": "err\n", "cut": false, "timed_out": false})
    );
    let (message, result) = failed(test_workspace.run("execute_command", json!({"command": "echo x; exit 3"})).await);
    assert_eq!(message, "the command ended with exit code 3");
    assert_eq!(result, json!({"exit_code": 3, "stdout": "x\n", "stderr": "", "cut": false, "timed_out": false}));
    let (message, result) = failed(test_workspace.run("execute_command", json!({"command": "kill -9 $$"})).await);
    assert_eq!((message.as_str(), &result["signal"]), ("the command was ended by signal 9", &json!(9)));
}

#[tokio::test]
async fn command_reaches_the_shell_unchanged_or_is_refused() {
    let test_workspace = TestWorkspace::new();
    // The shell would take this for an option without the dashes that the tool puts before it.
    let (_, result) = failed(test_workspace.run("execute_command", json!({"command": "-x"})).await);
    assert_eq!(result["exit_code"], json!(127));
    for (arguments, message) in [
        (json!({"command": " "}), "the command is empty, contains NUL, or is longer than 64 KiB"),
        (json!({"command": "echo\0"}), "the command is empty, contains NUL, or is longer than 64 KiB"),
        (json!({"command": "x".repeat(70_000)}), "the command is empty, contains NUL, or is longer than 64 KiB"),
        (json!({"command": "true", "timeout_seconds": 0}), "timeout_seconds is from 1 to 600"),
        (json!({"command": "true", "timeout_seconds": 601}), "timeout_seconds is from 1 to 600"),
    ] {
        assert_eq!(test_workspace.refused("execute_command", arguments).await, message);
    }
    let message = test_workspace.refused("execute_command", json!({"command": "true", "cwd": "/"})).await;
    assert!(message.contains("unknown field `cwd`"), "{message}");
}

#[tokio::test]
async fn environment_contains_only_fixed_variables() {
    let test_workspace = TestWorkspace::new();
    let said = test_workspace.done("execute_command", json!({"command": "env | cut -d= -f1 | sort; cat"})).await;
    let git = "GIT_CONFIG_COUNT\nGIT_CONFIG_GLOBAL\nGIT_CONFIG_KEY_0\nGIT_CONFIG_VALUE_0\n";
    assert_eq!(said["stdout"], json!(format!("{git}HOME\nLANG\nPATH\nPWD\nTERM\n")));
}

#[tokio::test]
async fn secrets_are_passed_as_variables_and_redacted() {
    let test_workspace = TestWorkspace::new();
    let run = with_secret("TOKEN", "s3cr3t");
    // The second half of the value comes later: a value that is split over two reads is redacted as well.
    let command = r#"test "$TOKEN" = s3cr3t || exit 1; printf s3c; sleep 0.2; echo r3t; echo "a${TOKEN}b" >&2; echo $TOKEN > kept"#;
    let ran = test_workspace.tool("execute_command").run(&json!({"command": command}), &run).await;
    let ToolOutcome::Done(said) = ran else { panic!("{ran:?}") };
    assert_eq!((&said["stdout"], &said["stderr"]), (&json!("[secret TOKEN]\n"), &json!("a[secret TOKEN]b\n")));
    assert_eq!(test_workspace.text("kept").as_deref(), Some("s3cr3t\n"));
    let ran = test_workspace.tool("read_file").run(&json!({"path": "kept"}), &run).await;
    let ToolOutcome::Done(read) = ran else { panic!("{ran:?}") };
    assert_eq!(read["content"], json!("[secret TOKEN]\n"));
    assert!(!format!("{run:?}").contains("s3cr3t"));
}

#[tokio::test]
async fn secret_never_sets_a_variable_that_controls_programs() {
    let test_workspace = TestWorkspace::new();
    for name in [
        "PATH",
        "LD_PRELOAD",
        "BASH_ENV",
        "NODE_OPTIONS",
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_COUNT",
        "PYTHONPATH",
        "PERL5OPT",
        "RUBYOPT",
        "RUSTC_WRAPPER",
        "PAGER",
        "LESSOPEN",
        "JAVA_TOOL_OPTIONS",
        "http_proxy",
    ] {
        let run = with_secret(name, "/nowhere");
        let ran = test_workspace.tool("execute_command").run(&json!({"command": "env | grep nowhere"}), &run).await;
        let ToolOutcome::Done(said) = ran else { panic!("{ran:?}") };
        assert_eq!(said["stdout"], json!(format!("SECRET_{name}=[secret {name}]\n")));
        let note = format!(
            "secrets whose names may change what programs do were given under other names: {name} as SECRET_{name}"
        );
        assert_eq!(said["note"], json!(note));
    }
    for name in ["api-key", "A=B", ""] {
        let run = with_secret(name, "/nowhere");
        let ran =
            test_workspace.tool("execute_command").run(&json!({"command": "env | grep -c nowhere; true"}), &run).await;
        let ToolOutcome::Done(said) = ran else { panic!("{ran:?}") };
        assert_eq!(said["stdout"], json!("0\n"), "{name}");
        assert_eq!(said["note"], json!(format!("secrets that cannot be variables were not given: {name}")));
    }
}

#[tokio::test]
async fn long_output_keeps_its_beginning_and_its_end() {
    let test_workspace = TestWorkspace::new();
    let said = test_workspace.done("execute_command", json!({"command": "seq 1 100000; seq 1 10 >&2"})).await;
    let stdout = said["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("1\n2\n3\n") && stdout.ends_with("99999\n100000\n"));
    assert!(stdout.contains("\n[cut: 65,536 of 588,895 bytes shown]\n"));
    assert_eq!((&said["cut"], &said["stderr"]), (&json!(true), &json!("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")));
}

#[tokio::test]
async fn timed_out_command_is_ended_with_its_child_processes() {
    let test_workspace = TestWorkspace::new();
    let command = "sleep 1000 & echo $! > child; echo before; wait";
    let (message, result) =
        failed(test_workspace.run("execute_command", json!({"command": command, "timeout_seconds": 1})).await);
    assert_eq!(message, "the command ran for 1 seconds and was ended");
    assert_eq!((&result["timed_out"], &result["stdout"]), (&json!(true), &json!("before\n")));
    gone(&line(&test_workspace, "child").await).await;
}

#[tokio::test]
async fn command_that_ignores_sigterm_is_killed() {
    let test_workspace = TestWorkspace::new();
    let command = "trap '' TERM; echo $$ > leader; while :; do sleep 1; done";
    let (_, result) =
        failed(test_workspace.run("execute_command", json!({"command": command, "timeout_seconds": 1})).await);
    assert_eq!(result["signal"], json!(9));
    gone(&line(&test_workspace, "leader").await).await;
}

#[tokio::test]
async fn command_can_clean_up_after_sigterm() {
    let test_workspace = TestWorkspace::new();
    let command = "(trap 'sleep 0.2; echo tidy; exit' TERM; while :; do sleep 0.05; done) & wait";
    let (_, result) =
        failed(test_workspace.run("execute_command", json!({"command": command, "timeout_seconds": 1})).await);
    assert_eq!(result["stdout"], json!("tidy\n"));
}

#[tokio::test]
async fn a_cancelled_command_is_ended() {
    let test_workspace = TestWorkspace::new();
    let run = ToolRun::default();
    let arguments = json!({"command": "echo $$ > leader; sleep 1000"});
    let cancelling = async {
        let leader = line(&test_workspace, "leader").await;
        run.cancel.cancel();
        leader
    };
    let (ran, leader) = tokio::join!(test_workspace.tool("execute_command").run(&arguments, &run), cancelling);
    assert_eq!(failed(ran).0, "the command was cancelled and ended");
    gone(&leader).await;
}

#[tokio::test]
async fn a_dropped_command_is_ended() {
    let test_workspace = TestWorkspace::new();
    let run = ToolRun::default();
    let arguments = json!({"command": "sleep 1000 & echo $! > child; trap '' TERM; while :; do sleep 1; done"});
    let child = tokio::select! {
        _ = test_workspace.tool("execute_command").run(&arguments, &run) => panic!("it never ends"),
        child = line(&test_workspace, "child") => child,
    };
    gone(&child).await;
}

#[test]
fn a_command_does_not_outlive_the_runtime() {
    let test_workspace = TestWorkspace::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let child = runtime.block_on(async {
        let run = ToolRun::default();
        let arguments = json!({"command": "trap '' TERM; echo $$ > child; while :; do sleep 1; done"});
        tokio::select! {
            _ = test_workspace.tool("execute_command").run(&arguments, &run) => panic!("it never ends"),
            child = line(&test_workspace, "child") => child,
        }
    });
    drop(runtime);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(gone(&child));
}

#[tokio::test]
async fn background_process_does_not_delay_the_result() {
    let test_workspace = TestWorkspace::new();
    let said =
        test_workspace.done("execute_command", json!({"command": "sleep 1000 & echo $! > child; echo done"})).await;
    assert_eq!(said["stdout"], json!("done\n"));
    gone(&line(&test_workspace, "child").await).await;
    // This child leaves the process group and keeps the output open.
    let said = test_workspace.done("execute_command", json!({"command": "setsid sleep 3 & echo done"})).await;
    assert_eq!(said["stdout"], json!("done\n"));
}

#[tokio::test]
async fn replaced_workspace_directory_is_refused() {
    let test_workspace = TestWorkspace::new();
    std::fs::rename(test_workspace.path(""), test_workspace.outside().join("moved")).unwrap();
    std::fs::create_dir(test_workspace.path("")).unwrap();
    assert_eq!(
        test_workspace.refused("execute_command", json!({"command": "true"})).await,
        "the directory of the workspace was moved or replaced"
    );
}
