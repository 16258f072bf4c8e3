//! Collects the verbs, tables and functions of a statement from its syntax tree.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "enums of the SQL parser have a hundred variants; what is not named here is not a read"
)]

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Cte, Delete, Expr, FromTable, Ident, ObjectName, ObjectNamePart, Query, Select, SetExpr,
    Statement as Tree, TableFactor, TableObject, TableWithJoins, Visit, Visitor, With,
};

use super::{Statement, function, upsert};

/// Returns the facts of a statement, and the verbs of it and of the statements within it.
pub(super) fn inspect(tree: &Tree) -> (Statement, Vec<String>) {
    let mut facts = StatementFacts::default();
    let _: ControlFlow<()> = tree.visit(&mut facts);
    facts.drop_common_names(tree);
    let verb = facts.verb(tree);
    let reads = facts.relations.iter().filter(|name| !facts.only_target(name)).cloned().collect();
    let named = facts.relations.iter().chain(&facts.targets).cloned().collect();
    let statement = Statement {
        verb,
        tables: unique(named),
        reads: unique(with_bare_names(reads)),
        writes: unique(with_bare_names(facts.targets.clone())),
        has_where: facts.limited(tree),
        read_only: facts.reads_only(tree),
        functions: unique(facts.functions.clone()),
    };
    (statement, unique(facts.verbs))
}

/// The facts collected so far.
#[derive(Default)]
struct StatementFacts {
    verbs: Vec<String>,
    /// Every mention of a table.
    relations: Vec<String>,
    /// The tables that are written.
    targets: Vec<String>,
    functions: Vec<String>,
    /// The statement has a part that does more than read, or is not known.
    acts: bool,
    /// Number of statements that change rows.
    changing: usize,
    /// Number of these that have a `WHERE` on a column.
    limited: usize,
    /// Number of queries with a `WITH`.
    withs: usize,
}

impl Visitor for StatementFacts {
    type Break = ();

