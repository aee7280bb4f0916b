//! Real reports, misleading runs, and untrusted input, through the one public entry point.

mod bounds;
mod misleading_runs;
mod on_terminal;
pub(crate) mod samples;
mod untrusted_input;

use super::{ExitKind, ParsedRun, ReportInput, Root, RunReader, Stream};

/// A run that printed this, wrote these files, and ended so.
fn run(stdout: &[u8], stderr: &[u8], files: &[(&str, &[u8])], exit: i32) -> ParsedRun {
    let mut reader = RunReader::new(Root::new("/p"));
    reader.push(Stream::Stderr, stderr);
    reader.push(Stream::Stdout, stdout);
    for (name, bytes) in files {
        reader.report(ReportInput { name, bytes });
    }
    reader.finish(ExitKind::Code(exit))
}

/// A run known only from one report file.
fn file(bytes: &[u8], exit: i32) -> ParsedRun {
    run(b"", b"", &[("report", bytes)], exit)
}
