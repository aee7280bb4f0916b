//! Takes the output of a run as it comes, and its report files, and concludes when the run has ended.

use super::json::JsonReader;
use super::junit;
use super::libtest::LibtestReader;
use super::lines::{LineSplitter, Stream};
use super::normalize::Root;
use super::problem::ReportProblem;
use super::run::{ExitKind, ParsedRun};
use super::tally::Tally;
use super::tap::TapReader;
use super::text::TextReader;
use super::xmlreport;

/// Largest report file that is read: 64 MiB.
pub const MAX_REPORT_BYTES: usize = 64 * 1024 * 1024;

/// How messages call what the run printed.
const OUTPUT: &str = "standard output";

/// A report file.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// How messages call it; usually its path.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// The readers of what comes line by line.
struct LineReaders {
    libtest: LibtestReader,
    tap: TapReader,
    text: TextReader,
}

impl LineReaders {
    fn new(root: &Root) -> Self {
        Self { libtest: LibtestReader::new(root), tap: TapReader::new(root), text: TextReader::new(root) }
    }

    /// A line of standard output. What a test under libtest prints is no summary of another runner.
    fn line(&mut self, line: &str) {
        self.libtest.line(line);
        self.tap.line(line);
        if !self.libtest.is_inside() {
            self.text.line(Stream::Stdout, line);
        }
    }

    /// A line of standard error.
    fn side_line(&mut self, line: &str) {
        self.libtest.side_line(line);
        self.text.line(Stream::Stderr, line);
    }

    fn finish(self, report: &str) -> [Option<Tally>; 3] {
        [self.libtest.finish(report), self.tap.finish(report), self.text.finish(report)]
    }
}

/// Reads one run in bounded memory.
pub struct RunReader {
    root: Root,
    stdout: LineSplitter,
    stderr: LineSplitter,
    readers: LineReaders,
    json: JsonReader,
    reports: Tally,
}

impl RunReader {
    /// A reader for a run in the project at `root`.
    pub fn new(root: Root) -> Self {
        Self {
            stdout: LineSplitter::default(),
            stderr: LineSplitter::default(),
            readers: LineReaders::new(&root),
            json: JsonReader::new(&root, OUTPUT),
            reports: Tally::new(&root),
            root,
        }
    }

    /// Takes the next chunk of output; where chunks end does not matter.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stdout {
            self.json.push(bytes);
        }
        let readers = &mut self.readers;
        match stream {
            Stream::Stdout => self.stdout.push(bytes, &mut |line| readers.line(line)),
            Stream::Stderr => self.stderr.push(bytes, &mut |line| readers.side_line(line)),
        }
    }

    /// Takes a report file, recognised by its content: XML, JSON, TAP or the text of a known runner. One that
    /// cannot be read makes the run [`Incomplete`](crate::domain::tests::TestStatus::Incomplete), with a warning that names it.
    pub fn report(&mut self, input: ReportInput<'_>) {
        let tally = read_file(input, &self.root);
        self.reports.absorb(tally);
    }

    /// Takes note of a report file that could not be opened or read: the run is
    /// [`Incomplete`](crate::domain::tests::TestStatus::Incomplete).
    pub fn unreadable(&mut self, name: &str, why: &str) {
        let tally = unread(name, &ReportProblem::Unreadable(why.to_owned()), &self.root);
        self.reports.absorb(tally);
    }

    /// Ends the run.
    pub fn finish(mut self, exit: ExitKind) -> ParsedRun {
        let readers = &mut self.readers;
        self.stdout.finish(&mut |line| readers.line(line));
        self.stderr.finish(&mut |line| readers.side_line(line));
        let mut whole = self.reports;
        // JSON first: a runner that prints it tells the same as text on the other stream (`jest --json`).
        if let Some(json) = self.json.finish() {
            whole.absorb(json);
        }
        let [libtest, tap, text] = self.readers.finish(OUTPUT);
        let text = text.filter(|text| adds(text, &whole));
        for tally in [libtest, tap, text].into_iter().flatten() {
            whole.absorb(tally);
        }
        ParsedRun::conclude(whole, exit)
    }
}

