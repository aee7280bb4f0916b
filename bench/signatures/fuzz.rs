//! Mutates texts of failures for as long as one likes and sees that normalizing them ends well.
//!
//! `fuzz-normalizer SECONDS SEED FILE...` takes the lines of the files (what runners printed) and those below, and
//! puts texts together from them: cut, repeated, with bytes changed. Into each it puts what differs between two
//! runs (a time, a port, a directory), once as in one run and once as in another. What must hold is in `hold`;
//! what does not is printed with the text that showed it, and ends the run with 1.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::expect_used, clippy::unwrap_used)] // a tool for people at a terminal

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use andon_core::domain::signatures::coarse_signature;
use testreport::{ErrorText, Root, normalize_error, normalize_id};

#[path = "../fuzz/mutate.rs"]
mod mutate;

use mutate::Dice;

/// The longest text that readers hand over.
const LONGEST: usize = 16 * 1024;

/// Lines that steps look for.
const LINES: &[&str] = &[
    "thread 'tests::a' (77) panicked at src/lib.rs:3:5:",
    "note: run with `RUST_BACKTRACE=1`",
    "stack backtrace:",
    "   0: core::panicking::panic",
    "Traceback (most recent call last):",
    "  File \"a.py\", line 3, in f",
    "    g()",
    "E       assert 1 == 2",
    ">       assert f() == 2",
    "a.py:3: AssertionError",
    "    at f (/p/a.js:3:5)",
    "  > 3 | code",
    "      | ^",
    "goroutine 1 [running]:",
    "main.f(0x1)",
    "\t/p/a.go:3 +0x1d",
    "a.rb:3:in `f'",
    "Items in the first set but not the second:",
    "{'b', 'a', {'d': [1, 2], 'c': \"}\"}}",
    "left: {",
    "}",
    "\"",
    "'",
    "\u{1b}[31mred\u{1b}[0m",
    "#x1B[31m",
    "[NON-XML-CHAR-0x1B][0m",
    "\\u001b[1m",
    "^[[0m",
    "\r",
    "\0",
    "é\u{202e}",
    "",
];

/// What differs between two runs of the same tests: a place, a time, a number by chance.
const VOLATILE: &[(&str, &str)] = &[
    ("/work/p/src/a.rs", "/home/ann/projects/q/src/a.rs"),
    ("(/work/p/src/a.rs:3:5)", "(/home/ann/projects/q/src/a.rs:3:5)"),
    ("src/lib.rs:10:9", "src/lib.rs:4711:13"),
    ("line 3,", "line 4711,"),
    ("2026-11-20T15:30:00.123Z", "2027-01-02T03:04:05Z"),
    ("Fri Nov 20 21:59:45 2026", "Sat Jan  2 03:04:05 2027"),
    ("12.5ms", "3ms"),
    ("in 0.03s", "in 14s"),
    ("http://127.0.0.1:43210/", "http://127.0.0.1:55555/"),
    ("123e4567-e89b-12d3-a456-426614174000", "00000000-1111-2222-3333-444444444444"),
    ("0x7ffd1234abcd", "0x55d012349999"),
    ("(pid 7)", "(pid 4711)"),
    ("--seed 12345", "--seed 7"),
    ("==77==ERROR", "==4711==ERROR"),
    ("/tmp/tmpab12cd34/out.txt", "/tmp/tmpzz99_xyz/out.txt"),
    ("'/tmp/pytest-of-ann/pytest-3/x0/a.txt'", "'/tmp/pytest-of-bob/pytest-44/x0/a.txt'"),
    ("0123456789abcdef0123", "fedcba98765432100000"),
    ("1795225314927", "1895225999999"),
    ("\u{1b}[31m", ""),
];

/// What this fuzzer puts together.
trait Texts {
    fn text(&mut self, lines: &[String]) -> String;
    fn runs(&mut self, text: &str) -> (String, String);
}

