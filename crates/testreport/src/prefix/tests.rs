//! Output of tools that run several programs: real reports below the prefixes of each tool.

use proptest::prelude::*;

use crate::{ExitKind, ParsedRun, ReportInput, Root, RunReader, Stream, TestStatus, tests::samples::SAMPLES};

/// A tool, and what it puts before a line of the source.
type Tool = (&'static str, fn(&str, usize) -> String);

const TOOLS: [Tool; 20] = [
    ("pnpm -r", |source, _| format!("packages/{source} test: ")),
    ("pnpm -r, in colour", |source, _| format!("\x1b[34mpackages/{source}\x1b[39m \x1b[2mtest\x1b[22m: ")),
    ("turbo", |source, _| format!("{source}:test: ")),
    ("turbo, with a scope and in colour", |source, _| format!("\x1b[35m@acme/{source}:test: \x1b[0m")),
    ("nx, lerna", |source, _| format!("@acme/{source}: ")),
    ("bun --filter", |source, _| format!("{source} test: ")),
    ("docker compose", |source, _| format!("{source}-1  | ")),
    ("docker compose, in colour", |source, _| format!("\x1b[36m{source}-1  | \x1b[0m")),
    ("docker compose --timestamps", |source, at| {
        format!("{source}-1  | 2026-11-25T12:01:{:02}.123456789Z ", at % 60)
    }),
    ("parallel --tag", |source, _| format!("packages/{source}\t")),
    ("foreman", |source, at| format!("12:01:{:02} {source}.1   | ", at % 60)),
    ("foreman, in colour", |source, at| format!("\x1b[32m12:01:{:02} {source}.1   | \x1b[0m", at % 60)),
    ("overmind", |source, _| format!("{source}    | ")),
    ("concurrently", |source, _| format!("[{source}] ")),
    ("npm-run-all -l", |source, _| format!("[test:{source}     ] ")),
    ("yarn workspaces foreach", |source, _| format!("➤ YN0000: [@acme/{source}]: ")),
    ("gh run view --log", |source, at| {
        format!("{source}\tRun tests\t2026-11-25T12:01:{:02}.1234567Z ", at % 60)
    }),
    ("turbo under GitHub's time stamps", |source, at| {
        format!("2026-11-25T12:01:{:02}.1234567Z {source}:test: ", at % 60)
    }),
    ("moon", |source, _| format!("{source}:test | ")),
    ("docker build", |source, at| format!("#{} {}.{:03} ", source.len() + 5, at, at % 1000)),
];

/// Tools that stamp lines without naming their source.
const STAMPS: [Tool; 5] = [
    ("GitHub", |_, at| format!("2026-11-25T12:01:{:02}.1234567Z ", at % 60)),
    ("[clock]", |_, at| format!("[12:01:{:02}] ", at % 60)),
    ("ts", |_, at| format!("Nov 25 12:01:{:02} ", at % 60)),
    ("ts %.s", |_, at| format!("17324928{:02}.123456 ", at % 60)),
    ("GitLab", |_, at| format!("2026-11-25T12:01:{:02}.123456Z 00O ", at % 60)),
];

fn below(tool: Tool, source: &str, text: &str) -> Vec<String> {
    text.lines().enumerate().map(|(at, line)| format!("{}{line}", (tool.1)(source, at))).collect()
}

fn run(text: &str, exit: i32) -> ParsedRun {
    let mut reader = RunReader::new(Root::new("/p"));
    reader.push(Stream::Stdout, text.as_bytes());
    reader.finish(ExitKind::Code(exit))
}

/// All of a run but for its warnings, which name the source.
fn told(run: &ParsedRun) -> impl PartialEq + std::fmt::Debug + use<> {
    (run.status, run.counts, run.failing.clone(), run.errors.clone(), run.tests.clone(), run.runner.clone())
}

/// Samples that come as lines of text.
fn samples() -> impl Iterator<Item = (&'static str, String)> {
    SAMPLES
        .into_iter()
        .filter(|((name, _), ..)| !name.contains("utf16"))
        .map(|((name, bytes), ..)| (name, String::from_utf8_lossy(bytes).into_owned()))
}

#[test]
fn every_report_below_every_prefix_reads_as_without() {
    for (name, text) in samples() {
        let plain = run(&text, 0);
        for tool in TOOLS.into_iter().chain(STAMPS) {
            let wrapped = run(&below(tool, "b", &text).join("\n"), 0);
            assert_eq!(told(&wrapped), told(&plain), "{name} below {}", tool.0);
        }
    }
}

#[test]
fn a_saved_log_with_prefixes_is_read_like_the_output() {
    for (name, text) in samples().filter(|(name, _)| name.starts_with("text-") || name.starts_with("tap/")) {
        let wrapped = below(TOOLS[2], "b", &text).join("\n");
        let saved = |text: &str| {
            let mut reader = RunReader::new(Root::new("/p"));
            reader.report(ReportInput { name: "log", bytes: text.as_bytes() });
            told(&reader.finish(ExitKind::Code(1)))
        };
        assert_eq!(saved(&wrapped), saved(&text), "{name}");
    }
}

/// The lines of both, in turns of these lengths.
fn interleaved(one: &[String], two: &[String], turns: &[usize]) -> String {
    let (mut one, mut two, mut lines) = (one.iter(), two.iter(), Vec::new());
    let mut turns = turns.iter().copied().cycle();
    while one.len() + two.len() > 0 {
        lines.extend(one.by_ref().take(turns.next().unwrap_or(1).max(1)).cloned());
        lines.extend(two.by_ref().take(turns.next().unwrap_or(1).max(1)).cloned());
    }
    lines.join("\n")
}

/// Ids without the source before them.
fn bare(ids: &[String]) -> Vec<String> {
    let mut ids: Vec<String> = ids
        .iter()
        .map(|id| {
            // A source may have a step after its name, such as `uno Run tests: bad`.
            let behind = || id.rsplit_once(": ").map(|(_, rest)| rest.to_owned());
            let cut = super::shape::cut(id).map(|cut| cut.rest.to_owned()).or_else(behind);
            cut.filter(|_| ["uno", "due"].iter().any(|source| id.contains(source)))
                .unwrap_or_else(|| id.clone())
        })
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn two_sources_at_once_give_the_union_of_both(
        tool in 0..TOOLS.len() - 1, one in 0..SAMPLES.len(), two in 0..SAMPLES.len(),
        turns in proptest::collection::vec(1_usize..9, 1..9),
    ) {
        let tool = TOOLS[tool];
        let ((first, one), ..) = SAMPLES[one];
        let ((second, two), ..) = SAMPLES[two];
        prop_assume!(!first.contains("utf16") && !second.contains("utf16"));
        let (one, two) = (String::from_utf8_lossy(one), String::from_utf8_lossy(two));
        let text = interleaved(&below(tool, "uno", &one), &below(tool, "due", &two), &turns);
        let (both, one, two) = (run(&text, 1), run(&one, 1), run(&two, 1));
        prop_assert_eq!(both.counts.failing(), one.counts.failing() + two.counts.failing(), "{} {} {}", tool.0, first, second);
        prop_assert_eq!(both.counts.total, one.counts.total + two.counts.total);
        let union: Vec<String> = one.failing.iter().chain(&two.failing).cloned().collect();
        prop_assert_eq!(bare(&both.failing), bare(&union), "{} {} {}", tool.0, first, second);
    }
}

const JEST: &str = "\
FAIL src/a.test.js
  ● cart › adds

    expect(received).toBe(expected)

      3 |   expect(add(1, 1)).toBe(2);
    > 4 |   expect(add(1, 2)).toBe(4);

Test Suites: 1 failed, 1 total
Tests:       1 failed, 6 passed, 7 total
Snapshots:   0 total
Time:        0.512 s
Ran all test suites.
";

const PYTEST: &str = "\
============================= test session starts ==============================
collected 3 items

tests/test_a.py .F.                                                      [100%]

=========================== short test summary info ============================
FAILED tests/test_a.py::test_total - assert 3 == 4
========================= 1 failed, 2 passed in 0.05s ==========================
";

/// The tools print lines of their own around the programs that they run.
#[test]
fn whole_outputs_of_tools_tell_the_tests_of_all_packages() {
    let pnpm = |text: &str, source| below(TOOLS[0], source, text).join("\n");
    let turbo = |text: &str, source| below(TOOLS[2], source, text).join("\n");
    let compose = |text: &str, source| below(TOOLS[6], source, text).join("\n");
    let table = [
        (
            "pnpm -r",
            format!(
                "Scope: 2 of 3 workspace projects\npackages/a test$ jest\npackages/b test$ pytest\n{}\npackages/a test: Failed\n{}\n\
                 packages/b test: Failed\n/p/packages/a:\n ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  a@1.0.0 test: `jest`\nExit status 1\n",
                pnpm(JEST, "a"),
                pnpm(PYTEST, "b")
            ),
        ),
        (
            "pnpm -r on a terminal",
            format!(
                "Scope: 2 of 3 workspace projects\npackages/a test$ jest\n{}\n└─ Failed in 1s at /p\npackages/b test$ pytest\n{}\n\
                 └─ Failed in 1s at /p\n",
                JEST.lines().map(|line| format!("│ {line}")).collect::<Vec<_>>().join("\n"),
                PYTEST.lines().map(|line| format!("│ {line}")).collect::<Vec<_>>().join("\n"),
            ),
        ),
        (
            "turbo",
            format!(
                "• Packages in scope: a, b\n• Running test in 2 packages\na:test: cache miss, executing 1234567890abcdef\n\
                 b:test: cache miss, executing fedcba0987654321\na:test: > a@1.0.0 test\na:test: > jest\n{}\n{}\n\
                 a:test: npm error Lifecycle script `test` failed with error:\na:test: ERROR: command finished with error: exited (1)\n\
                 \n Tasks:    0 successful, 2 total\nCached:    0 cached, 2 total\n  Time:    1.2s \nFailed:    a#test, b#test\n\n \
                 ERROR  run failed: command  exited (1)\n",
                turbo(JEST, "a"),
                turbo(PYTEST, "b")
            ),
        ),
        (
            "docker compose",
            format!(
                "[+] Running 2/2\n ✔ Container p-a-1  Created\n ✔ Container p-b-1  Created\nAttaching to a-1, b-1\n{}\n\
                 a-1 exited with code 1\n{}\nb-1 exited with code 1\nAborting on container exit...\n",
                compose(JEST, "a"),
                compose(PYTEST, "b")
            ),
        ),
    ];
    for (name, text) in table {
        let run = run(&text, 1);
        assert_eq!(run.status, TestStatus::Failed, "{name} {:?}", run.warnings);
        assert_eq!((run.counts.failed, run.counts.total), (2, 10), "{name}");
        assert_eq!(run.failing, ["src/a.test.js::cart > adds", "tests/test_a.py::test_total"], "{name}");
    }
}

#[test]
fn a_test_that_two_sources_have_is_named_with_its_source() {
    let one = "1..2\nok 1 - a\nnot ok 2 - b\n";
    let table = [
        (one, "1..1\nnot ok 1 - b\n", vec!["x:test: b", "y:test: b"]),
        (one, "1..1\nok 1 - b\n", vec!["x:test: b"]),
        (one, "1..1\nnot ok 1 - c\n", vec!["b", "c"]),
    ];
    for (one, two, failing) in table {
        let text = [below(TOOLS[2], "x", one), below(TOOLS[2], "y", two)].concat().join("\n");
        assert_eq!(run(&text, 1).failing, failing);
    }
}

#[test]
fn a_source_that_was_ended_because_another_failed_takes_nothing_from_it() {
    let cut = "TAP version 13\nok 1 - a\n";
    let text = [below(TOOLS[2], "x", cut), below(TOOLS[2], "y", PYTEST)].concat().join("\n");
    assert_eq!(run(&text, 1).status, TestStatus::Failed);
    let alone = [below(TOOLS[2], "x", "1..3\nok 1 - a"), below(TOOLS[2], "y", "1..1\nok 1 - a")];
    assert_eq!(run(&alone.concat().join("\n"), 0).status, TestStatus::Incomplete);
}

#[test]
fn a_prefix_here_and_there_is_no_column() {
    let noise = "compiling one\ncompiling two\ncompiling three\n".repeat(20);
    let text = format!("b: 1..1\n{noise}b: not ok 1 - x\n");
    assert_eq!(run(&text, 0).runner, "exit");
    // Under a test that runs, nothing is a column.
    let printed = below(TOOLS[2], "x", "1..1\nnot ok 1 - inner\n").join("\n");
    let text = format!(
        "running 1 test\n{printed}\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
    );
    assert_eq!(run(&text, 0).status, TestStatus::Passed);
}

#[test]
fn sources_are_bounded_and_what_is_left_out_is_told() {
    for (sources, status) in
        [(256, TestStatus::Passed), (257, TestStatus::Incomplete), (2000, TestStatus::Incomplete)]
    {
        let text: String = (0..sources).map(|at| format!("pod-{at} | 1..1\npod-{at} | ok 1 - a\n")).collect();
        let run = run(&text, 0);
        assert_eq!((run.status, run.counts.passed), (status, 256));
        let told = run.warnings.first().is_some_and(|text| text.contains("were not read"));
        assert_eq!(told, status == TestStatus::Incomplete, "{:?}", run.warnings);
    }
}

#[test]
fn there_is_nothing_to_run_in_one_of_the_packages() {
    let text = "packages/a test$ jest\npackages/a test: sh: 1: jest: not found\npackages/a test: Failed\n";
    let one = run(text, 1);
    assert_eq!(one.not_started.as_deref(), Some("sh: 1: jest: not found"));
    let failing = format!("{text}{}", below(TOOLS[0], "b", PYTEST).join("\n"));
    assert_eq!((run(&failing, 1).status, run(&failing, 1).not_started), (TestStatus::Failed, None));
}