/// Whether a text summary is heard beside report files: they tell of the same tests, and would be counted
/// twice. What only the text knows to be wrong is heard all the same.
fn adds(text: &Tally, reports: &Tally) -> bool {
    reports.runner().is_none()
        || !reports.has_failures() && (text.has_failures() || text.worst() > reports.worst())
}

/// Reads a run whose output was not seen, from its report files and its exit.
pub fn read(inputs: &[ReportInput<'_>], exit: ExitKind, root: &Root) -> ParsedRun {
    let mut reader = RunReader::new(root.clone());
    for input in inputs {
        reader.report(*input);
    }
    reader.finish(exit)
}

/// What one report file says.
pub(super) fn read_file(input: ReportInput<'_>, root: &Root) -> Tally {
    if input.bytes.len() > MAX_REPORT_BYTES {
        let size = u64::try_from(input.bytes.len()).unwrap_or(u64::MAX);
        let bound = u64::try_from(MAX_REPORT_BYTES).unwrap_or(u64::MAX);
        return unread(input.name, &ReportProblem::TooLarge { size, bound }, root);
    }
    if junit::looks_like_xml(input.bytes) {
        let mut tally = Tally::new(root);
        if let Err(problem) = xmlreport::read(input.bytes, input.name, &mut tally) {
            tally.problem(input.name, &problem);
        }
        return tally;
    }
    read_text(input, root)
}

fn read_text(input: ReportInput<'_>, root: &Root) -> Tally {
    let mut readers = LineReaders::new(root);
    let mut lines = LineSplitter::default();
    let mut each = |line: &str| readers.line(line);
    lines.push(input.bytes, &mut each);
    lines.finish(&mut each);
    let mut json = JsonReader::new(root, input.name);
    json.push(input.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input.bytes).trim_ascii_start());
    let mut tally = Tally::new(root);
    let mut recognised = 0_usize;
    for found in readers.finish(input.name).into_iter().chain([json.finish()]).flatten() {
        tally.absorb(found);
        recognised += 1;
    }
    if recognised == 0 {
        let what = if input.bytes.is_empty() { "an empty file" } else { "text of no known form" };
        return unread(input.name, &ReportProblem::Unknown(what.to_owned()), root);
    }
    tally
}

