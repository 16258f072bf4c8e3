//! The files of the policy and of the floor: checked by hand, and followed while the process runs.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use engine::{Engine, FileRefusal, ServerFile};
use policy::Severity;

use crate::config::{PolicyFile, Terms};
use crate::failure::Failure;

/// How soon a changed file is noticed.
const LOOK: Duration = Duration::from_secs(1);
/// For how long a file must stay the same before it is believed that nobody is in the middle of writing it.
const SETTLED: Duration = Duration::from_millis(100);
/// How often a file is read at the start, as long as it changes under the reader.
const READS: u32 = 50;

/// Looks at policy files without putting them in force. Fails if one of them would be refused.
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
        findings.iter().for_each(|finding| println!("{finding}"));
        let bad = findings.iter().any(|finding| finding.severity == Severity::Error);
        println!("{name}: {}", if bad { "refused" } else { "good" });
        refused += usize::from(bad);
    }
    if refused == 0 { Ok(()) } else { Err(Failure::PolicyRefused(refused)) }
}

/// Takes the files that the process is started with. A bad one ends the start: there is none before it that could stay in force.
pub(crate) async fn first(engine: &Engine, terms: &Terms) -> Result<(), Failure> {
    match &terms.policy_floor {
        Some(file) => first_file(engine, ServerFile::Floor, file).await?,
        None if terms.no_policy_floor => engine.floor_remove().await?,
        None => engine.floor_kept().await?,
    }
    match &terms.policy {
        Some(file) => first_file(engine, ServerFile::Policy, file).await,
        None => Ok(()),
    }
}

async fn first_file(engine: &Engine, part: ServerFile, file: &Path) -> Result<(), Failure> {
    let unread = |error| Failure::PolicyUnread(file.to_owned(), error);
    for _ in 0..READS {
        let Some(text) = settled(file, None).await.map_err(unread)? else { continue };
        return put(engine, part, file, text).await.map_err(|unread| {
            let lines: Vec<String> = unread.findings().iter().map(ToString::to_string).collect();
            Failure::PolicyBad(lines.join("\n"))
        });
    }
    Err(unread(io::Error::other("it changes whenever it is read")))
}

async fn put(engine: &Engine, part: ServerFile, file: &Path, text: String) -> Result<(), FileRefusal> {
    let name = file.display().to_string();
    match part {
        ServerFile::Policy => engine.policy_file(name, text).await,
        ServerFile::Floor => engine.floor_file(name, text).await,
    }
}

/// Follows the files, and the servers where there are none, for ever. A bad file leaves the one before in force; the engine says so in the log, the
/// figures and the API.
pub(crate) async fn follow(engine: Engine, terms: Terms) {
    // Nothing is taken as known: a file may have changed since the process was started with it.
    let files = [(ServerFile::Floor, terms.policy_floor), (ServerFile::Policy, terms.policy)];
    let given = files.into_iter().filter_map(|(part, path)| Some(Followed { part, path: path?, taken: None }));
    let (mut files, mut told): (Vec<Followed>, _) = (given.collect(), None);
    loop {
        tokio::time::sleep(LOOK).await;
        for file in &mut files {
            file.look(&engine).await;
        }
        let looked = match engine.follow_servers().await {
            Ok(_) => engine.policy_differs().await.map(drop),
            Err(error) => Err(error),
        };
        let problem = looked.err().map(|error| error.to_string());
        if let Some(error) = problem.as_ref().filter(|_| problem != told) {
            tracing::error!(error, "what the servers have put in force could not be looked at");
        }
        told = problem;
    }
}

/// A file that is followed.
struct Followed {
    part: ServerFile,
    path: PathBuf,
    /// The text that is in force, or that was refused for what is in it. Everything else is tried again.
    taken: Option<String>,
}

impl Followed {
    async fn look(&mut self, engine: &Engine) {
        let told = |why: String| engine.file_unreadable(self.part, &self.path.display().to_string(), why);
        let text = match settled(&self.path, self.taken.as_deref()).await {
            Ok(Some(text)) if self.taken.as_ref() == Some(&text) => return,
            Ok(Some(text)) => text,
            Ok(None) => return told("the file changes while it is read".to_owned()),
            Err(error) => {
                told(format!("the file cannot be read: {error}"));
                self.taken = None;
                return;
            }
        };
        match put(engine, self.part, &self.path, text.clone()).await {
            Ok(()) | Err(FileRefusal::Refused(_)) => self.taken = Some(text),
            // The file may be good: it is tried again at the next look.
            Err(FileRefusal::NotYet(_)) => self.taken = None,
        }
    }
}

/// The text of a file that nobody is in the middle of writing: one that is known, or that is the same a moment later. None where it changes.
async fn settled(file: &Path, known: Option<&str>) -> io::Result<Option<String>> {
    let first = looked(file).await?;
    if known == Some(first.0.as_str()) {
        return Ok(Some(first.0));
    }
    tokio::time::sleep(SETTLED).await;
    let second = looked(file).await?;
    Ok((first == second).then_some(second.0))
}

/// The text of a file, with its size and the time of its last change.
async fn looked(file: &Path) -> io::Result<(String, u64, Option<SystemTime>)> {
    let file = file.to_owned();
    let look = tokio::task::spawn_blocking(move || {
        let text = std::fs::read_to_string(&file)?;
        let about = std::fs::metadata(&file)?;
        Ok((text, about.len(), about.modified().ok()))
    });
    look.await.unwrap_or_else(|_| Err(io::Error::other("the file could not be looked at")))
}

/// The text of a policy file.
pub(crate) fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| Failure::PolicyUnread(file.to_owned(), error))
}
