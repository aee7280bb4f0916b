//! Stack frames and code excerpts: they say where, and move with every edit of other lines.

use std::borrow::Cow;

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
    /// The line above the frames of a stack.
    Heading,
    /// From here to the next empty line there are frames (Go).
    Goroutine,
    /// A line of quoted code.
    Excerpt,
}

/// Drops frames and excerpts. Where nothing but the type of an error is left, the function of the first frame stays
/// with it, or two failures of one type would read the same.
pub(super) fn drop_frames(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.lines().collect();
    let excerpts = has_excerpt(&lines);
    let mut kept: Vec<&str> = Vec::new();
    let mut function = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let (kind, length) = classify(&lines, at, excerpts);
        match kind {
            Kind::Message => kept.push(line),
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
    let Some(function) = function.filter(|_| is_bare_type(&left)) else { return Cow::Owned(left) };
    let kind = left.trim().trim_end_matches(':');
    let between = if kind.is_empty() { "" } else { " " };
    Cow::Owned(format!("{kind}{between}in {function}"))
}

/// The kind of what begins at a line, and its length in lines.
fn classify(lines: &[&str], at: usize, excerpts: Excerpts) -> (Kind, usize) {
    let line = lines.get(at).copied().unwrap_or_default();
    let following = lines.get(at + 1..).unwrap_or_default();
    let trimmed = line.trim_start();
    if is_python_frame(trimmed) {
        let indent = line.len() - trimmed.len();
        let quoted = following.iter().take_while(|next| {
            next.len() - next.trim_start().len() > indent && !is_python_frame(next.trim_start())
        });
        return (Kind::PythonFrame, 1 + quoted.count());
    }
    if trimmed.starts_with("goroutine ") && trimmed.ends_with("]:") {
        let frames = following.iter().take_while(|next| !next.trim().is_empty());
        return (Kind::Goroutine, 1 + frames.count());
    }
    if is_thrown_at(line, following) {
        return (Kind::Excerpt, 3);
    }
    let kind = if is_heading(trimmed) {
        Kind::Heading
    } else if is_frame(line, trimmed) {
        Kind::Frame
    } else if excerpts == Excerpts::Some && is_excerpt(trimmed) {
        Kind::Excerpt
    } else {
        Kind::Message
    };
    (kind, 1)
}

/// `Traceback (most recent call last):` and its like; `|` comes before those of exception groups.
fn is_heading(trimmed: &str) -> bool {
    let bare = trimmed.trim_start_matches(['|', '+', ' ']);
    bare.starts_with("Traceback (most recent call last)")
        || bare.starts_with("Exception Group Traceback (most recent call last)")
        || trimmed == "stack backtrace:"
        || trimmed == "Stack trace:"
        || trimmed.starts_with("--- End of stack trace")
}

/// `File "a.py", line 3, in f`
fn is_python_frame(trimmed: &str) -> bool {
    let bare = trimmed.trim_start_matches(['|', ' ']);
    bare.strip_prefix("File \"").and_then(|rest| rest.split_once("\", line ")).is_some()
}

fn is_frame(line: &str, trimmed: &str) -> bool {
    let indented = trimmed.len() < line.len();
    (indented && is_at_frame(trimmed))
        || (indented && trimmed.starts_with("... ") && trimmed.ends_with(" more"))
        || is_numbered_frame(trimmed)
        || is_ruby_frame(trimmed)
        || is_pointed_place(trimmed)
        || line.starts_with(['\t', ' ']) && line.contains(".go:") && line.contains(" +0x")
}

/// `at f (file.js:1:2)`, `at file.js:1:2`, `at a.b.C.d(C.java:3)`, `at N.C.M() in /p/C.cs:line 5`.
fn is_at_frame(trimmed: &str) -> bool {
    let Some(rest) = trimmed.strip_prefix("at ") else { return false };
    let rest = rest.trim_end().trim_end_matches(',').trim_end_matches(" {").trim_end();
    rest.ends_with(')') && rest.contains('(')
        || rest.ends_with('>') && rest.starts_with('<')
        || ends_in_position(rest)
        || rest.contains(":line ")
}

/// `:3` or `:3:5` at the end.
fn ends_in_position(text: &str) -> bool {
    let text = text.trim_end_matches(':');
    text.rsplit_once(':').is_some_and(|(before, number)| {
        !before.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `#0 /p/a.php(3): f()`, `#1 0x55d0 in main a.c:3`, `#2 {main}`, and `12: core::panicking::panic` of Rust.
fn is_numbered_frame(trimmed: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((index, rest)) = trimmed.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
        let rest = rest.trim_start();
        return number(index)
            && (rest.contains(".php(")
                || rest == "{main}"
                || rest.starts_with("0x")
                || rest.starts_with("[internal function]"));
    }
    trimmed.starts_with(|each: char| each.is_ascii_digit())
        && trimmed
            .split_once(": ")
            .is_some_and(|(index, rest)| number(index) && rest.contains("::") && !rest.contains(' '))
}

/// `a.rb:3:in 'f'`, with `# ` before it from RSpec.
fn is_ruby_frame(trimmed: &str) -> bool {
    if !trimmed.contains(".rb:") {
        return false;
    }
    let bare = trimmed.trim_start_matches("# ").trim_start_matches("from ");
    bare.split_once(".rb:").is_some_and(|(path, rest)| {
        let after = rest.trim_start_matches(|each: char| each.is_ascii_digit());
        !path.contains(' ') && after.len() < rest.len() && (after.is_empty() || after.starts_with(":in "))
    })
}

/// ` ❯ a.test.ts:3:5` of vitest, `/p/aTest.php:12` of PHPUnit.
fn is_pointed_place(trimmed: &str) -> bool {
    let bare = trimmed.trim_end();
    let pointed = bare.strip_prefix("❯ ").is_some_and(ends_in_position);
    let php = || bare.rsplit_once(".php:").is_some_and(|(path, _)| !path.contains(' '));
    pointed || (ends_in_position(bare) && php())
}

/// Node's way to show where an error was thrown: the place, the line of code, a caret below it.
fn is_thrown_at(line: &str, following: &[&str]) -> bool {
    let caret = |line: &&str| !line.trim().is_empty() && line.trim().bytes().all(|byte| byte == b'^');
    !line.contains(' ') && ends_in_position(line) && following.get(1).is_some_and(caret)
}

/// Quoted code in a text: a table that a test is about looks like an excerpt, but for the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excerpts {
    None,
    Some,
}

fn has_excerpt(lines: &[&str]) -> Excerpts {
    let marked = |line: &&str| {
        let trimmed = line.trim_start();
        let pointed = trimmed.strip_prefix('>').is_some_and(is_excerpt);
        let caret = trimmed
            .strip_prefix('|')
            .is_some_and(|rest| rest.contains('^') && rest.bytes().all(|byte| matches!(byte, b' ' | b'^')));
        pointed || caret
    };
    if lines.iter().any(marked) { Excerpts::Some } else { Excerpts::None }
}

/// `> 12 | code`, `12 | code`, `| ^`
fn is_excerpt(trimmed: &str) -> bool {
    let bare = trimmed.trim_start_matches('>').trim_start();
    bare.trim_start_matches(|each: char| each.is_ascii_digit()).trim_start().starts_with('|')
}

/// True for nothing, or one word that names a type: `java.lang.NullPointerException`, `Error:`.
fn is_bare_type(text: &str) -> bool {
    let word = text.trim().trim_end_matches(':');
    let named = word.is_empty() || word.bytes().any(|byte| byte.is_ascii_uppercase());
    named
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'$'))
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
