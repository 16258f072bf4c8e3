//! A pattern of hosts: `docs.rs`, `*.github.com`, `localhost:3000`.

use command_line::{ShellWord, WordPart};
use tool_facts::UrlFacts;

use crate::{answer::MatchAnswer, why::Why, why::excerpt};

/// Longest pattern, in bytes.
pub(crate) const LONGEST: usize = 1024;

/// A host, or all hosts below a domain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HostPattern {
    host: String,
    below: bool,
    port: Option<u16>,
}

/// The host of an address that a call contacts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    name: String,
    port: u16,
    /// The address is of a usual scheme, and has no user or password in it.
    pub(crate) plain: bool,
    /// The port is the one of its scheme.
    usual_port: bool,
}

/// Schemes of addresses that a list of hosts allows.
const SCHEMES: [&str; 4] = ["http", "https", "ssh", "git"];

impl HostPattern {
    /// Reads a pattern, or gives the reason why the text is not one.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("is empty, so that it matches nothing".into());
        }
        if text.len() > LONGEST {
            return Err(format!("is longer than {LONGEST} bytes"));
        }
        if text.contains("://") || text.contains('/') {
            return Err("is an address: write the host alone, such as `docs.rs`".into());
        }
        let (below, rest) = text.strip_prefix("*.").map_or((false, text), |rest| (true, rest));
        if rest.contains(['*', '?']) {
            return Err("has a wildcard that is not a leading `*.`".into());
        }
        let address = format!("http://{rest}/");
        let facts = UrlFacts::parse(&address, "GET").map_err(|unparsed| format!("is no host: {}", unparsed.reason))?;
        let bare = rest.rsplit_once(']').map_or(rest, |(_, after)| after);
        let port = bare.rsplit_once(':').map(|(_, port)| port.parse().map_err(|_| "has no port after its colon"));
        let port = port.transpose()?;
        if facts.userinfo || facts.query || (below && !facts.ip.is_empty()) {
            return Err("is no host".into());
        }
        Ok(Self { host: facts.host, below, port })
    }

    /// Says whether the pattern matches a host. A pattern without a port means the usual ports, and any port of this machine.
    pub(crate) fn covers(&self, host: &Host) -> bool {
        let port = match self.port {
            Some(port) => port == host.port,
            None => host.usual_port || matches!(self.host.as_str(), "localhost" | "127.0.0.1" | "::1"),
        };
        port && self.names(host)
    }

    /// Whether the pattern matches a host, for a rule that asks or denies.
    pub(crate) fn finds(&self, host: &Host, why: impl FnOnce() -> Why) -> MatchAnswer {
        let found = self.names(host) && self.port.is_none_or(|port| port == host.port);
        if found { MatchAnswer::Yes } else { MatchAnswer::No(why()) }
    }

    fn names(&self, host: &Host) -> bool {
        if self.below {
            host.name.strip_suffix(self.host.as_str()).is_some_and(|sub| sub.len() > 1 && sub.ends_with('.'))
        } else {
            host.name == self.host
        }
    }
}

impl Host {
    /// The host of parsed facts.
    pub(crate) fn of_facts(facts: &UrlFacts) -> Self {
        let usual = match facts.scheme.as_str() {
            "http" => 80,
            "https" => 443,
            "ssh" => 22,
            "git" => 9418,
            _ => 0,
        };
        Self {
            name: facts.host.clone(),
            port: if facts.port == 0 { usual } else { facts.port },
            plain: SCHEMES.contains(&facts.scheme.as_str()) && !facts.userinfo,
            usual_port: facts.port == 0 || facts.port == usual,
        }
    }

    /// The host of an address that a tool requests. Only addresses of the web are plain there.
    pub(crate) fn of_request(facts: &UrlFacts) -> Self {
        let host = Self::of_facts(facts);
        Self { plain: host.plain && matches!(facts.scheme.as_str(), "http" | "https"), ..host }
    }

    /// The host of an address as a program takes it: a URL, a host, or `user@host:path` of `git` and `scp`. `None` if it is not known.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        if text.contains("://") {
            return UrlFacts::parse(text, "GET").ok().map(|facts| Self::of_facts(&facts));
        }
        let (user, rest) = text.split_once('@').map_or((None, text), |(user, rest)| (Some(user), rest));
        if user.is_some_and(|user| {
            user.is_empty() || !user.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        }) {
            return None;
        }
        if let Some((host, path)) = rest.split_once(':')
            && !path
                .split('/')
                .next()
                .is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
        {
            // `host:path` of `git` and `scp`.
            let facts = UrlFacts::parse(&format!("ssh://{host}/"), "GET").ok()?;
            return Some(Self::of_facts(&facts));
        }
        let scheme = if user.is_some() { "ssh" } else { "http" };
        let facts = UrlFacts::parse(&format!("{scheme}://{rest}"), "GET").ok()?;
        let usual_port = !rest.split('/').next().unwrap_or_default().contains(':');
        Some(Self { usual_port, ..Self::of_facts(&facts) })
    }

    /// The host of an address that a run contacts. After the host, the shell may still look for names of files that match a `?` of the query.
    pub(crate) fn of_word(word: &ShellWord) -> Option<Self> {
        if let Some(text) = word.text() {
            return Self::of_text(text);
        }
        let (_, rest) = word.prefix().split_once("://")?;
        let text: String = word.parts.iter().map(known_text).collect::<Option<_>>()?;
        (rest.contains('/') && text.matches("://").count() == 1).then(|| Self::of_text(&text)).flatten()
    }

    /// The name of the host for a reason.
    pub(crate) fn shown(&self) -> String {
        excerpt(&self.name)
    }
}

/// The text of a part that is known or a pattern over file names.
fn known_text(part: &WordPart) -> Option<&str> {
    match part {
        WordPart::Literal(text) | WordPart::Glob(text) => Some(text),
        WordPart::Number => Some("0"),
        WordPart::Home | WordPart::Unknown { .. } => None,
    }
}
