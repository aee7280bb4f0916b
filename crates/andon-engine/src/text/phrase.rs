//! Phrases that several views share, so that the same fact reads the same everywhere.

use std::fmt::Write as _;

use super::Style;
use andon_core::detect::HOOK_BYPASS;
pub use andon_core::domain::plural::{count, times};
use andon_core::domain::{
    Ack, AckHow, CommitKind, CommitRecord, DiffSummary, Evidence, Gate, HaltAssessment, HaltReason,
    MAX_SHOWN, RanOn, Recording, RunOrigin, RunValidity, Skip, TestEvidence, TestStatus, Weakening,
};
use andon_core::escape;

/// Columns of a message on a terminal before it is cut. Long enough for any honest one.
pub const MESSAGE: usize = 1000;

/// An untrusted message for the terminal, on one line, bounded.
pub fn message(text: &str) -> String {
    escape::terminal_clip(text, MESSAGE)
}

/// The reason as a person says it.
pub fn reason(reason: HaltReason) -> &'static str {
    match reason {
        HaltReason::BudgetExceeded => "budget exceeded",
        HaltReason::Stalled => "stalled",
        HaltReason::Oscillating => "oscillating",
        HaltReason::RepeatedError => "repeated error",
        HaltReason::UserStop => "stopped by a person",
    }
}

/// A text about a result in the colour of it.
pub fn by_result(evidence: &TestEvidence, text: &str, style: Style) -> String {
    if evidence.is_green() { style.green(text) } else { style.red(text) }
}

/// The result of a test run: `2 of 120 failing`.
pub fn tests(evidence: &TestEvidence) -> String {
    let counts = evidence.counts();
    match evidence.status {
        TestStatus::Passed if counts.skipped > 0 => {
            format!("{} passed, {} skipped", counts.passed, counts.skipped)
        }
        TestStatus::Passed if counts.total == 0 => "passed, by its exit code alone".to_owned(),
        TestStatus::RunnerError if evidence.is_by_exit_code() => "failed, by its exit code alone".to_owned(),
        TestStatus::Passed => format!("{} passed", counts.passed),
        TestStatus::Failed => format!("{} of {} failing", counts.failing(), counts.total),
        TestStatus::BuildFailed
        | TestStatus::RunnerError
        | TestStatus::TimedOut
        | TestStatus::Crashed
        | TestStatus::NoTests
        | TestStatus::Incomplete => without_counts(evidence.status).to_owned(),
    }
}

/// The end of a run of which no counts are known.
pub fn without_counts(status: TestStatus) -> &'static str {
    match status {
        TestStatus::Passed => "passed",
        TestStatus::Failed => "failed",
        TestStatus::BuildFailed => "the build failed",
        TestStatus::RunnerError => "the runner failed, no test did",
        TestStatus::TimedOut => "stopped by the time limit",
        TestStatus::Crashed => "killed by a signal",
        TestStatus::NoTests => "no test ran",
        TestStatus::Incomplete => "the report is incomplete",
    }
}

/// The reason why a run proves nothing.
pub fn void(validity: RunValidity) -> &'static str {
    match validity {
        RunValidity::Valid => "it does not count",
        RunValidity::OtherCommand => "another command than test.command",
        RunValidity::CodeChanged => "the code changed meanwhile",
        RunValidity::Interrupted => "it was stopped",
        RunValidity::Filtered => "fewer tests than test.full asks for",
        RunValidity::NotStarted => "the test program could not be started",
        RunValidity::HandedIn => "handed in, and test.handed_in is \"record\"",
        RunValidity::Seen => "seen in what a command printed",
    }
}

/// The remarks about a test run after its result: ` (handed in; flaky: a, b)`, or nothing. For the terminal.
pub fn remarks(evidence: &TestEvidence) -> String {
    let mut notes = Vec::new();
    if evidence.origin == RunOrigin::HandedIn {
        notes.push("handed in".to_owned());
    }
    if evidence.ran_on == RanOn::Parent {
        notes.push("of the commit before, from which only the version differs".to_owned());
    }
    if let Some(full) = evidence.full_run {
        notes.push(format!("{} of {} ran", evidence.counts().ran(), count(full, "test")));
    }
    if !evidence.flaky.is_empty() {
        let flaky = some_of(&evidence.flaky, 3, |test| escape::terminal_clip(test, 100));
        notes.push(format!("flaky: {flaky}"));
    }
    if !evidence.untracked.is_empty() {
        let files = some_of(&evidence.untracked, 3, |path| escape::terminal_clip(path, 100));
        notes.push(format!("untracked beside them: {files}"));
    }
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) }
}

/// The result of a test run in at most 12 columns, for tables.
pub fn tests_short(evidence: &TestEvidence) -> String {
    let counts = evidence.counts();
    let text = match evidence.status {
        TestStatus::Passed if counts.total == 0 => "exit code 0".to_owned(),
        TestStatus::Passed => format!("{} pass", counts.passed),
        TestStatus::Failed => format!("{}/{} fail", counts.failing(), counts.total),
        TestStatus::BuildFailed => "build failed".to_owned(),
        TestStatus::RunnerError => "runner error".to_owned(),
        TestStatus::TimedOut => "timed out".to_owned(),
        TestStatus::Crashed => "crashed".to_owned(),
        TestStatus::NoTests => "no tests".to_owned(),
        TestStatus::Incomplete => "incomplete".to_owned(),
    };
    escape::clip(&text, 12).into_owned()
}

