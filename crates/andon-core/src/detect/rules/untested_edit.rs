//! `untested-edit`: code changed, and its tests did not run on exactly this code.

use crate::detect::hints::{self, State};
use crate::detect::prelude::*;
use crate::detect::situation::{Candidate, CodeChange, EvidenceState, Origin, PathDifference, Side, Staging};
use crate::domain::{DirtyBit, Hint, RunValidity, TestEvidence, TestRun, TestStatus, scopes::called};
use crate::history::{Outcome, outcome};

/// `andon check` asks it about each commit, and honours what `ANDON_SKIP` passed over.
pub static RULE: Rule = Rule {
    level: Level::Block,
    about: About { dirty: Some(DirtyBit::TestsRun), ..About::new(EventClass::DirtyBit) },
    stages: &[Stage::PreCommit, Stage::PrePush, Stage::Complete, Stage::Check],
    reads: RuleInput::Tree,
    ..Rule::of_iterations("untested-edit", include_str!("untested_edit.md"), check)
};

/// A gap between code and tests, with the command that closes it.
struct Gap {
    found: String,
    evidence: Vec<Evidence>,
    help: Vec<String>,
}

impl Gap {
    fn new(found: impl Into<String>) -> Self {
        Self { found: found.into(), evidence: Vec::new(), help: vec![Hint::Test.into()] }
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let candidate = situation.candidate?;
    if candidate.code_changed == CodeChange::Unchanged {
        return None;
    }
    // Work from before Andon came, and a project without tests, are reported at commits, not at every push.
    let unasked = situation.timeline.newest().is_none() || candidate.evidence == EvidenceState::Unconfigured;
    if situation.stage == Stage::PrePush && unasked {
        return None;
    }
    let Gap { found, evidence, mut help } =
        gap(&candidate.evidence, candidate.command.as_deref(), candidate, situation.stage)?;
    let made_by_git = situation.stage != Stage::PreCommit && candidate.origin == Origin::MadeByGit;
    help.extend(candidate.release.iter().cloned());
    if let Some(program) = &candidate.hidden_program {
        for line in &mut help {
            *line = line.replacen(Hint::Test.text(), &format!("{program} test"), 1);
        }
        help.insert(0, Hint::AtCommit.into());
    }
    let lowered = candidate.evidence == EvidenceState::Unconfigured || made_by_git;
    let level = if lowered { setting.level.min(Level::Warn) } else { setting.level };
    Some(Finding { evidence, help, ..RULE.finding(level, found) })
}

/// The gap that `known` leaves; `command` runs its tests.
fn gap(known: &EvidenceState, command: Option<&str>, candidate: &Candidate, stage: Stage) -> Option<Gap> {
    Some(match known {
        EvidenceState::Unconfigured => of_unconfigured(candidate.advice.as_deref()),
        EvidenceState::NeverRan => Gap::new("code changed and its tests never ran on it"),
        EvidenceState::Tested(tests) => of_tested(tests)?,
        EvidenceState::Void(_) if !candidate.changed_by_hook.is_empty() => {
            of_changed_by_hook(&candidate.changed_by_hook)
        }
        EvidenceState::Void(run)
            if (run.validity, run.evidence.status) == (RunValidity::Interrupted, TestStatus::TimedOut) =>
        {
            of_tested(&run.evidence)?
        }
        EvidenceState::Void(run) => of_void(run, command),
        EvidenceState::OtherCode { run, differing, total, staging } => {
            let difference = State {
                making: candidate.making.as_ref(),
                paths: differing,
                total: *total,
                staging: *staging,
            };
            let gap = of_other_code(&difference, run, stage);
            match candidate.changed_by_hook.as_slice() {
                [] => gap,
                changed => {
                    let help = gap.help.into_iter().chain([Hint::AtCommitOr.into()]).collect();
                    Gap { help, ..of_changed_by_hook(changed) }
                }
            }
        }
        EvidenceState::InTwoScopes(found) => {
            Gap { help: vec![found.help()], ..Gap::new(words::bounded(&found.to_string())) }
        }
        EvidenceState::Scope { name, state, more, red, command } => {
            let gap = gap(state, command.as_deref(), candidate, stage)?;
            let mut found = format!("{}: {}", words::bounded(&called(name)), gap.found);
            if !more.is_empty() {
                found += &format!("; and so for {}", words::list(more, words::len(more)));
            }
            if !red.is_empty() {
                found += &format!("; the tests of {} fail", words::list(red, words::len(red)));
            }
            Gap { found, ..gap }
        }
    })
}

fn of_unconfigured(advice: Option<&str>) -> Gap {
    let usual = "name the test command in andon.toml, such as:  [test]  command = \"cargo test\"";
    Gap {
        help: vec![advice.unwrap_or(usual).to_owned(), Hint::ShowConfigOf.with(["test"])],
        ..Gap::new("code changed and no test command is configured, so nothing can show that it was tested")
    }
}

fn of_tested(tests: &TestEvidence) -> Option<Gap> {
    if matches!(outcome(tests), Outcome::Green | Outcome::Red) {
        return None;
    }
    let found = match inconclusive(tests.status) {
        _ if tests.status == TestStatus::Incomplete && tests.is_by_exit_code() => {
            "the test command ran on this code and named no test"
        }
        found => found,
    };
    let mut gap = Gap { evidence: vec![Evidence::Code(tests.code)], ..Gap::new(found) };
    if tests.status == TestStatus::NoTests {
        gap.help.push(Hint::ShowConfigOf.with(["test"]));
    } else if tests.status == TestStatus::TimedOut {
        gap.help.push(Hint::MoreTime.into());
    }
    Some(gap)
}

fn inconclusive(status: TestStatus) -> &'static str {
    match status {
        TestStatus::NoTests => "the test command ran on this code, but not one test ran",
        TestStatus::TimedOut => "the tests of this code were stopped by their time limit",
        TestStatus::Incomplete => "the test report of this code is incomplete, so it does not count",
        TestStatus::Crashed
        | TestStatus::Passed
        | TestStatus::Failed
        | TestStatus::BuildFailed
        | TestStatus::RunnerError => "the test runner was killed on this code before it ended",
    }
}

