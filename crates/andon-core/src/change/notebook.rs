//! Running a notebook writes outputs and the numbers of the cells that ran into it. They are results and no work.

use std::ops::Range;

use crate::domain::RawHunk;

/// The members of a cell that running it writes.
const RESULTS: [&[u8]; 2] = [b"\"outputs\"", b"\"execution_count\""];

/// The hunks between two texts of a notebook without the lines of results.
pub(super) fn without_results<'a>(hunks: &[RawHunk<'a>], old: &[u8], new: &[u8]) -> Vec<RawHunk<'a>> {
    let (in_old, in_new) = (results(old), results(new));
    let side = |lines: &[&'a [u8]], text: &[u8], results: &[Range<usize>]| {
        let of_result = |line: &&&[u8]| {
            // Lines are slices of their text.
            let begins = (line.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
            let said = begins + line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            !results.iter().any(|result| result.contains(&said))
        };
        lines.iter().filter(of_result).copied().collect()
    };
    let own = |hunk: &RawHunk<'a>| RawHunk {
        removed: side(&hunk.removed, old, &in_old),
        added: side(&hunk.added, new, &in_new),
    };
    hunks.iter().map(own).collect()
}

/// The places of results in the text of a notebook, each up to the end of its value.
fn results(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        if *byte != b'"' {
            at += 1;
            continue;
        }
        let end = after_text(text, at);
        let value = after_blanks(text, end);
        let is_result = text.get(value) == Some(&b':') && RESULTS.contains(&&text[at..end]);
        let next = if is_result { after_value(text, after_blanks(text, value + 1)) } else { end };
        if is_result {
            found.push(at..next);
        }
        at = next;
    }
    found
}

fn after_blanks(text: &[u8], from: usize) -> usize {
    from + text.iter().skip(from).take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The place behind the string that begins at `from`.
fn after_text(text: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// The place behind the value that begins at `from`: the closing bracket of a list, or the end of the line.
fn after_value(text: &[u8], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0_usize);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = after_text(text, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth <= 1 => return at + 1,
            b']' | b'}' => depth -= 1,
            b'\n' | b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "{\n \"cells\": [\n  {\n   \"execution_count\": 3,\n   \"outputs\": [\n    {\"text\": [\"[1]\\n\", \"\\\"x\"]}\n   ],\n   \"source\": [\"print(\\\"outputs\\\")\"]\n  }\n ]\n}\n";

    #[test]
    fn outputs_and_counters_are_results() {
        let found: Vec<&str> = results(BEFORE.as_bytes()).into_iter().map(|at| &BEFORE[at]).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "\"execution_count\": 3");
        assert!(found[1].starts_with("\"outputs\": [") && found[1].ends_with("   ]"));
        assert_eq!(results(b"\"outputs\": [1").first().map(|at| at.end), Some(13), "cut short");
    }

    #[test]
    fn lines_of_results_are_left_out() {
        let new = BEFORE.replace("3,", "4,").replace("[1]", "[2]").replace("print", "show");
        let side = |text: &'static str| -> Vec<&'static [u8]> {
            text.split_inclusive('\n').map(str::as_bytes).collect()
        };
        let new: &'static str = Box::leak(new.into_boxed_str());
        let hunks = [RawHunk { removed: side(BEFORE), added: side(new) }];
        let kept = without_results(&hunks, BEFORE.as_bytes(), new.as_bytes());
        let shown = |lines: &[&[u8]]| -> String {
            lines.iter().map(|line| String::from_utf8_lossy(line).trim().to_owned() + " ").collect()
        };
        assert_eq!(
            shown(&kept[0].removed),
            "{ \"cells\": [ { \"source\": [\"print(\\\"outputs\\\")\"] } ] } "
        );
        assert_eq!(shown(&kept[0].added), "{ \"cells\": [ { \"source\": [\"show(\\\"outputs\\\")\"] } ] } ");
    }
}
