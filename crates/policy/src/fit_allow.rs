//! What the patterns of an allowing rule cover.

use tool_facts::{CallFacts, CallPath};

use crate::{
    Rule,
    answer::MatchAnswer,
    fit_parts::{CallView, not_about},
    host_pattern::{Host, HostPattern},
    location::Location,
    part_patterns::PartPatterns,
    parts::{CallPart, FileTarget, Parts, RunFacts},
    path_pattern::PathPattern,
    why::{PartKind, Why, excerpt},
};

impl PartPatterns {
    /// Whether an allowing rule covers one part of a call.
    pub(crate) fn allow(&self, rule: &Rule, view: &CallView<'_, '_>, part: &CallPart) -> MatchAnswer {
        let (facts, parts) = (view.case.parsed(), view.parts);
        if part.kind == PartKind::Doubt {
            return MatchAnswer::No(Why::Doubt { reason: part.text.clone() });
        }
        if part.kind == PartKind::Call && parts.has_command {
            return not_about(PartKind::Call);
        }
        self.allow_beside(rule, view).and(|| match parts.run_of(part) {
            Some(run) if part.kind != PartKind::Call => self.allow_part(parts, part, run),
            _ => self.allow_call(rule, facts, parts),
        })
    }

    /// Whether everything beside the command is parsed and examined by the rule.
    fn allow_beside(&self, rule: &Rule, view: &CallView<'_, '_>) -> MatchAnswer {
        let facts = view.case.parsed();
        let doubt = failure_beside_command(facts);
        if let Some(reason) = doubt {
            return MatchAnswer::No(Why::Doubt { reason: excerpt(&reason) });
        }
        let when = |variable: &str| rule.when.as_ref().is_some_and(|when| when.looks_at(variable));
        let looks_at = |variable: &str| {
            when(variable)
                || match variable {
                    "shell" => view.parts.has_command,
                    "path" => self.paths.is_some() || self.writes.is_some(),
                    "url" => self.hosts.is_some(),
                    "sql" => self.tables.is_some(),
                    _ => false,
                }
        };
        let names = |argument: &str| rule.when.as_ref().is_some_and(|when| when.names(argument));
        if let Some((argument, _)) = facts.first_unexamined(looks_at, names) {
            return MatchAnswer::No(Why::Beside { argument: excerpt(argument) });
        }
        if view.parts.has_command {
            self.allow_named_beside_command(facts, &when, view.parts)
        } else {
            MatchAnswer::Yes
        }
    }

    /// Whether the paths, the address and the SQL that a call names beside its command are covered, or examined by the expression.
    fn allow_named_beside_command(
        &self,
        facts: &CallFacts,
        when: &dyn Fn(&str) -> bool,
        parts: &Parts<'_>,
    ) -> MatchAnswer {
        let here = |one: &CallPath| {
            !facts.declared && one.path.as_ref().is_ok_and(|path| !path.absolute && path.components.is_empty())
        };
        let files = named_files(facts).find_map(|one| match &self.paths {
            _ if when("path") || here(one) => None,
            Some(patterns) => allow_file(patterns, one, &parts.session).unless_yes(),
            None => Some(MatchAnswer::No(Why::Beside { argument: excerpt(&one.place) })),
        });
        let beside = |fact: &str, present: bool| present && !when(fact);
        match files {
            Some(answer) => answer,
            None if beside("url", facts.url.is_some()) => MatchAnswer::No(Why::Beside { argument: "url".to_owned() }),
            None if beside("sql", facts.sql.is_some()) => MatchAnswer::No(Why::Beside { argument: "sql".to_owned() }),
            None => MatchAnswer::Yes,
        }
    }

    /// Whether a part of a command is covered.
    fn allow_part(&self, parts: &Parts<'_>, part: &CallPart, run: &RunFacts<'_>) -> MatchAnswer {
        let session = &parts.session;
        let about = match part.kind {
            PartKind::Run => self.commands.is_some() && !run.run.words.is_empty(),
            PartKind::Write => self.writes.is_some(),
            PartKind::Variable => self.env.is_some(),
            PartKind::Address => self.hosts.is_some(),
            PartKind::Directory => self.commands.is_some(),
            PartKind::Call | PartKind::Doubt => false,
        };
        if !about {
            return not_about(part.kind);
        }
        let by_command = || if self.commands.is_some() { self.cover_run(run, session) } else { MatchAnswer::Yes };
        let here = || {
            if self.commands.is_some() || self.within.is_some() {
                self.allow_directory(run, session)
            } else {
                MatchAnswer::Yes
            }
        };
        by_command().and(here).and(|| match part.kind {
            PartKind::Run => self.allow_paths_of(run, session),
            PartKind::Write => run.writes.get(part.item).map_or(not_about(part.kind), |file| {
                as_write(allow_target(self.writes.as_deref(), file, session, true))
                    .and(|| allow_target(self.paths.as_deref(), file, session, true))
            }),
            PartKind::Variable => self.allow_variable(run, part.item),
            PartKind::Address => self.allow_contact(run, part.item),
            PartKind::Directory => MatchAnswer::Yes,
            PartKind::Call | PartKind::Doubt => not_about(part.kind),
        })
    }