fn of_changed_by_hook(paths: &[Vec<u8>]) -> Gap {
    let named =
        paths.iter().take(5).map(|path| Evidence::Path(words::bounded(&String::from_utf8_lossy(path))));
    let shown: Vec<String> = paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    let found = format!("a hook changed {} after the tests ran", words::list(&shown, words::len(paths)));
    let mut gap = Gap { evidence: named.collect(), ..Gap::new(found) };
    gap.help.push(Hint::AtCommitOr.into());
    gap
}

fn of_void(run: &TestRun, wanted: Option<&str>) -> Gap {
    let found = void(run, wanted);
    let mut gap = Gap { evidence: vec![Evidence::Code(run.evidence.code)], ..Gap::new(found) };
    if run.validity == RunValidity::NotStarted {
        gap.help.insert(0, Hint::Doctor.led("see what is missing"));
    }
    if run.validity == RunValidity::HandedIn {
        gap.help.push(Hint::CountHandedInOr.into());
    }
    gap
}

fn void(run: &TestRun, wanted: Option<&str>) -> String {
    match run.validity {
        RunValidity::OtherCommand => {
            let ran = words::bounded(&run.evidence.command);
            let wanted = words::bounded(wanted.unwrap_or("test.command"));
            format!("the run on this code was of another command: `{ran}` instead of `{wanted}`")
        }
        RunValidity::CodeChanged => {
            "the code changed while its tests ran, so that run proves nothing".to_owned()
        }
        RunValidity::Interrupted => "the run of the tests on this code was interrupted".to_owned(),
        RunValidity::Filtered => {
            let (ran, full) = (run.evidence.counts().ran(), run.evidence.full_run.unwrap_or_default());
            format!(
                "the run on this code ran {ran} of the {} that the last full run had",
                words::count(full, "test")
            )
        }
        RunValidity::NotStarted => {
            let program = words::bounded(&run.evidence.command);
            let said = run.evidence.not_started.as_deref();
            let why = said.map(|said| format!(" ({})", words::bounded(said))).unwrap_or_default();
            format!("the tests of this code could not be started: `{program}`{why}")
        }
        RunValidity::Seen => {
            "the run on this code was seen in what a command printed, and may be a part".to_owned()
        }
        RunValidity::HandedIn => {
            "the run on this code was handed in, and it is not known which command it was".to_owned()
        }
        RunValidity::Valid => "the run of the tests on this code does not count".to_owned(),
    }
}

fn path_of(difference: &PathDifference) -> String {
    String::from_utf8_lossy(&difference.path).into_owned()
}

fn of_other_code(difference: &State<'_>, run: &TestRun, stage: Stage) -> Gap {
    let help = hints::ways(difference);
    let paths = difference.paths.iter().take(5).map(|one| Evidence::Path(words::bounded(&path_of(one))));
    let evidence = std::iter::once(Evidence::Code(run.evidence.code)).chain(paths).collect();
    Gap { evidence, help, ..Gap::new(other_code(difference, run.validity, stage)) }
}

/// The message about the difference to the newest run.
fn other_code(difference: &State<'_>, ran: RunValidity, stage: Stage) -> String {
    let State { paths: differing, total, staging, .. } = *difference;
    let shown: Vec<String> = differing.iter().map(|one| with_reason(one, &path_of(one))).collect();
    let named = words::list(&shown, total);
    let left_out = differing.iter().filter(|one| one.side == Side::CandidateOnly).count();
    if left_out > 0 && left_out == differing.len() && words::len(differing) == total {
        let verb = if total == 1 { "is" } else { "are" };
        // Files that were not there before, where the code changed during the run and is the same otherwise.
        if ran == RunValidity::CodeChanged {
            return format!(
                "{named} {} written while the tests ran, such as a new snapshot, so that they have to run once more",
                if total == 1 { "was" } else { "were" }
            );
        }
        let place = if stage == Stage::Complete { "in the code now" } else { "in the commit" };
        return format!("the tests ran without {named}, which {verb} {place}");
    }
    match staging {
        Staging::OnlyUnstaged => {
            format!("the tests ran with work that is not part of this commit: {named}")
        }
        Staging::Edited if differing.is_empty() => "the tests ran on other code".to_owned(),
        Staging::Edited => format!("the code changed after the tests ran: {named}"),
    }
}

/// A path, and why git does not see it.
fn with_reason(difference: &PathDifference, path: &str) -> String {
    match &difference.hint {
        Some(hint) => format!("{} (git does not see it: {})", words::bounded(path), hint.reason),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
