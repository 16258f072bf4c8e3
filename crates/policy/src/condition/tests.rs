//! Tests of the meaning of expressions and of the bounds on their cost.

use domain::Role;
use serde_json::{Value, json};

use super::Condition;
use crate::{PolicyInput, case::Case};

fn holds(source: &str, arguments: &Value) -> Result<bool, String> {
    let (condition, _) = Condition::new(source).map_err(|refusal| format!("{}: {}", refusal.code, refusal.message))?;
    let call = PolicyInput {
        tool: "some_tool",
        arguments,
        agent: Some("ci-7"),
        user: "ann",
        role: Role::Agent,
        client: None,
        root: None,
    };
    condition.holds(&Case::new(&call))
}

fn check(source: &str, arguments: &Value, expected: Result<bool, &str>) {
    assert_eq!(holds(source, arguments).as_ref().copied().map_err(String::as_str), expected, "{source} on {arguments}");
}

fn refused(source: &str, code: &str) {
    let refusal = Condition::new(source).map(|_| ()).map_err(|refusal| refusal.code);
    assert_eq!(refusal, Err(code), "{source}");
}

#[test]
fn expression_reads_arguments_caller_and_tool() {
    let call = json!({ "n": 3, "text": "hello", "list": ["a", "b"], "deep": { "x": true }, "none": null, "f": 1.5 });
    check("args.n == 3 && args.n < 4 && args.n == 3.0", &call, Ok(true));
    check("args.deep.x", &call, Ok(true));
    check("args[\"text\"] == \"hello\"", &call, Ok(true));
    check("\"text\" in args && !(\"absent\" in args)", &call, Ok(true));
    check("has(args.n) && !has(args.absent)", &call, Ok(true));
    check(
        "size(args.list) == 2 && args.list.size() == 2 && size(args.text) == 5 && size(\"жж\") == 2",
        &call,
        Ok(true),
    );
    check(
        "args.list.map(x, x + \"!\") == [\"a!\", \"b!\"] && args.list.filter(x, x == \"a\") == [\"a\"]",
        &call,
        Ok(true),
    );
    check("args.list.exists_one(x, x == \"a\") && caller.user in [\"ann\"] && !(caller.user in args)", &call, Ok(true));
    check("args.none == null && args.n != null", &call, Ok(true));
    check("args.list.exists(x, x == \"b\") && args.list.all(x, size(x) == 1)", &call, Ok(true));
    check("args.list == [\"a\", \"b\"]", &call, Ok(true));
    check("\"a\" in args.list", &call, Ok(true));
    check("args.f > 1", &call, Ok(true));
    check("caller.agent == \"ci-7\" && caller.user == \"ann\" && caller.role == \"agent\"", &call, Ok(true));
    check("tool == \"some_tool\"", &call, Ok(true));
    check("glob(args.text, \"h*o\") && !glob(args.text, \"h\")", &call, Ok(true));
    check(
        "args.text.matches(\"^h.*o$\") && !args.text.matches(\"^x\") && args.list[0].matches(\"a\")",
        &call,
        Ok(true),
    );
    check("shell == null && url == null", &call, Ok(true));
}

#[test]
fn under_and_host_compare_canonical_paths_and_hosts() {
    let call = json!({ "a": "/tmp/x", "b": "/tmp/../etc", "c": "/tmp2", "u": "https://Docs.RS./x", "v": "https://docs.rs@evil.example" });
    check("under(args.a, \"/tmp\") && !under(args.b, \"/tmp\") && !under(args.c, \"/tmp\")", &call, Ok(true));
    check("host(args.u) == \"docs.rs\" && host(args.v) == \"evil.example\"", &call, Ok(true));
    assert!(holds("host(args.a) == \"x\"", &call).is_err());
    assert!(holds("under(args.a, \"~\")", &call).is_err());
    check("under(1, \"/tmp\")", &call, Err("`under` cannot be used on (int, string)"));
}

