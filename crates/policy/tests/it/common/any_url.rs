//! Checks for any text, used as a URL.

use tool_facts::UrlFacts;

/// Checks one text.
pub(crate) fn check(address: &str) {
    let Ok(facts) = UrlFacts::parse(address, "GET") else { return };
    assert!(!facts.host.is_empty() && facts.host.is_ascii() && !facts.host.contains('@'));
    let host = if facts.host.contains(':') { format!("[{}]", facts.host) } else { facts.host.clone() };
    let again = UrlFacts::parse(&format!("{}://{host}/", facts.scheme), "GET")
        .map(|again| (again.host, again.ip, again.private));
    assert_eq!(again, Ok((facts.host, facts.ip, facts.private)), "a parsed host is parsed as the same host");
}
