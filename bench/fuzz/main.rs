//! Mutates real reports for as long as one likes and sees that reading them ends well: `bench/fuzz/run.sh`.
//!
//! `fuzz-reports SECONDS SEED FILE...` reads seeds, and then over and over a mutation of one of them: bytes
//! flipped, parts cut, repeated, swapped with those of other seeds, tokens of the formats put in. Each is read
//! as a file and as output, whole and in chunks. What must hold is in `hold`; what does not is printed with
//! the bytes that showed it, and ends the run with 1. A report that is cut off is held to more: it must not
//! pass where the whole did not.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::expect_used, clippy::unwrap_used)] // a tool for people at a terminal

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use andon_core::domain::{TestEvidence, TestStatus};
use testreport::{ExitKind, ParsedRun, ReportInput, Root, RunReader, Stream};

mod mutate;

use mutate::{Dice, mutate};

/// What is put in somewhere: what readers look for, and what trips them.
const TOKENS: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "\"",
    "'",
    "&",
    "&amp;",
    "&#0;",
    "&x;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?xml ",
    "?>",
    "<!DOCTYPE x [",
    "]>",
    "<testsuite>",
    "</testsuite>",
    "<testcase name='a'>",
    "</testcase>",
    "<failure message='x'>",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\\",
    "\\u0000",
    "\\ud800",
    "null",
    "NaN",
    "-1",
    "18446744073709551615",
    "1e999",
    "true",
    "false",
    "\n",
    "\r\n",
    "\0",
    "\u{1b}[31m",
    "\u{feff}",
    "\u{2028}",
    "ok 1 - a",
    "not ok 2 - b",
    "1..2",
    "1..0 # SKIP",
    "    ",
    "  ---\n",
    "  ...\n",
    "Bail out!",
    "TAP version 14\n",
    "running 2 tests\n",
    "test a ... ok\n",
    "test b ... FAILED\n",
    "test result: FAILED. 1 passed; 1 failed;",
    "failures:\n",
    "---- b stdout ----\n",
    "=== 1 failed in 0.1s ===",
    "3 passed in 0.1s",
    "FAIL\tp [build failed]\n",
    "--- FAIL: T (0.00s)\n",
    "ok  \tp\t0.1s\n",
    "Tests:       1 failed, 2 total\n",
    "  3 passing (5ms)\n",
    "ℹ tests 3\n",
    "ℹ duration_ms 1.5\n",
    "✖ a (0.5ms)\n",
    "Summary [ 0.1s] 1 test run: 1 passed\n",
    "{\"Action\":\"fail\",\"Package\":\"p\"}\n",
    "{\"type\":\"suite\",\"event\":\"started\",\"test_count\":9}\n",
    "{\"$report_type\":\"SessionFinish\",\"exitstatus\":0}\n",
    "{\"type\":\"test:fail\",\"data\":{}}\n",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().and_then(|text| text.parse().ok()).expect("SECONDS");
    let seed: u64 = arguments.next().and_then(|text| text.parse().ok()).expect("SEED");
    let seeds: Vec<(String, Vec<u8>)> =
        arguments.map(|path| (path.clone(), std::fs::read(&path).expect("a seed"))).collect();
    std::panic::set_hook(Box::new(|panic| println!("{panic}")));
    let (end, mut runs, mut faults) = (Instant::now() + Duration::from_secs(seconds), 0_u64, 0_u64);
    let mut dice = Dice::new(seed);
    for (name, bytes) in &seeds {
        faults += u64::from(try_one(name, bytes, &mut dice).is_err());
    }
    while Instant::now() < end && faults < 5 {
        let (name, bytes) = &seeds[dice.roll(seeds.len())];
        let other = &seeds[dice.roll(seeds.len())].1;
        let mut mutant = bytes.clone();
        for _ in 0..=dice.roll(6) {
            mutate(&mut mutant, other, TOKENS, &mut dice);
        }
        mutant.truncate(256 * 1024);
        faults += u64::from(try_one(name, &mutant, &mut dice).is_err());
        let cut = dice.roll(bytes.len());
        faults += u64::from(try_cut(name, bytes, cut).is_err());
        runs += 2;
    }
    println!("{runs} mutants of {} seeds in {seconds} s, seed {seed}: {faults} faults", seeds.len());
    std::process::exit(i32::from(faults > 0));
}