#[test]
fn failed_evaluation_is_an_error_and_not_false() {
    let call = json!({ "mode": ["force"], "n": 5, "none": null, "huge": 1e30, "whole": u64::MAX });
    check("args.absent == 1", &call, Err("there is no `absent`"));
    check("!(args.absent == 1)", &call, Err("there is no `absent`"));
    check("args.mode == \"force\"", &call, Err("`==` cannot be used on (list, string)"));
    check("args.n != \"5\"", &call, Err("`!=` cannot be used on (int, string)"));
    check("args.none == \"x\"", &call, Err("`==` cannot be used on (null_type, string)"));
    check("args.n in [\"5\"]", &call, Err("`in` cannot be used on (int, list)"));
    check("args.n in []", &call, Ok(false));
    check("args.n.startsWith(\"5\")", &call, Err("`startsWith` cannot be used on (int, string)"));
    check("args.n.matches(\"5\")", &call, Err("`matches` cannot be used on (int)"));
    check("args.n < \"6\"", &call, Err("`<` cannot be used on (int, string)"));
    check("args.n", &call, Err("it gives a int instead of true or false"));
    check("args.huge > 1.0", &call, Err("a number is too large to be compared"));
    check("args.whole > 1", &call, Ok(true));
    check("args.n / 0 == 1", &call, Err("it divides by zero"));
    check("args.n * 9223372036854775807 > 1", &call, Err("a number is too large"));
    check("args.mode[3] == \"x\"", &call, Err("a list has no such element"));
    check("shell.plain", &call, Err("it reads a field that this call does not have"));
    check("args.absent == 1 && args.n == 6", &call, Ok(false));
    check("args.absent == 1 || args.n == 5", &call, Ok(true));
}

/// A loop over an object would go through its keys, which an agent chooses freely.
#[test]
fn loops_take_only_lists_and_size_only_lists_and_texts() {
    let call = json!({ "to": { "a@corp.com": "evil@x.com" }, "none": {}, "l": { "k": "rm" }, "n": 3, "text": "rm", "nil": null });
    let loops = [
        "args.to.all(r, r.endsWith(\"@corp.com\"))",
        "args.none.all(r, r.endsWith(\"@corp.com\"))",
        "!args.l.exists(x, x == \"rm\")",
        "!args.l.exists_one(x, x == \"rm\")",
        "args.l.map(x, x) == [\"k\"]",
        "args.l.filter(x, x == \"rm\") == []",
        "args.none.filter(x, true) == []",
        "{\"a\": args.n}.all(k, k == \"a\")",
    ];
    for source in loops {
        check(source, &call, Err("a loop needs a list, not a map"));
    }
    check("args.text.all(x, true)", &call, Err("a loop needs a list, not a string"));
    check("args.nil.all(x, true)", &call, Err("a loop needs a list, not a null_type"));
    check("size(args.to) <= 1", &call, Err("`size` cannot be used on (map)"));
    check("args.to.size() <= 1", &call, Err("`size` cannot be used on (map)"));
    check("size(args.n) <= 1", &call, Err("`size` cannot be used on (int)"));
    check("!(\"rm\" in args.l)", &call, Err("`in` cannot be used on (string, map)"));
}

/// `all` fails on an empty list of subjects of the call, because no subject was examined.
#[test]
fn all_fails_on_an_empty_list_of_facts() {
    let nothing = Err("`all` has no element to check");
    for call in [json!({}), json!({ "paths": [] }), json!({ "n": 1 })] {
        check("paths.all(p, under(p.canonical, \"/srv/app\"))", &call, nothing);
        check("paths.filter(p, p.hidden).all(p, under(p.canonical, \"/srv/app\"))", &call, nothing);
        check("paths.map(p, p.canonical).all(p, under(p, \"/srv/app\"))", &call, nothing);
        check("size(paths) == 0 || paths.all(p, under(p.canonical, \"/srv/app\"))", &call, Ok(true));
        check("size(paths) > 0 && paths.all(p, under(p.canonical, \"/srv/app\"))", &call, Ok(false));
        check("paths.exists(p, under(p.canonical, \"/etc\"))", &call, Ok(false));
    }
    let some = json!({ "path": "/srv/app/x" });
    check("paths.all(p, under(p.canonical, \"/srv/app\"))", &some, Ok(true));
    check("paths.filter(p, p.hidden).all(p, under(p.canonical, \"/srv/app\"))", &some, nothing);
    check("paths.all(p, p.components.all(c, size(c) > 0))", &json!({ "path": "/" }), Ok(true));
    let table = json!({ "sql": "SELECT 1" });
    check("sql.read_only && sql.reads.all(t, t in [\"users\"])", &table, nothing);
    check("sql.read_only && sql.statements.all(s, s.reads.all(t, t in [\"users\"]))", &table, Ok(true));
    check("args.to.all(r, r.endsWith(\"@corp.com\"))", &json!({ "to": [] }), Ok(true));
}