    fn pre_visit_statement(&mut self, tree: &Tree) -> ControlFlow<()> {
        self.verbs.push(verb(tree));
        match tree {
            Tree::Insert(_) => self.verbs.push("insert".to_owned()),
            Tree::Update(_) => self.verbs.push("update".to_owned()),
            _ => {}
        }
        self.verbs.extend(upsert::further(tree).into_iter().map(str::to_owned));
        match tree {
            Tree::Query(_) | Tree::Explain { .. } | Tree::ExplainTable { .. } => {}
            Tree::ShowCreate { obj_name, .. } => self.relations.push(name(obj_name)),
            Tree::ShowVariable { variable } => self.show(variable),
            tree if shows(tree) => {}
            tree => {
                self.acts = true;
                self.target(tree);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.withs += usize::from(query.with.is_some());
        self.acts |= !query.locks.is_empty()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty();
        self.acts |= query.for_clause.is_some();
        short(&query.body, &mut self.relations);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if let Some(into) = &select.into {
            self.acts = true;
            self.verbs.push("select_into".to_owned());
            let written = into.to_string();
            self.targets.push(written.rsplit(' ').next().unwrap_or_default().to_lowercase());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.acts |= may_be_a_file(relation);
        self.relations.push(name(relation));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name: called, args: Some(_), .. } => self.call(called),
            TableFactor::Table { with_hints, version, json_path, .. } => {
                self.acts |= !with_hints.is_empty() || version.is_some() || json_path.is_some();
            }
            TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } | TableFactor::UNNEST { .. } => {}
            TableFactor::Function { name: called, .. } => self.call(called),
            _ => self.acts = true,
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) => self.call(&function.name),
            Expr::BinaryOp {
                op: BinaryOperator::Assignment | BinaryOperator::Custom(_) | BinaryOperator::PGCustomBinaryOperator(_),
                ..
            } => {
                self.acts = true;
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl StatementFacts {
    fn call(&mut self, called: &ObjectName) {
        let called = name(called).to_lowercase();
        self.acts |= !function::is_pure(&called);
        self.functions.push(called);
    }

    /// Adds the tables of an unknown form of `SHOW`: `SHOW INDEX FROM a`.
    fn show(&mut self, variable: &[Ident]) {
        let from = |word: &Ident| matches!(part(word).as_str(), "from" | "in" | "on" | "for" | "create");
        if let Some(at) = variable.iter().position(from) {
            self.acts = true;
            self.relations.extend(variable.get(at + 1..).unwrap_or_default().iter().map(part));
        }
    }

    /// Adds the tables that a statement writes.
    fn target(&mut self, tree: &Tree) {
        match tree {
            Tree::Insert(insert) => {
                match &insert.table {
                    TableObject::TableName(table) => self.targets.push(name(table)),
                    other => self.targets.push(other.to_string()),
                }
                if insert.multi_table_insert_type.is_some() {
                    self.targets.push("several tables".to_owned());
                }
                if !upsert::further(tree).is_empty() {
                    self.change(upsert::limit(tree));
                }
            }
            Tree::Update(update) => {
                self.aim(std::slice::from_ref(&update.table));
                self.change(update.selection.as_ref());
            }
            Tree::Delete(delete) => {
                self.delete(delete);
                self.change(delete.selection.as_ref());
            }
            Tree::Merge(merge) => self.factor(&merge.table),
            Tree::Drop { names, table, .. } => {
                self.targets.extend(names.iter().map(name));
                self.targets.extend(table.iter().map(name));
            }
            other => {
                // Any other statement may change the tables that it names.
                let mut named = RelationNames::default();
                let _: ControlFlow<()> = other.visit(&mut named);
                self.targets.extend(named.0);
            }
        }
    }

    fn delete(&mut self, delete: &Delete) {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        if delete.tables.is_empty() {
            self.aim(from);
        } else {
            self.targets.extend(delete.tables.iter().map(name));
            // The names before `FROM` may be aliases of those after it.
            self.aim(from);
        }
    }

    fn aim(&mut self, tables: &[TableWithJoins]) {
        for table in tables {
            self.factor(&table.relation);
            table.joins.iter().for_each(|join| self.factor(&join.relation));
        }
    }

    fn factor(&mut self, factor: &TableFactor) {
        match factor {
            TableFactor::Table { name: table, .. } => self.targets.push(name(table)),
            TableFactor::NestedJoin { table_with_joins, .. } => self.aim(std::slice::from_ref(table_with_joins)),
            other => self.targets.push(other.to_string()),
        }
    }

    fn change(&mut self, selection: Option<&Expr>) {
        self.changing += 1;
        self.limited += usize::from(selection.is_some_and(looks_at_a_column));
    }

    /// The verb of the whole statement. A verb that writes takes precedence over one that reads.
    fn verb(&self, tree: &Tree) -> String {
        let outer = verb(tree);
        if outer != "select" {
            return outer;
        }
        self.verbs.iter().find(|verb| *verb != "select").cloned().unwrap_or(outer)
    }

    fn limited(&self, tree: &Tree) -> bool {
        if self.changing > 0 {
            return self.changing == self.limited;
        }
        match tree {
            Tree::Query(query) => match query.body.as_ref() {
                SetExpr::Select(select) => select.selection.as_ref().is_some_and(looks_at_a_column),
                _ => false,
            },
            _ => false,
        }
    }

    fn reads_only(&self, tree: &Tree) -> bool {
        let reads = match tree {
            Tree::Query(_) | Tree::ExplainTable { .. } => true,
            Tree::Explain { statement, .. } => matches!(statement.as_ref(), Tree::Query(_)),
            tree => shows(tree),
        };
        reads && !self.acts && self.targets.is_empty()
    }

    fn only_target(&self, name: &str) -> bool {
        let count = |all: &[String]| all.iter().filter(|one| *one == name).count();
        count(&self.targets) >= count(&self.relations)
    }

    /// Removes the names that a leading `WITH` introduces from the list of tables, unless they may be real tables.
    fn drop_common_names(&mut self, tree: &Tree) {
        let Tree::Query(query) = tree else { return };
        let Some(with) = query.with.as_ref().filter(|_| self.withs == 1) else { return };
        let common: Vec<String> = with.cte_tables.iter().map(|table| part(&table.alias.name)).collect();
        let mut real = seen_before_they_are_made(with, &common);
        real.extend(spelled_otherwise(query, with));
        self.relations.retain(|name| !common.contains(name) || real.contains(name));
    }
}

/// Names that are used before their definition in a `WITH`, or inside it without `RECURSIVE`: these are real tables.
fn seen_before_they_are_made(with: &With, common: &[String]) -> Vec<String> {
    let mut real = Vec::new();
    for (at, table) in with.cte_tables.iter().enumerate() {
        let mut named = RelationNames::default();
        let _: ControlFlow<()> = table.query.visit(&mut named);
        // Databases disagree on whether `RECURSIVE` makes later names visible.
        let known = common.get(..at + usize::from(with.recursive)).unwrap_or_default();
        real.extend(named.0.into_iter().filter(|name| !known.contains(name)));
    }
    real
}

/// Names that are spelled with other capitals or quotes than their definition in a `WITH`: real tables in some databases.
fn spelled_otherwise(query: &Query, with: &With) -> Vec<String> {
    let mut spelled = SpelledRelations::default();
    let _: ControlFlow<()> = query.visit(&mut spelled);
    let defined = |name: &ObjectName| {
        let alike = |table: &Cte| name.0.len() == 1 && name.to_string() == table.alias.name.to_string();
        with.cte_tables.iter().any(alike)
    };
    spelled.0.iter().filter(|relation| !defined(relation)).map(name).collect()
}

/// Collects every table that is named, as spelled.
#[derive(Default)]
struct SpelledRelations(Vec<ObjectName>);

impl Visitor for SpelledRelations {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.0.push(relation.clone());
        ControlFlow::Continue(())
    }
}

/// Collects every table that is named.
#[derive(Default)]
struct RelationNames(Vec<String>);

impl Visitor for RelationNames {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        short(&query.body, &mut self.0);
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.0.push(name(relation));
        ControlFlow::Continue(())
    }
}

/// Says whether a statement contains a query of the form `TABLE a`.
pub(super) fn has_short_form(tree: &Tree) -> bool {
    struct Short(Vec<String>);
    impl Visitor for Short {
        type Break = ();

        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            short(&query.body, &mut self.0);
            ControlFlow::Continue(())
        }
    }
    let mut found = Short(Vec::new());
    let _: ControlFlow<()> = tree.visit(&mut found);
    !found.0.is_empty()
}

