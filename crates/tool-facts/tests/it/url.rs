//! Tests URLs: which host a request really reaches.

use holdpoint_tool_facts::UrlFacts;
use proptest::prelude::*;

fn facts(address: &str) -> UrlFacts {
    UrlFacts::parse(address, "get").unwrap_or_else(|unparsed| panic!("{address:?}: {unparsed:?}"))
}

#[test]
fn all_parts_of_a_url_are_parsed() {
    assert_eq!(
        facts("HTTPS://Example.COM./a/../b/./c?x=1#y"),
        UrlFacts {
            scheme: "https".into(),
            host: "example.com".into(),
            port: 443,
            path: "/b/c".into(),
            query: true,
            userinfo: false,
            ip: String::new(),
            private: false,
            non_ascii: false,
            method: "GET".into(),
        }
    );
    assert_eq!(facts("http://a.example:8080").port, 8080);
    assert_eq!(facts("ftp://a.example/x").port, 21);
    assert_eq!(facts("ssh://a.example/x").port, 0);
    assert_eq!(facts("https://a.example/%2e%2e/x").path, "/x");
    assert!(!facts("https://a.example/#?x").query);
}

#[test]
fn host_follows_the_last_at_sign() {
    for (address, host, userinfo) in [
        ("https://good.com@evil.com/", "evil.com", true),
        ("https://good.com:443@evil.com/", "evil.com", true),
        ("https://@evil.com/", "evil.com", true),
        ("https://evil.com/@good.com", "evil.com", false),
        ("https://evil.com?@good.com", "evil.com", false),
        ("https://evil.com#@good.com", "evil.com", false),
        ("https://good.com.evil.com/", "good.com.evil.com", false),
        ("https://EVIL.com", "evil.com", false),
    ] {
        let facts = facts(address);
        assert_eq!((facts.host.as_str(), facts.userinfo), (host, userinfo), "{address}");
    }
}

#[test]
fn private_addresses_are_recognised_in_every_spelling() {
    for (address, ip) in [
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://0x7f000001/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://017700000001/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://127.0.0.1./", "127.0.0.1"),
        ("http://[::1]/", "::1"),
        ("http://[::ffff:127.0.0.1]/", "127.0.0.1"),
        ("http://[::ffff:7f00:1]/", "127.0.0.1"),
        ("http://[64:ff9b::7f00:1]/", "127.0.0.1"),
        ("http://[2002:7f00:1::]/", "127.0.0.1"),
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("http://2852039166/", "169.254.169.254"),
        ("http://10.0.0.1/", "10.0.0.1"),
        ("http://172.16.0.1/", "172.16.0.1"),
        ("http://192.168.1.1/", "192.168.1.1"),
        ("http://100.64.0.1/", "100.64.0.1"),
        ("http://0.0.0.0/", "0.0.0.0"),
        ("http://0/", "0.0.0.0"),
        ("http://[fe80::1]/", "fe80::1"),
        ("http://[fd00::1]/", "fd00::1"),
        ("http://[::]/", "::"),
        ("http://１２７.0.0.1/", "127.0.0.1"),
        ("http://①②⑦.0.0.1/", "127.0.0.1"),
        ("redis://127.0.0.1/", "127.0.0.1"),
        ("redis://2130706433/", "127.0.0.1"),
        ("redis://0x7f000001/", "127.0.0.1"),
    ] {
        let facts = facts(address);
        assert_eq!((facts.ip.as_str(), facts.private), (ip, true), "{address}");
    }
    for address in [
        "http://localhost/",
        "http://LOCALHOST:80",
        "http://a.localhost/",
        "http://localhost./",
        "http://metadata.google.internal/",
        "http://router.lan/",
        "http://intranet/",
        "http://printer.local/",
        "http://127.0.0.1.nip.io/",
    ] {
        assert!(facts(address).private, "{address}");
    }
    for address in [
        "http://8.8.8.8/",
        "https://example.com/",
        "https://mylocalhost.com/",
        "http://[2606:4700::1]/",
        "http://172.32.0.1/",
    ] {
        assert!(!facts(address).private, "{address}");
    }
}

#[test]
fn look_alike_hosts_are_shown_in_ascii() {
    let cyrillic = facts("https://ex\u{430}mple.com/");
    assert!(cyrillic.non_ascii);
    assert_ne!(cyrillic.host, "example.com");
    assert!(cyrillic.host.starts_with("xn--"));
    assert!(facts("https://xn--exmple-4nf.com/").non_ascii);
    let wide = facts("https://ｅxample.com/");
    assert_eq!((wide.host.as_str(), wide.non_ascii), ("example.com", true));
}

#[test]
fn url_that_programs_parse_differently_is_refused() {
    for address in [
        "",
        "example.com",
        "/x",
        "//example.com",
        "https:example.com",
        "https:/example.com",
        "https:///example.com",
        "https:\\\\example.com",
        "https://good.com\\@evil.com",
        "https://a.com\n.evil.com",
        "https://a.com\t",
        " https://a.com",
        "https://a b.com",
        "https://",
        "https://a..com",
        "https://a%2fb.com",
        "https://a.com/%2f..",
        "https://a.com/x%5c",
        "https://a@b@c.com",
        "file:///etc/passwd",
        "data:text/html,x",
        "javascript:alert(1)",
        "mailto:a@b.com",
        "https://a.com:99999",
        "https://[::1",
        "https://\u{200b}a.com",
        "http://256.256.256.256/",
        "https://a.com/\u{202e}x",
        "redis://127.1.2.3.4.5/",
        "https://exampl%65.com/",
        "https://%22/",
        "redis://a*b/",
        "https://a!b.com/",
        "http://[fe80::1%25eth0]/",
    ] {
        assert!(
            UrlFacts::parse(address, "GET").is_err(),
            "{address:?} was read: {:?}",
            UrlFacts::parse(address, "GET")
        );
    }
    assert!(UrlFacts::parse("https://a.com", "").is_err());
    assert!(UrlFacts::parse("https://a.com", "GET\r\nX: y").is_err());
    assert!(UrlFacts::parse(&format!("https://a.com/{}", "x".repeat(10_000)), "GET").is_err());
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_as_a_url(address in any::<String>()) {
        let _ = UrlFacts::parse(&address, "GET");
    }

    #[test]
    fn parsed_host_is_parsed_as_itself(host in "[a-z0-9.@:\\[\\]x-]{1,20}") {
        if let Ok(facts) = UrlFacts::parse(&format!("http://{host}/"), "GET") {
            let written = if facts.host.contains(':') { format!("[{}]", facts.host) } else { facts.host.clone() };
            let again = UrlFacts::parse(&format!("http://{written}/"), "GET").unwrap();
            prop_assert_eq!((again.host, again.ip, again.private), (facts.host, facts.ip, facts.private));
        }
    }
}
