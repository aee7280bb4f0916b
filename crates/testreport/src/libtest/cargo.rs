//! What cargo and rustc say around the tests: a build that failed, a test binary that was killed.

use super::super::tally::{Tally, Trouble, append_line};

/// Collects the compiler's errors until it is known whether the build failed.
#[derive(Debug, Default)]
pub(super) struct CargoReader {
    worst: Option<Trouble>,
    errors: Vec<String>,
    kills: Vec<String>,
    /// Every target ran (`--no-fail-fast`).
    ran_on: bool,
}

impl CargoReader {
    const MAX_ERRORS: usize = 64;

    pub(super) fn line(&mut self, line: &str) {
        if is_build_failure(line) {
            self.worst = Some(Trouble::BuildFailed);
        } else if let Some(failure) = failure(line) {
            self.worst = self.worst.max(Some(Trouble::GaveUp));
            if failure == Failure::OfAll {
                self.ran_on = true;
            }
        } else if line.starts_with("error: ") || line.starts_with("error[") {
            keep(&mut self.errors, line);
        } else if line.trim_start().starts_with("--> ") {
            if let Some(error) = self.errors.last_mut().filter(|error| !error.contains('\n')) {
                append_line(error, line.trim_start());
            }
        } else if let Some(kill) = killed(line) {
            self.worst = self.worst.max(Some(Trouble::Crashed));
            keep(&mut self.kills, kill);
        }
    }

    /// Adds what was found to the tally; `None` when there was nothing.
    pub(super) fn finish(self, tally: &mut Tally) -> Option<()> {
        let worst = self.worst?;
        match (worst, self.ran_on) {
            (Trouble::GaveUp, true) => tally.failed_to_the_end(),
            (worst, _) => tally.trouble(worst),
        }
        let errors = match worst {
            Trouble::BuildFailed => self.errors,
            Trouble::Crashed => self.kills,
            Trouble::NoTests | Trouble::GaveUp | Trouble::Incomplete => Vec::new(),
        };
        for error in &errors {
            tally.run_error(error);
        }
        Some(())
    }
}

fn keep(texts: &mut Vec<String>, line: &str) {
    if texts.len() < CargoReader::MAX_ERRORS {
        let mut text = String::new();
        append_line(&mut text, line);
        texts.push(text);
    }
}

/// What a build that failed ends in, behind `error: `. Old versions of cargo begin it with a capital, leave out the
/// quotes around the name, or end it with a full stop.
const BUILD_FAILURES: [&str; 5] = [
    "could not compile ",
    "could not document ",
    "failed to run custom build command for ",
    "failed to compile ",
    "could not execute process ",
];

/// `error: could not compile `x` (lib test) due to 1 previous error`, and a build script that failed.
fn is_build_failure(line: &str) -> bool {
    let Some(said) = error(line) else { return false };
    BUILD_FAILURES.iter().any(|start| begins(said, start)) || said.trim_end_matches('.') == "build failed"
}

/// `error: test failed, to rerun pass ...`, `error: 2 targets failed:`: how cargo ends, whatever a pipe makes of its exit
/// code.
fn failure(line: &str) -> Option<Failure> {
    let said = error(line)?;
    let counted = said.split_once(' ').is_some_and(|(number, rest)| {
        number.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(rest, "target failed:" | "targets failed:")
    });
    let rerun =
        ["test failed, to rerun pass ", "doctest failed, to rerun pass ", "bench failed, to rerun pass "];
    match rerun.iter().any(|start| said.starts_with(start)) {
        _ if counted => Some(Failure::OfAll),
        true => Some(Failure::OfTarget),
        false => None,
    }
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// One target: cargo stops after it, unless an option forbids it.
    OfTarget,
    /// Some of all targets.
    OfAll,
}

/// The text after `error: `.
fn error(line: &str) -> Option<&str> {
    let rest = line.get(..6).filter(|word| word.eq_ignore_ascii_case("error:")).and(line.get(6..))?;
    rest.starts_with(' ').then(|| rest.trim_start())
}

/// Whether a text begins so, its first letter in either case.
fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// The signal of `process didn't exit successfully: `/p/target/x-1f` (signal: 6, SIGABRT: ...)`.
fn killed(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("process didn't exit successfully: `")?;
    let (_, end) = rest.rsplit_once("` (")?;
    end.starts_with("signal: ").then(|| end.trim_end_matches(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_told_from_exit_codes() {
        let line = "  process didn't exit successfully: `/p/target/debug/deps/a-1f` (signal: 6, SIGABRT: process abort signal)";
        assert_eq!(killed(line), Some("signal: 6, SIGABRT: process abort signal"));
        assert_eq!(killed("process didn't exit successfully: `/p/a` (exit status: 1)"), None);
        assert_eq!(killed("process didn't exit successfully"), None);
    }

    #[test]
    fn build_failures_in_every_spelling() {
        for yes in [
            "error: could not compile `demo` (lib test) due to 2 previous errors; 1 warning emitted",
            "error: could not compile `demo` (lib test)",
            "error: could not compile demo",
            "error: Could not compile `demo`.",
            "error: Could not compile demo due to previous error",
            "error:  could not compile `demo`",
            "error: failed to run custom build command for `demo v0.1.0 (/p)`",
            "error: Could not document `demo`.",
            "error: build failed",
        ] {
            assert!(is_build_failure(yes), "{yes}");
        }
        for no in [
            "error: test failed, to rerun pass `--lib`",
            "warning: could not compile `demo`",
            "could not compile `demo`",
            "the error: could not compile",
            "error: compile",
            "errör: could not compile x",
        ] {
            assert!(!is_build_failure(no), "{no}");
        }
    }

    #[test]
    fn how_cargo_ends_a_run_that_failed() {
        for yes in [
            "error: test failed, to rerun pass `--lib`",
            "error: doctest failed, to rerun pass `--doc`",
            "error: 2 targets failed:",
        ] {
            assert!(failure(yes).is_some(), "{yes}");
        }
        for no in ["error: no such command: `tets`", "error: test failed", "error: some targets failed:"] {
            assert_eq!(failure(no), None, "{no}");
        }
    }
}