#[test]
fn invalid_expression_is_refused() {
    refused("", "not_an_expression");
    refused("a ==", "not_an_expression");
    refused("argz.x == 1", "unknown_variable");
    refused("frobnicate(args.x)", "unknown_function");
    refused("args.x.frobnicate()", "unknown_function");
    refused("timestamp(args.x) == 1", "unknown_function");
    refused("under(args.x)", "unknown_function");
    refused("shell.comands == []", "unknown_field");
    refused("caller.name == \"x\"", "unknown_field");
    refused("tool.name == \"x\"", "unknown_field");
    refused("size(args) == 1", "wrong_kind");
    refused("size(shell) == 1", "wrong_kind");
    refused("url.port.size() == 1", "wrong_kind");
    refused("args.all(a, true)", "wrong_kind");
    refused("shell.all(a, true)", "wrong_kind");
    refused("tool.exists(a, true)", "wrong_kind");
    refused("shell.commands.exists(c, c.nam == \"rm\")", "unknown_field");
    refused("shell.commands.exists(c, has(c.nam))", "unknown_field");
    refused("shell.commands.exists(c, c[\"nam\"] == \"rm\")", "unknown_field");
    refused("shell.commands.exists(c, c.redirects.exists(r, r.file == \"x\"))", "unknown_field");
    refused("shell.commands[0].nam == \"rm\"", "unknown_field");
    refused("shell[\"comands\"] == []", "unknown_field");
    refused("paths.all(p, p.canonicl == \"/x\")", "unknown_field");
    refused("paths.canonical == \"/x\"", "unknown_field");
    refused("sql.statements.all(s, s.read == [])", "unknown_field");
    refused("args.?x == 1", "not_an_expression");
    refused("Thing{x: 1} == 1", "not_an_expression");
    refused("args.list.all(args, args)", "hidden_variable");
    refused("args.x.matches(args.y)", "pattern_not_literal");
    refused("glob(args.x, args.y)", "pattern_not_literal");
    refused(&format!("glob(args.x, \"{}\")", "a*".repeat(65)), "expression_too_long");
    refused("args.x.matches(\"(\")", "wrong_regex");
    refused("args.a.all(x, x.all(y, y.all(z, z)))", "expression_too_deep");
    refused(&format!("{}true{}", "(".repeat(17), ")".repeat(17)), "expression_too_deep");
    refused(&format!("{}1 == 1", "1+".repeat(100)), "expression_too_deep");
    refused(&"x".repeat(1025), "expression_too_long");
}

/// Every expression that is short enough to be read is evaluated or refused on the stack of an ordinary thread.
#[test]
fn nothing_overflows_the_stack() {
    let chains = [
        "true&&",
        "true||",
        "1+",
        "1-",
        "!",
        "-",
        "args.x.",
        "args[\"x\"].",
        "true?true:",
        "[",
        "(",
        "{1:",
        "args.l.all(a,",
        "size(",
        "1<",
        "\"a\"+",
    ];
    let ends = ["true", "1", "x", "\"a\"", ""];
    let closings = ["", ")", "]", "}"];
    for chain in chains {
        for times in [1, 2, 8, 15, 16, 24, 40, 1024 / chain.len()] {
            for (end, closing) in ends.iter().zip(closings.iter().cycle()) {
                for closing in [closing, &")", &"]", &"}"] {
                    let source = format!("{}{end}{}", chain.repeat(times), closing.repeat(times));
                    big_stack_then_small(&source);
                }
            }
        }
    }
}

fn big_stack_then_small(source: &str) {
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(crate::load::STACK);
        let read = reader.spawn_scoped(scope, || Condition::new(source)).unwrap().join().unwrap();
        let Ok((condition, _)) = read else { return };
        let small = std::thread::Builder::new().stack_size(1 << 20);
        let evaluated = small.spawn_scoped(scope, move || {
            let arguments = json!({ "x": { "x": { "x": 1 } }, "l": [[[true]]] });
            let call = PolicyInput {
                tool: "t",
                arguments: &arguments,
                agent: None,
                user: "ann",
                role: Role::Agent,
                client: None,
                root: None,
            };
            drop(condition.holds(&Case::new(&call)));
        });
        evaluated.unwrap().join().unwrap();
    });
}

#[test]
fn large_arguments_count_only_if_the_expression_names_them() {
    let deep = (0..63).fold(json!(1), |inner, _| json!([inner]));
    let many: Vec<Value> = (0..20_000).map(Value::from).collect();
    let call = json!({ "n": 1, "deep": deep, "many": many, "text": "x".repeat(200_000) });
    check("args.n == 1", &call, Ok(true));
    check("size(args.text) == 200000", &call, Ok(true));
    check("args.deep == 1", &call, Err("`==` cannot be used on (list, int)"));
    check("size(args.many) == 20000", &call, Ok(true));
    check("glob(args.text, \"*y\")", &call, Err("`glob`: the text is too long"));
    check("args.many.all(x, x >= 0)", &call, Err("the call is too large for this expression"));
}
