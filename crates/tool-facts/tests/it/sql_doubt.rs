//! Tests SQL that every database reads alike, and SQL that some databases read differently.

use holdpoint_tool_facts::Sql;

/// Statements that every database reads alike.
const CERTAIN: &[&str] = &[
    "SELECT * FROM orders",
    "select id, name, status, type, date, value, user, count from orders",
    "SELECT o.id, c.name AS customer FROM orders AS o INNER JOIN customers AS c ON c.id = o.customer_id WHERE o.status = 'open'",
    "select o.id from Orders o join customers c on c.id = o.customer where c.id = 7",
    "SELECT orders.id FROM orders LEFT OUTER JOIN customers ON customers.id = orders.customer_id",
    "SELECT o.id FROM orders o LEFT JOIN customers c USING (id) CROSS JOIN regions r",
    "SELECT a.id, b.id FROM orders a, orders b WHERE a.id <> b.id AND a.id != 3",
    "SELECT id FROM orders WHERE id IN (SELECT order_id FROM lines WHERE qty > 3) AND EXISTS (SELECT 1 FROM customers)",
    "SELECT status, COUNT(*) AS n, SUM(total) FROM orders GROUP BY status HAVING COUNT(*) > 1 ORDER BY n DESC, status ASC LIMIT 10 OFFSET 5",
    "SELECT COUNT(*) n FROM orders",
    "SELECT COUNT(DISTINCT customer_id) FROM orders",
    "SELECT CASE WHEN total > 100 THEN 'large' WHEN total > 10 THEN 'middling' ELSE 'small' END AS size FROM orders",
    "SELECT id FROM orders WHERE created_at >= DATE '2024-01-01' AND created_at < CURRENT_DATE",
    "SELECT id FROM orders WHERE created_at > NOW() - INTERVAL '7 days'",
    "SELECT id FROM orders WHERE created_at > NOW() - INTERVAL 7 DAY",
    "SELECT EXTRACT(YEAR FROM created_at), CAST(total AS INTEGER), total::numeric FROM orders",
    "SELECT id FROM orders WHERE id = ?",
    "SELECT id FROM orders WHERE id=? AND name = $1 AND day = $2::date",
    "SELECT id FROM orders WHERE id = :id AND (name LIKE 'A%' OR name LIKE '%''s')",
    "SELECT id FROM orders WHERE name NOT LIKE 'x' AND note IS NOT NULL AND id BETWEEN 1 AND 5 AND id NOT IN (1, 2)",
    "SELECT \"Name\", \"order id\" FROM \"public\".\"Orders\"",
    "SELECT t.n FROM (SELECT COUNT(*) AS n FROM orders) AS t",
    "SELECT COUNT(*) FROM (SELECT id FROM orders) sub",
    "SELECT id FROM orders UNION ALL SELECT id FROM customers ORDER BY 1",
    "SELECT id FROM orders EXCEPT SELECT id FROM customers",
    "WITH recent AS (SELECT * FROM orders WHERE id > 5), big AS (SELECT * FROM recent) SELECT * FROM big",
    "SELECT id, ROW_NUMBER() OVER (PARTITION BY status ORDER BY id DESC) AS place FROM orders",
    "SELECT SUM(x) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM orders",
    "SELECT COUNT(*) FILTER (WHERE status = 'open') AS open_ones FROM orders",
    "SELECT LEFT(name, 3), REPLACE(name, 'a', 'b'), COALESCE(note, ''), UPPER(name) || '!' FROM orders",
    "SELECT DISTINCT status FROM orders ORDER BY status NULLS LAST",
    "SELECT TOP 5 id FROM orders",
    "SELECT id FROM orders ORDER BY id OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY",
    "SELECT id FROM orders WHERE id = ANY($1)",
    "SELECT data->>'name', data->'x' FROM orders WHERE created_at AT TIME ZONE 'UTC' > '2024-01-01'",
    "SELECT -1, 2.5 * total, a=-1, (total + 1) / 2 % 3 FROM orders;",
    "SELECT id FROM orders WHERE city = 'Zürich'",
    "SELECT id\r\nFROM orders\n\tWHERE id = 1\n;\n",
    "SELECT (SELECT MAX(id) FROM customers) AS newest FROM orders",
    "VALUES (1, 'a'), (2, 'b')",
    "EXPLAIN SELECT * FROM orders",
    "SHOW TABLES",
    "DESCRIBE orders",
    "INSERT INTO orders (id, name) VALUES (1, 'a'), (?, :name)",
    "INSERT INTO orders (id) SELECT id FROM customers WHERE id > 3",
    "INSERT INTO orders (id, n) VALUES (1, 2) ON CONFLICT (id) DO NOTHING",
    "INSERT INTO orders (id, n) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING id",
    "INSERT INTO orders (id, n) VALUES (1, 2) ON DUPLICATE KEY UPDATE n = 3",
    "UPDATE orders SET status = 'paid', total = total + 1 WHERE id = 7",
    "UPDATE orders SET total = c.total FROM customers c WHERE c.id = orders.customer_id",
    "UPDATE orders AS o SET status = 'x' WHERE o.id = 7",
    "DELETE FROM orders WHERE id = 7 RETURNING *",
    "DELETE FROM orders WHERE id IN (SELECT id FROM customers)",
];

