//! What cargo and rustc say around the tests: a build that failed, a test binary that was killed.

use super::super::tally::{Tally, Trouble, append_line};

/// Collects the compiler's errors until it is known whether the build failed.
#[derive(Debug, Default)]
pub(super) struct CargoReader {
    worst: Option<Trouble>,
    errors: Vec<String>,
    kills: Vec<String>,
}

impl CargoReader {
    const MAX_ERRORS: usize = 64;

    pub(super) fn line(&mut self, line: &str) {
        if is_build_failure(line) {
            self.worst = Some(Trouble::BuildFailed);
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
        tally.trouble(worst);
        let errors = if worst == Trouble::BuildFailed { &self.errors } else { &self.kills };
        for error in errors {
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

/// `error: could not compile `x` (lib test) due to 1 previous error`, and a build script that failed.
fn is_build_failure(line: &str) -> bool {
    line.starts_with("error: could not compile `")
        || line.starts_with("error: failed to run custom build command for `")
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
    fn build_failures() {
        let yes = "error: could not compile `andon` (lib test) due to 2 previous errors; 1 warning emitted";
        assert!(is_build_failure(yes));
        assert!(!is_build_failure("error: test failed, to rerun pass `--lib`"));
    }
}
