//! Stack frames and code excerpts: they say where, and move with every edit of other lines.

use std::borrow::Cow;

use super::rule::{Pattern, pattern};
use crate::cases::AFTER_PANIC;

/// The kind of a line of an error text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Part of the message.
    Message,
    /// A frame of a stack.
    Frame,
    /// A frame of Python: the code that it quotes follows, indented further.
    PythonFrame,
    /// The line above the frames of a stack, or the place and the code of an error.
    Heading,
    /// From here to the next empty line there are frames (Go).
    Goroutine,
    /// A line of quoted code, if the text quotes any: a table that a test is about looks the same.
    Excerpt,
}

// `|` comes before those of exception groups.
pattern!(
    HEADING,
    r"^\s*(?:[|+ ]*(?:Exception Group )?Traceback \(most recent call last\)|(?:stack backtrace|Stack trace):$|--- End of stack trace)"
);
// `File "a.py", line 3, in f`
pattern!(PYTHON_FRAME, r#"^\s*[| ]*File ".*", line "#);
// In this order:
// - `at f (file.js:1:2)`, `at file.js:1:2`, `at a.b.C.d(C.java:3)`, `at N.C.M() in /p/C.cs:line 5`, `... 3 more`;
// - `#0 /p/a.php(3): f()`, `#1 0x55d0 in main a.c:3`, `#2 {main}`, and `12: core::panicking::panic` of Rust;
// - `a.rb:3:in 'f'`, with `# ` before it from RSpec;
// - ` ❯ a.test.ts:3:5` of vitest, `/p/aTest.php:12` of PHPUnit;
// - the place and the address of Go.
pattern!(
    FRAME,
    r"(?x)
    ^\s+at\ (?:.*\(.*\)|<.*>|.+:[0-9]+:*|.*:line\ .*[^\s,])\s*(?:\ \{)*,*\s*$
    |^\s+\.\.\.\ (?:.*\ )?more$
    |^\s*\#[0-9]+\ \s*(?:.*\.php\(|\{main\}$|0x|\[internal\ function\])
    |^\s*[0-9]+:\ [^\ ]*::[^\ ]*$
    |^\s*(?:\#\ )*(?:from\ )*(?:(?:[^\ :]*[^\ :b])?:)*[^\ :]*\.rb:[0-9]+(?:$|:in\ )
    |^\s*❯\ .+:[0-9]+:*\s*$
    |^\s*[^\ ]*\.php:(?:(?:[^:]*[^:p])?:)*[0-9]+:*\s*$
    |^[\t\ ].*\.go:.*\ \+0x|^(?:[\t\ ].*)?\ \+0x.*\.go:"
);
// Node's way to show where an error was thrown: the place, the line of code, a caret below it.
pattern!(PLACE, r"^[^ ]+:[0-9]+:*$");
pattern!(CARET, r"^\s*\^+\s*$");
// `> 12 | code`, `| ^`: what a text that quotes code has at least once.
pattern!(QUOTED, r"^\s*(?:>+\s*[0-9]*\s*\||\|[ ^]*\^[ ^]*$)");
// `> 12 | code`, `12 | code`, `| ^`
pattern!(EXCERPT, r"^\s*>*\s*[0-9]*\s*\|");
// Nothing, or one word that names a type: `java.lang.NullPointerException`, `Error:`.
pattern!(BARE_TYPE, r"^\s*(?:[A-Za-z0-9._:$]*[A-Z][A-Za-z0-9._:$]*)?:*\s*$");

fn is(pattern: &Pattern, line: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

/// Drops frames and excerpts. Where nothing but the type of an error is left, the function of the first frame stays
/// with it, or two failures of one type would read the same.
pub(super) fn drop_frames(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.lines().collect();
    let quotes = lines.iter().any(|line| is(&QUOTED, line));
    let mut kept: Vec<&str> = Vec::new();
    let mut function = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let (kind, length) = classify(&lines, at);
        match kind {
            Kind::Message => kept.push(line),
            Kind::Excerpt if !quotes => kept.push(line),
            Kind::PythonFrame => function = function_of(line).or(function),
            Kind::Frame => function = function.or_else(|| function_of(line)),
            Kind::Goroutine => {
                function = function.or_else(|| lines.get(at + 1).and_then(|next| function_of(next)));
            }
            Kind::Heading | Kind::Excerpt => {}
        }
        at += length;
    }
    if kept.len() == lines.len() {
        return Cow::Borrowed(text);
    }
    let left = kept.join("\n");
    let Some(function) = function.filter(|_| is(&BARE_TYPE, &left)) else { return Cow::Owned(left) };
    let kind = left.trim().trim_end_matches(':');
    let between = if kind.is_empty() { "" } else { " " };
    Cow::Owned(format!("{kind}{between}in {function}"))
}

/// The kind of what begins at a line, and its length in lines.
fn classify(lines: &[&str], at: usize) -> (Kind, usize) {
    let line = lines.get(at).copied().unwrap_or_default();
    let following = lines.get(at + 1..).unwrap_or_default();
    if is(&PYTHON_FRAME, line) {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let quoted =
            following.iter().take_while(|next| indent(next) > indent(line) && !is(&PYTHON_FRAME, next));
        return (Kind::PythonFrame, 1 + quoted.count());
    }
    let trimmed = line.trim_start();
    if trimmed.starts_with("goroutine ") && trimmed.ends_with("]:") {
        let frames = following.iter().take_while(|next| !next.trim().is_empty());
        return (Kind::Goroutine, 1 + frames.count());
    }
    if is(&PLACE, line) && following.get(1).is_some_and(|line| is(&CARET, line)) {
        return (Kind::Heading, 3);
    }
    let kinds = [(&HEADING, Kind::Heading), (&FRAME, Kind::Frame), (&EXCERPT, Kind::Excerpt)];
    let kind = kinds.into_iter().find(|(pattern, _)| is(pattern, line));
    (kind.map_or(Kind::Message, |(_, kind)| kind), 1)
}

/// The function that a frame names.
fn function_of(frame: &str) -> Option<&str> {
    let frame = frame.trim();
    let name = if let Some((_, name)) = frame.rsplit_once(", in ") {
        name
    } else if let Some(rest) = frame.strip_prefix("at ") {
        rest.split_once(['(', ' ']).map_or("", |(name, _)| name)
    } else if let Some((_, name)) = frame.rsplit_once(":in ") {
        name.trim_matches(['`', '\'', '"'])
    } else if let Some((_, name)) = frame.split_once("): ") {
        name.trim_end_matches("()")
    } else {
        frame.split_once('(').map_or("", |(name, _)| name)
    };
    (!name.is_empty() && !name.contains(['/', ' '])).then_some(name)
}

/// The panic of a Rust test, without what was printed before it and the advice after it; the lines that
/// pytest marks with `E`; everything where there is neither.
pub(super) fn choose_error(text: &str) -> Cow<'_, str> {
    panic(text).or_else(|| marked(text)).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn panic(text: &str) -> Option<String> {
    let start =
        text.lines().position(|line| line.starts_with("thread '") && line.contains(" panicked at "))?;
    let is_message = |line: &&str| !AFTER_PANIC.begins(line);
    let lines: Vec<&str> = text.lines().skip(start).take_while(is_message).collect();
    Some(lines.join("\n"))
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
    fn frames_of_every_language() {
        let node = "/p/a.js:3\nthrow new Error('no')\n^\n\nError: no\n    at f (/p/a.js:3:7)\n    at node:internal/x:1:2\n    at async Promise.all (index 0)\n    at new Promise (<anonymous>)";
        check(
            drop_frames,
            &[
                (
                    "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g(\n    ~^\n  File \"a.py\", line 9, in g\n    raise ValueError(1)\nValueError: 1",
                    "ValueError: 1",
                ),
                (node, "\nError: no"),
                (
                    "java.lang.Error: no\n\tat a.B.c(B.java:3)\n\t... 12 more\nCaused by: x",
                    "java.lang.Error: no\nCaused by: x",
                ),
                (
                    "System.Exception: no\n   at N.C.M() in /p/C.cs:line 5\n--- End of stack trace from previous location ---",
                    "System.Exception: no",
                ),
                (
                    "no\nstack backtrace:\n   0: rust_begin_unwind\n   1: core::panicking::panic_fmt\n             at /rustc/x/panic.rs:3:5",
                    "no\n   0: rust_begin_unwind",
                ),
                (
                    "panic: no\n\ngoroutine 18 [running]:\nmain.f(0x1)\n\t/p/a.go:3 +0x1d\n\nexit status 2",
                    "panic: no\n\n\nexit status 2",
                ),
                (
                    "RuntimeError: no\n    test/a.rb:3:in `f'\n     # ./spec/a_spec.rb:5:in 'block'",
                    "RuntimeError: no",
                ),
                ("no\n\n/p/aTest.php:12\n#0 /p/a.php(3): f()\n#1 {main}", "no\n"),
                ("AssertionError: no\n ❯ a.test.ts:3:5\n ❯ f a.ts:4:5", "AssertionError: no"),
                ("AddressSanitizer: x\n    #0 0x55d0 in main a.c:3", "AddressSanitizer: x"),
                ("at least one\n  at the end\nat noon", "at least one\n  at the end\nat noon"),
            ],
        );
    }

    #[test]
    fn excerpts() {
        check(
            drop_frames,
            &[
                ("no\n\n  > 1 | f()\n      | ^\n    2 |", "no\n"),
                ("no\n  3|   f();\n   |   ^\n  4| }", "no"),
                ("1 | ann\n2 | bob", "1 | ann\n2 | bob"),
            ],
        );
    }

    #[test]
    fn a_bare_type_keeps_its_function() {
        for (text, expected) in [
            (
                "java.lang.NullPointerException\n\tat a.B.c(B.java:3)\n\tat d.E.f(E.java:1)",
                "java.lang.NullPointerException in a.B.c",
            ),
            ("Error\n    at Object.f (a.js:1:2)", "Error in Object.f"),
            ("    at f (a.js:1:2)", "in f"),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n  File \"a.py\", line 9, in g\nAssertionError",
                "AssertionError in g",
            ),
            ("goroutine 1 [running]:\nmain.f(0x1)\n\t/p/a.go:3 +0x1d", "in main.f"),
        ] {
            assert_eq!(drop_frames(text), expected);
        }
    }
}

#[cfg(test)]
mod error_text_tests {
    use super::super::rule::check;
    use super::*;

    #[test]
    fn the_error_is_chosen() {
        let pytest = "x = 1\n\n    def test_a():\n>       assert x == 2\nE       assert 1 == 2\nE        +  where 1 = f()\n\na.py:3: AssertionError";
        check(
            choose_error,
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
