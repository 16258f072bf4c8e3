//! Tests paths: their canonical form, containment, and paths that cannot be resolved.

use holdpoint_tool_facts::{PathFacts, under};
use proptest::prelude::*;

fn canonical(path: &str) -> String {
    PathFacts::parse(path).unwrap_or_else(|unparsed| panic!("{path:?}: {unparsed:?}")).canonical
}

#[test]
fn path_has_one_canonical_form() {
    for (path, expected) in [
        ("/a/b", "/a/b"),
        ("/a/b/", "/a/b"),
        ("/a//b", "/a/b"),
        ("//a/b", "/a/b"),
        ("/a/./b/.", "/a/b"),
        ("/a/../b", "/b"),
        ("/../a", "/a"),
        ("/a/../../../etc/passwd", "/etc/passwd"),
        ("/", "/"),
        ("/..", "/"),
        (".", "."),
        ("./", "."),
        ("a/..", "."),
        ("a", "a"),
        ("./a", "a"),
        ("../a", "../a"),
        ("a/../../b", "../b"),
        ("../../a/..", "../.."),
        ("a b/c", "a b/c"),
        ("...", "..."),
        ("/a/...", "/a/..."),
        ("/A", "/A"),
        ("/caf\u{65}\u{301}", "/caf\u{e9}"),
        ("C:\\a\\..\\b\\", "C:/b"),
        ("c:/a", "C:/a"),
        ("C:\\", "C:/"),
        ("\\\\Server\\share\\x", "\\\\server/share/x"),
        ("a\\b", "a/b"),
        ("a\\..\\..\\b", "../b"),
    ] {
        assert_eq!(canonical(path), expected, "{path}");
    }
}

#[test]
fn unresolvable_paths_are_refused() {
    for path in [
        "",
        "~",
        "~/x",
        "~root/x",
        "$HOME/x",
        "/a/$X",
        "${X}/a",
        "`x`",
        "%APPDATA%\\x",
        "a\0b",
        "a\nb",
        "a\tb",
        "a\u{200b}b",
        "a\u{202e}b",
        " a",
        "a ",
        "/tmp\u{2215}x",
        "/tmp/\u{2025}/x",
        "/tmp/\u{ff0e}\u{ff0e}/x",
        "/a\\b",
        "/a\\..\\b",
        "C:a",
        "C:",
        "\\a",
        "C:\\a:b",
        "\\\\?\\C:\\a",
        "\\\\.\\x",
        "C:\\PROGRA~1",
        "C:\\a.\\b",
        "/a /b",
        "/ a/b",
        "./~",
        "./~root/x",
        "a/../~",
        "./C:/x",
        "/\u{1fef}x\u{1fef}",
        "C:\\a \\b",
        "\\\\..\\x",
        "a\u{7f}",
        "a\u{a0}b",
        "/tmp/\u{ff61}\u{ff61}/x",
        "/tmp/\u{b7}\u{b7}/x",
        "/tmp/\u{387}\u{387}/x",
        "/tmp/\u{701}\u{701}/x",
        "/tmp/\u{2024}\u{2024}/x",
        "/tmp/\u{fe52}\u{fe52}/x",
        "/tmp/\u{3002}/x",
        "/tmp/\u{22c5}\u{22c5}/x",
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "./file:/etc/passwd",
    ] {
        assert!(PathFacts::parse(path).is_err(), "{path:?} was read: {:?}", PathFacts::parse(path));
    }
    assert!(PathFacts::parse(&"a/".repeat(4_000)).is_err());
}