    /// Whether a run happens in a directory of the rule: without `in`, in the root of the session or below it.
    fn allow_directory(&self, run: &RunFacts<'_>, session: &Location) -> MatchAnswer {
        let Some(directory) = &run.directory else { return MatchAnswer::No(Why::UnknownDirectory) };
        let fits = match &self.within {
            Some(patterns) => patterns.iter().any(|pattern| pattern.covers(directory, session, false)),
            None => directory.is_within(session),
        };
        if fits { MatchAnswer::Yes } else { MatchAnswer::No(Why::Directory { directory: run.shown_directory() }) }
    }

    /// Whether every path that a run reads or writes is in `paths`, if the rule has that list.
    fn allow_paths_of(&self, run: &RunFacts<'_>, session: &Location) -> MatchAnswer {
        let Some(patterns) = &self.paths else { return MatchAnswer::Yes };
        let read = run.reads.iter().chain(&run.perhaps).map(|file| (file, !run.effects.known));
        let written = run.writes.iter().map(|file| (file, true));
        let mut all = read.chain(written);
        let first = all.find_map(|(file, written)| allow_target(Some(patterns), file, session, written).unless_yes());
        first.unwrap_or(MatchAnswer::Yes)
    }

    fn allow_variable(&self, run: &RunFacts<'_>, item: usize) -> MatchAnswer {
        let Some(assignment) = run.run.assignments.get(item) else { return not_about(PartKind::Variable) };
        let named = self.env.iter().flatten().any(|pattern| pattern.matches(&assignment.name));
        if named { MatchAnswer::Yes } else { MatchAnswer::No(Why::Variable { name: excerpt(&assignment.name) }) }
    }

    fn allow_contact(&self, run: &RunFacts<'_>, item: usize) -> MatchAnswer {
        let Some(contact) = run.contacts.get(item) else { return not_about(PartKind::Address) };
        let Some(host) = &contact.host else { return MatchAnswer::No(Why::Address { address: contact.text.clone() }) };
        cover_host(self.hosts.as_deref().unwrap_or_default(), host)
    }

    /// Whether a call without a command is covered: every path, address and table that it names.
    fn allow_call(&self, rule: &Rule, facts: &CallFacts, parts: &Parts<'_>) -> MatchAnswer {
        if self.commands.is_some() {
            return MatchAnswer::No(Why::NoCommand);
        }
        let when = |variable: &str| rule.when.as_ref().is_some_and(|when| when.looks_at(variable));
        let files: Vec<&CallPath> = named_files(facts).collect();
        let about_files = self.paths.is_some() || self.writes.is_some();
        let about = (about_files && !files.is_empty())
            || (self.hosts.is_some() && facts.url.is_some())
            || (self.tables.is_some() && facts.sql.is_some());
        if !about {
            return MatchAnswer::No(Why::Nothing { key: self.first_key() });
        }
        let by_files = files.into_iter().fold(MatchAnswer::Yes, |answer, one| {
            answer.and(|| {
                if about_files {
                    self.allow_named_file(facts, one, &parts.session)
                } else if when("path") {
                    MatchAnswer::Yes
                } else {
                    MatchAnswer::No(Why::Beside { argument: excerpt(&one.place) })
                }
            })
        });
        by_files.and(|| self.allow_url(facts, &when)).and(|| self.allow_sql(rule, facts, &when))
    }

    /// Whether a path that a call names is covered.
    fn allow_named_file(&self, facts: &CallFacts, one: &CallPath, session: &Location) -> MatchAnswer {
        let by_writes = match &self.writes {
            Some(_) if one.written && !facts.declared => MatchAnswer::No(Why::Undeclared),
            Some(patterns) if one.written || self.paths.is_none() => as_write(allow_file(patterns, one, session)),
            _ => MatchAnswer::Yes,
        };
        by_writes.and(|| match &self.paths {
            Some(patterns) => allow_file(patterns, one, session),
            None => MatchAnswer::Yes,
        })
    }

    fn allow_url(&self, facts: &CallFacts, when: &dyn Fn(&str) -> bool) -> MatchAnswer {
        let url = match &facts.url {
            None => return MatchAnswer::Yes,
            Some(Ok(url)) => url,
            Some(Err(unparsed)) => return MatchAnswer::No(Why::Doubt { reason: excerpt(&unparsed.reason) }),
        };
        let Some(patterns) = &self.hosts else {
            return if when("url") {
                MatchAnswer::Yes
            } else {
                MatchAnswer::No(Why::Beside { argument: "url".to_owned() })
            };
        };
        let reads = matches!(url.method.as_str(), "GET" | "HEAD") || when("url");
        if !reads {
            return MatchAnswer::No(Why::Address { address: excerpt(&format!("{} {}", url.method, url.host)) });
        }
        cover_host(patterns, &Host::of_request(url))
    }

