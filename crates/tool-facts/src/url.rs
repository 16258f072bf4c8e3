//! Parses URLs, and finds the host that a URL really names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Serialize;
use url::{Host, Url};

use super::{Unparsed, text};
use crate::word_list::WordList;

/// Longest URL, in bytes.
const LONGEST: usize = 8192;

/// Sequences that some servers read as a slash, as dots or as the end of a path.
const HIDDEN: &[&str] = &["%2f", "%5c", "%252e", "%252f", "%255c", "%00", "..;"];

/// Facts about a URL.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct UrlFacts {
    /// The scheme in lower case.
    pub scheme: String,
    /// The host in lower case and ASCII (punycode), without a dot at its end; an IPv6 address is without brackets.
    pub host: String,
    /// The port, or the default port of the scheme; 0 if the scheme has none.
    pub port: u16,
    /// The path, with `.` and `..` resolved.
    pub path: String,
    /// The URL has a query.
    pub query: bool,
    /// The URL has a user or a password before the host.
    pub userinfo: bool,
    /// The host as an IP address, in its usual form; empty if the host is a name.
    pub ip: String,
    /// The host is this machine or in a network that is not public: loopback, link-local, private, metadata services.
    pub private: bool,
    /// The host was written with characters outside ASCII, or in punycode.
    pub non_ascii: bool,
    /// The method, in upper case; `GET` if the arguments name none.
    pub method: String,
}

impl UrlFacts {
    /// Parses a URL as a browser would.
    pub fn parse(address: &str, method: &str) -> Result<Self, Unparsed> {
        check(address)?;
        let url = Url::parse(address).map_err(|error| refused(format!("the URL cannot be parsed: {error}")))?;
        let authority = authority(address);
        let host = url.host().ok_or_else(|| refused("the URL has no host"))?;
        let (host, ip) = match host {
            Host::Domain(name) => domain(name)?,
            Host::Ipv4(ip) => (ip.to_string(), Some(IpAddr::V4(ip))),
            Host::Ipv6(ip) => (ip.to_string(), Some(unwrap_ipv4(ip))),
        };
        if url.port() == Some(0) {
            return Err(refused("no server has port 0"));
        }
        let lower = url.path().to_ascii_lowercase();
        if HIDDEN.iter().any(|hidden| lower.contains(hidden)) {
            return Err(refused("a slash or dots are hidden in the path"));
        }
        Ok(Self {
            scheme: url.scheme().to_owned(),
            port: url.port_or_known_default().unwrap_or_default(),
            path: url.path().to_owned(),
            query: url.query().is_some(),
            userinfo: authority.contains('@') || !url.username().is_empty() || url.password().is_some(),
            private: ip.map_or_else(|| is_private_name(&host), is_private_ip),
            non_ascii: !authority.is_ascii() || host.split('.').any(|label| label.starts_with("xn--")),
            ip: ip.map(|ip| ip.to_string()).unwrap_or_default(),
            method: read_method(method)?,
            host,
        })
    }
}

fn check(address: &str) -> Result<(), Unparsed> {
    if address.len() > LONGEST {
        return Err(refused(format!("the URL is longer than {LONGEST} bytes")));
    }
    // Parsers drop line ends, tabs and blanks, and convert backslashes, but not all of them do.
    let odd = address.chars().find(|c| matches!(c, '\n' | '\t' | ' ' | '\\' | '"' | '<' | '>' | '`'));
    if let Some(c) = odd.or_else(|| text::find_invisible(address)) {
        return Err(refused(format!("{} is in the URL", text::describe(c))));
    }
    if address.split([',', ';', '|']).skip(1).any(|part| part.contains("://")) {
        return Err(refused("a tool may read the text as several URLs"));
    }
    // `https:host` and `https:///host` are read as `https://host` by some and as a path by others.
    let after = address.split_once(':').map(|(_, rest)| rest).unwrap_or_default();
    if !after.starts_with("//") || after.starts_with("///") {
        return Err(refused("the URL does not name a host after `//`"));
    }
    let authority = authority(address);
    if authority.matches('@').count() > 1 {
        return Err(refused("there is more than one `@` before the host"));
    }
    // Some programs decode percent signs in a host, others look up the host with the percent signs.
    if authority.rsplit('@').next().is_some_and(|host| host.contains('%')) {
        return Err(refused("the host is written with percent signs"));
    }
    Ok(())
}

fn authority(address: &str) -> &str {
    let rest = address.split_once("://").map(|(_, rest)| rest).unwrap_or_default();
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Reads a host that is a name, or an IP address in a scheme whose hosts the parser does not interpret.
fn domain(name: &str) -> Result<(String, Option<IpAddr>), Unparsed> {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    if name.is_empty() || name.split('.').any(str::is_empty) {
        return Err(refused("a part of the host is empty"));
    }
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')) {
        return Err(refused("the host has an invalid character"));
    }
    // The parser interprets numbers as IP addresses in web schemes only; the host means the same in every scheme.
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.chars().all(|c| c.is_ascii_digit()) || last.starts_with("0x") {
        return match Url::parse(&format!("http://{name}/")).ok().and_then(|url| url.host().map(|host| host.to_owned()))
        {
            Some(Host::Ipv4(ip)) => Ok((ip.to_string(), Some(IpAddr::V4(ip)))),
            _ => Err(refused("the host looks like a number but is not one")),
        };
    }
    Ok((name, None))
}

/// Returns the IPv4 address that an IPv6 address embeds, or the IPv6 address itself.
fn unwrap_ipv4(ip: Ipv6Addr) -> IpAddr {
    let [first, second, third, fourth, fifth, sixth, high, low] = ip.segments();
    let wraps = match [first, second, third, fourth, fifth, sixth] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] | [0, 0, 0, 0, 0xffff, 0] => true,
        [0, 0, 0, 0, 0, 0] => high != 0,
        _ => false,
    };
    if wraps {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        return IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    }
    if first == 0x2002 {
        let ([a, b], [c, d]) = (second.to_be_bytes(), third.to_be_bytes());
        return IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    }
    IpAddr::V6(ip)
}

/// Says whether an address is not on the public internet.
fn is_private_ip(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || ip.is_unspecified()
                || ip.is_multicast()
                || ip.is_broadcast()
                || ip.is_documentation()
                || a == 0
                || a >= 240
                || (a == 100 && (64..128).contains(&b))
                || (a == 198 && (18..20).contains(&b))
                || (a == 192 && b == 0 && c == 0)
        }
        IpAddr::V6(ip) => {
            ip.segments().first().is_none_or(|first| !(0x2000..0x4000).contains(first))
                || ip.segments().starts_with(&[0x2001, 0xdb8])
        }
    }
}

/// Says whether a host name stays within a machine or a private network.
fn is_private_name(host: &str) -> bool {
    static PRIVATE_ENDINGS: WordList = WordList::new(include_str!("../data/url/private_endings.txt"));
    !host.contains('.')
        || PRIVATE_ENDINGS
            .any(|ending| host == ending || host.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.')))
}

/// Says whether a text is one of the usual methods.
pub(super) fn is_method(text: &str) -> bool {
    const USUAL: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    USUAL.contains(&text.trim().to_ascii_uppercase().as_str())
}

fn read_method(method: &str) -> Result<String, Unparsed> {
    if method.is_empty() || method.len() > 20 || !method.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return Err(refused("the method is not an HTTP method"));
    }
    Ok(method.to_ascii_uppercase())
}

fn refused(reason: impl Into<String>) -> Unparsed {
    Unparsed::new("url", reason)
}
