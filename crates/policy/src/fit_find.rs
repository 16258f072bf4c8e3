//! Where the patterns of an asking or denying rule are found.

use tool_facts::{CallFacts, PathFacts, Unparsed};

use crate::{
    answer::MatchAnswer,
    fit_allow::named_files,
    fit_parts::{CallView, not_about},
    host_pattern::{Host, HostPattern},
    location::Location,
    part_patterns::PartPatterns,
    parts::{CallPart, FileTarget, Parts, RunFacts},
    path_pattern::PathPattern,
    why::{PartKind, Why, excerpt},
};

impl PartPatterns {
    /// Whether an asking or denying rule matches one part of a call.
    pub(crate) fn find(&self, view: &CallView<'_, '_>, part: &CallPart) -> MatchAnswer {
        let (facts, parts) = (view.case.parsed(), view.parts);
        match (part.kind, parts.run_of(part)) {
            (PartKind::Doubt, _) if self.first_key() == "tables" && facts.declared => self.find_tables(facts),
            (PartKind::Doubt, _) => MatchAnswer::Maybe(Why::Doubt { reason: part.text.clone() }),
            (PartKind::Call, _) if parts.has_command => not_about(PartKind::Call),
            (PartKind::Call, _) | (_, None) => self.find_in_call(facts, parts),
            (kind, Some(run)) => {
                let own = match kind {
                    PartKind::Run => true,
                    PartKind::Write => self.writes.is_some() || self.paths.is_some(),
                    PartKind::Variable => self.env.is_some(),
                    PartKind::Address => self.hosts.is_some(),
                    PartKind::Directory | PartKind::Call | PartKind::Doubt => false,
                };
                if own { self.find_in_run(view, part, run) } else { not_about(kind) }
            }
        }
    }

    /// Whether every list of the rule is found in a run. The list that is about the kind of the part is found in that part.
    fn find_in_run(&self, view: &CallView<'_, '_>, part: &CallPart, run: &RunFacts<'_>) -> MatchAnswer {
        let (facts, parts) = (view.case.parsed(), view.parts);
        let item = |kind: PartKind| (part.kind == kind).then_some(part.item);
        self.find_command(run)
            .and(|| self.find_writes(run, item(PartKind::Write), facts, parts))
            .and(|| self.find_paths(run, item(PartKind::Write), facts, parts))
            .and(|| self.find_hosts(run, item(PartKind::Address), facts))
            .and(|| self.find_variables(run, item(PartKind::Variable)))
            .and(|| self.find_directory(run, parts))
            .and(|| if self.tables.is_some() { self.find_tables(facts) } else { MatchAnswer::Yes })
    }

    fn find_command(&self, run: &RunFacts<'_>) -> MatchAnswer {
        if self.commands.is_some() { self.find_run(run) } else { MatchAnswer::Yes }
    }

    /// Whether a file that a run writes is in `writes`, or that file alone.
    fn find_writes(
        &self,
        run: &RunFacts<'_>,
        item: Option<usize>,
        facts: &CallFacts,
        parts: &Parts<'_>,
    ) -> MatchAnswer {
        let Some(patterns) = &self.writes else { return MatchAnswer::Yes };
        if let Some(file) = item.and_then(|item| run.writes.get(item)) {
            return find_target(patterns, file, &parts.session);
        }
        let written = run.writes.iter().map(|file| find_target(patterns, file, &parts.session));
        let perhaps = run.perhaps.iter().map(|file| {
            find_target(patterns, file, &parts.session).at_most_maybe(|| Why::UnknownFile { file: file.text.clone() })
        });
        let named = named_files(facts).filter(|one| one.written);
        let named = named.map(|one| find_named(patterns, &one.path, &parts.session));
        MatchAnswer::any(written.chain(perhaps).chain(named), || Why::Nothing { key: "writes" })
    }

    /// Whether a file that a run reads or writes is in `paths`, or that file alone.
    fn find_paths(&self, run: &RunFacts<'_>, item: Option<usize>, facts: &CallFacts, parts: &Parts<'_>) -> MatchAnswer {
        let Some(patterns) = &self.paths else { return MatchAnswer::Yes };
        if let Some(file) = item.and_then(|item| run.writes.get(item)) {
            return find_target(patterns, file, &parts.session);
        }
        let files = run.writes.iter().chain(&run.reads).chain(&run.perhaps);
        let files = files.map(|file| find_target(patterns, file, &parts.session));
        let named = facts.paths.iter().map(|one| find_named(patterns, &one.path, &parts.session));
        MatchAnswer::any(files.chain(named), || Why::Nothing { key: "paths" })
    }

    fn find_hosts(&self, run: &RunFacts<'_>, item: Option<usize>, facts: &CallFacts) -> MatchAnswer {
        let Some(patterns) = &self.hosts else { return MatchAnswer::Yes };
        let one = |host: &Option<Host>, text: &String| match host {
            Some(host) => find_host(patterns, host),
            None => MatchAnswer::Maybe(Why::Address { address: text.clone() }),
        };
        if let Some(contact) = item.and_then(|item| run.contacts.get(item)) {
            return one(&contact.host, &contact.text);
        }
        let contacts = run.contacts.iter().map(|contact| one(&contact.host, &contact.text));
        let sends = run
            .effects
            .hazards
            .iter()
            .filter(|hazard| hazard.kind == command_line::HazardKind::Sends && hazard.target.is_none());
        let sends = sends.map(|_| MatchAnswer::Maybe(Why::Address { address: run.shown() }));
        let url = facts.url.iter().map(|url| match url {
            Ok(url) => find_host(patterns, &Host::of_facts(url)),
            Err(unparsed) => doubt(unparsed),
        });
        // A program that is not in the tables may contact what its words name.
        let words = run.run.words.iter().skip(1).filter(|_| !run.effects.known).filter_map(|word| {
            let host = word.text().filter(|text| text.contains("://") || text.contains('.')).map(Host::of_text)?;
            let address = run.shown_word(word);
            host.map(|host| find_host(patterns, &host).at_most_maybe(|| Why::Address { address }))
        });
        MatchAnswer::any(contacts.chain(sends).chain(url).chain(words), || Why::Nothing { key: "hosts" })
    }