/// Adds the tables that a query reads by `TABLE a`, which the parser does not report as relations.
fn short(body: &SetExpr, names: &mut Vec<String>) {
    let mut bodies = vec![body];
    while let Some(body) = bodies.pop() {
        match body {
            SetExpr::SetOperation { left, right, .. } => bodies.extend([right.as_ref(), left.as_ref()]),
            SetExpr::Table(table) => {
                let schema = table.schema_name.as_ref().map(|schema| format!("{schema}.")).unwrap_or_default();
                let name = table.table_name.as_deref().unwrap_or_default();
                names.push(format!("{schema}{name}").to_lowercase());
            }
            // The visitor reaches a query in parentheses separately.
            _ => {}
        }
    }
}

/// Says whether the name of a table may be a file: some databases read a file whose name stands in quotes.
fn may_be_a_file(table: &ObjectName) -> bool {
    table.0.iter().any(|part| match part {
        ObjectNamePart::Identifier(ident) => {
            ident.quote_style == Some('\'')
                || (ident.quote_style.is_some() && ident.value.contains(['/', '\\', '.', ':', '*', '?']))
        }
        ObjectNamePart::Function(_) => false,
    })
}

/// Says whether a `WHERE` mentions a column. `WHERE true` and `WHERE 1 = 1` limit nothing.
fn looks_at_a_column(selection: &Expr) -> bool {
    struct Columns(bool);
    impl Visitor for Columns {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            self.0 |= matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
            ControlFlow::Continue(())
        }
    }
    let mut columns = Columns(false);
    let _: ControlFlow<()> = selection.visit(&mut columns);
    columns.0
}

/// Says whether a statement only shows metadata, such as tables or settings.
fn shows(tree: &Tree) -> bool {
    matches!(
        tree,
        Tree::ShowTables { .. }
            | Tree::ShowColumns { .. }
            | Tree::ShowDatabases { .. }
            | Tree::ShowSchemas { .. }
            | Tree::ShowViews { .. }
            | Tree::ShowCreate { .. }
            | Tree::ShowVariable { .. }
    )
}

fn verb(tree: &Tree) -> String {
    let verb = match tree {
        Tree::Query(query) => match query.body.as_ref() {
            SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) | SetExpr::Merge(inner) => {
                return verb(inner);
            }
            _ => "select",
        },
        Tree::Insert(_) => upsert::further(tree).first().copied().unwrap_or("insert"),
        Tree::Update(_) => upsert::further(tree).first().copied().unwrap_or("update"),
        Tree::Delete(_) => "delete",
        Tree::Merge(_) => "merge",
        Tree::Explain { .. } | Tree::ExplainTable { .. } => "explain",
        other => {
            let text = other.to_string();
            return text
                .split(|c: char| !c.is_ascii_alphabetic())
                .find(|word| !word.is_empty())
                .unwrap_or("unknown")
                .to_ascii_lowercase();
        }
    };
    verb.to_owned()
}

/// A name with its schema, in lower case where it was not quoted.
fn name(object: &ObjectName) -> String {
    let parts: Vec<String> = object
        .0
        .iter()
        .map(|object| match object {
            ObjectNamePart::Identifier(ident) => part(ident),
            ObjectNamePart::Function(function) => function.to_string(),
        })
        .collect();
    parts.join(".")
}

/// A part of a name. A dot within quotes separates nothing, so the quotes stay.
fn part(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) if ident.value.contains('.') => format!("\"{}\"", ident.value),
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// Adds the bare name in lower case of each table: `public.Secrets` and `"Secrets"` are `secrets` in most databases,
/// and a rule that names it must see them.
fn with_bare_names(names: Vec<String>) -> Vec<String> {
    let bare = |name: &String| name.rsplit('.').next().unwrap_or_default().trim_end_matches('"').to_lowercase();
    names
        .into_iter()
        .flat_map(|name| {
            let bare = bare(&name);
            [name, bare]
        })
        .collect()
}

fn unique(mut all: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    all.retain(|name| seen.insert(name.clone()));
    all
}
