//! Reads a table of expectations: a header of commands, then one row per state. A cell is one whole expectation.

/// Every cell as (state, command, expected). A row that has a cell too few or too many fails.
pub(crate) fn cells(table: &'static str) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut rows = table.trim().lines().map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let header = rows.next().unwrap_or_default();
    rows.flat_map(|row| {
        assert_eq!(row.len(), header.len(), "the row {row:?}");
        let commands = header.clone();
        (1..row.len()).map(move |column| (row[0], commands[column], row[column]))
    })
    .collect()
}
