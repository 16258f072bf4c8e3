//! Reads one `[[tool]]` of the file.

use std::collections::BTreeMap;

use tool_facts::{ArgumentUse, Declaration, SqlDialect, UnknownName, check_argument_name, parse_shell};

use crate::{
    ToolDeclaration,
    document::{Located, Table, listed, nearest},
    finding::Findings,
};

/// Reads the declared tools of a file.
pub(crate) fn read(root: &Table<'_>, findings: &mut Findings<'_>) -> BTreeMap<String, ToolDeclaration> {
    let mut tools = BTreeMap::new();
    for table in root.tables("tool", "a tool", findings) {
        table.only(&["name", "schema", "schema_json", "idempotent", "shell", "sql", "arguments"], findings);
        let Some(name) = table.required("name", findings) else { continue };
        if name.it.is_empty() || name.it.contains(['*', '?']) {
            findings.error(name.at, "wrong_name", "a tool is declared by its whole name, without wildcards");
        }
        let schema = read_schema(&table, findings);
        let idempotent = table.flag("idempotent", findings).is_some_and(|flag| flag.it);
        let declared = read_declaration(&table, findings);
        if tools.insert(name.it.to_owned(), ToolDeclaration { schema, idempotent, declared }).is_some() {
            findings.error(name.at, "duplicate_name", format!("tool `{}` is declared twice", name.it));
        }
    }
    tools
}

/// Reads what the arguments of a tool are. `None` if the table says nothing about that.
fn read_declaration(table: &Table<'_>, findings: &mut Findings<'_>) -> Option<Declaration> {
    if !["shell", "sql", "arguments"].iter().any(|key| table.has(key)) {
        return None;
    }
    let mut declared = Declaration::default();
    if let Some(text) = table.text("shell", findings) {
        declared.shell = known(&text, parse_shell(text.it), findings);
    }
    if let Some(text) = table.text("sql", findings) {
        declared.sql = known(&text, SqlDialect::parse(text.it), findings);
    }
    if let Some(arguments) = table.table("arguments", "`arguments`", findings) {
        read_arguments(&arguments, "", &mut declared, findings);
    }
    let uses = |wanted: fn(ArgumentUse) -> bool| declared.arguments.values().any(|found| wanted(*found));
    if declared.shell.is_some() && !uses(ArgumentUse::is_command) {
        let message = "`shell` is the language of an argument: name it, as in `arguments.command = \"shell\"`";
        findings.warning(table.place("shell"), "unused_language", message);
    }
    if declared.sql.is_some() && !uses(|kind| kind == ArgumentUse::Sql) {
        let message = "`sql` is the dialect of an argument: name it, as in `arguments.query = \"sql\"`";
        findings.warning(table.place("sql"), "unused_language", message);
    }
    Some(declared)
}

/// Reads the uses of arguments. A table within the table names the fields of an object.
fn read_arguments(table: &Table<'_>, before: &str, declared: &mut Declaration, findings: &mut Findings<'_>) {
    for (key, at) in table.keys() {
        let name = if before.is_empty() { key.to_owned() } else { format!("{before}.{key}") };
        if let Some(inner) = table.inner(key, "`arguments`") {
            read_arguments(&inner, &name, declared, findings);
            continue;
        }
        let Some(text) = table.text(key, findings) else { continue };
        if let Err(why) = check_argument_name(&name) {
            findings.error(at, "wrong_name", why);
        }
        if let Some(kind) = known(&text, ArgumentUse::parse(text.it), findings) {
            declared.arguments.insert(name, kind);
        }
    }
}

/// The value of a name, or an error with the name that was probably meant.
fn known<T>(text: &Located<&str>, read: Result<T, UnknownName>, findings: &mut Findings<'_>) -> Option<T> {
    match read {
        Ok(it) => Some(it),
        Err(unknown) => {
            let hint = match nearest(text.it, &unknown.known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", listed(&unknown.known)),
            };
            let shown: String = text.it.chars().take(60).collect();
            findings.error(text.at, "unknown_value", format!("`{shown}` is not {}; {hint}", unknown.kind));
            None
        }
    }
}

fn read_schema(table: &Table<'_>, findings: &mut Findings<'_>) -> Option<serde_json::Value> {
    if table.has("schema") && table.has("schema_json") {
        findings.error(table.place("schema_json"), "two_schemas", "give `schema` or `schema_json`, not both");
    }
    let schema = match table.text("schema_json", findings) {
        None => table.json("schema", findings)?,
        Some(text) => match serde_json::from_str(text.it) {
            Ok(it) => Located { at: text.at, it },
            Err(error) => {
                findings.error(text.at, "not_json", format!("`schema_json` is not JSON: {error}"));
                return None;
            }
        },
    };
    if !schema.it.is_object() {
        findings.error(schema.at, "wrong_type", "a schema must be an object");
    }
    Some(schema.it)
}
