//! Tables of expectations as text: a header of commands, then one row for each state. Each cell is a complete expectation.

/// All cells as (state, command, expected). Panics if a row has too few or too many cells.
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
