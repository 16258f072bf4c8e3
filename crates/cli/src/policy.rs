//! The policy file: checked by hand, and followed while the server runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::Engine;
use policy::{Finding, Severity};

use crate::config::PolicyFile;
use crate::failure::Failure;

/// How soon a changed file is noticed.
const LOOK: Duration = Duration::from_secs(1);

/// Looks at policy files without putting them in force. Fails if one of them would be refused.
pub(crate) fn check(PolicyFile { files }: PolicyFile) -> Result<(), Failure> {
    let mut refused = 0;
    for file in &files {
        let text = read(file)?;
        let findings = match engine::load_policy(&file.display().to_string(), &text) {
            Ok(policy) => policy.warnings().to_vec(),
            Err(findings) => findings,
        };
        findings.iter().for_each(|finding| println!("{finding}"));
        let bad = findings.iter().any(|finding| finding.severity == Severity::Error);
        println!("{}: {}", file.display(), if bad { "refused" } else { "good" });
        refused += usize::from(bad);
    }
    if refused == 0 { Ok(()) } else { Err(Failure::PolicyRefused(refused)) }
}

/// Takes the file that the server is started with. A bad one ends the start: there is none before it that could stay in force.
pub(crate) async fn first(engine: &Engine, file: &Path) -> Result<(), Failure> {
    let text = read(file)?;
    let name = file.display().to_string();
    engine.policy_file(name, text).await.map_err(|findings: Vec<Finding>| {
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        Failure::PolicyBad(lines.join("\n"))
    })
}

/// Follows the file for ever. A bad one leaves the one before in force; the engine says so in the log, the figures and the API.
pub(crate) async fn follow(engine: Engine, file: PathBuf) {
    // Nothing is taken as known: the file may have changed since the server was started with it.
    let (mut last, mut gone) = (None, false);
    loop {
        tokio::time::sleep(LOOK).await;
        let looked = file.clone();
        let Ok(found) = tokio::task::spawn_blocking(move || std::fs::read_to_string(looked)).await else { continue };
        match found {
            Ok(text) if last.as_ref() == Some(&text) => {}
            Ok(text) => {
                gone = false;
                last = Some(text.clone());
                // What is wrong has been told where people look.
                let _ = engine.policy_file(file.display().to_string(), text).await;
            }
            Err(error) if !gone => {
                (last, gone) = (None, true);
                let why = format!("the file cannot be read: {error}");
                engine.policy_unreadable(&file.display().to_string(), why);
            }
            Err(_) => {}
        }
    }
}

/// Follows the policy of the servers for ever, for a worker that was given none.
pub(crate) async fn follow_servers(engine: Engine) {
    loop {
        tokio::time::sleep(LOOK).await;
        if let Err(error) = engine.policy_of_servers().await {
            tracing::error!(%error, "the policy of the servers could not be taken");
        }
    }
}

/// The text of a policy file.
pub(crate) fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| Failure::PolicyUnread(file.to_owned(), error))
}