fn unread(name: &str, problem: &ReportProblem, root: &Root) -> Tally {
    let mut tally = Tally::new(root);
    tally.problem(name, problem);
    tally
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::tests::TestStatus;

    fn run(stdout: &str, stderr: &str, files: &[(&str, &str)], exit: i32) -> ParsedRun {
        let mut reader = RunReader::new(Root::none());
        reader.push(Stream::Stderr, stderr.as_bytes());
        reader.push(Stream::Stdout, stdout.as_bytes());
        for (name, text) in files {
            reader.report(ReportInput { name, bytes: text.as_bytes() });
        }
        reader.finish(ExitKind::Code(exit))
    }

    #[test]
    fn what_is_recognised_names_the_runner() {
        let cargo = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let junit = "<testsuite><testcase name='a'/></testsuite>";
        let mocha = "{\"stats\":{},\"tests\":[],\"failures\":[],\"passes\":[{\"title\":\"a\"}]}\n";
        let trx = "<TestRun><Results><UnitTestResult testName='a' outcome='Passed'/></Results><ResultSummary outcome='Completed'/></TestRun>";
        let cases = [
            ("all good\n", &[][..], "exit", TestStatus::Passed),
            (cargo, &[], "cargo", TestStatus::Passed),
            (mocha, &[], "mocha-json", TestStatus::Passed),
            ("", &[("a.json", mocha), ("b.trx", trx)], "mocha-json+trx", TestStatus::Passed),
            ("", &[("a.json", "{\"stats\"")], "exit", TestStatus::Incomplete),
            ("1..1\nok 1\n", &[], "tap", TestStatus::Passed),
            ("", &[("a.xml", junit)], "junit", TestStatus::Passed),
            (
                cargo,
                &[("a.xml", junit), ("b.tap", "1..1\nnot ok 1 x")],
                "cargo+junit+tap",
                TestStatus::Failed,
            ),
            ("", &[("a.xml", "<coverage/>")], "exit", TestStatus::Incomplete),
            ("", &[("a.txt", "")], "exit", TestStatus::Incomplete),
            ("", &[("a.txt", "hello")], "exit", TestStatus::Incomplete),
            ("ok  \tgithub.com/a/b\t0.003s\n", &[], "go", TestStatus::Passed),
            ("3 passed in 0.1s\n", &[("a.xml", junit)], "junit", TestStatus::Passed),
            ("1 failed in 0.1s\n", &[("a.xml", junit)], "junit+pytest", TestStatus::Failed),
        ];
        for (stdout, files, runner, status) in cases {
            let run = run(stdout, "", files, 0);
            assert_eq!((run.runner.as_str(), run.status), (runner, status), "{stdout} {files:?}");
            assert_eq!(run.warnings.is_empty(), status != TestStatus::Incomplete, "{:?}", run.warnings);
        }
    }

    #[test]
    fn streams_do_not_tear_each_others_lines() {
        let mut reader = RunReader::new(Root::none());
        reader.push(Stream::Stdout, b"1..2\nok 1\nnot o");
        reader.push(Stream::Stderr, b"warning: something\n");
        reader.push(Stream::Stdout, b"k 2 - b\n");
        let run = reader.finish(ExitKind::Code(1));
        assert_eq!((run.status, run.failing), (TestStatus::Failed, vec!["b".to_owned()]));
    }

    #[test]
    fn a_report_over_the_bound_is_named() {
        let bytes = vec![b'x'; MAX_REPORT_BYTES + 1];
        let run = read(&[ReportInput { name: "big.xml", bytes: &bytes }], ExitKind::Code(0), &Root::none());
        assert_eq!(run.status, TestStatus::Incomplete);
        assert!(run.warnings[0].starts_with("big.xml: 67108865 bytes"), "{:?}", run.warnings);
    }

    fn lines() -> impl Strategy<Value = String> {
        let words = [
            "ok 1 - a",
            "not ok 2 - b",
            "    not ok 1 - c",
            "1..2",
            "    1..1",
            "  ---",
            "  ...",
            "Bail out!",
            "TAP version 14",
            "running 2 tests",
            "test a ... ok",
            "test b ... FAILED",
            "failures:",
            "    b",
            "---- b stdout ----",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            "test result: FAILED. 99999999999999999999 passed; 1 failed;",
            "",
            "ok",
            "<testsuite>",
            "<testcase name='a'>",
            "<failure message='x'>",
            "</testcase>",
            "</testsuite>",
            "&#0;",
            "<![CDATA[",
            "]]>",
            "\u{1b}[31m",
        ];
        proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..40)
            .prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes: Vec<u8>, exit: i32) {
            let mut reader = RunReader::new(Root::none());
            reader.push(Stream::Stdout, &bytes);
            reader.push(Stream::Stderr, &bytes);
            reader.report(ReportInput { name: "x", bytes: &bytes });
            reader.finish(ExitKind::Code(exit));
        }

        #[test]
        fn any_lines_are_taken_and_counts_add_up(text in lines(), exit in 0..3_i32) {
            let run = run(&text, &text, &[("x", &text)], exit);
            let counts = run.counts;
            prop_assert_eq!(counts.total, counts.failing().saturating_add(counts.passed).saturating_add(counts.skipped));
            prop_assert!(run.status != TestStatus::Passed || (exit == 0 && run.failing.is_empty()));
            prop_assert!(run.failing.is_sorted());
        }
    }
}