    fn find_variables(&self, run: &RunFacts<'_>, item: Option<usize>) -> MatchAnswer {
        let Some(patterns) = &self.env else { return MatchAnswer::Yes };
        let mut names = run.run.assignments.iter().enumerate().filter(|(at, _)| item.is_none_or(|item| item == *at));
        let found = names.any(|(_, one)| patterns.iter().any(|pattern| pattern.matches(&one.name)));
        if found { MatchAnswer::Yes } else { MatchAnswer::No(Why::Nothing { key: "env" }) }
    }

    fn find_directory(&self, run: &RunFacts<'_>, parts: &Parts<'_>) -> MatchAnswer {
        let Some(patterns) = &self.within else { return MatchAnswer::Yes };
        let Some(directory) = &run.directory else { return MatchAnswer::Maybe(Why::UnknownDirectory) };
        let why = || Why::Directory { directory: run.shown_directory() };
        MatchAnswer::any(patterns.iter().map(|pattern| pattern.finds(directory, &parts.session, why)), why)
    }

    /// Whether every list of the rule is found in a call without a command.
    fn find_in_call(&self, facts: &CallFacts, parts: &Parts<'_>) -> MatchAnswer {
        if self.commands.is_some() || self.env.is_some() || self.within.is_some() {
            return absent(facts, Why::NoCommand);
        }
        let by_writes = || {
            let Some(patterns) = &self.writes else { return MatchAnswer::Yes };
            let files = named_files(facts).filter(|one| one.written).map(|one| {
                let answer = find_named(patterns, &one.path, &parts.session);
                // A path whose use is not declared may be read only.
                if one.read { answer.at_most_maybe(|| Why::UnknownFile { file: excerpt(&one.place) }) } else { answer }
            });
            MatchAnswer::any(files, || Why::Nothing { key: "writes" })
        };
        let by_paths = || {
            let Some(patterns) = &self.paths else { return MatchAnswer::Yes };
            let files = named_files(facts).map(|one| find_named(patterns, &one.path, &parts.session));
            MatchAnswer::any(files, || Why::Nothing { key: "paths" })
        };
        let by_host = || match (&self.hosts, &facts.url) {
            (None, _) => MatchAnswer::Yes,
            (Some(_), None) => absent(facts, Why::Nothing { key: "hosts" }),
            (Some(_), Some(Err(unparsed))) => doubt(unparsed),
            (Some(patterns), Some(Ok(url))) => find_host(patterns, &Host::of_facts(url)),
        };
        by_writes()
            .and(by_paths)
            .and(by_host)
            .and(|| if self.tables.is_some() { self.find_tables(facts) } else { MatchAnswer::Yes })
    }

    fn find_tables(&self, facts: &CallFacts) -> MatchAnswer {
        let sql = match &facts.sql {
            None => return absent(facts, Why::Nothing { key: "tables" }),
            Some(Err(unparsed)) => return doubt(unparsed),
            Some(Ok(sql)) => sql,
        };
        let named = sql.read_tables.iter().chain(&sql.written_tables);
        let tables = named.chain(&sql.reads).chain(&sql.writes);
        let answers = tables.flat_map(|table| {
            let why = || Why::Table { table: excerpt(table) };
            self.tables.iter().flatten().map(move |pattern| pattern.finds(table, why))
        });
        match MatchAnswer::any(answers, || Why::Nothing { key: "tables" }) {
            MatchAnswer::No(_) if sql.doubt.is_some() => MatchAnswer::Maybe(Why::SqlActs),
            answer @ (MatchAnswer::Yes | MatchAnswer::Maybe(_) | MatchAnswer::No(_)) => answer,
        }
    }
}

/// A fact that the call does not have. A tool that is not declared may have it under a name that is not known.
fn absent(facts: &CallFacts, why: Why) -> MatchAnswer {
    if facts.declared { MatchAnswer::No(why) } else { MatchAnswer::Maybe(why) }
}

fn doubt(unparsed: &Unparsed) -> MatchAnswer {
    MatchAnswer::Maybe(Why::Doubt { reason: excerpt(&unparsed.reason) })
}

fn find_target(patterns: &[PathPattern], file: &FileTarget, session: &Location) -> MatchAnswer {
    let Some(location) = &file.location else {
        return MatchAnswer::Maybe(Why::UnknownFile { file: file.text.clone() });
    };
    find_path(patterns, location, session, &file.text)
}

fn find_named(patterns: &[PathPattern], path: &Result<PathFacts, Unparsed>, session: &Location) -> MatchAnswer {
    match path {
        Ok(path) => find_path(patterns, &Location::of_path(path, session), session, &excerpt(&path.canonical)),
        Err(unparsed) => doubt(unparsed),
    }
}

fn find_path(patterns: &[PathPattern], location: &Location, session: &Location, text: &str) -> MatchAnswer {
    let why = || Why::Path { path: text.to_owned() };
    let found = patterns.iter().map(|pattern| pattern.finds(location, session, why));
    MatchAnswer::any(found.filter(|answer| !matches!(answer, MatchAnswer::No(_))), why)
}

fn find_host(patterns: &[HostPattern], host: &Host) -> MatchAnswer {
    let why = || Why::Host { host: host.shown() };
    MatchAnswer::any(patterns.iter().map(|pattern| pattern.finds(host, why)), why)
}
