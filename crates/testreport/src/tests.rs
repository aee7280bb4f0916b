//! Real reports, runs that mislead, and input that nobody vouches for, through the one door that all of them take.

mod misleading_runs;
mod on_terminal;
pub(crate) mod samples;
mod untrusted_input;

use super::{ExitKind, ParsedRun, ReportInput, Root, RunReader, Stream};

/// A run of which this was printed, these files were written, and that ended so.
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
