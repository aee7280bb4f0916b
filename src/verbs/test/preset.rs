//! `test.runner`: what is added to the test command so that the runner also writes a report with each test.
//!
//! The output that a person sees and the exit code stay as they are: the report goes to a private file, the reporters that show
//! something are named next to ours, and the line by which some runners tell where they wrote the report is left out.
//! Only to a command that is a list of arguments (a text belongs to `sh`), only where the runner's program is in it,
//! and never where the command or the project's configuration already asks for a report or for other reporters. Runners
//! that cannot do it unseen (`cargo test`, `npm test`, `go test`) are left alone: their text is read.

use std::path::{Path, PathBuf};

use andon_config::Runner;
use testreport::KnownRunner;

/// A test command with a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetCommand {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The path of the report.
    pub report: PathBuf,
    /// A file that the runner needs for it.
    pub file: Option<(PathBuf, String)>,
    /// The beginning of the line that the runner prints about the report, dashes before it aside.
    pub unseen: Option<String>,
}

/// The command with what `runner` needs; `None` when nothing is to be added. `dir` is the private directory,
/// `project` reads a file of the project.
pub fn prepare(
    runner: Runner,
    argv: &[String],
    dir: &Path,
    project: &dyn Fn(&str) -> Option<String>,
) -> Option<PresetCommand> {
    let known = KnownRunner(runner.as_str());
    let report = dir.join(known.rows("report").next()?);
    let at = program(known, argv)?;
    let is_settled = |argument: &String| known.rows("settled").any(|begin| argument.starts_with(begin));
    let mentions = |text: String| known.rows("word").any(|word| text.contains(word));
    if argv.iter().skip(at).any(is_settled) || known.rows("file").filter_map(project).any(mentions) {
        return None;
    }
    // A path that is not UTF-8 cannot be an argument here.
    let path = report.to_str()?;
    let with = known.rows("with").next().map(|name| dir.join(name));
    let with_path = with.as_ref().map_or(Some(""), |with| with.to_str())?;
    let filled =
        |row: &str| row.replace("{report}", path).replace("{with}", with_path).replace("{tool}", "andon");
    let added = |kind: &'static str| known.rows(kind).map(filled).collect::<Vec<String>>();
    let mut argv = argv.to_vec();
    let end = argv.iter().skip(at).position(|one| one == "--").map_or(argv.len(), |end| at + end);
    argv.splice(end..end, added("late"));
    let behind = at + 1;
    argv.splice(behind..behind, added("early"));
    let nextest = || format!("[profile.default.junit]\npath = {}\n", serde_json::Value::from(path));
    let file = with
        .clone()
        .map(|with| (with, if runner == Runner::Nextest { nextest() } else { JEST_REPORTER.into() }));
    let unseen = known.rows("unseen").map(filled).next();
    Some(PresetCommand { argv, report, file, unseen })
}

/// The place of the argument that names the runner, or its command.
fn program(runner: KnownRunner, argv: &[String]) -> Option<usize> {
    let mut at = 0;
    for kind in ["name", "command"] {
        let mut names = runner.rows(kind).peekable();
        if names.peek().is_some() {
            let is_one = |one: &String| names.clone().any(|name| one.rsplit('/').next() == Some(name));
            at += argv.iter().skip(at).position(is_one)?;
        }
    }
    (at < argv.len()).then_some(at)
}

/// A reporter that jest runs in addition to its own: the result in the form of `--json`.
const JEST_REPORTER: &str = include_str!("jest_reporter.cjs");

/// Leaves one line out of a stream, and holds back no more than what may be that line.
#[derive(Debug)]
pub struct LineFilter {
    text: Option<Vec<u8>>,
    held: Vec<u8>,
    line: Line,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// The line so far may be the one that is left out.
    MayBe,
    /// It is another one.
    Other,
}

impl LineFilter {
    /// Leaves out the line that begins with `text`, dashes before it aside.
    pub fn new(text: Option<String>) -> Self {
        Self { text: text.map(String::into_bytes), held: Vec::new(), line: Line::MayBe }
    }

    /// Takes the next bytes and hands on what is to be seen.
    pub fn push(&mut self, bytes: &[u8], pass: &mut dyn FnMut(&[u8])) {
        let Some(text) = &self.text else { return pass(bytes) };
        let mut seen = Vec::with_capacity(bytes.len());
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ended = piece.ends_with(b"\n");
            match self.line {
                Line::Other => seen.extend_from_slice(piece),
                Line::MayBe => {
                    self.held.extend_from_slice(piece);
                    match compare(&self.held, text) {
                        ReportState::Begun | ReportState::Whole if !ended => continue,
                        ReportState::Whole => self.held.clear(),
                        ReportState::Begun | ReportState::Other => {
                            seen.append(&mut self.held);
                            self.line = Line::Other;
                        }
                    }
                }
            }
            if ended {
                self.line = Line::MayBe;
            }
        }
        if !seen.is_empty() {
            pass(&seen);
        }
    }

    /// The stream has ended: hands on what was held back.
    pub fn finish(self, pass: &mut dyn FnMut(&[u8])) {
        if !self.held.is_empty() {
            pass(&self.held);
        }
    }
}

