//! A text as the tests of the readers want it: read by whichever reader knows it, as the output of a run under `/p`.

use super::JsonReader;
use crate::run::{ExitKind, ParsedRun};
use crate::{TestStatus, normalize::Root, tally::Tally};

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

/// No cut of a sample is a pass; the line feed at its end may be missing.
pub(super) fn no_cut_passes(samples: &[&str]) {
    for text in samples {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let status =
                tally(&text[..end]).map(|tally| ParsedRun::conclude(tally, ExitKind::Code(0)).status);
            assert!(status != Some(TestStatus::Passed) || end + 1 == text.len(), "{:?}", &text[..end]);
        }
    }
}