/// Reads bytes in every way there is; prints and returns what does not hold.
fn try_one(name: &str, bytes: &[u8], dice: &mut Dice) -> Result<(), ()> {
    let size = 1 + dice.roll(5000);
    let exit = i32::try_from(dice.roll(3)).unwrap();
    let tried = catch_unwind(AssertUnwindSafe(|| {
        let file = read(bytes, usize::MAX, None, exit);
        hold(&file, exit)?;
        if reported(read(bytes, size, None, exit)) != reported(file) {
            return Err(format!("read otherwise in chunks of {size}"));
        }
        for stream in [Stream::Stdout, Stream::Stderr] {
            let output = read(bytes, usize::MAX, Some(stream), exit);
            hold(&output, exit)?;
            if reported(read(bytes, size, Some(stream), exit)) != reported(output) {
                return Err(format!("output read otherwise in chunks of {size}"));
            }
        }
        Ok(())
    }));
    judge(name, bytes, tried)
}

/// A beginning of a seed, as a file. A structured one may pass only where the whole does; a text may hold one
/// run that passed before another.
fn try_cut(name: &str, bytes: &[u8], cut: usize) -> Result<(), ()> {
    let structured = ["xml", "trx", "json", "jsonl"].iter().any(|end| name.ends_with(end));
    let tried = catch_unwind(AssertUnwindSafe(|| {
        let whole = read(bytes, usize::MAX, None, 0);
        let part = read(&bytes[..cut], usize::MAX, None, 0);
        hold(&part, 0)?;
        let passes = part.status == TestStatus::Passed;
        if structured
            && passes
            && (whole.status != TestStatus::Passed || part.counts.total > whole.counts.total)
        {
            return Err(format!("passes when cut at {cut}"));
        }
        Ok(())
    }));
    judge(name, &bytes[..cut], tried)
}

fn judge(name: &str, bytes: &[u8], tried: std::thread::Result<Result<(), String>>) -> Result<(), ()> {
    let what = match tried {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(what)) => what,
        Err(panic) => format!("panicked: {:?}", panic.downcast_ref::<String>()),
    };
    println!("{name}: {what}\n  {}", bytes.escape_ascii());
    Err(())
}

/// Reads bytes as a report file, or as what came on a stream, in chunks.
fn read(bytes: &[u8], size: usize, stream: Option<Stream>, exit: i32) -> ParsedRun {
    let mut reader = RunReader::new(Root::new("/p"));
    match stream {
        Some(stream) => bytes.chunks(size).for_each(|chunk| reader.push(stream, chunk)),
        None if size >= bytes.len() => reader.report(ReportInput { name: "r", bytes }),
        None => {
            let mut report = reader.open_report("r");
            let _ = bytes.chunks(size).try_for_each(|chunk| report.push(chunk));
            reader.close_report(report);
        }
    }
    reader.finish(ExitKind::Code(exit))
}

/// What a run says, without where in the bytes something was wrong: that depends on what was there to be seen.
fn reported(mut run: ParsedRun) -> ParsedRun {
    run.warnings.truncate(0);
    run
}

/// What holds of every run that was read.
fn hold(run: &ParsedRun, exit: i32) -> Result<(), String> {
    let counts = run.counts;
    let sum = counts.failing().saturating_add(counts.passed).saturating_add(counts.skipped);
    let sorted = run.failing.windows(2).all(|pair| pair[0] < pair[1]);
    let bounded = run.failing.len() <= TestEvidence::MAX_FAILING
        && run.failing.iter().all(|id| id.len() <= 400 && !id.contains(char::is_control))
        && run.errors.iter().all(|error| error.text.len() <= 16 * 1024)
        && run.warnings.len() <= 64
        && run.warnings.iter().all(|warning| warning.len() <= 16 * 1024);
    let checks = [
        (counts.total == sum, "counts do not add up"),
        (sorted, "failing ids are not sorted, or not unique"),
        (bounded, "something is not bounded"),
        (!run.truncated || run.failing.len() == TestEvidence::MAX_FAILING, "cut, and not full"),
        (
            run.status != TestStatus::Passed || exit == 0 && run.failing.is_empty() && counts.failing() == 0,
            "passes with failures",
        ),
        (
            run.runner == "exit" || run.status != TestStatus::Passed || counts.ran() > 0,
            "passes without a test",
        ),
    ];
    checks.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, what)| Err(format!("{what}: {run:?}")))
}
