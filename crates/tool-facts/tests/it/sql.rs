//! Tests SQL: verbs, tables, and statements that only read.

use holdpoint_tool_facts::Sql;
use proptest::prelude::*;

fn sql(text: &str) -> Sql {
    Sql::parse(text).unwrap_or_else(|unparsed| panic!("{text:?}: {unparsed:?}"))
}

/// Formats each statement as `verb reads>writes`.
fn shape(text: &str) -> String {
    let statements = sql(text).statements;
    statements
        .iter()
        .map(|one| format!("{} {}>{}", one.verb, one.reads.join(","), one.writes.join(",")))
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn tables_and_verbs_are_found() {
    for (text, expected) in [
        ("select * from a", "select a>"),
        ("SELECT * FROM A", "select a>"),
        ("select * from \"A\"", "select A,a>"),
        ("select * from s.a x join b on x.i = b.i left join c on true", "select s.a,a,b,c>"),
        ("select * from a where i in (select i from b)", "select a,b>"),
        ("select (select max(i) from b) from a", "select b,a>"),
        ("select 1 union select i from b", "select b>"),
        ("with x as (select * from a) select * from x", "select a>"),
        ("with a as (select * from a) select * from a", "select a>"),
        ("with x as (select * from y), y as (select 1) select * from x", "select y>"),
        ("with d as (delete from a returning *) select * from d", "delete >a"),
        ("with d as (update a set i = 1 returning *) select * from b", "update b>a"),
        ("with x as (select 1) delete from a", "delete >a"),
        ("with x as (select i from b) insert into a select * from x", "insert b>a"),
        ("insert into a values (1)", "insert >a"),
        ("insert into a select * from b", "insert b>a"),
        ("insert into a select * from a", "insert a>a"),
        ("replace into a values (1)", "delete >a"),
        ("insert or replace into a values (1)", "delete >a"),
        ("insert into a values (1) on conflict (i) do update set i = 2", "update >a"),
        ("insert into a values (1) on duplicate key update i = 2", "update >a"),
        ("insert into a values (1) on conflict do nothing", "insert >a"),
        ("update a set i = (select i from b)", "update b>a"),
        ("delete from a where i in (select i from b)", "delete b>a"),
        ("delete from a using b where a.i = b.i", "delete b>a"),
        ("merge into a using b on a.i = b.i when matched then delete", "merge b>a"),
        ("drop table a, b", "drop >a,b"),
        ("truncate table a", "truncate >a"),
        ("alter table a add column i int", "alter >a"),
        ("create table a (i int)", "create >a"),
        ("create table a as select * from b", "create >a,b"),
        ("create view v as select * from a", "create >v,a"),
        ("create index i on a (x)", "create >a"),
        ("select * into a from b", "select_into b>a"),
        ("select 1; drop table a", "select >; drop >a"),
        ("explain delete from a", "explain >a"),
        ("select * from a union table b", "select b,a>"),
        ("select * from a union all table s.b", "select s.b,b,a>"),
        ("select 1 union select 2 except table b", "select b>"),
        ("with x as (select 1) table b", "select b>"),
        ("with b as (select * from c) table b", "select c>"),
        ("insert into a table b", "insert b>a"),
        ("values ((select i from b))", "select b>"),
        ("select * from a where i in (values ((select i from b)))", "select a,b>"),
        ("show create table b", "show b>"),
        ("show create view s.b", "show s.b,b>"),
        ("show columns from b", "show b>"),
        ("show index from b", "show b>"),
        ("describe b", "explain b>"),
        ("explain analyze delete from a", "explain >a"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn only_known_reading_statements_are_read_only() {
    for text in [
        "select * from a",
        "select count(*), max(i), coalesce(x, 1) from a where i > 3 group by x having count(*) > 1 order by 1 limit 5",
        "with x as (select * from a) select * from x",
        "select 1 union all select 2",
        "values (1), (2)",
        "explain select * from a",
        "explain analyze select * from a",
        "select * from a;",
        "select * from (select * from a) b",
        "/* why */ select 1 -- note\n",
        "show tables",
        "select * from generate_series(1, 3)",
    ] {
        assert!(sql(text).read_only, "{text}");
    }
    for text in [
        "insert into a values (1)",
        "select 1; delete from a",
        "select * into a from b",
        "with d as (delete from a returning *) select * from d",
        "select * from a for update",
        "explain delete from a",
        "explain analyze delete from a",
        "explain (analyze) delete from a",
        "select pg_sleep(10)",
        "select pg_read_file('/etc/passwd')",
        "select nextval('s')",
        "select load_extension('x')",
        "select dblink_exec('x', 'y')",
        "select * from pg_ls_dir('/')",
        "select my_function(1)",
        "select s.count(1)",
        "copy a to '/tmp/x'",
        "copy a from '/tmp/x'",
        "copy a to program 'sh'",
        "pragma journal_mode = off",
        "pragma table_info(a)",
        "attach database 'x' as y",
        "vacuum",
        "analyze a",
        "set role x",
        "call f()",
        "grant all on a to b",
        "begin",
        "commit",
        "truncate table a",
        "create table a (i int)",
        "use a",
        "kill 5",
        "prepare x as delete from a",
        "execute x",
        "lock table a",
        "select * from '/etc/passwd'",
        "select * from \"/etc/passwd\"",
        "select * from \"x.csv\"",
        "select * from a join 'b.parquet' on true",
        "select * from a union select * from 'b.parquet'",
        "show index from b",
    ] {
        if let Ok(sql) = Sql::parse(text) {
            assert!(!sql.read_only, "{text}");
        }
    }
    assert_eq!(sql("with d as (delete from a returning *) select * from d").verbs, ["select", "delete"]);
}

#[test]
fn where_clause_must_depend_on_a_column() {
    for (text, expected) in [
        ("delete from a where i = 1", true),
        ("delete from a", false),
        ("delete from a where true", false),
        ("delete from a where 1 = 1", false),
        ("update a set i = 1 where i = 2", true),
        ("update a set i = 1", false),
        ("select * from a where i = 1", true),
        ("select * from a", false),
        ("with d as (delete from a returning *) select * from d where i = 1", false),
        ("with d as (delete from a where i = 1 returning *) select * from d", true),
    ] {
        assert_eq!(sql(text).statements[0].has_where, expected, "{text}");
    }
}

#[test]
fn text_that_databases_parse_differently_is_refused() {
    for text in [
        "",
        " ",
        ";",
        "-- select 1",
        "select",
        "selec 1",
        "select 'a",
        "select 1 /*! ; drop table a */",
        "select 1 /*!50000 union select 2 */",
        "select /*+ x */ 1",
        "select 1 /* /* */ ; drop table a -- */",
        "select '\\' ; drop table a -- '",
        "select 1 --1",
        "select 1 # ; drop table a",
        "select $$a$$",
        "select \"\"\"a\"\"\"",
        "\\! ls",
        "select 1 \0",
        "select\u{a0}1",
        "select 1\u{200b}",
        "go fish",
        "table a",
        "table a; shutdown",
        "explain table b",
        "table a; vacuum",
        "select * from a union table b; commit",
        "table a union all table b",
        "(table a) union select 1",
        "with x as (table b) select * from x",
        "table a limit 1",
    ] {
        assert!(Sql::parse(text).is_err(), "{text:?} was read: {:?}", Sql::parse(text));
    }
    assert!(Sql::parse("select 1\r\nfrom a").is_ok());
}

#[test]
fn oversized_or_deep_sql_is_refused_quickly() {
    for text in [
        format!("select {}1{}", "(".repeat(3_000), ")".repeat(3_000)),
        format!("select {}1", "1+".repeat(10_000)),
        format!("select {}1", "not ".repeat(8_000)),
        format!("select {}1", "- ".repeat(15_000)),
        format!("select * from {}a{}", "(select * from ".repeat(1_000), ")".repeat(1_000)),
        format!("select 1 {}", "union select 1 ".repeat(2_000)),
        format!("select case {} end", "when 1 then 1 ".repeat(2_000)),
        "x".repeat(40_000),
        "select 1;".repeat(3_000),
    ] {
        assert!(Sql::parse(&text).is_err());
    }
    assert!(Sql::parse(&format!("select {}1", "1+".repeat(900))).is_ok());
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_as_sql(text in any::<String>()) {
        let _ = Sql::parse(&text);
    }

    #[test]
    fn writing_second_statement_is_never_read_only(
        first in "select [a-z0-9' ,*()]{0,20}",
        gap in "(;| ; |;\n|; -- x\n|; /* x */ )",
    ) {
        if let Ok(sql) = Sql::parse(&format!("{first}{gap}drop table a")) {
            prop_assert!(!sql.read_only);
        }
    }
}
