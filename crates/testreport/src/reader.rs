//! Takes the output of a run as it comes, and its report files, and concludes when the run has ended.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    ExitKind, Format, ParsedRun, Promise, ReportProblem, ReportReader, Root, RunnerCall, Stream,
    prefix::Output, printed_lines::Depth, promises::Calls, tally::Tally,
};

/// A report file.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The name in messages; usually its path.
    pub name: &'a str,
    /// The bytes of the file.
    pub bytes: &'a [u8],
}

/// Reads one run in bounded memory.
pub struct RunReader {
    root: Root,
    format: Option<Format>,
    output: Output,
    reports: Tally,
    calls: Calls,
    /// Calls that were seen to run no test.
    rehearsed: BTreeMap<&'static str, u64>,
    masked_by: Option<String>,
}

impl RunReader {
    /// A reader for a run in the project at `root`.
    pub fn new(root: Root) -> Self {
        let (output, reports) = (Output::new(&root, "", Depth::Whole), Tally::new(&root));
        Self {
            format: None,
            output,
            reports,
            root,
            calls: Calls::new(),
            rehearsed: BTreeMap::new(),
            masked_by: None,
        }
    }

    /// The same, with everything read as that format, whatever it looks like.
    #[must_use]
    pub fn only(mut self, format: Option<Format>) -> Self {
        self.format = format;
        self
    }

    /// Takes the next chunk of output; where chunks end does not matter. What tools put before each line, a package's
    /// name or a time stamp, is taken off, and each source is read apart.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.output.push(stream, bytes);
    }

    /// The directories that the runners have said they run in since the last call: `rootdir: /p`. Whether tests that ran there
    /// say something of the project is for the caller to judge.
    pub fn take_roots(&mut self) -> Vec<String> {
        self.output.take_roots()
    }

    /// Takes a whole report file, recognised by its content: XML, JSON, TAP or the text of a known runner. One
    /// that cannot be read makes the run [`Incomplete`](crate::TestStatus::Incomplete), with a
    /// warning that names it.
    pub fn report(&mut self, input: ReportInput<'_>) {
        let mut report = self.open_report(input.name);
        let _ = report.push(input.bytes);
        self.close_report(report);
    }

    /// A reader for a report file that comes in chunks.
    pub fn open_report(&self, name: &str) -> ReportReader {
        ReportReader::new(&self.root, name, self.format)
    }

    /// Takes what such a reader has read: the file has ended.
    pub fn close_report(&mut self, report: ReportReader) {
        if self.format.is_none_or(|format| !format.is_exit_only()) {
            self.reports.absorb(report.finish());
        }
    }

    /// Takes note of a report file that could not be opened or read: the run is
    /// [`Incomplete`](crate::TestStatus::Incomplete).
    pub fn unreadable(&mut self, name: &str, why: &str) {
        let tally = Tally::unread(name, &ReportProblem::Unreadable(why.to_owned()), &self.root);
        self.reports.absorb(tally);
    }

    /// Notes that a known runner was started. Where it promises a summary and fewer come than it was started times, an exit
    /// code of 0 is no pass: the run is [`Incomplete`](crate::TestStatus::Incomplete).
    pub fn expect(&mut self, call: RunnerCall) {
        *self.calls.entry(call).or_default() += 1;
    }

    /// Notes the known runners that were seen at work. Those of a runner that is expected already are its calls; beside one
    /// that runs no test, others may have run some unseen.
    pub fn saw(&mut self, calls: impl IntoIterator<Item = RunnerCall>) {
        let expected: BTreeSet<_> = self.calls.keys().map(|call| call.runner).collect();
        for call in calls.into_iter().filter(|call| !expected.contains(&call.runner)) {
            match call.promise {
                Promise::NoTest => *self.rehearsed.entry(call.runner.0).or_default() += 1,
                Promise::Summary | Promise::Nothing => _ = self.calls.entry(call).or_insert(1),
            }
        }
    }

    /// Notes that the exit code is that of this program, which ends with 0 whatever the tests said (`|| true`). Where nothing
    /// else tells, the run is [`Incomplete`](crate::TestStatus::Incomplete).
    pub fn exit_masked_by(&mut self, program: String) {
        self.masked_by = Some(program);
    }

    /// Ends the run.
    pub fn finish(self, exit: ExitKind) -> ParsedRun {
        let Self { root, format, output, reports, calls, rehearsed, masked_by } = self;
        let name = output.name().to_owned();
        let (mut whole, printed) = output.finish(reports, format);
        if let Some(format) = format.filter(|format| !format.is_exit_only() && whole.runner().is_none()) {
            let what = format!("nothing in the format {}, the only one asked for", format.name());
            let problem = ReportProblem::Unknown(what);
            match exit {
                ExitKind::Code(0) => whole.problem(&name, &problem),
                ExitKind::Code(_) | ExitKind::Signal(_) | ExitKind::TimedOut => {
                    whole.warn(format!("{name}: {problem}"));
                }
            }
        }
        let sessions = whole.sessions.clone();
        let mut run = ParsedRun::of_output(whole, &printed, exit, &root);
        let by_exit = format.is_some_and(Format::is_exit_only);
        if by_exit {
            run.refuse_idle(&printed);
            run.refuse_rehearsal(&calls);
        } else {
            run.hear_last_words(&printed, masked_by.as_deref());
            run.refuse_rehearsed(&rehearsed, &sessions);
            run.hold_to(&calls, &printed, &sessions);
        }
        if let Some(program) = masked_by {
            run.doubt_exit(&program);
        }
        if !by_exit {
            run.name_tests(&printed);
        }
        run
    }
}

