//! Collects times and computes percentiles, and reads memory and processor time of a process.

use std::time::Duration;

use crate::Fallible;

/// Measured times, in microseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times(Vec<u64>);

impl Times {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(crate) const fn count(&self) -> usize {
        self.0.len()
    }

    /// Sorts the times, so that percentiles can be read.
    pub(crate) fn ranked(mut self) -> Ranked {
        self.0.sort_unstable();
        Ranked(self.0)
    }
}

/// Sorted times, in microseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranked(Vec<u64>);

impl Ranked {
    /// Percentile in milliseconds; 0 without times.
    pub(crate) fn millis(&self, percent: usize) -> f64 {
        let Some(last) = self.0.len().checked_sub(1) else { return 0.0 };
        let index = (last * percent).div_ceil(100);
        self.0.get(index).copied().unwrap_or_default() as f64 / 1000.0
    }
}

/// Memory of a process, in KiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Resident memory, including mapped files.
    pub(crate) resident: u64,
    /// Memory that the process itself has allocated.
    pub(crate) own: u64,
}

/// Reads the memory of a process.
pub(crate) fn memory(process: u32) -> Fallible<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes = |name: &str| -> Fallible<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).and_then(|line| line.strip_suffix(" kB"));
        Ok(line.ok_or("/proc shows no memory")?.trim().parse()?)
    };
    Ok(Memory { resident: kilobytes("VmRSS:")?, own: kilobytes("RssAnon:")? })
}

/// Reads the processor time that a process has used, in seconds.
pub(crate) fn processor(process: u32) -> Fallible<f64> {
    // The kernel counts in units of 1/100 second on every Linux.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The process name in parentheses may contain any character, so the last parenthesis counts.
    let (_, after) = stat.rsplit_once(')').ok_or("/proc/stat cannot be read")?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let field = |at: usize| -> Fallible<f64> { Ok(fields.get(at).ok_or("/proc/stat is short")?.parse()?) };
    Ok((field(11)? + field(12)?) / TICKS)
}

/// Reads the load average of the last minute.
pub(crate) fn load_average() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().next().unwrap_or("unknown").to_owned()
}