enum ReportState {
    Begun,
    Whole,
    Other,
}

fn compare(held: &[u8], text: &[u8]) -> ReportState {
    let dashes = held.iter().take_while(|byte| **byte == b'-').count();
    let rest = held.get(dashes..).unwrap_or_default();
    if rest.starts_with(text) {
        ReportState::Whole
    } else if text.starts_with(rest) {
        ReportState::Begun
    } else {
        ReportState::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn prepared(runner: Runner, command: &str, files: &[(&str, &str)]) -> Option<String> {
        let project =
            |name: &str| files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned());
        prepare(runner, &words(command), Path::new("/g"), &project).map(|made| made.argv.join(" "))
    }

    #[test]
    fn each_runner_gets_its_report_beside_what_it_shows() {
        let cases = [
            (
                Runner::Pytest,
                "python -m pytest -q tests",
                "python -m pytest -q tests --junitxml=/g/report.xml",
            ),
            (
                Runner::Pytest,
                "uv run .venv/bin/pytest -- tests",
                "uv run .venv/bin/pytest --junitxml=/g/report.xml -- tests",
            ),
            (
                Runner::Vitest,
                "npx vitest run",
                "npx vitest run --reporter=default --reporter=json --outputFile.json=/g/report.json",
            ),
            (Runner::Jest, "npx jest", "npx jest --reporters=default --reporters=/g/reporter.cjs"),
            (
                Runner::Nextest,
                "cargo nextest run --workspace -- --skip x",
                "cargo nextest run --tool-config-file andon:/g/nextest.toml --workspace -- --skip x",
            ),
            (
                Runner::Phpunit,
                "vendor/bin/phpunit tests",
                "vendor/bin/phpunit --log-junit /g/report.xml tests",
            ),
            (Runner::Ctest, "ctest -j2", "ctest -j2 --output-junit /g/report.xml"),
            (Runner::Gtest, "build/all_tests", "build/all_tests --gtest_output=xml:/g/report.xml"),
        ];
        for (runner, command, expected) in cases {
            assert_eq!(prepared(runner, command, &[]).as_deref(), Some(expected), "{runner:?}");
        }
    }

    #[test]
    fn what_is_settled_or_not_theirs_is_left_alone() {
        type Files = &'static [(&'static str, &'static str)];
        let cases: [(Runner, &str, Files); 12] = [
            (Runner::Pytest, "pytest --junitxml=mine.xml", &[]),
            (Runner::Pytest, "pytest -p no:junitxml", &[]),
            (Runner::Pytest, "pytest", &[("pyproject.toml", "addopts = '--junitxml=x'")]),
            (Runner::Pytest, "make test", &[]),
            (Runner::Jest, "jest --reporters=dot", &[]),
            (Runner::Jest, "jest", &[("package.json", "{\"jest\":{\"reporters\":[]}}")]),
            (Runner::Vitest, "vitest run --reporter=dot", &[]),
            (Runner::Vitest, "vitest run", &[("vite.config.ts", "test: { reporters: ['dot'] }")]),
            (Runner::Nextest, "cargo nextest run", &[(".config/nextest.toml", "[profile.ci.junit]")]),
            (Runner::Cargo, "cargo test", &[]),
            (Runner::Go, "go test -v ./...", &[]),
            (Runner::Npm, "npm test", &[]),
        ];
        for (runner, command, files) in cases {
            assert_eq!(prepared(runner, command, files), None, "{runner:?} {command}");
        }
    }

    #[test]
    fn one_line_is_left_out_wherever_chunks_end() {
        let text = "-- a\n----- generated xml file: /g/r.xml -----\n- generated\n--\nlast -";
        let expected = "-- a\n- generated\n--\nlast -";
        for size in 1..text.len() {
            let mut unseen = LineFilter::new(Some(" generated xml file: /g/r.xml".to_owned()));
            let mut seen = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                unseen.push(chunk, &mut |bytes| seen.extend_from_slice(bytes));
            }
            unseen.finish(&mut |bytes| seen.extend_from_slice(bytes));
            assert_eq!(String::from_utf8(seen).unwrap(), expected, "{size}");
        }
        let mut seen = Vec::new();
        LineFilter::new(None).push(b"any", &mut |bytes| seen.extend_from_slice(bytes));
        assert_eq!(seen, b"any");
    }

    #[test]
    fn progress_is_not_held_back() {
        let mut unseen = LineFilter::new(Some("JSON report written to /g/r".to_owned()));
        let mut seen = Vec::new();
        unseen.push(b"....", &mut |bytes| seen.extend_from_slice(bytes));
        assert_eq!(seen, b"....");
    }
}
