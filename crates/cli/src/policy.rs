//! The policy and floor files: `holdpoint policy check` and `new`, and loading the files while the process runs.
//!
//! `explain.rs` judges one call by a file, `test.rs` the examples of a file.

mod explain;
mod test;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use engine::{Engine, FileRefusal, ServerFile};
use policy::{Finding, Severity};

use crate::config::{EngineOptions, PolicyFile, PolicyNew};
use crate::failure::Failure;

pub(crate) use explain::explain;
pub(crate) use test::test;

/// Interval at which the files are checked for changes.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Time for which a file must stay unchanged before it counts as completely written.
const SETTLE_TIME: Duration = Duration::from_millis(100);
/// Number of reads at the start while a file keeps changing.
const READS: u32 = 50;

/// Checks policy files without putting them in force. Fails if one would be refused.
pub(crate) fn check(PolicyFile { files, floor }: PolicyFile) -> Result<(), Failure> {
    let mut refused = 0;
    let policies = files.iter().map(|file| (file, ServerFile::Policy));
    for (file, part) in policies.chain(floor.iter().map(|file| (file, ServerFile::Floor))) {
        let text = read(file)?;
        let name = file.display().to_string();
        let loaded = match part {
            ServerFile::Policy => engine::load_policy(&name, &text),
            ServerFile::Floor => engine::load_floor(&name, &text),
        };
        let findings = match loaded {
            Ok(policy) => policy.warnings().to_vec(),
            Err(findings) => findings,
        };
        for finding in &findings {
            println!("{finding}");
        }
        let bad = findings.iter().any(|finding| finding.severity == Severity::Error);
        println!("{name}: {}", if bad { "refused" } else { "no errors" });
        refused += usize::from(bad);
    }
    if refused == 0 { Ok(()) } else { Err(Failure::PolicyRefused(refused)) }
}

/// Prints a policy to start from.
pub(crate) fn new(PolicyNew { name }: &PolicyNew) {
    // Other names are refused when the arguments are read.
    print!("{}", policy::preset(name).unwrap_or_default());
}

/// Loads the files at the start. An invalid file ends the start, because there is no earlier one that could stay in
/// force.
pub(crate) async fn load(engine: &Engine, options: &EngineOptions) -> Result<(), Failure> {
    match &options.policy_floor {
        Some(file) => load_file(engine, ServerFile::Floor, file).await?,
        None if options.no_policy_floor => engine.floor_remove().await?,
        None => engine.floor_restore().await?,
    }
    match &options.policy {
        Some(file) => load_file(engine, ServerFile::Policy, file).await,
        None => Ok(()),
    }
}

async fn load_file(engine: &Engine, part: ServerFile, file: &Path) -> Result<(), Failure> {
    let unread = |error| Failure::PolicyUnread(file.to_owned(), error);
    for _ in 0..READS {
        let Some(text) = read_settled(file, None).await.map_err(unread)? else { continue };
        return put(engine, part, file, text).await.map_err(|unread| Failure::PolicyInvalid(lines(unread.findings())));
    }
    Err(unread(io::Error::other("it changed during every attempt to read it")))
}

async fn put(engine: &Engine, part: ServerFile, file: &Path, text: String) -> Result<(), FileRefusal> {
    let name = file.display().to_string();
    match part {
        ServerFile::Policy => engine.policy_load(name, text).await,
        ServerFile::Floor => engine.floor_load(name, text).await,
    }
}

/// Follows the files, and the other servers if there are none, for ever. An invalid file leaves the previous one in
/// force; the engine reports it in the log, the metrics and the API.
pub(crate) async fn follow(engine: Engine, options: EngineOptions) {
    // The files are read again: they may have changed since the start.
    let files = [(ServerFile::Floor, options.policy_floor), (ServerFile::Policy, options.policy)];
    let given = files.into_iter().filter_map(|(part, path)| Some(WatchedFile { part, path: path?, last_text: None }));
    let (mut files, mut told): (Vec<WatchedFile>, _) = (given.collect(), None);
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        for file in &mut files {
            file.look(&engine).await;
        }
        let looked = match engine.follow_servers().await {
            Ok(_) => engine.compare_policy_with_store().await.map(drop),
            Err(error) => Err(error),
        };
        let problem = looked.err().map(|error| error.to_string());
        if let Some(error) = problem.as_ref().filter(|_| problem != told) {
            tracing::error!(error, "the policy in force on other servers could not be read");
        }
        told = problem;
    }
}

/// A file that is followed.
struct WatchedFile {
    part: ServerFile,
    path: PathBuf,
    /// The last text that was put in force or refused for its content. Any other text is tried again.
    last_text: Option<String>,
}

impl WatchedFile {
    async fn look(&mut self, engine: &Engine) {
        let told = |why: String| engine.report_unreadable_file(self.part, &self.path.display().to_string(), why);
        let text = match read_settled(&self.path, self.last_text.as_deref()).await {
            Ok(Some(text)) if self.last_text.as_ref() == Some(&text) => return,
            Ok(Some(text)) => text,
            Ok(None) => return told("the file changes while it is read".to_owned()),
            Err(error) => {
                told(format!("the file cannot be read: {error}"));
                self.last_text = None;
                return;
            }
        };
        match put(engine, self.part, &self.path, text.clone()).await {
            Ok(()) | Err(FileRefusal::Refused(_)) => self.last_text = Some(text),
            // The file may be valid; it is tried again at the next check.
            Err(FileRefusal::NotYet(_)) => self.last_text = None,
        }
    }
}

/// Reads a file that nobody is writing. Returns the text if it equals `known` or is unchanged after [`SETTLE_TIME`], otherwise `None`.
async fn read_settled(file: &Path, known: Option<&str>) -> io::Result<Option<String>> {
    let first = read_with_times(file).await?;
    if known == Some(first.0.as_str()) {
        return Ok(Some(first.0));
    }
    tokio::time::sleep(SETTLE_TIME).await;
    let second = read_with_times(file).await?;
    Ok((first == second).then_some(second.0))
}

/// Text, size and modification time of a file.
async fn read_with_times(file: &Path) -> io::Result<(String, u64, Option<SystemTime>)> {
    let file = file.to_owned();
    let look = tokio::task::spawn_blocking(move || {
        let text = std::fs::read_to_string(&file)?;
        let about = std::fs::metadata(&file)?;
        Ok((text, about.len(), about.modified().ok()))
    });
    look.await.unwrap_or_else(|_| Err(io::Error::other("the file could not be examined")))
}

/// Text of a policy file.
pub(crate) fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| Failure::PolicyUnread(file.to_owned(), error))
}

/// The findings, one line each.
fn lines(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
