//! Text summaries that runners print for people.
//!
//! None of them is a format with a grammar, so each reader holds on to the lines that only its runner
//! prints, the summary line first of all: without it nothing that looked like a failure counts, unless a
//! line that no other program prints has shown before that the runner was at work. Then the summary is
//! missing and the run incomplete.
//!
//! Every line goes to every reader: one stream may hold several runners, and what they say is merged.

mod bats;
mod ctest;
mod go;
mod gotestsum;
mod gtest;
mod jest;
mod minitest;
mod mocha;
mod nextest;
mod node;
mod phpunit;
mod pytest;
mod rspec;
mod sessions;
mod unittest;
mod vitest;

use self::ctest::{CtestReader, Owner};
pub(super) use self::nextest::RUNNER as NEXTEST;
use self::{
    bats::BatsReader, go::GoReader, gtest::GtestReader, jest::JestReader, minitest::MinitestReader,
    mocha::MochaReader, nextest::NextestReader, node::NodeReader, phpunit::PhpunitReader,
    pytest::PytestReader, rspec::RspecReader, sessions::Sessions, unittest::UnittestReader,
    vitest::VitestReader,
};
use crate::{Format, Root, Stream, tally::Tally};

/// Reads the summary of one runner from one stream.
trait Summary {
    /// Takes the next line; what it says goes into the sessions of the runner.
    fn line(&mut self, sessions: &mut Sessions, line: &str);
    /// The stream has ended.
    fn end(&mut self, _: &mut Sessions) {}
}

/// A reader, with what its runner said so far.
struct RunnerReader {
    sessions: Sessions,
    summary: Box<dyn Summary>,
}

impl RunnerReader {
    fn new(runner: &'static str, summary: Box<dyn Summary>, root: &Root) -> Self {
        Self { sessions: Sessions::new(runner, root), summary }
    }

    fn line(&mut self, line: &str) {
        self.summary.line(&mut self.sessions, line);
    }

    fn finish(mut self, report: &str) -> Option<Tally> {
        self.summary.end(&mut self.sessions);
        self.sessions.finish(report)
    }
}

/// Reads the text summaries of every known runner. Streams are read apart, because their order against each
/// other is not kept, but for the runners that use both.
pub(super) struct TextReader {
    stdout: Vec<RunnerReader>,
    stderr: Vec<RunnerReader>,
    ctest: CtestReader,
    go: GoReader,
    /// `go test` whose standard output was sent to standard error.
    go_aside: GoReader,
    vitest: VitestReader,
    nextest: RunnerReader,
}

impl TextReader {
    pub(super) fn new(root: &Root) -> Self {
        Self {
            stdout: readers(root),
            stderr: readers(root),
            ctest: CtestReader::new(root),
            go: GoReader::new(root),
            go_aside: GoReader::new(root),
            vitest: VitestReader::new(root),
            nextest: RunnerReader::new(NEXTEST, Box::<NextestReader>::default(), root),
        }
    }

    /// A line of either stream.
    pub(super) fn line(&mut self, stream: Stream, line: &str) {
        if stream == Stream::Stdout && self.ctest.line(line) == Owner::Ctest {
            return;
        }
        self.vitest.line(stream, line);
        self.nextest.line(line);
        let readers = match stream {
            Stream::Stdout => {
                self.go.line(line);
                &mut self.stdout
            }
            Stream::Stderr => {
                self.ctest.side_line(line);
                self.go.side_line(line);
                self.go_aside.line(line);
                &mut self.stderr
            }
        };
        for reader in readers {
            reader.line(line);
        }
    }

    /// True when a runner is at work on standard output.
    pub(super) fn is_open(&self) -> bool {
        self.stdout.iter().any(|reader| reader.sessions.is_open())
    }

    /// True between the header and the summary of a session on standard output.
    pub(super) fn is_begun(&self) -> bool {
        self.stdout.iter().any(|reader| reader.sessions.is_begun())
    }

    /// The result of all runners together; `None` when none was recognised.
    /// With a format, what was of another is left out.
    pub(super) fn finish(self, report: &str, format: Option<Format>) -> Option<Tally> {
        let shared = [
            self.ctest.finish(report),
            self.go.finish(report),
            self.go_aside.finish(report),
            self.vitest.finish(report),
        ];
        let others = [self.nextest].into_iter().chain(self.stdout).chain(self.stderr);
        let others = others.map(|reader| reader.finish(report));
        let found = shared.into_iter().chain(others).flatten();
        found.filter(|tally| tally.is_wanted(format)).reduce(Tally::with)
    }
}

fn readers(root: &Root) -> Vec<RunnerReader> {
    let summaries: [(&'static str, Box<dyn Summary>); 10] = [
        ("pytest", Box::<PytestReader>::default()),
        ("jest", Box::<JestReader>::default()),
        ("unittest", Box::<UnittestReader>::default()),
        ("mocha", Box::<MochaReader>::default()),
        ("gtest", Box::<GtestReader>::default()),
        ("rspec", Box::<RspecReader>::default()),
        ("minitest", Box::<MinitestReader>::default()),
        ("phpunit", Box::<PhpunitReader>::default()),
        ("bats", Box::<BatsReader>::default()),
        ("node", Box::<NodeReader>::default()),
    ];
    summaries.map(|(runner, summary)| RunnerReader::new(runner, summary, root)).into()
}

#[cfg(test)]
mod tests;