    fn allow_sql(&self, rule: &Rule, facts: &CallFacts, when: &dyn Fn(&str) -> bool) -> MatchAnswer {
        let sql = match &facts.sql {
            None => return MatchAnswer::Yes,
            Some(Ok(sql)) if sql.doubt.is_none() => sql,
            Some(_) => return MatchAnswer::No(Why::SqlActs),
        };
        let Some(patterns) = &self.tables else {
            return if when("sql") {
                MatchAnswer::Yes
            } else {
                MatchAnswer::No(Why::Beside { argument: "sql".to_owned() })
            };
        };
        // An expression over the SQL excuses changes of rows of the tables on the list, and functions only if it looks at them.
        let functions = || rule.when.as_ref().is_some_and(|when| when.looks_at_functions());
        if !sql.read_only && (!when("sql") || sql.acts || (sql.calls && !functions())) {
            return MatchAnswer::No(Why::SqlActs);
        }
        let mut tables = sql.read_tables.iter().chain(&sql.written_tables);
        match tables.find(|table| !patterns.iter().any(|pattern| pattern.covers(table))) {
            Some(table) => MatchAnswer::No(Why::Table { table: excerpt(table) }),
            None => MatchAnswer::Yes,
        }
    }

    /// The first list that the rule has.
    pub(crate) fn first_key(&self) -> &'static str {
        let keys = [
            ("commands", self.commands.is_some()),
            ("writes", self.writes.is_some()),
            ("paths", self.paths.is_some()),
            ("hosts", self.hosts.is_some()),
            ("tables", self.tables.is_some()),
            ("env", self.env.is_some()),
        ];
        keys.into_iter().find(|(_, has)| *has).map_or("in", |(key, _)| key)
    }
}

/// The paths that a call reads or writes. The declared directory of its command is none.
pub(crate) fn named_files(facts: &CallFacts) -> impl Iterator<Item = &CallPath> {
    facts.paths.iter().filter(|one| one.read || one.written)
}

/// The first argument except the command that cannot be relied on.
fn failure_beside_command(facts: &CallFacts) -> Option<String> {
    let path = facts.paths.iter().find_map(|one| one.path.as_ref().err());
    let url = || facts.url.as_ref().and_then(|url| url.as_ref().err());
    let sql = || {
        facts.sql.as_ref().and_then(|sql| match sql {
            Ok(sql) => sql.doubt.as_ref(),
            Err(unparsed) => Some(unparsed),
        })
    };
    path.or_else(url).or_else(sql).map(|unparsed| unparsed.reason.clone())
}

/// Whether a file is in a list, if the rule has that list.
fn allow_target(patterns: Option<&[PathPattern]>, file: &FileTarget, session: &Location, written: bool) -> MatchAnswer {
    let Some(patterns) = patterns else { return MatchAnswer::Yes };
    let Some(location) = &file.location else { return MatchAnswer::No(Why::UnknownFile { file: file.text.clone() }) };
    cover_path(patterns, location, session, written, &file.text)
}

/// Whether a path that a call names is in a list.
fn allow_file(patterns: &[PathPattern], one: &CallPath, session: &Location) -> MatchAnswer {
    match &one.path {
        Ok(path) => {
            let location = Location::of_path(path, session);
            cover_path(patterns, &location, session, one.written, &excerpt(&path.canonical))
        }
        Err(unparsed) => MatchAnswer::No(Why::Doubt { reason: excerpt(&unparsed.reason) }),
    }
}

/// Names a file that is not in `writes` as one that is written.
fn as_write(answer: MatchAnswer) -> MatchAnswer {
    if let MatchAnswer::No(Why::Path { path }) = answer { MatchAnswer::No(Why::Write { file: path }) } else { answer }
}

fn cover_path(
    patterns: &[PathPattern],
    location: &Location,
    session: &Location,
    written: bool,
    text: &str,
) -> MatchAnswer {
    if patterns.iter().any(|pattern| pattern.covers(location, session, written)) {
        return MatchAnswer::Yes;
    }
    let file = text.to_owned();
    let steers = written && patterns.iter().any(|pattern| pattern.covers(location, session, false));
    MatchAnswer::No(if steers { Why::Steers { file } } else { Why::Path { path: file } })
}

fn cover_host(patterns: &[HostPattern], host: &Host) -> MatchAnswer {
    if !host.plain {
        return MatchAnswer::No(Why::Address { address: host.shown() });
    }
    let named = patterns.iter().any(|pattern| pattern.covers(host));
    if named { MatchAnswer::Yes } else { MatchAnswer::No(Why::Host { host: host.shown() }) }
}
