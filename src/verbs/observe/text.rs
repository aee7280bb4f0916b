//! What `andon observe test_run` took in.

use andon_core::domain::tests::{RunValidity, TestRun};

use andon_engine::text::phrase;
use andon_engine::text::style::Style;

/// One line: the result and what it is worth.
pub fn text(run: &TestRun, style: Style) -> String {
    let worth = match run.validity {
        _ if run.is_reported_failing() => {
            "it counts as a failure, and proves nothing else (test.handed_in = \"record\")"
        }
        RunValidity::Valid => "it counts as a run of test.command (test.handed_in)",
        RunValidity::HandedIn => "it proves nothing (test.handed_in = \"record\")",
        RunValidity::OtherCommand => "it is not of test.command and proves nothing",
        RunValidity::CodeChanged
        | RunValidity::Interrupted
        | RunValidity::Filtered
        | RunValidity::NotStarted => "it proves nothing",
    };
    let result = phrase::tests(&run.evidence);
    let code = style.dim(&run.evidence.code.short());
    format!("kept a handed-in test run on code {code}: {result}; {worth}\n")
}
