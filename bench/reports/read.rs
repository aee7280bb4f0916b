//! Reads report files as `andon test` does and says what that took: for `bench/reports/run.py`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used)] // a tool for people at a terminal

use std::io::Read as _;
use std::time::Instant;

use testreport::{ExitKind, Root, RunReader};

fn main() {
    let mut chunk = vec![0; 64 * 1024];
    for path in std::env::args().skip(1) {
        let started = Instant::now();
        let mut reader = RunReader::new(Root::none());
        let mut report = reader.open_report(&path);
        let mut file = std::fs::File::open(&path).unwrap();
        let mut size = 0;
        loop {
            let read = file.read(&mut chunk).unwrap();
            size += read;
            if read == 0 || report.push(&chunk[..read]).is_break() {
                break;
            }
        }
        reader.close_report(report);
        let run = reader.finish(ExitKind::Code(0));
        println!(
            "{:.6} {size} {} {} {:?}",
            started.elapsed().as_secs_f64(),
            peak(),
            run.counts.total,
            run.status
        );
        for warning in run.warnings {
            println!("  {warning}");
        }
    }
}

/// Peak memory of this process in KiB, as Linux has it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
