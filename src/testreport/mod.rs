//! Reads what a finished test run left behind and reduces it to one value.
//!
//! Everything the guard decides about progress rests on this module, and reports lie: exit codes are
//! hidden by pipes, reports are cut short, runners die. So the rule throughout is that a doubt is a status
//! class of its own and never a pass (DESIGN section 5).
//!
//! A report is recognised by its content. Each format has a reader of its own that fills a tally; the
//! tallies of one run are merged, and only `run` draws the conclusion from the whole and the exit.
//!
//! Pure, rank 1: bytes in, values out.

mod by_line;
mod cases;
mod decode;
mod examine;
mod file;
mod format;
mod json;
mod junit;
mod libtest;
mod lines;
mod normalize;
mod problem;
mod reader;
mod run;
mod signature;
mod tally;
mod tap;
mod text;
mod xml;
mod xmlreport;

pub use examine::{Examination, Examined, FailureTrace, Unread, examine};
pub use file::{MAX_REPORT_BYTES, ReportReader};
pub use format::Format;
pub use lines::Stream;
pub use normalize::{Change, Root, normalize_error, normalize_id};
pub use problem::ReportProblem;
pub use reader::{ReportInput, RunReader, read};
pub use run::{ExitKind, ParsedRun, RUNNER_EXIT};
pub use signature::{ErrorText, FORMAT, coarse_signature, error_signature, is_signed, signature};

#[cfg(test)]
mod tests;
