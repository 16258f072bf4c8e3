//! Collects the verbs, tables and functions of a statement from its syntax tree.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "enums of the SQL parser have a hundred variants; what is not named here is not a read"
)]

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Cte, Delete, Expr, FromTable, Ident, ObjectName, Query, Select, SetExpr, Statement as Tree,
    TableFactor, TableObject, TableWithJoins, Visit, Visitor, With,
};

use super::names::{is_text, may_be_a_file, name, part, table_name, unique, with_bare_names};
use super::scope::QueryScope;
use super::{Statement, dialect, function, reading, types, upsert};
use crate::SqlDialect;

/// The facts of a statement.
pub(super) struct Inspected {
    pub(super) statement: Statement,
    /// The verbs of the statement and of the statements within it.
    pub(super) verbs: Vec<String>,
    /// The tables that it reads, once each.
    pub(super) read_tables: Vec<String>,
    /// The tables that it writes, once each.
    pub(super) written_tables: Vec<String>,
    /// It calls a function that may do more than compute.
    pub(super) calls: bool,
    /// It has an effect other than changing rows of the tables that it names and calling functions.
    pub(super) acts: bool,
}

/// Returns the facts of a statement, in a dialect or as any database reads it.
pub(super) fn inspect(tree: &Tree, dialect: Option<SqlDialect>) -> Inspected {
    let mut facts = StatementFacts { dialect, ..StatementFacts::default() };
    let _: ControlFlow<()> = tree.visit(&mut facts);
    if dialect.is_none() {
        facts.drop_common_names(tree);
    }
    let verb = facts.verb(tree);
    let reads: Vec<String> = facts.relations.iter().filter(|name| !facts.only_target(name)).cloned().collect();
    let statement = Statement {
        verb,
        reads: unique(with_bare_names(reads.clone())),
        writes: unique(with_bare_names(facts.targets.clone())),
        has_where: facts.limited(tree),
        read_only: facts.reads_only(tree),
        functions: unique(facts.functions.clone()),
    };
    Inspected {
        statement,
        verbs: unique(facts.verbs),
        read_tables: unique(reads),
        written_tables: unique(facts.targets),
        calls: facts.calls,
        acts: facts.acts,
    }
}

