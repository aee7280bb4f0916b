//! A text as the tests of the readers want it: read by whichever reader knows it, as the output of a run under `/p`.

use super::JsonReader;
use crate::run::{ExitKind, ParsedRun};
use crate::{normalize::Root, tally::Tally};

/// The result of the readers for `text`.
pub(super) fn tally(text: &str) -> Option<Tally> {
    let mut reader = JsonReader::new(&Root::new("/p"), "out");
    reader.push(text.as_bytes());
    reader.finish(None)
}

/// The run that `text` reports, when the program ended with code 0.
pub(super) fn run(text: &str) -> ParsedRun {
    ParsedRun::conclude(tally(text).expect("a format that is known"), ExitKind::Code(0))
}