/// Texts that some databases read differently.
const DOUBTFUL: &[&str] = &[
    "SELECT 1 [' ], pw FROM secrets -- '] FROM orders",
    "SELECT a FROM orders #t WHERE b = '\nUNION SELECT pw FROM secrets -- '",
    "SELECT a #> b FROM orders",
    "SELECT a FROM orders -- a note",
    "SELECT a /* a note */ FROM orders",
    "WITH RECURSIVE a AS (SELECT * FROM secrets), secrets AS (SELECT 1 FROM orders) SELECT * FROM a, orders",
    "SELECT HIGH_PRIORITY * FROM secrets",
    "SELECT SQL_NO_CACHE * FROM secrets",
    "SELECT SQL_BUFFER_RESULT * FROM secrets",
    "SELECT STRAIGHT_JOIN * FROM secrets",
    "SELECT DISTINCTROW * FROM secrets",
    "SELECT something * FROM secrets",
    "SELECT HIGH_PRIORITY * FROM secrets UNION SELECT a FROM orders",
    "SELECT * FROM orders SHUTDOWN",
    "SELECT * FROM orders COMMIT",
    "SELECT * FROM orders ROLLBACK",
    "SELECT * FROM orders CHECKPOINT",
    "SELECT * FROM orders whatever",
    "SELECT * FROM orders EXEC (\"drop table x\")",
    "SELECT * FROM orders o (a, b)",
    "SELECT a FROM orders END; DROP TABLE orders",
    "SELECT a FROM orders END",
    "SELECT pw END FROM secrets",
    "SELECT a FROM orders UNION SELECT a END FROM orders; DROP TABLE orders",
    "SELECT pw XOR FROM secrets",
    "SELECT pw AND FROM secrets",
    "SELECT pw OR FROM secrets",
    "SELECT pw LIKE FROM secrets",
    "SELECT pw ILIKE FROM secrets",
    "SELECT pw COLLATE FROM secrets",
    "SELECT pw REGEXP FROM secrets",
    "SELECT pw RLIKE FROM secrets",
    "SELECT pw DIV FROM secrets",
    "SELECT pw OVERLAPS FROM secrets",
    "SELECT a FROM orders WHERE a IN (SELECT pw XOR FROM secrets)",
    "SELECT * FROM ONLY secrets",
    "SELECT a b FROM orders WHERE a IN secrets",
    "SELECT a 'x' FROM orders",
    "SELECT a AS 'x' FROM orders",
    "SELECT 'a' 'b' FROM orders",
    "SELECT 'a' \"b\" FROM orders",
    "SELECT _utf8 'a' FROM orders",
    "SELECT a thing FROM orders",
    "SELECT * FROM orders, 'secrets'",
    "SELECT * FROM `orders`",
    "SELECT @a FROM orders",
    "SELECT 1a FROM orders",
    "SELECT 1; SELECT 2",
    "SELECT * FROM orders;;",
    "SELECT * FROM a PIVOT (SUM(x) FOR y IN ('a'))",
    "SELECT * FROM a SEMI JOIN b ON a.i = b.i",
    "SELECT * FROM orders FINAL",
    "SELECT * FROM orders UNION TABLE secrets",
    "WITH c AS (SELECT * FROM secrets) DELETE FROM c",
    "DELETE FROM orders USING secrets AS orders WHERE orders.id = 1",
    "UPDATE o SET total = 1 FROM orders o",
    "SELECT a FROM orders WHERE a = :a(b)",
    "CREATE TABLE a (i INT)",
    "DROP TABLE a",
    "SHOW INDEX FROM b",
];

#[test]
fn ordinary_sql_is_parsed_without_doubt() {
    let doubt = |text: &&str| match Sql::parse(text) {
        Ok(sql) => sql.doubt.map(|doubt| format!("{text}: {}", doubt.reason)),
        Err(unparsed) => Some(format!("{text}: {}", unparsed.reason)),
    };
    assert_eq!(CERTAIN.iter().filter_map(doubt).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn sql_that_some_database_parses_differently_is_in_doubt() {
    let certain = |text: &&&str| Sql::parse(text).is_ok_and(|sql| sql.doubt.is_none());
    assert_eq!(DOUBTFUL.iter().filter(certain).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn doubtful_sql_still_lists_its_tables() {
    for (text, table) in [
        ("SELECT * FROM secrets -- a note", "secrets"),
        ("SELECT 1; DROP TABLE secrets", "secrets"),
        ("WITH RECURSIVE a AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM a", "secrets"),
        ("SELECT * FROM [secrets]", "secrets"),
    ] {
        if let Ok(sql) = Sql::parse(text) {
            assert!(sql.doubt.is_some(), "{text}");
            assert!(sql.reads.iter().chain(&sql.writes).any(|name| name == table), "{text}: {sql:?}");
        }
    }
}

#[test]
fn table_is_also_listed_by_its_bare_name() {
    for (text, expected) in [
        ("select * from public.secrets", ["public.secrets", "secrets"]),
        ("select * from \"SECRETS\"", ["SECRETS", "secrets"]),
        ("select * from \"Public\".\"Secrets\"", ["Public.Secrets", "secrets"]),
    ] {
        let Ok(sql) = Sql::parse(text) else { panic!("{text}") };
        assert_eq!((sql.reads, sql.doubt), (expected.map(str::to_owned).to_vec(), None), "{text}");
    }
}
