//! Which part of a text is the error: readers hand over what their format keeps of a failure, and that may be
//! all that the test printed.

use std::borrow::Cow;

/// Lines at which what a Rust test says of its panic has ended.
const AFTER_PANIC: [&str; 5] =
    ["note: run with ", "note: Some details are omitted", "stack backtrace:", "failures:", "test result: "];

/// The panic of a Rust test, without what was printed before it and the advice after it; the lines that
/// pytest marks with `E`; everything where there is neither.
pub(super) fn choose(text: &str) -> Cow<'_, str> {
    panic(text).or_else(|| marked(text)).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn panic(text: &str) -> Option<String> {
    let start = text.lines().position(is_panic)?;
    let is_message = |line: &&str| !AFTER_PANIC.iter().any(|end| line.starts_with(end));
    let lines: Vec<&str> = text.lines().skip(start).take_while(is_message).collect();
    Some(lines.join("\n"))
}

/// `thread 'tests::a' (77) panicked at src/lib.rs:3:5:`
fn is_panic(line: &str) -> bool {
    line.starts_with("thread '") && line.contains(" panicked at ")
}

/// The lines marked `E` of a pytest traceback, which is recognised by the line that ends it (`a.py:3: Error`) or by the
/// code under a `>`.
fn marked(text: &str) -> Option<String> {
    let lines = || text.lines().filter_map(mark);
    if lines().next().is_none() || !text.lines().any(|line| line.starts_with("> ") || is_crash(line)) {
        return None;
    }
    let indent = lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines: Vec<&str> = lines().map(|line| line.get(indent..).unwrap_or(line)).collect();
    Some(lines.join("\n"))
}

fn mark(line: &str) -> Option<&str> {
    line.strip_prefix("E  ").or_else(|| (line == "E").then_some(""))
}

fn is_crash(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(".py:") else { return false };
    !path.contains(' ') && rest.trim_start_matches(|each: char| each.is_ascii_digit()).starts_with(": ")
}

#[cfg(test)]
mod tests {
    use super::super::rule::check;
    use super::*;

    #[test]
    fn the_error_is_chosen() {
        let pytest = "x = 1\n\n    def test_a():\n>       assert x == 2\nE       assert 1 == 2\nE        +  where 1 = f()\n\na.py:3: AssertionError";
        check(
            choose,
            &[
                (
                    "hello\nthread 'a' panicked at src/lib.rs:3:5:\nno\nnote: run with `RUST_BACKTRACE=1`\nx",
                    "thread 'a' panicked at src/lib.rs:3:5:\nno",
                ),
                (pytest, "assert 1 == 2\n +  where 1 = f()"),
                ("E  is the fifth letter", "E  is the fifth letter"),
                ("it panicked at noon", "it panicked at noon"),
            ],
        );
    }
}