/// The facts collected so far.
#[derive(Default)]
struct StatementFacts {
    dialect: Option<SqlDialect>,
    /// The common names that are visible, in a dialect.
    scope: QueryScope,
    /// The name of the table function that is being visited. It is no table.
    called: Option<*const ObjectName>,
    verbs: Vec<String>,
    /// Every mention of a table.
    relations: Vec<String>,
    /// The tables that are written.
    targets: Vec<String>,
    functions: Vec<String>,
    /// The statement has a part that changes rows of named tables.
    changes: bool,
    /// The statement calls a function that may do more than compute.
    calls: bool,
    /// The statement has a part that does something else than read, or is not known.
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
            tree if self.dialect.is_some_and(|dialect| reading::is_harmless(tree, dialect)) => {}
            Tree::ShowCreate { obj_name, .. } => self.relations.push(self.table(obj_name)),
            Tree::ShowVariable { variable } => self.show(variable),
            tree if shows(tree) => {}
            tree @ (Tree::Insert(_) | Tree::Update(_) | Tree::Delete(_) | Tree::Merge(_)) => {
                self.changes = true;
                self.target(tree);
            }
            tree => {
                self.acts = true;
                self.target(tree);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.scope.leave(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(dialect) = self.dialect {
            self.scope.enter(query, dialect);
        }
        self.withs += usize::from(query.with.is_some());
        self.acts |= !query.locks.is_empty()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty();
        self.acts |= query.for_clause.is_some() && self.dialect != Some(SqlDialect::Tsql);
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
        match self.dialect {
            Some(_) if self.called == Some(std::ptr::from_ref(relation)) => return ControlFlow::Continue(()),
            Some(dialect) if self.scope.is_common(relation, dialect) => return ControlFlow::Continue(()),
            // A name of four parts is on another server.
            Some(dialect) => self.acts |= is_text(relation) || (dialect == SqlDialect::Tsql && relation.0.len() > 3),
            None => self.acts |= may_be_a_file(relation),
        }
        self.relations.push(self.table(relation));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        self.acts |= types::in_factor(factor, self.dialect);
        match factor {
            TableFactor::Table { name: called, args: Some(_), .. } => {
                self.called = Some(std::ptr::from_ref(called));
                self.call(called);
            }
            TableFactor::Function { name: called, .. } => self.call(called),
            factor if self.dialect.is_some() => self.acts |= !reading::is_reading_factor(factor),
            TableFactor::Table { with_hints, version, json_path, .. } => {
                self.acts |= !with_hints.is_empty() || version.is_some() || json_path.is_some();
            }
            TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } | TableFactor::UNNEST { .. } => {}
            _ => self.acts = true,
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.acts |= types::in_expression(expr, self.dialect);
        match expr {
            Expr::Function(function) => self.call(&function.name),
            Expr::BinaryOp { op, .. } if self.dialect.is_some() => self.acts |= !reading::is_reading_operator(op),
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
    fn table(&self, table: &ObjectName) -> String {
        table_name(table, self.dialect)
    }

    fn call(&mut self, called: &ObjectName) {
        let written = name(called);
        // `PostgreSQL` has functions whose quoted names differ in capitals.
        let folds = self.dialect != Some(SqlDialect::Postgresql);
        let called = if folds { written.to_lowercase() } else { written };
        self.calls |= match self.dialect {
            Some(dialect) => !dialect::function::is_pure(dialect, &called),
            None => !function::is_pure(&called),
        };
        self.functions.push(called);
    }

    /// Adds the tables of an unknown form of `SHOW`: `SHOW INDEX FROM a`.
    fn show(&mut self, variable: &[Ident]) {
        let from = |word: &Ident| matches!(part(word).as_str(), "from" | "in" | "on" | "for" | "create");
        if let Some(at) = variable.iter().position(from) {
            let after = variable.get(at + 1..).unwrap_or_default();
            self.acts |= self.dialect != Some(SqlDialect::Mysql) || after.len() != 1;
            self.relations.extend(after.iter().map(part));
        }
    }

    /// Adds the tables that a statement writes.
    fn target(&mut self, tree: &Tree) {
        match tree {
            Tree::Insert(insert) => {
                match &insert.table {
                    TableObject::TableName(table) => self.targets.push(self.table(table)),
                    other => {
                        self.acts = true;
                        self.targets.push(other.to_string());
                    }
                }
                if insert.multi_table_insert_type.is_some() {
                    self.acts = true;
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
                self.targets.extend(names.iter().map(|name| table_name(name, self.dialect)));
                self.targets.extend(table.iter().map(|name| table_name(name, self.dialect)));
            }
            other => {
                // Any other statement may change the tables that it names.
                let mut named = RelationNames { dialect: self.dialect, names: Vec::new() };
                let _: ControlFlow<()> = other.visit(&mut named);
                self.targets.extend(named.names);
            }
        }
    }

    fn delete(&mut self, delete: &Delete) {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        if delete.tables.is_empty() {
            self.aim(from);
        } else {
            self.targets.extend(delete.tables.iter().map(|name| table_name(name, self.dialect)));
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
            TableFactor::Table { name: table, .. } => self.targets.push(self.table(table)),
            TableFactor::NestedJoin { table_with_joins, .. } => self.aim(std::slice::from_ref(table_with_joins)),
            other => {
                self.acts = true;
                self.targets.push(other.to_string());
            }
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
            tree => shows(tree) || self.dialect.is_some_and(|dialect| reading::is_harmless(tree, dialect)),
        };
        reads && !self.acts && !self.calls && !self.changes && self.targets.is_empty()
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
        real.extend(named.names.into_iter().filter(|name| !known.contains(name)));
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
struct RelationNames {
    dialect: Option<SqlDialect>,
    names: Vec<String>,
}

impl Visitor for RelationNames {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        short(&query.body, &mut self.names);
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.names.push(table_name(relation, self.dialect));
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