impl Texts for Dice {
    fn text(&mut self, lines: &[String]) -> String {
        let mut bytes = Vec::new();
        let long = if self.roll(50) == 0 { 400 } else { 12 };
        for _ in 0..self.roll(long) {
            let line = &lines[self.roll(lines.len())];
            let times = if self.roll(100) == 0 { self.roll(200) } else { 1 };
            for _ in 0..times {
                bytes.extend_from_slice(line.as_bytes());
                bytes.push(b"\n\n\n "[self.roll(4)]);
            }
        }
        for _ in 0..self.roll(6) {
            let at = self.roll(bytes.len());
            match self.roll(3) {
                0 => drop(bytes.drain(at..(at + self.roll(9)).min(bytes.len()))),
                1 => bytes.insert(at, u8::try_from(0x1c + self.roll(100)).unwrap()),
                _ => bytes.insert(at, b"{}[]()<>'\":,;/\\ 0a"[self.roll(18)]),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The text in one run, and in another.
    fn runs(&mut self, text: &str) -> (String, String) {
        let mut places: Vec<usize> = (0..self.roll(4)).map(|_| self.roll(text.len() + 1)).collect();
        places.sort_unstable();
        let (mut one, mut two, mut from) = (String::new(), String::new(), 0);
        for mut at in places {
            // Where a word may begin: half an escape before it would swallow its first letter.
            while at > 0 && !text.get(..at).is_some_and(|before| before.ends_with([' ', '\n'])) {
                at -= 1;
            }
            at = at.max(from);
            let (here, there) = VOLATILE[self.roll(VOLATILE.len())];
            let part = text.get(from..at).unwrap_or_default();
            one.push_str(&format!("{part} | {here} | "));
            two.push_str(&format!("{part} | {there} | "));
            from = at;
        }
        let rest = text.get(from..).unwrap_or_default();
        (one + rest, two + rest)
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().and_then(|text| text.parse().ok()).expect("SECONDS");
    let seed: u64 = arguments.next().and_then(|text| text.parse().ok()).expect("SEED");
    let mut lines: Vec<String> = LINES.iter().map(ToString::to_string).collect();
    for path in arguments {
        let bytes = std::fs::read(&path).expect("a readable file");
        lines.extend(
            String::from_utf8_lossy(&bytes)
                .lines()
                .filter(|line| !line.contains('\u{1b}'))
                .map(|line| line.chars().take(2000).collect()),
        );
    }
    std::panic::set_hook(Box::new(|_| {}));
    let (end, mut runs, mut faults, mut slowest) =
        (Instant::now() + Duration::from_secs(seconds), 0_u64, 0_u64, Duration::ZERO);
    let mut dice = Dice::new(seed);
    while Instant::now() < end && faults < 20 {
        let text = dice.text(&lines);
        let (one, two) = dice.runs(&text);
        let start = Instant::now();
        let held = catch_unwind(AssertUnwindSafe(|| hold(&one, &two)));
        slowest = slowest.max(start.elapsed());
        runs += 1;
        let fault = match held {
            Ok(Ok(())) => continue,
            Ok(Err(what)) => what,
            Err(_) => "it panicked".to_owned(),
        };
        faults += 1;
        println!("{fault}\n--- one\n{one:?}\n--- two\n{two:?}\n");
    }
    println!("{runs} executions, {faults} faults, slowest {slowest:?}");
    std::process::exit(i32::from(faults > 0));
}

fn hold(one: &str, two: &str) -> Result<(), String> {
    let (here, there) = (Root::new("/work/p"), Root::new("/home/ann/projects/q"));
    let id = normalize_id(one, &here);
    if normalize_id(&id, &here) != id || id.len() > 400 || id.contains(char::is_control) {
        return Err(format!("no id: {id:?}"));
    }
    let (was, is) = (normalize_error(one, &here), normalize_error(two, &there));
    if was.contains(['\u{1b}', '\r', '\0', '\t'])
        || was.lines().any(|line| line.trim_end().len() != line.len())
    {
        return Err(format!("not clean: {was:?}"));
    }
    // A longer text is cut, where it was cut shows in what is left.
    if one.len().max(two.len()) <= LONGEST && was != is {
        return Err(format!("two runs differ\n{was:?}\n{is:?}"));
    }
    let coarse =
        |text: &str| coarse_signature(&[ErrorText { test: None, text: text.to_owned(), shown: None }]);
    if was == is && coarse(&was) != coarse(&is) {
        return Err("coarse is finer".to_owned());
    }
    Ok(())
}