#[test]
fn facts_describe_the_canonical_path() {
    let facts = PathFacts::parse("/Home/.ssh/../.ssh/id.PUB/").unwrap();
    assert_eq!(
        facts,
        PathFacts {
            canonical: "/Home/.ssh/id.PUB".into(),
            lower: "/home/.ssh/id.pub".into(),
            absolute: true,
            escapes: false,
            components: vec!["Home".into(), ".ssh".into(), "id.PUB".into()],
            name: "id.PUB".into(),
            extension: "PUB".into(),
            steers: true,
            hidden: true,
            windows: false,
            non_ascii: false,
            recomposed: false,
            directory: true,
        }
    );
    let facts = PathFacts::parse("../x").unwrap();
    assert!(facts.escapes && !facts.absolute && !facts.hidden);
    let facts = PathFacts::parse("/caf\u{65}\u{301}").unwrap();
    assert!(facts.recomposed && facts.non_ascii);
    assert!(PathFacts::parse("/tmp/\u{430}").unwrap().non_ascii);
    assert_eq!(PathFacts::parse(".bashrc").unwrap().extension, "");
    assert_eq!(PathFacts::parse("a/..").unwrap().name, "");
}

#[test]
fn under_compares_path_components() {
    for (path, dir, expected) in [
        ("/tmp", "/tmp", true),
        ("/tmp/", "/tmp", true),
        ("/tmp/a", "/tmp", true),
        ("/tmp/a", "/tmp/", true),
        ("/tmp2", "/tmp", false),
        ("/tmp/../etc", "/tmp", false),
        ("/tmp/a/../../etc/x", "/tmp", false),
        ("/etc/../tmp/a", "/tmp", true),
        ("/TMP/a", "/tmp", false),
        ("/anything", "/", true),
        ("tmp/a", "/tmp", false),
        ("tmp/a", "tmp", true),
        ("a", ".", true),
        ("../a", ".", false),
        ("../a", "..", false),
        ("a/../../b", ".", false),
        ("/a", ".", false),
        ("C:/a", "/", false),
        ("C:\\a\\b", "C:/a", true),
        ("D:\\a\\b", "C:/a", false),
        ("\\\\s\\a\\b", "\\\\s\\a", true),
        ("\\\\s\\a\\b", "\\\\t\\a", false),
    ] {
        assert_eq!(under(path, dir), Ok(expected), "{path} under {dir}");
    }
    assert!(under("~/x", "/tmp").is_err());
    assert!(under("/tmp/$X", "/tmp").is_err());
    assert!(under("/tmp/x", "~").is_err());
    let lower = |path: &str| PathFacts::parse(path).unwrap().lower;
    assert_eq!(under(&lower("/TMP/A"), &lower("/tmp")), Ok(true));
}

proptest! {
    #[test]
    fn canonical_path_is_its_own_canonical_form(path in "[a.~/\\\\ C:é\u{301}]{0,20}|/?([a-c.]{0,3}/){0,8}") {
        if let Ok(facts) = PathFacts::parse(&path) {
            let again = PathFacts::parse(&facts.canonical).unwrap();
            prop_assert_eq!(&again.canonical, &facts.canonical);
            prop_assert_eq!(&again.components, &facts.components);
            prop_assert_eq!(under(&path, &path), Ok(!facts.escapes));
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused_as_a_path(path in any::<String>()) {
        let _ = PathFacts::parse(&path);
    }
}

#[test]
fn files_that_control_programs_are_marked() {
    let steering = [
        "/srv/app/.git/hooks/pre-commit",
        ".GIT/config",
        "a/.envrc",
        ".vscode/tasks.json",
        "x/.husky/a",
        ".npmrc",
        "backup.git/hooks/post-update",
        "Backup.Git",
        ".mise.local.toml",
        ".aider.conf.yml",
        "mise.toml",
        "rust-toolchain.toml",
        "docs/CLAUDE.md",
        "AGENTS.md",
        ".git./config",
        "git~1/config",
        ".opencode/plugin/x.js",
        "lib/evil.pth",
        "app.code-workspace",
        "Jenkinsfile",
    ];
    for path in steering {
        assert!(PathFacts::parse(path).unwrap().steers, "{path}");
    }
    for path in ["/srv/app/src/git.rs", ".gitignore", "a/.env", "git/hooks/x", "x.git.md", ".miser", "mise.md"] {
        assert!(!PathFacts::parse(path).unwrap().steers, "{path}");
    }
}
