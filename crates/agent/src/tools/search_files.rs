//! `search_files`: finds the lines of files that match a regular expression.

use std::io::Read;

use cap_std::fs::Dir;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use wildmatch::WildMatch;

use super::bounds::{Bounds, ToolFailure};
use super::cut;
use super::file_tool::FileWork;
use super::walk::{FileKind, WalkEnd, WalkEntry, WalkStep, walk};
use super::workspace_path::{WorkspacePath, open_regular};
use crate::tool::ToolSpec;

/// Limits: matches, files, bytes of a file, characters of a line, length of the pattern.
const MATCHES: usize = 200;
const FILES: usize = 10_000;
const LARGEST: u64 = 4 << 20;
const LINE: usize = 400;
const PATTERN: usize = 1000;

/// Memory limit of a compiled pattern, in bytes.
const COMPILED: usize = 1 << 20;

pub(super) struct SearchFiles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
}

impl FileWork for SearchFiles {
    type Arguments = Arguments;
    const CHANGES: bool = false;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "search_files".to_owned(),
            description:
                "Finds the lines that match a regular expression (Rust syntax, no backreferences) in the text files \
                 below a directory of the workspace, at most 200. Binary files, files over 4 MiB, links and .git are \
                 left out."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "The regular expression, for one line at a time"},
                    "path": {"type": "string", "description": "Path of the directory or file, relative to the workspace; the workspace itself if absent"},
                    "glob": {"type": "string", "description": "Only files that match this glob with * and ?: by name (*.rs), or by path if the glob contains a / (src/*)"},
                    "ignore_case": {"type": "boolean"}
                },
                "required": ["pattern"],
                "additionalProperties": false
            }),
            repeatable: true,
            parallel: true,
        }
    }

    fn work(root: &Dir, arguments: Arguments, bounds: &Bounds) -> Result<Value, ToolFailure> {
        let pattern = compile(&arguments)?;
        let place = WorkspacePath::parse(arguments.path.as_deref().unwrap_or("."))?;
        let glob = arguments.glob.as_deref().map(|glob| (WildMatch::new(glob), glob.contains('/')));
        let mut search = Search { pattern, glob, bounds, matches: Vec::new(), files: 0, skipped: 0 };
        let end = match place.directory(root) {
            Ok(dir) => walk(&dir, bounds, &mut |entry| search.visit(entry))
                .map_err(|error| ToolFailure::with(&place.canonical(), &error))?,
            Err(trouble) => search.only(root, &place).ok_or(trouble)?,
        };
        Ok(search.result(&place.canonical(), end))
    }
}

fn compile(arguments: &Arguments) -> Result<Regex, ToolFailure> {
    if arguments.pattern.len() > PATTERN || arguments.glob.as_ref().is_some_and(|glob| glob.len() > PATTERN) {
        return Err(ToolFailure::new(format!("the pattern is longer than {PATTERN} bytes")));
    }
    RegexBuilder::new(&arguments.pattern)
        .case_insensitive(arguments.ignore_case)
        .size_limit(COMPILED)
        .dfa_size_limit(COMPILED)
        .build()
        .map_err(|error| ToolFailure::new(format!("the pattern cannot be used: {error}")))
}

struct Search<'a> {
    pattern: Regex,
    /// Glob pattern, and whether it matches whole paths instead of names.
    glob: Option<(WildMatch, bool)>,
    bounds: &'a Bounds,
    matches: Vec<Value>,
    files: usize,
    skipped: usize,
}

impl Search<'_> {
    fn visit(&mut self, entry: &WalkEntry<'_>) -> WalkStep {
        match entry.kind {
            FileKind::Directory if entry.name == ".git" => return WalkStep::Past,
            FileKind::Directory => return WalkStep::Into,
            FileKind::Link | FileKind::Other => return WalkStep::Past,
            FileKind::File => {}
        }
        let fits = |(glob, of_paths): &(WildMatch, bool)| glob.matches(if *of_paths { entry.path } else { entry.name });
        if !self.glob.as_ref().is_none_or(fits) {
            return WalkStep::Past;
        }
        if self.files == FILES {
            return WalkStep::Enough;
        }
        self.look_into(entry.parent, entry.name, entry.path)
    }

    /// Searches one file, if the path names a file.
    fn only(&mut self, root: &Dir, place: &WorkspacePath) -> Option<WalkEnd> {
        let (parent, name) = place.parent(root).ok()?;
        open_regular(&parent, name).ok()?;
        Some(match self.look_into(&parent, name, name) {
            WalkStep::Enough => WalkEnd::Short,
            WalkStep::Into | WalkStep::Past => WalkEnd::Whole,
        })
    }

    fn look_into(&mut self, parent: &Dir, name: &str, path: &str) -> WalkStep {
        self.files += 1;
        let Some(text) = text(parent, name) else {
            self.skipped += 1;
            return WalkStep::Past;
        };
        for (at, line) in self.bounds.secrets.hide(&text).lines().enumerate() {
            if self.pattern.is_match(line) {
                if self.matches.len() == MATCHES {
                    return WalkStep::Enough;
                }
                let (shown, _) = cut::beginning(line, LINE);
                self.matches.push(json!({"path": path, "line": at + 1, "text": shown}));
            }
            if at % 1024 == 1023 && self.bounds.go_on().is_err() {
                return WalkStep::Enough;
            }
        }
        WalkStep::Past
    }

    fn result(self, path: &str, end: WalkEnd) -> Value {
        let cut = end == WalkEnd::Short;
        let mut result = json!({"path": path, "files": self.files, "skipped": self.skipped, "cut": cut});
        if cut {
            let shown = self.matches.len();
            result["note"] =
                json!(format!("[cut: {shown} matches of {} files shown, and the search is incomplete]", self.files));
        }
        result["matches"] = Value::Array(self.matches);
        result
    }
}

/// Text of a file; `None` for a large, binary or unreadable file.
fn text(parent: &Dir, name: &str) -> Option<String> {
    let file = open_regular(parent, name).ok()?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > LARGEST || bytes.contains(&0) {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