/// Reads a run whose output was not seen, from its report files and its exit.
pub fn read(inputs: &[ReportInput<'_>], exit: ExitKind, root: &Root) -> ParsedRun {
    let mut reader = RunReader::new(root.clone());
    for input in inputs {
        reader.report(*input);
    }
    reader.finish(exit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::TestStatus;

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
            ("all good\n", &[][..], "exit", TestStatus::Incomplete),
            ("3 tests, 0 failures\n", &[], "counted", TestStatus::Passed),
            ("0 tests, 0 failures\n", &[], "exit", TestStatus::NoTests),
            (cargo, &[], "cargo", TestStatus::Passed),
            (mocha, &[], "mocha-json", TestStatus::Passed),
            ("", &[("a.json", mocha), ("b.trx", trx)], "mocha-json+trx", TestStatus::Passed),
            ("", &[("a.json", "{\"stats\"")], "exit", TestStatus::Incomplete),
            ("1..1\nok 1\n", &[], "tap", TestStatus::Passed),
            ("", &[("a.xml", junit)], "junit", TestStatus::Passed),
            ("> npm test\n\n<testsuite><testcase name='a'/></testsuite>\n", &[], "junit", TestStatus::Passed),
            ("<testsuite><testcase name='a'/>\n", &[], "junit", TestStatus::Incomplete),
            ("ok\n<html>\n", &[], "exit", TestStatus::Incomplete),
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
            let is_whole = status != TestStatus::Incomplete || run.unnamed;
            assert_eq!(run.warnings.is_empty(), is_whole, "{:?}", run.warnings);
        }
    }

    #[test]
    fn a_named_format_is_read_and_no_other() {
        let tap = "1..1\nok 1\n";
        let junit = "<testsuite><testcase name='a'><failure/></testcase></testsuite>\n";
        let none = &[][..];
        let cases = [
            ("tap", format!("{tap}1 failed in 0.1s\n"), none, 0, "tap", TestStatus::Passed),
            ("pytest", format!("{tap}1 failed in 0.1s\n"), none, 0, "pytest", TestStatus::Failed),
            ("junit", junit.to_owned(), none, 0, "junit", TestStatus::Failed),
            ("junit", tap.to_owned(), &[("a", junit)], 0, "junit", TestStatus::Failed),
            ("junit", tap.to_owned(), none, 0, "exit", TestStatus::Incomplete),
            ("junit", tap.to_owned(), none, 1, "exit", TestStatus::RunnerError),
            ("trx", String::new(), &[("a", junit)], 0, "exit", TestStatus::Incomplete),
            ("tap", String::new(), &[("a", "3 passed in 0.1s\n")], 0, "exit", TestStatus::Incomplete),
            ("exit", junit.to_owned(), &[("a", junit)], 0, "exit", TestStatus::Passed),
            ("exit", "FAIL\n".to_owned(), none, 0, "exit", TestStatus::Passed),
            ("exit", String::new(), none, 0, "exit", TestStatus::Passed),
            ("exit", "make: 'test' is up to date.\n".to_owned(), none, 0, "exit", TestStatus::NoTests),
            ("exit", "no tests found\n".to_owned(), none, 0, "exit", TestStatus::NoTests),
            ("exit", tap.to_owned(), none, 3, "exit", TestStatus::RunnerError),
        ];
        for (format, stdout, files, exit, runner, status) in cases {
            let mut reader = RunReader::new(Root::none()).only(Format::named(format));
            reader.push(Stream::Stdout, stdout.as_bytes());
            for (name, text) in files {
                reader.report(ReportInput { name, bytes: text.as_bytes() });
            }
            let run = reader.finish(ExitKind::Code(exit));
            assert_eq!(
                (run.runner.as_str(), run.status),
                (runner, status),
                "{format} {stdout} {:?}",
                run.warnings
            );
            assert!(run.warnings.is_empty() || run.runner == "exit", "{:?}", run.warnings);
        }
        assert!(Format::names().all(|name| Format::named(name).is_some_and(|one| one.name() == name)));
        assert_eq!(Format::named("junti"), None);
    }

    #[test]
    fn the_directories_of_runners_are_told() {
        let mut reader = RunReader::new(Root::none());
        let lines = "rootdir: /a/b, configfile: pytest.ini\nweb | rootdir: /c\n RUN  v3.0.0 /d e\nTest project /f/build\n\
                     Configuration: phpunit.xml\nno rootdir here\n";
        reader.push(Stream::Stdout, lines.as_bytes());
        assert_eq!(reader.take_roots(), ["/a/b", "/c", "/d e"]);
        assert!(reader.take_roots().is_empty());
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
