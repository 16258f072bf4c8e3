//! Tests that only the server's user can read its files, and that logs contain no secrets.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::common::{Deployment, on_postgres};

/// Text of a question, in every place where it could reach the log of a database driver.
const MARKER: &str = "colorless-green-ideas-2718";

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn data_directory_and_its_files_are_readable_by_the_owner_only() {
    let deployment = Deployment::sqlite();
    let server = deployment.launch().start().await;
    server.client(&deployment.key("agent", "bot")).ask_plainly("kept").await;
    let copy = deployment.path("copy.db");
    assert!(deployment.run(&["backup", copy.to_str().unwrap()]).status.success());
    assert_eq!((mode(deployment.data()), mode(&copy)), (0o700, 0o600));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(deployment.data()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["holdpoint.db", "holdpoint.db-shm", "holdpoint.db-wal", "holdpoint.lock", "master.key"]);
    assert!(server.stop().success());
}

/// Passes a marker through every statement that writes text, with trace logs, and checks that no log line contains it.
async fn check_logs_have_no_marker(deployment: &Deployment) {
    let launch = deployment.launch().with(&["--log", "trace"]);
    let server = launch.start().await;
    let bot = server.client(&deployment.key("agent", "bot"));
    let alice = server.client(&deployment.key("operator", "alice"));
    let start = json!({ "title": MARKER, "input": { "about": MARKER }, "metadata": { "about": MARKER } });
    let session = bot.post("/v1/sessions", start).await.done(201).text("/id");
    let question = json!({ "kind": "question", "title": MARKER, "message": MARKER, "context": { "about": MARKER } });
    let question = bot.ask(&session, question).await;
    alice.get(&format!("/v1/interactions?q={MARKER}")).await.done(200);
    alice.answer(&question, json!({ "data": MARKER, "feedback": MARKER })).await.done(200);
    bot.get(&format!("/v1/sessions/{session}/events")).await.done(200);
    assert!(server.stop().success());
    let logged = launch.logged();
    let told: Vec<&str> = logged.lines().filter(|line| line.contains(MARKER)).collect();
    assert_eq!(told, Vec::<&str>::new());
}

#[tokio::test]
async fn logs_contain_no_question_content_on_sqlite() {
    check_logs_have_no_marker(&Deployment::sqlite()).await;
}

#[test]
fn logs_contain_no_question_content_on_postgres() {
    on_postgres(async |deployment| check_logs_have_no_marker(deployment).await);
}

/// Arguments with secrets are not shown in the list of processes, and the process is not dumpable.
#[test]
fn process_list_shows_neither_database_url_nor_master_key() {
    on_postgres(async |deployment| {
        let key = "00".repeat(32);
        let server = deployment.launch().with(&["--master-key", &key]).start().await;
        let process = format!("/proc/{}", server.pid());
        let line = std::fs::read_to_string(format!("{process}/cmdline")).unwrap().replace('\0', " ");
        assert!(line.contains(" serve --listen 127.0.0.1:"), "{line}");
        assert!(!line.contains("postgres") && !line.contains(&key) && !line.contains("database-url"), "{line}");
        // The process is not dumpable, so its environment file belongs to root.
        let environment = std::fs::metadata(format!("{process}/environ")).unwrap();
        assert_eq!(std::os::unix::fs::MetadataExt::uid(&environment), 0);
        assert!(server.stop().success());
    });
}
