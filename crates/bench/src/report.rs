//! Prints tables, writes results as JSON, and compares values with targets.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::Fallible;
use crate::sample;

/// One value, in its printed and its JSON form.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    shown: String,
    value: Value,
}

/// Row of a table: named values in order.
pub(crate) type Row = Vec<(&'static str, Cell)>;

/// Rows with equal columns.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
}

/// A target and the measured value.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) what: String,
    pub(crate) wanted: String,
    pub(crate) got: String,
    pub(crate) met: bool,
}

/// Results of one section.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) tables: Vec<Table>,
    pub(crate) targets: Vec<Target>,
}

/// Results of all sections.
#[derive(Debug)]
pub(crate) struct Report {
    quick: bool,
    load_before: String,
    pub(crate) sections: Vec<Section>,
}

pub(crate) fn text(text: impl Into<String>) -> Cell {
    let shown = text.into();
    Cell { value: json!(shown), shown }
}

pub(crate) fn whole(number: u64) -> Cell {
    Cell { shown: grouped(number), value: json!(number) }
}

/// Formats a number with this many decimals.
pub(crate) fn decimal(number: f64, digits: usize) -> Cell {
    let shown = format!("{number:.digits$}");
    let value = shown.parse::<f64>().map_or(Value::Null, |rounded| json!(rounded));
    Cell { shown, value }
}

/// Formats a number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

impl Table {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), rows: Vec::new() }
    }

    fn print(&self) {
        println!("\n{}", self.title);
        let Some(first) = self.rows.first() else { return };
        let mut widths: Vec<usize> = first.iter().map(|(name, _)| name.chars().count()).collect();
        for row in &self.rows {
            for (width, (_, cell)) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.shown.chars().count());
            }
        }
        let line = |cells: Vec<&str>| {
            let padded = cells.iter().zip(&widths).enumerate().map(|(index, (cell, width))| match index {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            println!("  {}", padded.collect::<Vec<_>>().join("  ").trim_end());
        };
        line(first.iter().map(|(name, _)| *name).collect());
        for row in &self.rows {
            line(row.iter().map(|(_, cell)| cell.shown.as_str()).collect());
        }
    }

    fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let fields = row.iter().map(|(name, cell)| ((*name).to_owned(), cell.value.clone()));
            Value::Object(fields.collect::<Map<_, _>>())
        });
        json!({ "title": self.title, "rows": rows.collect::<Vec<_>>() })
    }
}

impl Target {
    /// Creates a target that the value must not exceed.
    pub(crate) fn at_most(what: impl Into<String>, most: f64, got: f64, unit: &str) -> Self {
        let (wanted, shown) = (format!("at most {most} {unit}"), format!("{got:.2} {unit}"));
        Self { what: what.into(), wanted, got: shown, met: got <= most }
    }

    /// Creates a target that the value must reach.
    pub(crate) fn at_least(what: impl Into<String>, least: f64, got: f64, unit: &str) -> Self {
        let (wanted, shown) = (format!("at least {least} {unit}"), format!("{got:.1} {unit}"));
        Self { what: what.into(), wanted, got: shown, met: got >= least }
    }

    fn print(&self) {
        let met = if self.met { "met   " } else { "MISSED" };
        println!("  {met}  {}: {} (wanted: {})", self.what, self.got, self.wanted);
    }

    fn json(&self) -> Value {
        json!({ "what": self.what, "wanted": self.wanted, "got": self.got, "met": self.met })
    }
}

impl Section {
    pub(crate) fn print(&self) {
        println!("\n== {} ==", self.name);
        self.tables.iter().for_each(Table::print);
        if !self.targets.is_empty() {
            println!();
        }
        self.targets.iter().for_each(Target::print);
    }

    fn json(&self) -> Value {
        let tables: Vec<Value> = self.tables.iter().map(Table::json).collect();
        let targets: Vec<Value> = self.targets.iter().map(Target::json).collect();
        json!({ "name": self.name, "tables": tables, "targets": targets })
    }
}

impl Report {
    pub(crate) fn new(quick: bool) -> Self {
        Self { quick, load_before: sample::load_average(), sections: Vec::new() }
    }

    /// Prints all targets together, at the end of a long output.
    pub(crate) fn print_targets(&self) {
        let targets: Vec<&Target> = self.sections.iter().flat_map(|section| &section.targets).collect();
        let met = targets.iter().filter(|target| target.met).count();
        println!("\n== targets: {met} of {} met ==\n", targets.len());
        targets.into_iter().for_each(Target::print);
        println!("\n  load of the machine before: {} (a value above 0.2 affects the results)", self.load_before);
    }

    pub(crate) fn write(&self, path: &Path) -> Fallible<()> {
        let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let sections: Vec<Value> = self.sections.iter().map(Section::json).collect();
        let report = json!({
            "quick": self.quick, "cores": cores, "load_before": self.load_before, "sections": sections,
        });
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(path, format!("{report:#}\n"))?;
        println!("  written to {}", path.display());
        Ok(())
    }
}