/// `3 files, +10 -2`, or `nothing after normalization`.
pub fn diff(diff: &DiffSummary) -> String {
    if diff.empty {
        return "nothing after normalization".to_owned();
    }
    format!("{}, +{} -{}", count(diff.files, "file"), diff.added, diff.removed)
}

/// The unusual about a record: `amend`, `gate bypassed`, `recorded later`. A skip of the gate as a whole is shown elsewhere.
pub fn marks(record: &CommitRecord) -> Vec<&'static str> {
    let mut marks = Vec::new();
    if record.kind != CommitKind::Normal {
        marks.push(record.kind.as_str());
    }
    match record.gate {
        Gate::Passed => {}
        Gate::Bypassed => marks.push("gate bypassed"),
        // git runs no pre-commit for these: nothing to remark.
        Gate::NotRun if !matches!(record.kind, CommitKind::Normal | CommitKind::Amend) => {}
        Gate::NotRun => marks.push("gate not run"),
    }
    match record.recording {
        Recording::AtCommit | Recording::Derived => {}
        Recording::CaughtUp | Recording::Patched => marks.push("recorded later"),
        Recording::Moved => marks.push("moved from a commit without a record"),
        Recording::Backfilled => marks.push("backfilled"),
    }
    if record.skipped.iter().any(|skip| skip.rule != HOOK_BYPASS.id) {
        marks.push("rule skipped");
    }
    match &record.weakening {
        Some(Weakening { waiver: Some(_), .. }) => marks.push("tests removed, waived"),
        Some(found) if found.total > 0 => marks.push("tests weakened"),
        Some(_) | None => {}
    }
    if let Some(tests) = &record.tests {
        if tests.origin == RunOrigin::HandedIn {
            marks.push("tests handed in");
        }
        if tests.full_run.is_some() {
            marks.push("part of the tests");
        }
        if !tests.flaky.is_empty() {
            marks.push("flaky tests");
        }
    }
    marks
}

/// `untested-edit: REASON`, for the terminal.
pub fn skip(skip: &Skip) -> String {
    let reason = if skip.reason.is_empty() { "no reason given" } else { &skip.reason };
    let agent = skip
        .agent
        .as_ref()
        .map(|marker| format!(" (in an agent's shell: {})", escape::terminal_clip(marker, 40)));
    let rule = escape::terminal_clip(&skip.rule, 40);
    format!("{rule}: {}{}", escape::terminal_clip(reason, 200), agent.unwrap_or_default())
}

/// `answered by NAME with andon resume`, for the terminal; what they said is [`reason`].
pub fn acknowledged(ack: &Ack) -> String {
    let how = match ack.how {
        _ if ack.provider.is_some() => "as on_stall.policy says",
        AckHow::Resume => "with andon resume",
        AckHow::Unattended => "with andon resume --yes (no terminal)",
        AckHow::Signed => "with a signed resolution",
        AckHow::Unsigned => "without a signature, which ends nothing",
        AckHow::FileDeleted => "by deleting the file",
    };
    let done = match &ack.counter {
        Some(rule) => format!("counter of {} reset", escape::terminal_clip(rule, 30)),
        None if ack.how == AckHow::Unsigned => "not answered".to_owned(),
        None => "answered".to_owned(),
    };
    // Writing to a String cannot fail.
    let mut text = format!("{done} by {} {how}", escape::terminal_clip(&ack.by, 120));
    if ack.halt_was == HaltAssessment::Mistaken {
        text.push_str(", the halt was mistaken");
    }
    if let Some(agent) = &ack.agent {
        let _ = write!(text, " (first seen in an agent's shell: {})", escape::terminal_clip(agent, 40));
    }
    text
}

/// The reason of an acknowledgement, in quotes, for the terminal.
pub fn acknowledgment(ack: &Ack, columns: usize) -> Option<String> {
    let reason = escape::terminal_clip(&ack.reason, columns.saturating_sub(2));
    (!reason.is_empty()).then(|| format!("\"{reason}\""))
}

/// One piece of evidence with short ids, for the terminal.
pub fn evidence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Commit(id) => format!("commit {}", id.short()),
        Evidence::Diff(hash) => format!("diff {}", hash.short()),
        Evidence::Code(code) => format!("code {}", code.short()),
        Evidence::Tests(signature) => format!("tests {}", signature.short()),
        Evidence::Call(call) => escape::terminal_clip(&format!("call {call}"), MAX_SHOWN + 24),
        Evidence::Path(path) => escape::terminal_clip(path, 80),
        Evidence::Text(text) => escape::terminal_clip(text, 120),
    }
}

/// `and 3 more`, where more than `shown` of `all` are there.
pub fn and_more(all: usize, shown: usize) -> Option<String> {
    all.checked_sub(shown).filter(|more| *more > 0).map(|more| format!("and {more} more"))
}

/// At most `max` of `items`, joined; how many more there are is said.
pub fn some_of<T>(items: &[T], max: usize, show: impl Fn(&T) -> String) -> String {
    let text = items.iter().take(max).map(show).collect::<Vec<_>>().join(", ");
    and_more(items.len(), max).map_or(text.clone(), |more| format!("{text} {more}"))
}
