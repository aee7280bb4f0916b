#![doc = include_str!("../README.md")]
//!
//! # How it works
//!
//! A report is recognised by its content. Each format has a reader of its own that fills a tally; the
//! tallies of one run are merged, and only `run` draws the conclusion from the whole and the exit.
//!
//! Pure: bytes in, values out. No file is opened, no clock is read.

#![deny(missing_docs)]

mod beginnings;
mod by_line;
mod cases;
#[doc(hidden)]
pub mod command_words;
mod decode;
mod examine;
mod file;
mod format;
mod json;
mod libtest;
mod lines;
mod normalize;
mod pattern;
mod prefix;
mod printed_lines;
mod problem;
mod promises;
mod reader;
mod result;
mod run;
mod runner_call;
#[doc(hidden)]
pub mod shell_reading;
mod signature;
mod tally;
mod tap;
mod test_names;
mod text;
mod told;
mod unstarted;
mod words;
mod xml;

pub use examine::{Examination, Examined, FailureTrace, ReportReading, UnreadableReport, examine};
pub use file::{MAX_REPORT_BYTES, ReportReader};
pub use format::Format;
pub use lines::Stream;
pub use normalize::{Change, Mask, Root, normalize_contents, normalize_error, normalize_id, stable_id};
pub use pattern::pattern;
pub use problem::ReportProblem;
pub use reader::{ReportInput, RunReader, read};
pub use result::{Counts, ReportedPlace, TestStatus};
pub use run::{ExitKind, MAX_FAILING, ParsedRun, RUNNER_COUNTED, RUNNER_EXIT};
pub use runner_call::{KnownRunner, Promise, RunnerCall};
pub use signature::{Digest, ErrorText, Scheme};
pub use test_names::NamedTest;
pub use told::counted_red;
#[doc(hidden)]
pub use words::{RUNNERS, WordList};

#[cfg(test)]
mod tests;
