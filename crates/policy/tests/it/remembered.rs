//! Tests the argument patterns of grants.

use serde_json::json;

#[test]
fn wildcard_of_a_grant_matches_no_separator_or_shell_character() {
    for (pattern, text, fits) in [
        ("feature/*", "feature/login", true),
        ("feature/*", "feature/a/b-1.2_x", true),
        ("feature/*", "feature/ü", true),
        ("feature/*", "feature/", true),
        ("feature/*", "feature/a b", false),
        ("feature/*", "feature/a\nmain", false),
        ("feature/*", "feature/a,main", false),
        ("feature/*", "feature/a;reboot", false),
        ("feature/*", "feature/a:main", false),
        ("feature/*", "feature/a|b", false),
        ("feature/*", "feature/a&b", false),
        ("feature/*", "feature/a'b", false),
        ("feature/*", "feature/a\"b", false),
        ("feature/*", "feature/a<b", false),
        ("feature/*", "feature/a>b", false),
        ("feature/*", "feature/$(reboot)", false),
        ("feature/*", "feature/`reboot`", false),
        ("feature/*", "feature/../main", false),
        ("feature/.*", "feature/..", false),
        ("feature/?", "feature/a", true),
        ("feature/?", "feature/;", false),
        ("feature/?", "feature/@", false),
        ("*@corp.example", "ann@corp.example", true),
        ("*@corp.example", "eve@evil.example,ann@corp.example", false),
        ("*@corp.example", "eve@evil.example@corp.example", false),
        ("a:*", "a:b", true),
        ("*a*b", "xaxbxab", true),
        ("*a*b", "xaxbxa", false),
        ("*", "Anything, with <signs> & blanks", true),
        ("*", "one line\nand another", false),
        ("main", "main", true),
        ("main", "mains", false),
    ] {
        let on = |name: &str| holdpoint_policy::fits("push", &json!({ name: text }), name, pattern);
        assert_eq!(on("branch"), fits, "{pattern} on {text:?}");
        // A pattern on an argument that may be a path matches no more than on other arguments.
        assert!(["to", "target", "path"].iter().all(|name| fits || !on(name)), "{pattern} on {text:?} as a path");
    }
    for (pattern, path, fits) in [
        ("*/x", "../x", false),
        ("*/x", "a/x", true),
        ("src/*", "src/my file", false),
        ("*", "../x", true),
        ("/srv/notes/*", "/srv/notes/today.md", true),
        ("/srv/notes/*", "/srv/notes/.git/hooks/x", false),
        ("/srv/notes/*", "/srv/notes/.GIT/config", false),
        ("/srv/notes/*", "/srv/notes/sub/.envrc", false),
        ("/srv/notes/*", "/srv/notes/.config/git/config", false),
        ("/srv/notes/*", "/srv/notes/sitecustomize.py", false),
        ("*", "/srv/notes/.git/config", false),
        ("/srv/notes/.git/config", "/srv/notes/.git/config", true),
    ] {
        assert_eq!(holdpoint_policy::fits("t", &json!({ "path": path }), "path", pattern), fits, "{pattern} on {path}");
    }
}
