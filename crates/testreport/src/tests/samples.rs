//! Outputs of real runners (the fuzzer starts from them too), each read as that of its runner.

use super::{file, run};
use crate::Format;
use crate::TestStatus::{self, BuildFailed, Failed, NoTests, Passed};

macro_rules! sample {
    ($path:literal) => {
        ($path, include_bytes!(concat!("../../samples/", $path)).as_slice())
    };
}

/// A sample with its name; runner, status and counts: passed, failed, errored, skipped.
type Row = ((&'static str, &'static [u8]), &'static str, TestStatus, [u64; 4]);

pub(crate) const SAMPLES: [Row; 67] = [
    (sample!("xml/ctest-failing.xml"), "ctest-xml", Failed, [1, 1, 1, 1]),
    (sample!("xml/ctest-passing.xml"), "ctest-xml", Passed, [1, 0, 0, 0]),
    (sample!("xml/ctest-xml.xml"), "ctest-xml", Failed, [1, 1, 1, 1]),
    (sample!("xml/junit-bats.xml"), "junit", Failed, [1, 1, 0, 1]),
    (sample!("xml/junit-ctest.xml"), "junit", Failed, [1, 1, 1, 1]),
    (sample!("xml/junit-gtest.xml"), "junit", Failed, [1, 1, 0, 2]),
    (sample!("xml/junit-mocha.xml"), "junit", Failed, [1, 2, 0, 1]),
    (sample!("xml/junit-node.xml"), "junit", Failed, [4, 6, 0, 2]),
    (sample!("xml/junit-phpunit.xml"), "junit", Failed, [1, 1, 1, 1]),
    (sample!("xml/junit-pytest.xml"), "junit", Failed, [3, 4, 2, 3]),
    (sample!("xml/junit-unittest.xml"), "junit", Failed, [1, 1, 1, 1]),
    (sample!("xml/junit-vitest.xml"), "junit", Failed, [1, 1, 0, 1]),
    (sample!("xml/nunit-passing.xml"), "nunit", Passed, [1, 0, 0, 0]),
    (sample!("xml/nunit-three.xml"), "nunit", Failed, [1, 1, 2, 1]),
    (sample!("xml/nunit-two.xml"), "nunit", Failed, [1, 1, 0, 1]),
    (sample!("xml/trx-failing.trx"), "trx", Failed, [1, 1, 1, 1]),
    (sample!("xml/trx-passing.trx"), "trx", Passed, [1, 0, 0, 0]),
    (sample!("xml/trx-rows.trx"), "trx", Failed, [1, 1, 0, 0]),
    (sample!("xml/xunit-failing.xml"), "xunit", Failed, [1, 1, 1, 1]),
    (sample!("xml/xunit-passing.xml"), "xunit", Passed, [1, 0, 0, 0]),
    (sample!("xml/xunit-utf16.xml"), "xunit", Failed, [1, 1, 1, 1]),
    (sample!("json-lines/dart-failing.jsonl"), "dart-json", Failed, [0, 1, 1, 1]),
    (sample!("json-lines/dart-passing.jsonl"), "dart-json", Passed, [1, 0, 0, 0]),
    (sample!("json-lines/go-json.jsonl"), "go-json", BuildFailed, [3, 2, 0, 1]),
    (sample!("json-lines/go-pass.jsonl"), "go-json", Passed, [1, 0, 0, 0]),
    (sample!("json-lines/libtest-json.jsonl"), "libtest-json", Failed, [1, 2, 0, 1]),
    (sample!("json-lines/nextest-failing.jsonl"), "libtest-json", Failed, [1, 1, 0, 1]),
    (sample!("json-lines/nextest-nextest.jsonl"), "libtest-json", Passed, [2, 0, 0, 0]),
    (sample!("json-lines/node-failing.jsonl"), "node-json", Failed, [1, 2, 1, 2]),
    (sample!("json-lines/node-json.jsonl"), "node-json", Failed, [4, 5, 1, 2]),
    (sample!("json-lines/node-passing.jsonl"), "node-json", Passed, [1, 0, 0, 0]),
    (sample!("json-lines/pytest-none.jsonl"), "pytest-reportlog", NoTests, [0, 0, 0, 0]),
    (sample!("json-lines/pytest-pass.jsonl"), "pytest-reportlog", Passed, [1, 0, 0, 0]),
    (sample!("json-lines/pytest-reportlog.jsonl"), "pytest-reportlog", Failed, [3, 4, 2, 3]),
    (sample!("json-documents/jest-json.json"), "jest-json", Failed, [1, 1, 0, 2]),
    (sample!("json-documents/jest-pass.json"), "jest-json", Passed, [1, 0, 0, 3]),
    (sample!("json-documents/mocha-json.json"), "mocha-json", Failed, [1, 1, 1, 1]),
    (sample!("json-documents/vitest-json.json"), "jest-json", Failed, [1, 1, 0, 1]),
    (sample!("tap/tap-bats.txt"), "tap", Failed, [1, 1, 0, 1]),
    (sample!("tap/tap-mocha.txt"), "tap", Failed, [1, 2, 0, 1]),
    (sample!("tap/tap-node-pass.txt"), "tap", Passed, [1, 0, 0, 0]),
    (sample!("tap/tap-node.txt"), "tap", Failed, [4, 6, 0, 2]),
    (sample!("tap/tap-tape.txt"), "tap", Failed, [1, 1, 0, 0]),
    (sample!("tap/tap-vitest.txt"), "tap", Failed, [1, 1, 0, 1]),
    (sample!("libtest/cargo-pass.txt"), "cargo", Passed, [1, 0, 0, 1]),
    (sample!("libtest/cargo.txt"), "cargo", Failed, [1, 2, 0, 1]),
    (sample!("text-a/go-pass.txt"), "go", Passed, [1, 0, 0, 0]),
    (sample!("text-a/go-v.txt"), "go", BuildFailed, [3, 1, 0, 1]),
    (sample!("text-a/go.txt"), "go", BuildFailed, [0, 1, 0, 0]),
    (sample!("text-a/nextest-failing.txt"), "nextest", Failed, [2, 2, 0, 1]),
    (sample!("text-a/nextest-passing.txt"), "nextest", Passed, [1, 0, 0, 0]),
    (sample!("text-a/node-spec.txt"), "node", Failed, [4, 7, 1, 2]),
    (sample!("text-a/pytest-none.txt"), "pytest", NoTests, [0, 0, 0, 0]),
    (sample!("text-a/pytest-pass.txt"), "pytest", Passed, [1, 0, 0, 0]),
    (sample!("text-a/pytest-q.txt"), "pytest", Failed, [3, 4, 2, 3]),
    (sample!("text-a/pytest-xdist.txt"), "pytest", Failed, [3, 4, 2, 3]),
    (sample!("text-a/pytest.txt"), "pytest", Failed, [3, 4, 2, 3]),
    (sample!("text-a/unittest.txt"), "unittest", Failed, [1, 1, 1, 1]),
    (sample!("text-b/bats.txt"), "bats", Failed, [1, 1, 0, 1]),
    (sample!("text-b/ctest.txt"), "ctest", Failed, [1, 1, 1, 1]),
    (sample!("text-b/gtest.txt"), "gtest", Failed, [1, 1, 0, 1]),
    (sample!("text-b/jest.txt"), "jest", Failed, [1, 1, 0, 2]),
    (sample!("text-b/minitest.txt"), "minitest", Failed, [1, 1, 1, 1]),
    (sample!("text-b/mocha.txt"), "mocha", Failed, [1, 2, 0, 1]),
    (sample!("text-b/phpunit.txt"), "phpunit", Failed, [1, 1, 1, 1]),
    (sample!("text-b/rspec.txt"), "rspec", Failed, [1, 1, 0, 1]),
    (sample!("text-b/vitest.txt"), "vitest", Failed, [1, 1, 0, 1]),
];

#[test]
fn real_reports_are_read_as_what_they_are() {
    for ((name, bytes), runner, status, counts) in SAMPLES {
        let one = file(bytes, 0);
        let found = [one.counts.passed, one.counts.failed, one.counts.errored, one.counts.skipped];
        assert_eq!(
            (one.runner.as_str(), one.status, found),
            (runner, status, counts),
            "{name} {:?}",
            one.warnings
        );
        assert!(one.warnings.is_empty(), "{name} {:?}", one.warnings);
        assert_eq!(one.failing.is_empty(), one.counts.failing() == 0, "{name} {:?}", one.failing);
    }
}

#[test]
fn they_are_read_the_same_from_standard_output_and_under_their_name() {
    for ((name, bytes), runner, status, _) in SAMPLES {
        // UTF-16 is what files are in.
        if name.contains("utf16") {
            continue;
        }
        let output = run(bytes, b"", &[], 0);
        assert_eq!((output.runner.as_str(), output.status), (runner, status), "{name} {:?}", output.warnings);
        let mut reader = super::RunReader::new(super::Root::new("/p")).only(Format::named(runner));
        reader.report(super::ReportInput { name, bytes });
        let named = reader.finish(super::ExitKind::Code(0));
        assert_eq!(named, file(bytes, 0), "{name}");
    }
}

/// Samples without a known set of tests: the runner names only those that failed, or the run is not the whole.
const UNNAMED: [&str; 24] = [
    "json-documents/jest-json.json",
    "xml/trx-rows.trx",
    "xml/nunit-three.xml",
    "json-lines/go-json.jsonl",
    "json-lines/pytest-none.jsonl",
    "libtest/cargo.txt",
    "text-a/go-pass.txt",
    "text-a/go-v.txt",
    "text-a/go.txt",
    "text-a/node-spec.txt",
    "text-a/pytest-none.txt",
    "text-a/pytest-pass.txt",
    "text-a/pytest-q.txt",
    "text-a/pytest-xdist.txt",
    "text-a/pytest.txt",
    "text-a/unittest.txt",
    "text-b/bats.txt",
    "text-b/jest.txt",
    "text-b/minitest.txt",
    "text-b/mocha.txt",
    "text-b/phpunit.txt",
    "text-b/rspec.txt",
    "text-b/vitest.txt",
    "xml/trx-failing.trx",
];

#[test]
fn every_test_is_known_where_the_runner_names_it() {
    for ((name, bytes), runner, _, [passed, failed, errored, skipped]) in SAMPLES {
        let one = file(bytes, 0);
        assert_eq!(one.tests.is_none(), UNNAMED.contains(&name), "{name} {:?}", one.tests);
        let Some(tests) = one.tests else { continue };
        let ran = tests.iter().filter(|test| !test.skipped).count() as u64;
        let unnamed = tests.len() as u64 == ran;
        assert_eq!(ran, passed + failed + errored, "{name} {tests:?}");
        assert!(unnamed || tests.len() as u64 == ran + skipped, "{name} {tests:?}");
        // A test that fails is the same as when it passes; TRX tells the class of failing ones alone.
        let known = |id: &String| tests.iter().any(|test| test.id == *id && !test.skipped);
        assert!(runner == "trx" || one.failing.iter().all(known), "{name} {tests:?}");
    }
}
